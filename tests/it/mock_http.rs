//! The mock server over Streamable HTTP, asked by a plain HTTP client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::common::Project;

/// A `mcp-eval mock --transport http` that ends with its test.
struct Served {
    child: Child,
    url: String,
    client: Client,
}

impl Served {
    fn start(project: &Project, arguments: &[&str]) -> Self {
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
        let ready: Value = serde_json::from_str(&line).unwrap();
        let port = ready["port"].as_u64().unwrap();
        let expected = format!("{{\"port\":{port},\"url\":\"http://127.0.0.1:{port}/mcp\"}}\n");
        assert_eq!(line, expected);
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            child,
            url: ready["url"].as_str().unwrap().to_owned(),
            client: Client::builder().no_proxy().build().unwrap(),
        }
    }

    async fn post(&self, body: impl Into<String>) -> Response {
        let request = self.client.post(&self.url).body(body.into());
        let request = request.header("content-type", "application/json");
        request.send().await.unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let response = self.post(message.to_string()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let reply: Value = response.json().await.unwrap();
        reply["result"].clone()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROXY: &str = r#"
mcp_interactions:
  proxy:
    state: { servers: { everything: { name: everything } } }
    tools:
      - name: upstream_servers
        responses:
          - match: { operation: add }
            when: { "servers[args.name]": { any: true } }
            content: "{{args.name}} is there already"
            is_error: true
          - match: { operation: add }
            delay: 5ms
            set: { "servers[args.name]": { name: "{{args.name}}", number: "{{counter.server}}", id: "{{uuid}}" } }
            content: [{ json: { id: "{{uuid}}", number: "{{counter.server}}" } }]
          - match: { operation: list }
            content: [{ json: { servers: "{{get.servers | values}}", total: "{{get.servers | count}}" } }]
          - match: { operation: remove }
            when: { "servers[args.name]": { any: true } }
            unset: ["servers[args.name]"]
            content: removed
"#;

#[tokio::test]
async fn what_is_created_is_listed_until_it_is_deleted() {
    let project = Project::new();
    project.file("proxy.yaml", PROXY);
    let served = Served::start(&project, &["proxy.yaml"]);
    let operation = async |operation: &str, name: &str| {
        let arguments = json!({ "operation": operation, "name": name });
        let result = served.call("upstream_servers", arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
            result["isError"] == true,
        )
    };
    let name = "odd \"name\" with.dots";
    let (added, failed) = operation("add", name).await;
    assert_eq!((&added["number"], failed), (&json!(1), false));
    let (listed, _) = operation("list", "").await;
    let expected = json!({ "servers": [
        { "name": "everything" },
        { "name": name, "number": 1, "id": added["id"] },
    ], "total": 2 });
    assert_eq!(listed, expected);
    assert_eq!(
        operation("add", name).await,
        (json!(format!("{name} is there already")), true)
    );
    assert_eq!(
        operation("remove", "everything").await,
        (json!("removed"), false)
    );
    assert!(operation("remove", "everything").await.1);
    let (listed, _) = operation("list", "").await;
    assert_eq!(listed["total"], 1);
    let (added, _) = operation("add", "another").await;
    assert_eq!(added["number"], 2);
}

#[tokio::test]
async fn messages_get_the_status_the_protocol_asks_for() {
    let project = Project::new();
    let served = Served::start(&project, &[]);
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 200),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#, 200),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            202,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 202),
        ("[]", 400),
        ("{", 400),
    ];
    for (message, status) in cases {
        assert_eq!(
            served.post(message).await.status().as_u16(),
            status,
            "{message}"
        );
    }
}
