//! The results that are put together: where they lie, what lies beside them, and whether each says one thing.

use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use walkdir::{DirEntry, WalkDir};

use crate::cli::{Console, Failure, runs};
use crate::input;
use crate::published::result::{self, Gate, ResultDocument, Scenario, Shard, Status, Summary};
use crate::published::trajectory::check_id;
use crate::store::{RESULT, Runs};
use crate::suite::RUNS;

/// The result of one part.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) result: ResultDocument,
    pub(super) shard: Shard,
    /// The file it was read from.
    pub(super) file: PathBuf,
    /// The folders in which runs of it may lie, each laid out as that of a run.
    pub(super) folders: Vec<PathBuf>,
}

/// Folders that hold what a result speaks of, and no results.
const OF_A_RUN: [&str; 5] = ["current", "baseline", "attempts", "logs", "trajectories"];

/// The results of parts among these files and folders, each once, however many copies of it there are, by their numbers.
///
/// # Errors
///
/// When a file cannot be read or is no such result, and when there is none at all.
pub(super) fn find(named: &[PathBuf], console: Console) -> Result<Vec<Part>, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    for path in named {
        let path = runs::folder(&path.to_string_lossy()).map_err(Failure::usage)?;
        if !path.exists() {
            let why = format!("there is no {}", path.display());
            return Err(Failure::usage(why)
                .hint("name the results of `--shard K/N`, or folders that hold them"));
        }
        if !path.is_dir() {
            let part = read(&path)?.ok_or_else(|| {
                let why = format!("{} is not the result of a part", path.display());
                Failure::usage(why).hint("`mcp-eval compare --shard K/N` makes one")
            })?;
            add(&mut parts, part);
            continue;
        }
        for file in files(&path) {
            match read(&file) {
                Ok(Some(part)) => add(&mut parts, part),
                Ok(None) => {}
                Err(failure) => console.note(&format!("note: left out: {}", failure.message)),
            }
        }
    }
    if parts.is_empty() {
        let named: Vec<String> = named.iter().map(|it| it.display().to_string()).collect();
        let why = format!("there is no result of a part in {}", named.join(", "));
        return Err(Failure::incomplete(why).hint("`mcp-eval compare --shard K/N` makes one"));
    }
    parts.sort_by(|a, b| {
        let key = |it: &Part| (it.shard.index, Runs::order(&it.result.run_id));
        key(a).cmp(&key(b))
    });
    Ok(parts)
}

/// The files in a folder that may be results, in a stable order. Links are not followed.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_of_a_run = |it: &DirEntry| {
        it.depth() > 0
            && it.file_type().is_dir()
            && OF_A_RUN.iter().any(|name| it.file_name() == *name)
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|it| !is_of_a_run(it)).flatten();
    let files = entries
        .filter(|it| it.file_type().is_file())
        .map(DirEntry::into_path);
    files
        .filter(|it| it.extension() == Some("json".as_ref()))
        .collect()
}

/// Reads a file; `None` where it is not the result of a part.
fn read(file: &Path) -> Result<Option<Part>, Failure> {
    let unreadable = |why: String| Failure::incomplete(format!("{}: {why}", file.display()));
    let text = input::read_to_string(file).map_err(|error| unreadable(error.to_string()));
    let is_called_so = file.file_name() == Some(RESULT.as_ref());
    let text = match text {
        Err(_) if !is_called_so => return Ok(None),
        text => text?,
    };
    // Most files beside a result are no results, and some are large.
    if !is_called_so && memmem::find(text.as_bytes(), b"\"shard\"").is_none() {
        return Ok(None);
    }
    let mut result = match result::parse(&text) {
        Err(_) if !is_called_so => return Ok(None),
        parsed => parsed.map_err(|error| unreadable(error.to_string()))?,
    };
    let Some(shard) = result.shard.take() else {
        return Ok(None);
    };
    check(&result, &shard).map_err(unreadable)?;
    check_sound(&result, &shard).map_err(unreadable)?;
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let own = RUNS.join(&result.run_id);
    let folders = [
        folder.join("trajectories"),
        folder.join("../..").join(&own),
        folder,
        own,
    ];
    Ok(Some(Part {
        result,
        shard,
        file: file.to_owned(),
        folders: folders.into(),
    }))
}

/// What is wrong with a document from elsewhere, before any name in it becomes the name of a file.
fn check(result: &ResultDocument, shard: &Shard) -> Result<(), String> {
    shard.check()?;
    let mut steps = Path::new(&result.run_id).components();
    if !matches!(
        (steps.next(), steps.next()),
        (Some(Component::Normal(_)), None)
    ) {
        return Err(format!("`{}` is not the name of a run", result.run_id));
    }
    let planned = shard.plan.iter().flat_map(|it| &it.scenarios);
    let ids = planned.map(|it| &it.id);
    for id in ids.chain(result.scenarios.iter().map(|it| &it.id)) {
        check_id(id)?;
    }
    let own = shard.own().map_or(&[][..], |it| &it.scenarios);
    for scenario in &result.scenarios {
        if own.iter().all(|it| it.id != scenario.id) {
            return Err(format!(
                "`{}` is not a scenario of part {} of its plan",
                scenario.id,
                shard.words()
            ));
        }
    }
    Ok(())
}

/// Adds a part, or where it is another copy of one that was found, what lies beside the copy.
fn add(parts: &mut Vec<Part>, part: Part) {
    let is_it = |it: &&mut Part| {
        it.result.run_id == part.result.run_id
            && it.result.started_at == part.result.started_at
            && it.shard.index == part.shard.index
    };
    match parts.iter_mut().find(is_it) {
        Some(known) => known.folders.extend(part.folders),
        None => parts.push(part),
    }
}

/// What a result says in two ways that cannot both be so, as far as the one follows from the other.
///
/// # Errors
///
/// A fragment of a sentence, with the document as its subject.
pub(super) fn check_sound(result: &ResultDocument, shard: &Shard) -> Result<(), String> {
    let wrong = |what: String| Err(format!("contradicts itself: {what}"));
    for it in &result.scenarios {
        if let Some(reason) = speaks_against(it, &result.command) {
            return wrong(format!("`{}` passed, and yet {reason}", it.id));
        }
    }
    // What is not there cannot be counted: that is a hole, and is reported as one.
    let own = shard.own().map_or(&[][..], |it| &it.scenarios);
    if own.iter().any(|it| result.scenario(&it.id).is_none()) {
        return Ok(());
    }
    let counted = counts(Summary::of(&result.scenarios, result.summary.selected));
    let differing = counts(result.summary).into_iter().zip(counted);
    for ((name, said), (_, counted)) in differing {
        if said != counted {
            return wrong(format!(
                "its summary counts {said} {name}, and there are {counted}"
            ));
        }
    }
    match &result.gate {
        Some(gate) if gate.exit_code == 1 && !can_fail(result, gate) => {
            wrong("its exit code is 1, and nothing in it has failed".to_owned())
        }
        _ => Ok(()),
    }
}

/// What speaks against a scenario that passed. Of several runs, one of which is shown, some may fail.
fn speaks_against(scenario: &Scenario, command: &str) -> Option<String> {
    if scenario.status != Status::Passed || scenario.repeated.is_some() {
        return None;
    }
    let reasons = if command == "compare" {
        scenario.reasons()
    } else {
        scenario.unmet()
    };
    reasons.into_iter().next()
}

fn counts(summary: Summary) -> [(&'static str, usize); 7] {
    [
        ("passed", summary.passed),
        ("failed", summary.failed),
        ("inconclusive", summary.inconclusive),
        ("error", summary.error),
        ("timeout", summary.timeout),
        ("interrupted", summary.interrupted),
        ("skipped", summary.skipped),
    ]
}

/// Whether there is anything that exit code 1 may be for.
fn can_fail(result: &ResultDocument, gate: &Gate) -> bool {
    let is_flaky = gate.strict && result.scenarios.iter().any(|it| it.flaky);
    is_flaky
        || result
            .scenarios
            .iter()
            .any(|it| it.status == Status::Failed)
}
