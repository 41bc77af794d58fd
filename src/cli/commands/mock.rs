//! `mcp-eval mock`: serve a mock MCP server, or stand in for the API of a language model.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::args::{MockArgs, MockTransport};
use crate::cli::{Console, Exit, Failure, runtime};
use crate::http_server::unguessable;
use crate::input;
use crate::mock::{self, Admin, Ended, HttpOptions, LeftOver, Mock, MockLlm, RemoteAdmin};
use crate::model::{Redacted, Redaction, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::mock::DeclaredServer;
use crate::scenario_file::{self, Found};
use crate::store::{self, BASELINE};

pub(in crate::cli) fn run(args: &MockArgs, console: Console) -> Result<Exit, Failure> {
    if !args.http.host.is_loopback() && !args.http.allow_remote {
        let message = format!("other machines could reach a server at {}", args.http.host);
        return Err(Failure::usage(message).hint("if they may, add --allow-remote"));
    }
    if let Some(file) = &args.llm {
        return run_llm(args, file, console);
    }
    check_transport(args)?;
    let mut redaction = Redaction::default();
    let mut recording = None;
    let (name, declared) = match (&args.file, &args.from) {
        (Some(file), _) => declared(args, file, &mut redaction, console)?,
        (None, Some(baseline)) => recorded(args, baseline, &mut recording)?,
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
    let redactor = Redactor::new(&Secrets::of_environment(), &redaction);
    mock.redact_with(match &recording {
        Some(recording) => redactor.of_recorded_servers(recording),
        None => redactor,
    });
    if let Some(path) = &args.call_log {
        mock.log_calls(call_log(path)?);
    }
    let runtime = runtime::here()?;
    let ended = runtime.block_on(serve(mock, args));
    // Reading stdin blocks a thread that would otherwise be waited for.
    runtime.shutdown_background();
    Ok(match ended? {
        Ended::Closed => Exit::Passed,
        Ended::Exit(code) => Exit::Declared(code),
    })
}

async fn serve(mock: Mock, args: &MockArgs) -> Result<Ended, Failure> {
    let interrupt = runtime::interruption();
    let served = match args.transport {
        MockTransport::Stdio => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let served = mock.serve_stdio(input, output, args.max_body);
            let served = interrupt.run_until_cancelled(served).await;
            served.unwrap_or(Ok(Ended::Closed))
        }
        MockTransport::Http => {
            let (listener, address) = listen(args).await?;
            let mut ready = json!({ "port": address.port(), "url": mock::url(address) });
            let admin = args.http.admin.then(|| admin(args)).transpose()?;
            if let Some(remote) = admin.as_ref().and_then(|it| it.remote.as_ref()) {
                ready["token"] = json!(remote.token);
            }
            Console::document(&ready.to_string());
            let options = HttpOptions {
                max_body: args.max_body,
                any_host: args.http.allow_remote,
                admin,
                legacy_sse: args.http.legacy_sse,
            };
            mock.serve_http(listener, options, interrupt).await
        }
    };
    served.map_err(|error| Failure::incomplete(format!("the connection failed: {error}")))
}

/// The control of the running server: where other machines reach it, only with a token.
fn admin(args: &MockArgs) -> Result<Admin, Failure> {
    let remote = args.http.allow_remote.then(|| {
        let token = unguessable()
            .map_err(|error| Failure::incomplete(format!("no token can be made: {error}")))?;
        let hosts = args.http.allow_host.clone();
        Ok::<_, Failure>(RemoteAdmin { token, hosts })
    });
    Ok(Admin {
        read_tool: scenario_file::mock_tool,
        remote: remote.transpose()?,
    })
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

/// The server of a recorded trajectory that is to be served; the trajectory is put into `recording`.
fn recorded(
    args: &MockArgs,
    baseline: &Path,
    recording: &mut Option<Redacted<Trajectory>>,
) -> Result<(String, DeclaredServer), Failure> {
    let beside = |it: &Path| it.join(BASELINE);
    let places = [
        baseline.to_owned(),
        beside(baseline),
        beside(&Path::new("baselines").join(baseline)),
    ];
    let Some(path) = places.iter().find(|it| input::is_no_folder(it)) else {
        let message = format!("there is no baseline at {}", baseline.display());
        return Err(Failure::usage(message)
            .hint("name the file, its folder, or a scenario with a folder below `baselines`"));
    };
    let trajectory = store::load(path).map_err(|error| Failure::usage(error.to_string()))?;
    let servers = mock::recorded(&trajectory);
    *recording = Some(trajectory);
    choose(args, path, servers)
}

/// The server of a file that is to be served; what the file declares to be secret is put into `redaction`.
fn declared(
    args: &MockArgs,
    file: &Path,
    redaction: &mut Redaction,
    console: Console,
) -> Result<(String, DeclaredServer), Failure> {
    let (found, mut findings) = match &args.defaults_from {
        Some(root) => {
            let found = Found::below(root.clone(), file.to_owned());
            let found = match &args.text_from {
                None => found,
                Some(text) => found.holding(&read_text(text)?),
            };
            (vec![found], Vec::new())
        }
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

fn read_text(path: &Path) -> Result<String, Failure> {
    input::read_to_string(path)
        .map_err(|error| Failure::incomplete(format!("cannot read {}: {error}", path.display())))
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

pub(super) fn run_llm(args: &MockArgs, file: &Path, console: Console) -> Result<Exit, Failure> {
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
        let interrupt = runtime::interruption();
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

/// A listener where the options want it, and its address.
pub(super) async fn listen(args: &MockArgs) -> Result<(TcpListener, SocketAddr), Failure> {
    listen_at(args.http.host, args.http.port).await
}

/// A listener at this address, and the address with the port that it has got.
pub(super) async fn listen_at(
    host: IpAddr,
    port: u16,
) -> Result<(TcpListener, SocketAddr), Failure> {
    let failed = |error: io::Error| {
        let message = format!("cannot listen on {host} port {port}: {error}");
        Failure::incomplete(message)
    };
    let listener = TcpListener::bind((host, port)).await;
    let listener = listener.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// A log of what clients ask.
pub(super) fn call_log(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::usage(format!(
            "the call log {} cannot be written: {error}",
            path.display()
        ))
    })
}
