//! A test server in a project, a shop with a tool server and a model, and a client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::common::{Project, StandIn, served, stand_in};

/// How long anything may take: far more than it should.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running `mcp-eval serve` that ends with its test.
pub(crate) struct Server {
    child: Option<Child>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    client: Client,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// Starts it on a free port.
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::with(project, arguments, &[])
    }

    /// The same with environment variables.
    pub(crate) fn with(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        std::fs::create_dir_all(project.path("scenarios")).unwrap();
        Self::in_folder(project, arguments, env)
    }

    /// The same whatever folders there are.
    pub(crate) fn in_folder(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let mut child = project
            .command()
            .args(["serve", "--port", "0"])
            .args(arguments)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            let output = child.wait_with_output().unwrap();
            panic!("{line:?} {output:?}")
        };
        let chosen = env.iter().find(|(name, _)| *name == "MCP_EVAL_TOKEN");
        let chosen = chosen.map(|(_, token)| (*token).to_owned());
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            child: Some(child),
            url: ready["url"].as_str().unwrap().to_owned(),
            token: ready["token"].as_str().map(str::to_owned).or(chosen),
            client: Client::builder()
                .no_proxy()
                .timeout(PATIENCE)
                .build()
                .unwrap(),
        }
    }

    /// A request with the token, to a path below `/api/test`.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.bare(method, path);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// The same without a token.
    pub(crate) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/test/{path}", self.url);
        self.client.request(method, url)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.request(Method::POST, path).json(body)).await
    }

    /// Sends a body that may be anything.
    pub(crate) async fn post_raw(&self, path: &str, body: impl Into<String>) -> (u16, Value) {
        let request = self.request(Method::POST, path);
        let request = request.header("content-type", "application/json");
        answer(request.body(body.into())).await
    }

    /// Runs a test case that is well-formed.
    #[track_caller]
    pub(crate) fn run(&self, case: &Value) -> impl Future<Output = Value> {
        let running = answer(self.request(Method::POST, "run").json(case));
        async move {
            let (status, reply) = running.await;
            assert_eq!(status, 200, "{reply:#}");
            reply
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// What it says on stderr, up to the first line that holds this: that line. Nothing more of it is read afterwards.
    pub(crate) fn first_line_with(&mut self, part: &str) -> String {
        let child = self.child.as_mut().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut lines = stderr.lines();
        let line = lines
            .by_ref()
            .map(Result::unwrap)
            .find(|it| it.contains(part));
        std::thread::spawn(move || lines.count());
        line.unwrap()
    }

    /// Waits until it has ended; its exit code and what it said on stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    }
}

/// The status and the JSON of an answer.
pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let value = if text.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}"))
    };
    (status, value)
}

/// Reads a stream of events.
pub(crate) struct Events {
    response: Response,
    pending: String,
}

/// An event of a stream: its id, its kind and its data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Events {
    pub(crate) async fn open(request: RequestBuilder) -> Self {
        let request = request.header("accept", "text/event-stream");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            pending: String::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.pending.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.pending = rest;
                let field = |name: &str| {
                    let mut lines = block.lines();
                    lines.find_map(|it| it.strip_prefix(&format!("{name}: ")))
                };
                // A comment keeps the connection open.
                let Some(data) = field("data") else { continue };
                return Some(Event {
                    id: field("id").unwrap_or_default().to_owned(),
                    kind: field("event").unwrap_or_default().to_owned(),
                    data: serde_json::from_str(data).unwrap(),
                });
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.pending += std::str::from_utf8(&chunk).unwrap();
        }
    }

    /// All events up to the first that is meant.
    pub(crate) async fn until(&mut self, is_it: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut seen = Vec::new();
        while let Some(event) = self.next().await {
            let found = is_it(&event);
            seen.push(event);
            if found {
                return seen;
            }
        }
        panic!("the stream ended: {seen:#?}")
    }
}

/// What the model of the shop does: it looks for the price, and says it.
const MODEL: &str = "
llm_interactions:
  - tool_calls: [{ name: mcp__shop__get_price, arguments: { item: tea } }]
    usage: { input: 10, output: 5 }
  - { text: Tea costs 4 euros., usage: { input: 20, output: 5 } }
";

/// What the server of the shop offers.
pub(crate) const SHOP: &str = r"
mcp_interactions:
  shop:
    tools:
      - name: get_price
        responses:
          - content: [{ text: '4 euros for {{args.item}}' }]
      - name: buy
        responses:
          - content: [{ text: bought }]
      - name: refuse
        responses:
          - { content: [{ text: sold out }], is_error: true }
";

/// A project with a shop over HTTP and a model.
pub(crate) struct Desk {
    pub(crate) project: Project,
    pub(crate) shop: String,
    pub(crate) model: String,
    _held: (StandIn, StandIn),
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with_model(MODEL)
    }

    pub(crate) fn with_model(script: &str) -> Self {
        let project = Project::new();
        project.file("shop.yaml", SHOP).file("model.yaml", script);
        let (shop, shop_url) = served(&project, &["mock", "shop.yaml", "--transport", "http"]);
        let (model, model_url) = stand_in(&project, "model.yaml");
        Self {
            project,
            shop: shop_url,
            model: model_url,
            _held: (shop, model),
        }
    }

    /// A test case that asks the model for the price of tea.
    pub(crate) fn case(&self, expected: &[&str]) -> Value {
        json!({
            "name": "price of tea",
            "prompt": "What does tea cost?",
            "expectedTools": expected,
            "serverConfigs": [{ "type": "http", "name": "shop", "url": self.shop }],
            "agentConfig": self.agent(),
        })
    }

    pub(crate) fn agent(&self) -> Value {
        json!({ "provider": "openai", "model": "m", "baseUrl": self.model })
    }
}

/// The same value with these members.
pub(crate) fn with(value: &Value, more: &Value) -> Value {
    let mut value = value.clone();
    let members = value.as_object_mut().unwrap();
    for (key, it) in more.as_object().unwrap() {
        members.insert(key.clone(), it.clone());
    }
    value
}

/// The same value without a member.
pub(crate) fn without(value: &Value, key: &str) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().remove(key);
    value
}

/// Where findings of an answer are.
pub(crate) fn places(answer: &Value) -> Vec<&str> {
    let findings = answer["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect()
}
