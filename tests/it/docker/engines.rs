//! Ways to an engine: contexts, other sockets, TCP; and how long a reset takes beside doing it by hand.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::common::{Project, ran};
use crate::docker::kit::{A, B, alone, containers, docker, engine, scenario, searching};
use mcp_eval::docker::{Probe, Reached, Session, Slot};
use mcp_eval::mcp::{Launch, Target};
use mcp_eval::model::Outcome;
use mcp_eval::run::ready::{Asks, PageAnswer};
use mcp_eval::run::{Tools, Unlisted};
use mcp_eval::scenario_file;
use mcp_eval::scenario_file::servers::{Container, HealthPage};

/// Where the engine listens that the tests use.
fn socket() -> String {
    let host = std::env::var("DOCKER_HOST");
    let host = host.unwrap_or_else(|_| "unix:///var/run/docker.sock".to_owned());
    host.strip_prefix("unix://").unwrap().to_owned()
}

fn project() -> Project {
    let project = Project::new();
    searching(&project, &json!({}));
    project
}

/// A context as the `docker` program keeps it.
fn context(project: &Project, name: &str, host: &str) {
    let folder = hex::encode(Sha256::digest(name.as_bytes()));
    let meta = json!({ "Name": name, "Endpoints": { "docker": { "Host": host } } });
    project.file(
        &format!(".docker/contexts/meta/{folder}/meta.json"),
        meta.to_string(),
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn contexts_lead_to_their_engines() {
    if !engine("contexts") {
        return;
    }
    let project = project();
    context(&project, "right", &format!("unix://{}", socket()));
    context(&project, "wrong", "unix:///nowhere/docker.sock");
    project.file(".docker/config.json", r#"{"currentContext": "wrong"}"#);
    let with = |name: &str, value: &str| {
        let mut command = project.command();
        ran(command
            .env_remove("DOCKER_HOST")
            .env(name, value)
            .arg("run"))
    };
    let current = with("NOTHING", "");
    assert_eq!(current.code, 3);
    current.says("no Docker engine runs at unix:///nowhere/docker.sock");
    assert_eq!(with("DOCKER_CONTEXT", "right").code, 0);
    assert_eq!(with("DOCKER_HOST", &format!("unix://{}", socket())).code, 0);
    // Without a context of its own, the first of the usual places with a socket in it.
    let default = with("DOCKER_CONTEXT", "default");
    assert!(default.code == 0 || !std::path::Path::new("/var/run/docker.sock").exists());
    let unknown = with("DOCKER_CONTEXT", "nobody-knows");
    assert_eq!(unknown.code, 3);
    unknown.says("the Docker context `nobody-knows` is not known");
}

/// Passes connections on to the engine until it is stopped, which ends them all.
struct Forwarder {
    port: u16,
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Forwarder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = Arc::new(Mutex::new(Some(Vec::new())));
        let kept = Arc::clone(&open);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let Some(open) = &mut *kept.lock().unwrap() else {
                    return;
                };
                let engine = UnixStream::connect(socket()).unwrap();
                open.push(client.try_clone().unwrap());
                let (mut from, mut to) = (client.try_clone().unwrap(), engine.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let (mut from, mut to) = (engine, client);
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        });
        Self { port, open }
    }

    fn stop(&self) {
        for client in self.open.lock().unwrap().take().unwrap() {
            let _ = client.shutdown(std::net::Shutdown::Both);
        }
        // The one that is waited for finds out that it is too late.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }

    fn host(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_engine_is_reached_over_tcp() {
    if !engine("an engine over TCP") {
        return;
    }
    let forwarder = Forwarder::start();
    let project = project();
    let mut command = project.command();
    let ran = ran(command.env("DOCKER_HOST", forwarder.host()).arg("run"));
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_engine_that_stops_during_a_run_is_no_fault_of_the_server() {
    if !engine("an engine that stops") {
        return;
    }
    // What is left behind here is removed by whoever tidies up first.
    let _alone = alone();
    let forwarder = Forwarder::start();
    let project = Project::new();
    let calls = vec![("describe_tool", json!({ "tool": "printEnv" })); 60];
    scenario(&project, "s", &json!({ "image": B }), &calls, &json!({}));
    let mut child = project
        .command()
        .env("DOCKER_HOST", forwarder.host())
        .args(["run", "-v"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|it| it.unwrap().contains("call 1/60")));
    // The engine is out of reach, and its containers have stopped.
    forwarder.stop();
    let label = format!("dev.mcp-eval.process={}", child.id());
    let name = containers(&[&label]).remove(0);
    docker(&["kill", &name]);
    said.for_each(drop);
    let output = child.wait_with_output().unwrap();
    // Any other run may have removed it already, because the process it belonged to has ended.
    let _ = Command::new("docker")
        .args(["rm", "--force", &name])
        .output();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{printed}");
    let flowing = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flowing
            .contains("the state of the container is unknown: the connection to the engine failed"),
        "{printed}"
    );
}

/// Asks as the program itself does.
struct Mcp;

/// The same, where the container has been reached.
struct McpAt(String);

impl Probe for Mcp {
    fn is_asked(&self) -> bool {
        true
    }

    fn asks<'a>(&'a self, reached: Option<&'a Reached>) -> Box<dyn Asks + 'a> {
        Box::new(McpAt(format!("{}/mcp", reached.unwrap().url())))
    }
}

impl Asks for McpAt {
    fn open(&self, limit: Duration) -> BoxFuture<'_, Result<Box<dyn Tools>, Unlisted>> {
        async move {
            let target = Target {
                name: "proxy".to_owned(),
                launch: Launch::Http {
                    style: scenario_file::servers::HttpStyle::default(),
                    url: self.0.clone(),
                    headers: Vec::new(),
                    bearer_token: None,
                },
                protocol: None,
                inputs: Vec::new(),
                may_be_starting: false,
                connect_timeout: limit,
                if_late: Target::GIVE_MORE,
                tool_timeout: limit,
                observed: mcp_eval::mcp::Observed::default(),
            };
            let tools = mcp_eval::mcp::connect(&[target], &|_| ()).await;
            tools.map_err(|error| Unlisted::NotYet(error.message))
        }
        .boxed()
    }

    fn page<'a>(
        &'a self,
        _: &'a HealthPage,
        _: Duration,
    ) -> BoxFuture<'a, Result<PageAnswer, String>> {
        async { Err("there are no pages".to_owned()) }.boxed()
    }

    fn is_same(&self, before: &Outcome, after: &Outcome) -> bool {
        before == after
    }

    fn clean(&self, text: &str) -> String {
        text.to_owned()
    }

    fn waiting(&self, _: &str, _: Duration) {}
}

fn container() -> Container {
    let project = project();
    let (found, _) = scenario_file::find(&[project.path("scenarios")]);
    let loaded = scenario_file::load(&found, &scenario_file::Options::default());
    loaded.scenarios[0].containers[0].clone()
}

/// `docker rm -f`, `docker run`, and asking until `initialize` succeeds.
fn by_hand(name: &str) -> Duration {
    let begun = Instant::now();
    docker(&["rm", "-f", "-v", name]);
    docker(&["run", "-d", "--name", name, "-p", "127.0.0.1:0:8080", A]);
    let published = docker(&["port", name, "8080/tcp"]);
    let url = format!("http://{published}/mcp");
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}"#;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        loop {
            let asked = client
                .post(&url)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .body(message);
            if asked.send().await.is_ok_and(|it| it.status().is_success()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    begun.elapsed()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_reset_takes_about_as_long_as_one_by_hand() {
    if !engine("timing resets") {
        return;
    }
    let name = format!("mcp-eval-test-by-hand-{}", std::process::id());
    docker(&["create", "--name", &name, A]);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = Arc::new(Session::new(|name: &str| std::env::var(name).ok()));
    let slot = Slot::new(Arc::clone(&session), container(), ("s", None));
    let reset = || {
        let begun = Instant::now();
        runtime.block_on(slot.reset(&Mcp, &|_| ())).unwrap();
        begun.elapsed()
    };
    // The first of each finds no container to remove, or a cold cache.
    reset();
    by_hand(&name);
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    // The gate asks for more, with nothing else running.
    let rounds = std::env::var("MCP_EVAL_RESETS").map_or(2, |it| it.parse().unwrap());
    for _ in 0..rounds {
        ours += reset();
        theirs += by_hand(&name);
    }
    docker(&["rm", "-f", &name]);
    runtime.block_on(session.end());
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let _ = writeln!(
        std::io::stderr(),
        "{rounds} resets until ready: {ours:.2?}; by hand, until the first `initialize`: {theirs:.2?}; ratio {ratio:.2}"
    );
}
