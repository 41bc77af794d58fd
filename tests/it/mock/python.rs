//! A second real client: the Python package `mcp`.

use std::process::Command;

use serde_json::{Value, json};

use super::client::Served;
use crate::common::{Project, ran, root, skipped};

const DECLARED: &str = r#"
name: desk
tools:
  - name: find
    description: Finds.
    output_schema: { type: object, properties: { some_key: { type: string } } }
    responses:
      - steps: [{ log: looking }, { progress: { progress: 1 } }]
        content: [{ json: { q: "{{args.q}}" } }]
        structured_content: { some_key: "{{args.q}}" }
  - name: ask
    responses:
      - steps: [{ progress: { progress: 1 } }, { elicit: { message: tea, requested_schema: { type: object, properties: { name: { type: string } } } } }]
        content: "{{elicitation.content.name}}"
resources: [{ uri: "note://a", text: hello }]
prompts: [{ name: greet, arguments: [{ name: name, required: true }], messages: [{ content: "Hello {{args.name}}" }] }]
"#;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_python_client_lists_and_calls_over_both_transports() {
    let Some(python) = std::env::var_os("MCP_EVAL_PYTHON") else {
        let why = "MCP_EVAL_PYTHON names no Python that has the package `mcp`";
        return skipped("the Python client was not tried", why);
    };
    let project = Project::new();
    project.file("mock.yaml", DECLARED);
    let served = Served::start(&project, &["mock.yaml"]);
    let script = root().join("tests/fixtures/mock/client.py");
    let file = project.path("mock.yaml");
    let mock = env!("CARGO_BIN_EXE_mcp-eval");
    let file = file.to_str().unwrap();
    for arguments in [
        &["stdio", mock, "mock", file][..],
        &["http", &served.url],
        &["discover", &served.url],
        &["stateless", mock, "mock", file],
    ] {
        let ran = ran(Command::new(&python).arg(&script).args(arguments));
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:#?}");
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said["server"]["name"], "desk");
        assert_eq!(said["tools"], json!(["find", "ask"]));
        assert_eq!(said["result"]["content"][0]["text"], r#"{"q":"Lisbon"}"#);
        assert_eq!(
            said["result"]["structuredContent"],
            json!({ "some_key": "Lisbon" })
        );
        assert_eq!(said["resources"], json!(["note://a"]));
        assert_eq!(said["prompt"][0]["content"]["text"], "Hello Ada");
        let asks = ["discover", "stateless"].contains(&arguments[0]);
        let asked = asks.then_some("Ada, for tea");
        assert_eq!(said["asked"], json!(asked));
    }
}
