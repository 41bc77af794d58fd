//! `mcp-eval mock`: serve the mock MCP server a scenario declares.

use std::fmt::Write as _;

use tokio::io::BufReader;

use crate::cli::args::MockArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::mock::{self, Mock};
use crate::scenario_file::{self, Found, Options};

pub(in crate::cli) fn run(args: &MockArgs) -> Result<Exit, Failure> {
    let (found, mut findings) = match &args.defaults_from {
        Some(root) => (
            vec![Found::below(root.clone(), args.file.clone())],
            Vec::new(),
        ),
        None => scenario_file::find(std::slice::from_ref(&args.file)),
    };
    let options = Options {
        variables: args.variables.clone(),
        ..Options::default()
    };
    let loaded = scenario_file::load(&found, &options);
    findings.extend(loaded.findings);
    let Some(scenario) = loaded.scenarios.first() else {
        let mut message = format!("{} declares no mock server", args.file.display());
        for finding in &findings {
            let _ = write!(message, "\n{finding}");
        }
        return Err(Failure::usage(message));
    };
    let names: Vec<String> = scenario
        .interactions
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let declared = match (&args.server, scenario.interactions.as_slice()) {
        (Some(wanted), servers) => servers.iter().find(|(name, _)| name == wanted),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let Some((name, declared)) = declared else {
        let failure = Failure::usage(format!(
            "which mock server of {} is to be served?",
            args.file.display()
        ));
        return Err(match names.as_slice() {
            [] => failure.hint("the scenario declares none under `mcp_interactions`"),
            names => failure.hint(format!("--server takes one of {}", names.join(", "))),
        });
    };
    let mock = Mock::new(name, declared).map_err(Failure::usage)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let served = runtime.block_on(async {
        let interrupt = interrupt::token();
        let input = BufReader::new(tokio::io::stdin());
        tokio::select! {
            served = mock::serve_stdio(mock, input, tokio::io::stdout()) => served,
            () = interrupt.cancelled() => Ok(()),
        }
    });
    // Reading stdin blocks a thread that would otherwise be waited for.
    runtime.shutdown_background();
    served.map_err(|error| Failure::incomplete(format!("the connection failed: {error}")))?;
    Ok(Exit::Passed)
}
