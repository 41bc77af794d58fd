//! `mcp-eval datasets snapshot`: the tools that a proxy has now, as a corpus.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::args::SnapshotArgs;
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::runtime;
use crate::discovery::search::{Ask, LiveTool, Rest, Search, preset};
use crate::json;
use crate::store;
use crate::text::plural;

/// How long the proxy may take to answer.
const LIMIT: Duration = Duration::from_secs(30);

/// A corpus as it is written.
#[derive(Serialize)]
struct Corpus<'a> {
    version: &'a str,
    generated_from: Origin<'a>,
    tools: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Origin<'a> {
    base_url: &'a str,
    tools: usize,
    note: &'a str,
}

#[derive(Serialize)]
struct Entry<'a> {
    tool_id: &'a str,
    server: &'a str,
    tool: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Value>,
}

pub(super) fn run(args: &SnapshotArgs, console: Console) -> Result<Exit, Failure> {
    store::check_writable(&args.out)?;
    let place = data_sets::place(&args.proxy)?;
    let redactor = data_sets::redactor(Some(&place), &[]);
    let mut live = listed(&place).map_err(|why| {
        let address = place.shown();
        let problem = format!("{address} cannot be asked for its tools: {why}");
        Failure::incomplete(redactor.known(&problem).into_inner())
    })?;
    live.dedup_by(|a, b| a.id == b.id);
    if live.is_empty() {
        let problem = format!(
            "{} has no tools, so there is no corpus to write",
            place.shown()
        );
        return Err(Failure::incomplete(problem));
    }
    let tools = live.iter().map(|it| {
        let (server, tool) = it.id.split_once(':').unwrap_or(("", &it.id));
        Entry {
            tool_id: &it.id,
            server,
            tool,
            description: it.description.as_deref().unwrap_or_default(),
            schema: it.schema.as_ref(),
        }
    });
    let corpus = Corpus {
        version: &args.version,
        generated_from: Origin {
            base_url: &place.shown(),
            tools: live.len(),
            note: &args.note,
        },
        tools: tools.collect(),
    };
    let clean = redactor.measured(json!(corpus));
    let text = json::pretty(&*clean);
    store::write_following_links(&args.out, text.as_bytes())?;
    let summary = format!("{} in {}", plural(live.len(), "tool"), args.out.display());
    console.result(&summary);
    Ok(Exit::Passed)
}

/// The tools that a proxy has, sorted by id.
fn listed(place: &crate::discovery::search::Place) -> Result<Vec<LiveTool>, String> {
    let declared = preset("mcpproxy-rest").unwrap_or_default();
    let search = Search::read(&declared)?;
    let Some(listing) = &search.catalogue else {
        return Err("nothing says how".to_owned());
    };
    let Ask::Http(ask) = listing.ask() else {
        return Err("nothing says how".to_owned());
    };
    let runtime = runtime::here().map_err(|it| it.message)?;
    let mut rest = Rest::new(&search, place.clone(), LIMIT);
    let tools = runtime.block_on(rest.catalogue(listing, ask));
    let tools = tools.map_err(|it| it.why)?;
    tools.ok_or_else(|| "it has no such list".to_owned())
}
