//! `mcp-eval list --evaluators --agents`: what a scenario may choose from.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cli::args::{ListArgs, ResultFormat};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::json;
use crate::model::evaluator::KINDS;

/// The kinds of agents, as scenario files spell them.
const AGENTS: [(&str, &str); 6] = [
    ("scripted", "plays the calls that the scenario lists"),
    ("replay", "makes the calls of the baseline again"),
    ("anthropic", "a model behind the API of Anthropic"),
    (
        "openai",
        "a model behind one of OpenAI's APIs, or a server that speaks it",
    ),
    ("ollama", "a model behind the API of Ollama"),
    (
        "command",
        "a program with an MCP client of its own, such as Claude Code",
    ),
];

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct KindsDocument {
    format_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluators: Option<Vec<Kind>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<Kind>>,
}

#[derive(Serialize)]
struct Kind {
    name: &'static str,
    about: &'static str,
}

/// Refuses what picks scenarios: none are listed, and all scenarios have the same to choose from.
///
/// # Errors
///
/// When something picks some.
pub(in crate::cli) fn check(args: &ListArgs) -> Result<(), Failure> {
    let select = &args.select;
    let sets = select.environment.is_some() || !select.variables.is_empty();
    if select.are_default() && !select.picks() && !sets {
        return Ok(());
    }
    let option = if args.evaluators {
        "--evaluators"
    } else {
        "--agents"
    };
    let why =
        format!("{option} lists what any scenario may choose from, so no scenario can be picked");
    Err(Failure::usage(why).hint("leave out paths and whatever else picks scenarios"))
}

/// Prints the kinds that are asked for.
pub(in crate::cli) fn run(args: &ListArgs, console: Console) {
    let evaluators = args.evaluators.then_some(&KINDS[..]);
    let agents = args.agents.then_some(&AGENTS[..]);
    match args.printed.format {
        ResultFormat::Json => {
            let kinds = |of: &[(&'static str, &'static str)]| {
                let kinds = of.iter().map(|(name, about)| Kind { name, about });
                kinds.collect()
            };
            Console::document(&json::pretty(&KindsDocument {
                format_version: 1,
                evaluators: evaluators.map(kinds),
                agents: agents.map(kinds),
            }));
        }
        ResultFormat::Terminal => {
            let tables = [("EVALUATOR", evaluators), ("AGENT", agents)];
            let tables = tables
                .into_iter()
                .filter_map(|(title, it)| Some(table(title, it?)));
            console.result(&tables.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn table(title: &str, kinds: &[(&str, &str)]) -> String {
    let names = kinds.iter().map(|(name, _)| name.len());
    let width = names.chain([title.len()]).max().unwrap_or_default() + 2;
    let mut table = format!("{title}\n");
    for (name, about) in kinds {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:width$}{about}");
    }
    table
}
