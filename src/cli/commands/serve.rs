//! `mcp-eval serve`: the same over HTTP; and `mcp-eval discover`, which finds a running test server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::mock::listen_at;
use crate::cli::args::{DiscoverArgs, ServeAgent, ServeArgs};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::suite::base;
use crate::cli::{Console, Exit, Failure, database, runtime};
use crate::client::{self, ClientError, Kind, PORTS, TestClient};
use crate::http_server::unguessable;
use crate::model::Redacted;
use crate::report::command::SCENARIOS;
use crate::scenario_file::servers::{ClientServers, Server};
use crate::scenario_file::{self, Finding};
use crate::serve::{self, Allowed, Bounds, Endings, Options};
use crate::suite::{AgentChoice, Choice, Finished, Settings};

/// The environment variable that holds the token, where somebody has chosen one.
const TOKEN: &str = "MCP_EVAL_TOKEN";

/// How long another server of this folder may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The shortest token that somebody may choose.
const SHORTEST_TOKEN: usize = 16;

pub(in crate::cli) fn run(args: &ServeArgs, console: Console) -> Result<Exit, Failure> {
    let host = args.listen.host;
    if !host.is_loopback() {
        if !args.listen.allow_remote {
            let message = format!("other machines could reach a server at {host}");
            return Err(Failure::usage(message).hint("if they may, add --allow-remote"));
        }
        if args.allow.no_token {
            let message = format!("other machines could use a server at {host} without a token");
            return Err(Failure::usage(message).hint("leave --no-token out"));
        }
    }
    let is_usual = args.root == Path::new(SCENARIOS) && !args.root.exists();
    if is_usual {
        console.note(&format!(
            "note: there is no folder {SCENARIOS}, so only scenarios and test cases within requests are run"
        ));
    } else if !args.root.is_dir() {
        let message = format!("there is no folder {}", args.root.display());
        return Err(Failure::usage(message)
            .hint("--root names the folder of the scenarios that are served"));
    }
    let (token, is_ours) = token(args)?;
    // A token that somebody has chosen is not for everybody who reads what is printed.
    let code = is_ours.then(unguessable).transpose();
    let code =
        code.map_err(|error| Failure::incomplete(format!("no link can be made: {error}")))?;
    let mut options = Options {
        code: code.clone(),
        ..options(args, token.clone(), console)?
    };
    serve::check_agent(&options)?;
    let threads = options.bounds.concurrent.min(8) + 2;
    let runtime = runtime::beside(threads)?;
    let served = runtime.block_on(async {
        let (listener, address) = listen_at(host, args.listen.port).await?;
        // Whoever reads where it is may ask at once, and stop it.
        let begun = CancellationToken::new();
        begun.cancel();
        let signals = runtime::endings(&begun);
        let url = serve::url(address);
        if let Some(other) = announced_by_another(&url).await {
            console.note(&format!(
                "note: {} leads to the server at {other}, which still runs: name this one by its address, and its token by {TOKEN}",
                serve::FILE.display()
            ));
            options.announces = false;
        }
        let mut ready = json!({ "port": address.port(), "url": url });
        let has_token = token.is_some();
        if let Some(token) = token.filter(|_| is_ours) {
            ready["token"] = json!(token);
        }
        Console::document(&format!("{ready}\n"));
        console.note(&format!(
            "mcp-eval test server running on port {}",
            address.port()
        ));
        console.note(&dashboard(&serve::url(address), code.as_deref(), has_token));
        let endings = Endings {
            done: signals.done,
            abort: signals.abort,
        };
        let served = serve::serve(listener, options, endings).await;
        served.map_err(|error| Failure::incomplete(format!("the server failed: {error}")))
    });
    // Does not wait for a server that keeps its pipes open.
    runtime.shutdown_background();
    served.map(|()| Exit::Passed)
}

/// Where people look at it.
fn dashboard(url: &str, code: Option<&str>, has_token: bool) -> String {
    match code {
        Some(code) => format!(
            "dashboard: {url}/sign-in/{code} (signs in once; later, {url}/ asks for the token)"
        ),
        None if has_token => format!("dashboard: {url}/ (asks for the token)"),
        None => format!("dashboard: {url}/"),
    }
}

/// The address of another server that was started in this folder and still answers to the token that it has left there.
async fn announced_by_another(own: &str) -> Option<String> {
    let other = serve::announced().filter(|it| it.url != own)?;
    let client = TestClient::new(&other.url, other.token).with_patience(PATIENCE);
    client.status().await.ok().map(|_| other.url)
}

/// The token that requests must show, and whether it was made up just now.
fn token(args: &ServeArgs) -> Result<(Option<String>, bool), Failure> {
    if args.allow.no_token {
        return Ok((None, false));
    }
    if let Some(token) = std::env::var(TOKEN).ok().filter(|it| !it.is_empty()) {
        if token.len() < SHORTEST_TOKEN || token.trim() != token {
            let message = format!(
                "{TOKEN} is shorter than {SHORTEST_TOKEN} characters, or has spaces around it"
            );
            return Err(Failure::usage(message).hint("leave it out, and one is made up"));
        }
        return Ok((Some(token), false));
    }
    let made = unguessable()
        .map_err(|error| Failure::incomplete(format!("no token can be made: {error}")))?;
    Ok((Some(made), true))
}

fn options(args: &ServeArgs, token: Option<String>, console: Console) -> Result<Options, Failure> {
    let settings = Settings {
        containers: !args.no_docker,
        baselines: args.baseline.clone(),
        database: database::of(&args.database)?,
        ..base()?
    };
    let (baselines, keep) = (args.baseline.clone(), args.kept.keep.0);
    let finish = move |finished: &Finished| {
        let reports = Reports::none();
        let options = ReportOptions::of(&reports, keep, &baselines);
        finish::keep(finished, &options, console)
    };
    let mcp_config = args.mcp_config.as_ref();
    let judge = args.judge.as_ref();
    Ok(Options {
        token,
        code: None,
        allowed: Allowed {
            programs: args.allow.allow_programs,
            write: args.allow.allow_write,
            any_host: args.listen.allow_remote,
            origins: args.allow.allow_origin.clone(),
        },
        bounds: Bounds {
            concurrent: args.bounds.max_concurrent.into(),
            queue: usize::try_from(args.bounds.queue).unwrap_or(usize::MAX),
            run_timeout: args.bounds.timeout,
            grace: args.bounds.grace,
        },
        announces: true,
        root: args.root.clone(),
        servers: mcp_config.map_or(Ok(Vec::new()), |it| servers(it))?,
        judge: judge
            .map(|it| scenario_file::judge::judge_file(it).map_err(|it| Failure::invalid(&it)))
            .transpose()?,
        agent: Choice {
            agent: args.agent.map(|it| match it {
                ServeAgent::Anthropic => AgentChoice::Anthropic,
                ServeAgent::Openai => AgentChoice::OpenAi,
                ServeAgent::Ollama => AgentChoice::Ollama,
            }),
            model: args.model.clone(),
            ..Choice::default()
        },
        settings,
        finish: Arc::new(finish),
        note: Arc::new(move |note: &Redacted<String>| console.note(&format!("note: {note}"))),
    })
}

/// The servers of a client's configuration, all of which test cases may ask.
fn servers(path: &Path) -> Result<Vec<Server>, Failure> {
    let read = scenario_file::servers::client_servers(path);
    let ClientServers { servers, unread } =
        read.map_err(|problem| Failure::usage(problem.to_string()))?;
    let findings: Vec<Finding> = unread.into_iter().flat_map(|it| it.findings).collect();
    if findings.is_empty() {
        return Ok(servers);
    }
    Err(Failure::invalid(&findings))
}

pub(in crate::cli) fn discover(args: &DiscoverArgs, console: Console) -> Result<Exit, Failure> {
    let runtime = runtime::here()?;
    let found = runtime.block_on(async {
        match &args.url {
            Some(url) => client::probe(url, Kind::Given).await,
            None => client::find().await,
        }
    });
    let Some(found) = found else {
        if let Some(url) = &args.url {
            let error = ClientError::NotATestServer { url: url.clone() };
            return Err(Failure::incomplete(error.to_string()));
        }
        let ports = PORTS.map(|it| it.to_string()).join(", ");
        let failure = Failure::incomplete("No test server found. Please start a test server:");
        return Err(failure.hint("mcp-eval serve").hint(format!(
            "looked at .mcp-eval/serve.json and the ports {ports} of this machine"
        )));
    };
    let what = match found.kind {
        Kind::Dedicated | Kind::Given => "Found dedicated test server at",
        Kind::Ui => "Found UI server with testing enabled at",
    };
    console.result(&format!("{what} {}\n", found.url));
    Ok(Exit::Passed)
}
