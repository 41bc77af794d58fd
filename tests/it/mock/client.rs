//! Plain clients for the mock server: over HTTP and over pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::common::Project;

/// How long anything may take: far more than it should.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A `mcp-eval mock --transport http` that ends with its test.
pub(crate) struct Served {
    pub(super) child: Child,
    pub(crate) url: String,
    /// The first line it printed.
    pub(super) ready: Value,
    pub(super) client: Client,
}

impl Served {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut command: Command = project.command();
        let arguments = [&["mock", "--transport", "http"], arguments].concat();
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let port = ready["port"].as_u64().unwrap();
        let expected = format!("{{\"port\":{port},\"url\":\"http://127.0.0.1:{port}/mcp\"}}\n");
        if ready["token"].is_null() {
            assert_eq!(line, expected);
        }
        Self {
            child,
            url: ready["url"].as_str().unwrap().to_owned(),
            ready,
            client: http_client(),
        }
    }

    /// A server of these declarations.
    pub(crate) fn of(declared: &str, arguments: &[&str]) -> (Project, Self) {
        let project = Project::new();
        project.file("mock.yaml", declared);
        let served = Self::start(&project, &[&["mock.yaml"], arguments].concat());
        (project, served)
    }

    /// The address of another place of the server.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches("/mcp"))
    }

    pub(super) fn posting(&self, body: impl Into<String>) -> RequestBuilder {
        posting(&self.client, &self.url, body)
    }

    /// A request of the revision 2026-07-28, with the headers that repeat its body.
    pub(super) fn stateless(&self, method: &str, params: Value) -> RequestBuilder {
        let name = params.get("name").or(params.get("uri"));
        let name = name.and_then(Value::as_str).map(str::to_owned);
        let posting = self
            .posting(request(1, method, &enveloped(params, &json!({}))))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        match name {
            Some(name) => posting.header("mcp-name", name),
            None => posting,
        }
    }

    pub(super) async fn post(&self, body: impl Into<String>) -> Response {
        self.posting(body).send().await.unwrap()
    }

    /// Opens a session and returns its id.
    pub(super) async fn open(&self, capabilities: Value) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" } });
        let response = self.post(request(0, "initialize", &params)).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned()
    }

    /// The reply to a request.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Value {
        let response = self.post(request(1, method, &params)).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.json().await.unwrap()
    }

    /// The result of a tool call.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.ask("tools/call", params).await;
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn http_client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .no_proxy()
        .timeout(PATIENCE)
        .build()
        .unwrap()
}

pub(super) fn posting(client: &Client, url: &str, body: impl Into<String>) -> RequestBuilder {
    client
        .post(url)
        .body(body.into())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

/// A `mcp-eval mock` over pipes that ends with its test.
pub(super) struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Piped {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut command: Command = project.command();
        let mut child = command
            .arg("mock")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (out, lines) = channel();
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|it| it > 0) {
                let _ = out.send(String::from_utf8_lossy(&line).into_owned());
                line.clear();
            }
        });
        Self {
            child,
            input,
            lines,
        }
    }

    pub(super) fn of(declared: &str) -> (Project, Self) {
        let project = Project::new();
        project.file("mock.yaml", declared);
        let piped = Self::start(&project, &["mock.yaml"]);
        (project, piped)
    }

    pub(super) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The next line as it was written, its end included.
    #[track_caller]
    pub(super) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// The next message.
    #[track_caller]
    pub(super) fn next(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(request(1, method, params));
        self.next()
    }

    /// The result of a tool call.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.ask("tools/call", &params);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// Closes our side; the rest of what it says, and its exit code.
    pub(super) fn close(mut self) -> (String, i32) {
        drop(self.input.take());
        self.end()
    }

    /// The rest of what it says, and its exit code, once it leaves.
    pub(super) fn end(&mut self) -> (String, i32) {
        let mut rest = String::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push_str(&line);
        }
        (rest, self.child.wait().unwrap().code().unwrap_or(-1))
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Parameters with what every request of the revision 2026-07-28 says in `_meta`: its revision, and what the client can do.
pub(super) fn enveloped(mut params: Value, capabilities: &Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    params
}

/// The messages of an event stream that has come to its end.
pub(super) fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}")))
        .collect()
}

/// All bytes a raw HTTP request gets back until the connection ends.
pub(super) fn raw(url: &str, request: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
