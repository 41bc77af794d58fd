//! `mcp-eval history`: the results of scenarios over time.

use std::collections::BTreeSet;

use crate::cli::args::{HistoryArgs, HistoryFormat};
use crate::cli::database::{answered, existing};
use crate::cli::{Console, Exit, Failure, runs};
use crate::model::Status;
use crate::published::history::HistoryDocument;
use crate::published::kept::ResultDetail;
use crate::report::history::{self, Asked};
use crate::report::{e2e, html, moment};
use crate::store::database::HistoryFilter;
use crate::suite::series;
use crate::{json, store};

/// How many tags are named where none of them was asked for.
const TAGS: usize = 20;

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
    let found = series(rows, filter.last);
    if found.is_empty() {
        let unfiltered = HistoryFilter {
            tags: Vec::new(),
            since: None,
            last: 1,
            ..filter
        };
        let mut left_out = answered(&database, database.history(&unfiltered), console)?;
        left_out.retain(|it| it.result.status != Status::Skipped);
        let names = answered(&database, database.names(), console)?;
        return Err(nothing(args, &left_out, &names));
    }
    let asked = Asked {
        database: database.place().to_string(),
        last: filter.last,
        max_slowdown: args.max_slowdown,
    };
    let document = history::measured(&asked, found);
    runs::look_at_history(&document, console);
    let text = match args.format {
        HistoryFormat::Terminal => history::terminal(&document, args.name.is_some()),
        HistoryFormat::Json => json::pretty(&document),
        HistoryFormat::Csv => history::csv(&document),
        HistoryFormat::Html => html::history(&document),
        HistoryFormat::E2e => e2e::history(&document),
    };
    // `-` is stdout, as it is for `db export`.
    let file = args.output.as_ref().filter(|it| it.as_os_str() != "-");
    match file {
        Some(path) => {
            store::write_following_links(path, text.as_bytes())?;
            console.note(&format!("History: {}", path.display()));
        }
        None if args.format == HistoryFormat::Terminal => console.result(&text),
        None => Console::document(&text),
    }
    // People read it in the text itself.
    let unmeasured = document.gate.as_ref().filter(|it| it.passed.is_none());
    let is_shown = args.format == HistoryFormat::Terminal && file.is_none();
    if let Some(gate) = unmeasured.filter(|_| !is_shown) {
        console.note(&gate.words());
    }
    Ok(exit(&document, args.format))
}

/// What there is to say where nothing was found. `left_out` are the latest results without what `--tag` and `--since` ask for.
fn nothing(args: &HistoryArgs, left_out: &[ResultDetail], names: &[String]) -> Failure {
    let of = (args.name.as_ref()).map_or_else(String::new, |it| format!(" of `{it}`"));
    if !left_out.is_empty() {
        return filtered(args, left_out, &of);
    }
    let failure = Failure::incomplete(format!("there are no results{of}"));
    let Some(name) = &args.name else {
        return failure.hint("`mcp-eval run` and `mcp-eval compare` write results");
    };
    if names.contains(name) {
        return failure.hint("there are some that were not run to their end");
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

/// What there is to say where there are results, and none is left of them.
fn filtered(args: &HistoryArgs, left_out: &[ResultDetail], of: &str) -> Failure {
    let tags = args.tag.iter().map(|it| format!("--tag {it}"));
    let since = args.since.iter().map(|it| format!("--since {it}"));
    let asked: Vec<String> = tags.chain(since).collect();
    let mut failure = Failure::incomplete(format!(
        "there are results{of}, and {} leaves none of them",
        asked.join(" ")
    ));
    if let Some(latest) = left_out.iter().map(|it| &it.history.at).max() {
        failure = failure.hint(format!("the latest is of {}", moment::words(latest)));
    }
    let known: BTreeSet<&str> = (left_out.iter())
        .flat_map(|it| it.result.tags.iter().map(String::as_str))
        .collect();
    if args.tag.is_empty() {
        return failure;
    }
    if known.is_empty() {
        return failure.hint("none has a tag");
    }
    let known: Vec<String> = known.into_iter().take(TAGS).map(str::to_owned).collect();
    failure.hint(format!("their tags are {}", known.join(", ")))
}

fn exit(document: &HistoryDocument, format: HistoryFormat) -> Exit {
    let gate = document.gate.iter().map(|it| it.passed);
    let end = (format == HistoryFormat::E2e).then(|| e2e::passed(document));
    let all: Vec<Option<bool>> = gate.chain(end).collect();
    if all.contains(&Some(false)) {
        Exit::Failed
    } else if all.contains(&None) {
        Exit::Incomplete
    } else {
        Exit::Passed
    }
}
