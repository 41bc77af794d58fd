//! `mcp-eval clean`: remove catalogues that no baseline names, and what runs have left in the Docker engine.

use std::path::Path;

use serde::Serialize;

use crate::cli::args::{CleanArgs, ResultFormat};
use crate::cli::{Console, Exit, Failure, runtime};
use crate::docker::{Engine, Left, Which, Why};
use crate::json;
use crate::published::trajectory::CATALOGUES;
use crate::report::bytes;
use crate::run::SetupError;
use crate::store::Baselines;
use crate::suite::ci::known_by;
use crate::text::{self, plural};

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct CleanDocument {
    format_version: u32,
    /// Nothing was removed: it was only asked what would be.
    dry_run: bool,
    found: Vec<Leftover>,
    /// How many images are gone, or would be, and how much space that frees.
    images: usize,
    freed_bytes: u64,
}

#[derive(Serialize)]
struct Leftover {
    /// `catalogue`, `container`, `network`, `volume` or `image`.
    kind: &'static str,
    name: String,
    /// Why it is there.
    why: String,
    /// `removed`, `would be removed`, `left alone` or `failed`.
    outcome: &'static str,
    /// Why it could not be removed.
    problem: Option<String>,
}

pub(in crate::cli) fn run(args: &CleanArgs, console: Console) -> Result<Exit, Failure> {
    let mut found = catalogues(args);
    let runtime = runtime::here()?;
    let cleaned = runtime.block_on(clean(args, console)).map_err(|error| {
        // What is gone is gone, although nobody knows of the rest.
        console.note(lines(&found).trim_end());
        Failure::incomplete(error.message)
    })?;
    found.extend(cleaned.found);
    let failed = found.iter().filter(|it| it.problem.is_some()).count();
    match args.printed.format {
        ResultFormat::Json => {
            let document = CleanDocument {
                format_version: 1,
                dry_run: args.dry_run,
                found,
                images: cleaned.images,
                freed_bytes: cleaned.freed_bytes,
            };
            Console::document(&json::pretty(&document));
        }
        ResultFormat::Terminal if found.is_empty() => {
            console.note("Nothing is left in the Docker engine, and each catalogue is named.");
        }
        ResultFormat::Terminal => {
            let images = (cleaned.images, cleaned.freed_bytes);
            console.result(&(lines(&found) + &of_images(images, args.dry_run)));
        }
    }
    if failed > 0 {
        let mut failure = Failure::incomplete("not everything could be removed");
        failure.is_printed = true;
        return Err(failure);
    }
    Ok(Exit::Passed)
}

/// The catalogues that no baseline names. In CI, which does not change what is committed, they are left alone.
fn catalogues(args: &CleanArgs) -> Vec<Leftover> {
    let baselines = Baselines::new(&args.baseline);
    let is_left = known_by().is_some();
    let found = if args.dry_run || is_left {
        baselines.unnamed_catalogues()
    } else {
        baselines.remove_unnamed_catalogues()
    };
    let one = |name: &Path, outcome, problem| Leftover {
        kind: "catalogue",
        name: name.display().to_string(),
        why: "no baseline names it".to_owned(),
        outcome,
        problem,
    };
    let outcome = match (is_left, args.dry_run) {
        (true, _) => "left alone",
        (false, true) => "would be removed",
        (false, false) => "removed",
    };
    match found {
        Ok(found) => found.iter().map(|it| one(it, outcome, None)).collect(),
        Err(error) => {
            let folder = args.baseline.join(CATALOGUES);
            vec![one(&folder, "failed", Some(error.to_string()))]
        }
    }
}

/// What was found, and what has become of it.
#[derive(Default)]
struct Cleaned {
    found: Vec<Leftover>,
    images: usize,
    freed_bytes: u64,
}

async fn clean(args: &CleanArgs, console: Console) -> Result<Cleaned, SetupError> {
    let on_wait = |what: &str, _| {
        console.note(&format!("waiting for {what}"));
        true
    };
    let engine = Engine::connect(&|name: &str| std::env::var(name).ok(), &on_wait).await?;
    let mut cleaned = Cleaned::default();
    let containers = engine.leftovers().await?;
    for left in &containers {
        cleaned
            .found
            .push(remove(&engine, left, args.dry_run).await);
    }
    let which = match &args.images {
        None => Which::Replaced,
        Some(name) => Which::Old(Some(name.clone()).filter(|it| !it.is_empty())),
    };
    let going: Vec<Left> = containers
        .into_iter()
        .filter(|it| it.why.is_free())
        .collect();
    let images = engine.old_images(&which, &going).await?;
    let mut gone = Vec::new();
    for (place, left) in images.left.iter().enumerate() {
        let one = remove(&engine, left, args.dry_run).await;
        if left.why.is_free() && one.problem.is_none() {
            gone.push(place);
        }
        cleaned.found.push(one);
    }
    (cleaned.images, cleaned.freed_bytes) = images.without(&gone);
    Ok(cleaned)
}

/// Removes what is free, unless it is only asked what would be.
async fn remove(engine: &Engine, left: &Left, dry_run: bool) -> Leftover {
    let (outcome, problem) = match (left.why.is_free(), dry_run) {
        (false, _) => ("left alone", None),
        (true, true) => ("would be removed", None),
        (true, false) => match engine.remove_left(left).await {
            Ok(()) => ("removed", None),
            Err(error) => ("failed", Some(error.message)),
        },
    };
    Leftover {
        kind: left.kind.word(),
        why: why(left),
        name: left.name.clone(),
        outcome,
        problem,
    }
}

fn why(left: &Left) -> String {
    match &left.why {
        Why::Orphaned => "left by a run that was killed".to_owned(),
        Why::Kept => "kept for a look at it".to_owned(),
        Why::Outlives => "left running by `reset: never`".to_owned(),
        Why::Replaced => "replaced by a newer build".to_owned(),
        Why::Older => "built of another state than the one used last".to_owned(),
        Why::UsedBy(container) => format!("the container {container} is made of it"),
        Why::InUse(process) => format!("in use by process {process}"),
        Why::Elsewhere => {
            "made on another machine or in another container, which cannot be asked from here"
                .to_owned()
        }
    }
}

fn lines(found: &[Leftover]) -> String {
    let lines = found.iter().map(|it| {
        let problem = it.problem.iter().map(|it| format!(": {it}"));
        let line = format!(
            "{}: {} {} ({}){}\n",
            it.outcome,
            it.kind,
            it.name,
            it.why,
            problem.collect::<String>()
        );
        text::block(&line).into_owned()
    });
    lines.collect()
}

/// The line on images that are gone, where there are any.
fn of_images((images, freed): (usize, u64), dry_run: bool) -> String {
    let freed = bytes::words(usize::try_from(freed).unwrap_or(usize::MAX));
    let images = match images {
        0 => return String::new(),
        _ => plural(images, "image"),
    };
    if dry_run {
        format!("{images} would be removed, and {freed} freed\n")
    } else {
        format!("{images} removed, {freed} freed\n")
    }
}
