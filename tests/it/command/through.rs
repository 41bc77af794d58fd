//! Sessions through the gateway that a test has by hand, and what the gateway records of them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mcp_eval::mcp::{GatewayPlace, Launch, Target, open_gateway};
use mcp_eval::model::{Redacted, Trajectory};
use mcp_eval::process::ChildCommand;
use mcp_eval::redact::Redactor;
use mcp_eval::run::{
    self, Agent, AskAgain, Connection, Conversation, Job, Observer, Progress, Stop,
};
use mcp_eval::scenario_file;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::common::{Project, faulty_server};
use crate::score_kit::recorded;

/// A client in a session.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) url: String,
    /// Empty where there is none.
    pub(super) id: String,
}

impl Session {
    pub(super) fn at(url: &str) -> Self {
        Self {
            client: crate::mock::http_client(),
            url: url.to_owned(),
            id: String::new(),
        }
    }

    /// Begins it.
    pub(super) async fn open(url: &str) -> Self {
        let mut session = Self::at(url);
        let opened = session.hello().await;
        let id = opened.headers().get("mcp-session-id");
        session.id = id.map_or_else(String::new, |it| it.to_str().unwrap().to_owned());
        session
    }

    pub(super) async fn hello(&self) -> Response {
        let params = json!({ "protocolVersion": "2025-11-25" });
        self.post(0, "initialize", params).await
    }

    fn with_id(&self, request: RequestBuilder) -> RequestBuilder {
        match self.id.as_str() {
            "" => request,
            id => request.header("Mcp-Session-Id", id),
        }
    }

    pub(super) async fn send(&self, message: &Value) -> Response {
        let request = self.client.post(&self.url).json(message);
        let request = request.header("Accept", "application/json, text/event-stream");
        self.with_id(request).send().await.unwrap()
    }

    pub(super) async fn post(&self, id: usize, method: &str, params: Value) -> Response {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await
    }

    pub(super) async fn call(&self, id: usize, arguments: Value) -> Response {
        let params =
            json!({ "name": "echo", "arguments": arguments, "_meta": { "progressToken": id } });
        self.post(id, "tools/call", params).await
    }

    pub(super) async fn call_of(&self, id: usize, tool: &str) -> Response {
        self.post(id, "tools/call", json!({ "name": tool })).await
    }

    /// What belongs to no request.
    pub(super) async fn news(&self) -> Response {
        let request = self.client.get(&self.url);
        let request = request.header("Accept", "text/event-stream");
        self.with_id(request).send().await.unwrap()
    }
}

/// The faulty server.
pub(super) fn child(faults: &[&str]) -> Launch {
    Launch::Child(ChildCommand {
        program: faulty_server().into(),
        args: faults.iter().map(Into::into).collect(),
        env: Vec::new(),
        cwd: None,
        supervisor: None,
        ..ChildCommand::default()
    })
}

type Work = Box<dyn FnOnce(String) -> BoxFuture<'static, ()> + Send>;

/// An agent that does this with the address of its server.
struct Hand(Option<Work>);

impl Agent for Hand {
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        async move {
            let url = conversation.endpoints()[0].url.clone();
            let work = self.0.take().unwrap()(url);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    () = &mut work => return Ok(()),
                    event = conversation.next_call_event() => event?,
                }
            }
        }
        .boxed()
    }
}

struct NoProgress;

impl Observer for NoProgress {
    fn progress(&self, _: Progress<'_>) {}
}

/// What a run records of this work with a server behind the gateway, whose calls of all tools but `write` are asked `again`, or none.
pub(super) async fn recorded_run<F: Future<Output = ()> + Send + 'static>(
    launch: Launch,
    tool_timeout: Duration,
    again: bool,
    work: impl FnOnce(String) -> F + Send + 'static,
) -> Redacted<Trajectory> {
    let target = Target {
        name: "s".to_owned(),
        launch,
        protocol: None,
        inputs: Vec::new(),
        may_be_starting: false,
        if_late: Target::GIVE_MORE,
        connect_timeout: Duration::from_secs(5),
        tool_timeout,
        observed: mcp_eval::mcp::Observed::default(),
    };
    let project = Project::new();
    let scenario =
        json!({ "name": "S", "agent": { "kind": "scripted", "calls": [{ "tool": "echo" }] } });
    project.file("s.yaml", scenario.to_string());
    let (found, _) = scenario_file::find(&[project.path("s.yaml")]);
    let loaded = scenario_file::load(&found, &scenario_file::Options::default());
    let ask_again = again.then(|| AskAgain::new(Duration::ZERO, |call, _| call.tool != "write"));
    let asking = ask_again.clone();
    let work: Work = Box::new(move |url| work(url).boxed());
    run::run(Job {
        scenario: &loaded.scenarios[0],
        stamp: recorded(&[]).stamp,
        connect: async move {
            open_gateway(
                &[target],
                None,
                GatewayPlace::new(None).unwrap(),
                asking,
                &|_| (),
            )
            .await
            .map(Connection::Gateway)
        }
        .boxed(),
        agent: &mut Hand(Some(work)),
        observer: &NoProgress,
        interrupt: CancellationToken::new(),
        budget: None,
        ask_again,
        patience: None,
        behind: None,
        proven_by_calls: false,
        redactor: &Redactor::default(),
    })
    .await
    .trajectory
}

/// Takes events until one is `last`, and no longer than our patience lasts.
pub(super) async fn events(mut response: Response, last: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut events = Vec::new();
    let mut text = Vec::new();
    let reading = async {
        while let Some(piece) = response.chunk().await.unwrap() {
            text.extend_from_slice(&piece);
            while let Some(end) = text.windows(2).position(|it| it == b"\n\n") {
                let event: Vec<u8> = text.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let data = event.lines().filter_map(|it| it.strip_prefix("data: "));
                let Ok(message) = serde_json::from_str(&data.collect::<String>()) else {
                    continue;
                };
                events.push(message);
                if events.last().is_some_and(&last) {
                    return;
                }
            }
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(240), reading).await;
    assert!(read.is_ok(), "{} events, and not the last", events.len());
    events
}

/// What a server over HTTP does with a request: its method, its message, and how many calls there were before.
pub(super) type Answering =
    dyn Fn(&str, Value, usize) -> BoxFuture<'static, axum::response::Response> + Send + Sync;

/// A server over HTTP on a free port that lives as long as the test; handshakes and lists need no answering.
pub(super) async fn web(answering: Arc<Answering>) -> Launch {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let answer = move |request: axum::extract::Request| {
        let (answering, asked) = (Arc::clone(&answering), Arc::clone(&asked));
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            if parts.method == http::Method::DELETE {
                return axum::response::Response::default();
            }
            let result = match message["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "web", "version": "1" },
                }),
                Some("tools/list") if message["params"]["slow"].is_null() => {
                    json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
                }
                Some(method) if method.starts_with("notifications/") => {
                    let mut accepted = axum::response::Response::default();
                    *accepted.status_mut() = http::StatusCode::ACCEPTED;
                    return accepted;
                }
                _ => {
                    let is_call = usize::from(message["method"] == "tools/call");
                    let before = asked.fetch_add(is_call, std::sync::atomic::Ordering::SeqCst);
                    return answering(parts.method.as_str(), message, before).await;
                }
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            respond(200, "application/json", answer.to_string())
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = axum::Router::new().route("/mcp", axum::routing::any(answer));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    Launch::Http {
        style: scenario_file::servers::HttpStyle::default(),
        url,
        headers: Vec::new(),
        bearer_token: None,
    }
}

pub(super) fn respond(
    status: u16,
    kind: &str,
    body: impl Into<axum::body::Body>,
) -> axum::response::Response {
    axum::response::Response::builder()
        .status(status)
        .header("content-type", kind)
        .header("mcp-session-id", "s-1")
        .body(body.into())
        .unwrap()
}
