//! `mcp-eval db`: look after the results database.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cli::args::{DbCommand, DbInfoArgs, DbPruneArgs, DbRebuildArgs, ResultFormat};
use crate::cli::database::{answered, existing, open, place};
use crate::cli::{Console, Exit, Failure};
use crate::json;
use crate::report::bytes;
use crate::store::database::Info;
use crate::suite::RUNS;
use crate::text::plural;

pub(in crate::cli) fn run(command: &DbCommand, console: Console) -> Result<Exit, Failure> {
    match command {
        DbCommand::Info(args) => info(args, console),
        DbCommand::Path(args) => {
            Console::document(&place(&args.place)?.to_string());
            Ok(Exit::Passed)
        }
        DbCommand::Rebuild(args) => rebuild(args, console),
        DbCommand::Prune(args) => prune(args, console),
    }
}

/// What `db info --format json` prints, version 1.
#[derive(Serialize)]
struct InfoDocument {
    format_version: u32,
    /// Where it is, without what gives access to it.
    database: String,
    /// `sqlite` or `postgresql`.
    kind: &'static str,
    schema: u32,
    bytes: Option<u64>,
    /// What is wrong with it.
    damage: Vec<String>,
    runs: u64,
    results: u64,
    scenarios: u64,
    tool_calls: u64,
    first_at: Option<String>,
    last_at: Option<String>,
}

fn info(args: &DbInfoArgs, console: Console) -> Result<Exit, Failure> {
    let database = existing(&args.place)?;
    let Info {
        health,
        bytes: size,
        damage,
        stats,
    } = answered(&database, database.info(), console)?;
    let is_sound = damage.is_empty();
    let document = InfoDocument {
        format_version: 1,
        database: database.place().to_string(),
        kind: health.kind,
        schema: health.schema,
        bytes: size,
        damage,
        runs: stats.runs,
        results: stats.results,
        scenarios: stats.scenarios,
        tool_calls: stats.tool_calls,
        first_at: stats.first_at,
        last_at: stats.last_at,
    };
    match args.printed.format {
        ResultFormat::Json => Console::document(&json::pretty(&document)),
        ResultFormat::Terminal => console.result(&lines(&document)),
    }
    if is_sound {
        return Ok(Exit::Passed);
    }
    let mut failure = Failure::incomplete("the database is damaged");
    failure.is_printed = args.printed.format == ResultFormat::Json;
    Err(failure.hint("the next command that meets the damage sets the file aside, and makes a new one from the files of the runs"))
}

fn lines(it: &InfoDocument) -> String {
    let mut lines = format!("{} ({}, schema {})\n", it.database, it.kind, it.schema);
    if let Some(size) = it.bytes {
        let _ = writeln!(
            lines,
            "size: {}",
            bytes::words(usize::try_from(size).unwrap_or(usize::MAX))
        );
    }
    let _ = writeln!(
        lines,
        "{}, {} of {}, {}",
        plural(it.runs, "run"),
        plural(it.results, "result"),
        plural(it.scenarios, "scenario"),
        plural(it.tool_calls, "tool call")
    );
    if let (Some(first), Some(last)) = (&it.first_at, &it.last_at) {
        let _ = writeln!(lines, "from {first} to {last}");
    }
    for damage in &it.damage {
        let _ = writeln!(lines, "damaged: {damage}");
    }
    lines
}

fn rebuild(args: &DbRebuildArgs, console: Console) -> Result<Exit, Failure> {
    let runs = args.runs.as_ref().unwrap_or(&RUNS);
    if !runs.is_dir() {
        let failure = format!("there is no folder {}", runs.display());
        return Err(Failure::usage(failure));
    }
    let database = open(place(&args.place)?);
    let rebuilt = answered(&database, database.rebuild(runs), console)?;
    let unread = match rebuilt.unread {
        0 => String::new(),
        1 => "; 1 folder holds no result that can be read".to_owned(),
        several => format!("; {several} folders hold no result that can be read"),
    };
    console.result(&format!(
        "{}: {} runs read, {} runs and {} results added{unread}\n",
        database.place(),
        rebuilt.read,
        rebuilt.runs,
        rebuilt.results
    ));
    Ok(Exit::Passed)
}

fn prune(args: &DbPruneArgs, console: Console) -> Result<Exit, Failure> {
    let database = existing(&args.place)?;
    let keep = usize::try_from(args.keep).unwrap_or(usize::MAX);
    let pruned = answered(&database, database.prune(keep, args.dry_run), console)?;
    let done = if args.dry_run { "would go" } else { "removed" };
    console.result(&format!(
        "{}: {} runs with {} results {done}, {} runs stay\n",
        database.place(),
        pruned.runs,
        pruned.results,
        pruned.left
    ));
    Ok(Exit::Passed)
}
