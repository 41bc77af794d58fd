//! `mcp-eval clean`: remove what runs have left in the Docker engine.

use serde::Serialize;

use crate::cli::args::{CleanArgs, ResultFormat};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::docker::{Engine, Left, Why};
use crate::json;
use crate::text;

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct CleanDocument {
    format_version: u32,
    /// Nothing was removed: it was only asked what would be.
    dry_run: bool,
    found: Vec<Leftover>,
}

#[derive(Serialize)]
struct Leftover {
    /// `container`, `network`, `volume` or `image`.
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let found = runtime
        .block_on(clean(args.dry_run))
        .map_err(|error| Failure::incomplete(error.message))?;
    let failed = found.iter().filter(|it| it.problem.is_some()).count();
    match args.printed.format {
        ResultFormat::Json => {
            let document = CleanDocument {
                format_version: 1,
                dry_run: args.dry_run,
                found,
            };
            Console::document(&json::pretty(&document));
        }
        ResultFormat::Terminal if found.is_empty() => {
            console.note("Nothing is left in the Docker engine.");
        }
        ResultFormat::Terminal => console.result(&lines(&found)),
    }
    if failed > 0 {
        let mut failure = Failure::incomplete("not everything could be removed");
        failure.is_printed = true;
        return Err(failure);
    }
    Ok(Exit::Passed)
}

async fn clean(dry_run: bool) -> Result<Vec<Leftover>, crate::run::SetupError> {
    let engine = Engine::connect(&|name: &str| std::env::var(name).ok()).await?;
    let mut leftovers = Vec::new();
    for left in engine.leftovers().await? {
        let (outcome, problem) = match (left.why.is_free(), dry_run) {
            (false, _) => ("left alone", None),
            (true, true) => ("would be removed", None),
            (true, false) => match engine.remove_left(&left).await {
                Ok(()) => ("removed", None),
                Err(error) => ("failed", Some(error.message)),
            },
        };
        leftovers.push(Leftover {
            kind: left.kind.word(),
            why: why(&left),
            name: left.name,
            outcome,
            problem,
        });
    }
    Ok(leftovers)
}

fn why(left: &Left) -> String {
    match &left.why {
        Why::Orphaned => "left by a run that was killed".to_owned(),
        Why::Kept => "kept for a look at it".to_owned(),
        Why::Outlives => "left running by `reset: never`".to_owned(),
        Why::Replaced => "replaced by a newer build".to_owned(),
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
