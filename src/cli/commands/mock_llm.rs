//! `mcp-eval mock --llm`: stand in for the API of a language model.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::serving::{call_log, listen};
use crate::cli::args::MockArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::runtime;
use crate::mock::{self, LeftOver, MockLlm};
use crate::model::redaction::Redaction;
use crate::scenario_file;

pub(super) fn run(args: &MockArgs, file: &Path, console: Console) -> Result<Exit, Failure> {
    let (found, mut findings) = scenario_file::find(&[file.to_owned()]);
    let mut interactions = Vec::new();
    let mut redaction = Redaction::default();
    if let [found] = found.as_slice() {
        let loaded = scenario_file::llm(found);
        interactions = loaded.interactions;
        redaction = loaded.redaction;
        findings.extend(loaded.findings);
    }
    if interactions.is_empty() {
        let mut message = format!("{} cannot be served", file.display());
        for finding in &findings {
            let _ = write!(message, "\n{finding}");
        }
        return Err(Failure::usage(message));
    }
    let mut llm = MockLlm::new(&interactions).map_err(Failure::usage)?;
    if let Some(path) = &args.call_log {
        llm = llm.log_requests(call_log(path)?, redaction);
    }
    let runtime = runtime::here()?;
    let served = runtime.block_on(async {
        let interrupt = interrupt::token();
        let (listener, address) = listen(args).await?;
        let url = mock::url(address);
        let url = url.trim_end_matches("/mcp");
        Console::document(&json!({ "port": address.port(), "url": url }).to_string());
        let served = llm.serve(listener, args.max_body, args.http.allow_remote, interrupt);
        let served = served.await;
        served.map_err(|error| Failure::incomplete(error.to_string()))
    });
    runtime.shutdown_background();
    for left in served? {
        console.note(&format!("note: {}", unasked(left)));
    }
    Ok(Exit::Passed)
}

/// What nobody has asked for, in a sentence.
fn unasked(left: LeftOver) -> String {
    let LeftOver {
        number,
        asked,
        times,
    } = left;
    match asked {
        0 => format!("interaction {number} of the script was never requested"),
        _ => format!("interaction {number} of the script was asked for {asked} of {times} times"),
    }
}
