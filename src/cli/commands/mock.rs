//! `mcp-eval mock`: serve a mock MCP server.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use tokio::io::BufReader;

use super::mock_llm;
use super::serving::{call_log, listen, runtime};
use crate::cli::args::{MockArgs, MockTransport};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::mock::{self, Ended, HttpOptions, Mock};
use crate::model::interactions::DeclaredServer;
use crate::model::redaction::Redaction;
use crate::scenario_file::{self, Found};
use crate::store;

pub(in crate::cli) fn run(args: &MockArgs, console: Console) -> Result<Exit, Failure> {
    if !args.http.host.is_loopback() && !args.http.allow_remote {
        let message = format!("other machines could reach a server at {}", args.http.host);
        return Err(Failure::usage(message).hint("if they may, add --allow-remote"));
    }
    if let Some(file) = &args.llm {
        return mock_llm::run(args, file);
    }
    check_transport(args)?;
    let mut redaction = Redaction::default();
    let (name, declared) = match (&args.file, &args.from) {
        (Some(file), _) => declared(args, file, &mut redaction, console)?,
        (None, Some(baseline)) => recorded(args, baseline)?,
        (None, None) if args.server.is_some() => {
            return Err(Failure::usage(
                "--server picks one of the servers of a file, and there is none",
            ));
        }
        (None, None) => (mock::ECHO_NAME.to_owned(), mock::echo()),
    };
    let options = mock::Options {
        // The tool of the built-in server cannot do without its argument.
        validate: args.validate || args.file.is_none() && args.from.is_none(),
        changes: args.http.admin,
    };
    let mock = Mock::new(&name, declared, options).map_err(Failure::usage)?;
    mock.hide(redaction);
    if let Some(path) = &args.call_log {
        mock.log_calls(call_log(path)?);
    }
    let runtime = runtime()?;
    let ended = runtime.block_on(serve(mock, args));
    // Reading stdin blocks a thread that would otherwise be waited for.
    runtime.shutdown_background();
    Ok(match ended? {
        Ended::Closed => Exit::Passed,
        Ended::Exit(code) => Exit::Declared(code),
    })
}

async fn serve(mock: Mock, args: &MockArgs) -> Result<Ended, Failure> {
    let interrupt = interrupt::token();
    let served = match args.transport {
        MockTransport::Stdio => {
            let input = BufReader::new(tokio::io::stdin());
            tokio::select! {
                served = mock.serve_stdio(input, tokio::io::stdout(), args.max_body) => served,
                () = interrupt.cancelled() => Ok(Ended::Closed),
            }
        }
        MockTransport::Http => {
            let (listener, address) = listen(args).await?;
            let ready = json!({ "port": address.port(), "url": mock::url(address) });
            Console::document(&ready.to_string());
            let options = HttpOptions {
                max_body: args.max_body,
                any_host: args.http.allow_remote,
                admin: args.http.admin.then_some(scenario_file::mock_tool),
                legacy_sse: args.http.legacy_sse,
            };
            mock.serve_http(listener, options, interrupt).await
        }
    };
    served.map_err(|error| Failure::incomplete(format!("the connection failed: {error}")))
}

/// What only makes sense over HTTP is not silently without effect.
fn check_transport(args: &MockArgs) -> Result<(), Failure> {
    let given = [
        ("--port", args.http.port != 0),
        ("--admin", args.http.admin),
        ("--legacy-sse", args.http.legacy_sse),
        ("--allow-remote", args.http.allow_remote),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if args.transport == MockTransport::Stdio => {
            let message = format!("{option} means nothing over stdio");
            Err(Failure::usage(message).hint("add --transport http"))
        }
        _ => Ok(()),
    }
}

/// The server of a recorded trajectory that is to be served.
fn recorded(args: &MockArgs, baseline: &Path) -> Result<(String, DeclaredServer), Failure> {
    let beside = |it: &Path| it.join("baseline.json");
    let places = [
        baseline.to_owned(),
        beside(baseline),
        beside(&Path::new("baselines").join(baseline)),
    ];
    let Some(path) = places.iter().find(|it| it.is_file()) else {
        let message = format!("there is no baseline at {}", baseline.display());
        return Err(Failure::usage(message)
            .hint("name the file, its folder, or a scenario with a folder below `baselines`"));
    };
    let trajectory = store::load(path).map_err(|error| Failure::usage(error.to_string()))?;
    choose(args, path, mock::recorded(&trajectory))
}

/// The server of a file that is to be served; what the file declares to be secret is put into `redaction`.
fn declared(
    args: &MockArgs,
    file: &Path,
    redaction: &mut Redaction,
    console: Console,
) -> Result<(String, DeclaredServer), Failure> {
    let (found, mut findings) = match &args.defaults_from {
        Some(root) => (
            vec![Found::below(root.clone(), file.to_owned())],
            Vec::new(),
        ),
        None => scenario_file::find(&[file.to_owned()]),
    };
    let mut servers = Vec::new();
    if let [found] = found.as_slice() {
        let loaded = scenario_file::mocks(found);
        servers = loaded.servers;
        *redaction = loaded.redaction;
        findings.extend(loaded.findings);
    }
    if servers.is_empty() {
        let mut message = format!("{} cannot be served", file.display());
        for finding in &findings {
            let _ = write!(message, "\n{finding}");
        }
        return Err(Failure::usage(message));
    }
    for finding in &findings {
        console.note(&finding.to_string());
    }
    choose(args, file, servers)
}

/// The one server that is asked for.
fn choose(
    args: &MockArgs,
    file: &Path,
    mut servers: Vec<(String, DeclaredServer)>,
) -> Result<(String, DeclaredServer), Failure> {
    let names: Vec<String> = servers
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let chosen = match &args.server {
        Some(wanted) => servers.iter().position(|(name, _)| name == wanted),
        None => (servers.len() == 1).then_some(0),
    };
    let Some(chosen) = chosen else {
        let question = format!("which mock server of {} is to be served?", file.display());
        let failure = Failure::usage(question);
        return Err(match names.as_slice() {
            [] => failure.hint("it knows of no server"),
            [name] if name == "``" => {
                failure.hint("the file declares a single server without a name: leave --server out")
            }
            names => failure.hint(format!("--server takes one of {}", names.join(", "))),
        });
    };
    let (name, declared) = servers.swap_remove(chosen);
    let name = if name.is_empty() {
        "mock".to_owned()
    } else {
        name
    };
    Ok((name, declared))
}
