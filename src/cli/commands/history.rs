//! `mcp-eval history`: the results of scenarios over time.

use crate::cli::args::{HistoryArgs, HistoryFormat};
use crate::cli::console::Console;
use crate::cli::database::{answered, existing};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::json;
use crate::published::history::HistoryDocument;
use crate::report::history::{self, Asked};
use crate::report::{e2e, html};
use crate::store;
use crate::store::database::HistoryFilter;
use crate::suite::series;

pub(in crate::cli) fn run(args: &HistoryArgs, console: Console) -> Result<Exit, Failure> {
    let database = existing(&args.place)?;
    if args.names {
        let names = answered(&database, database.names(), console)?;
        let lines: Vec<String> = names
            .iter()
            .map(|it| crate::text::line(it).into_owned())
            .collect();
        Console::document(&lines.join("\n"));
        return Ok(Exit::Passed);
    }
    let filter = HistoryFilter {
        name: args.name.clone(),
        tags: args.tag.clone(),
        since: args.since,
        last: usize::try_from(args.last).unwrap_or(usize::MAX),
    };
    let rows = answered(&database, database.history(&filter), console)?;
    if rows.is_empty() {
        let names = answered(&database, database.names(), console)?;
        return Err(nothing(args, &names));
    }
    let asked = Asked {
        database: database.place().to_string(),
        last: filter.last,
        max_slowdown: args.max_slowdown,
    };
    let document = history::measured(&asked, series(rows));
    let text = match args.format {
        HistoryFormat::Terminal => history::terminal(&document, args.name.is_some()),
        HistoryFormat::Json => json::pretty(&document),
        HistoryFormat::Csv => history::csv(&document),
        HistoryFormat::Html => html::history(&document),
        HistoryFormat::E2e => e2e::history(&document),
    };
    match &args.output {
        Some(path) => {
            store::write(path, text.as_bytes())?;
            console.note(&format!("History: {}", path.display()));
        }
        None if args.format == HistoryFormat::Terminal => console.result(&text),
        None => Console::document(&text),
    }
    Ok(exit(&document, args.format))
}

/// What there is to say where nothing was found.
fn nothing(args: &HistoryArgs, names: &[String]) -> Failure {
    let failure = Failure::incomplete(match &args.name {
        Some(name) => format!("there are no results of `{name}`"),
        None => "there are no results".to_owned(),
    });
    let Some(name) = &args.name else {
        return failure.hint("`mcp-eval run` and `mcp-eval compare` write results");
    };
    if names.contains(name) {
        return failure
            .hint("there are some without --since and --tag, or which were not run to their end");
    }
    let near = names.iter().map(|it| (strsim::osa_distance(name, it), it));
    match near
        .min()
        .filter(|(distance, it)| *distance <= it.len() / 2)
    {
        Some((_, near)) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`mcp-eval history` lists the scenarios that have results"),
    }
}

fn exit(document: &HistoryDocument, format: HistoryFormat) -> Exit {
    let is_slow = document.gate.as_ref().is_some_and(|it| !it.passed);
    let is_bad = format == HistoryFormat::E2e && !e2e::passed(document);
    if is_slow || is_bad {
        Exit::Failed
    } else {
        Exit::Passed
    }
}
