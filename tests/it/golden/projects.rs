//! What the cases are tried on, and what changes there.

use serde_json::{Value, json};

use crate::common::{Project, root, small_agent, small_proxy};
use crate::prepare::Sourced;

const WEATHER: &str = "scenarios/weather.yaml";

/// A mock that is asked four things: one answer has an id that varies, one is what the next call is made of, and one call has an effect.
pub(super) fn weather() -> Project {
    let project = Project::new();
    project.file(
        WEATHER,
        r#"name: Look up the weather
description: A place is found, its forecast read, and what comes of it noted
tags: [weather]
user_intent: Do I need an umbrella in Bonn?
servers: { weather: { type: mock } }
scoring: { slower: { gate: ignore } }
expected_trajectory:
  - { tool: find_place, args: { name: Bonn } }
  - { tool: forecast, args: { id: "{{calls.0.json:/id}}" }, expect: { text: degrees } }
  - { tool: note, args: { text: rain in Bonn } }
  - { tool: notes }
success_criteria: [umbrella]
mcp_interactions:
  weather:
    tools:
      - name: find_place
        description: Finds a place by its name
        annotations: { read_only_hint: true }
        input_schema: { type: object, properties: { name: { type: string } }, required: [name] }
        responses: [{ content: [{ json: { id: p-7, name: "{{args.name}}", seen: "{{uuid}}" } }] }]
      - name: forecast
        description: The forecast of a place
        annotations: { read_only_hint: true }
        input_schema: { type: object, properties: { id: { type: string } }, required: [id] }
        responses: [{ content: [{ json: { sky: rain, degrees: 14, advice: take an umbrella } }] }]
      - name: note
        description: Keeps a note
        input_schema: { type: object, properties: { text: { type: string } }, required: [text] }
        responses: [{ content: noted }]
      - name: notes
        description: All notes
        annotations: { read_only_hint: true }
        responses: [{ content: "1 note\nrain in Bonn" }]
"#,
    );
    project
}

pub(super) fn warmer(project: &Project) {
    project.edit(WEATHER, "degrees: 14", "degrees: 15");
}

pub(super) fn renamed(project: &Project) {
    project.edit(WEATHER, "- name: forecast", "- name: get_forecast");
}

pub(super) fn unstartable(project: &Project) {
    project.edit(
        WEATHER,
        "{ type: mock } }",
        "{ type: mock }, archive: { command: no-such-server } }",
    );
}

/// An agent that is a program of its own, whose calls a gateway hears.
pub(super) fn gateway() -> Project {
    let project = weather();
    let scenario = project.read(WEATHER);
    let (head, rest) = scenario.split_once("expected_trajectory:").unwrap();
    let (_, rest) = rest.split_once("success_criteria:").unwrap();
    let agent = json!({ "kind": "command", "command": [
        small_agent(),
        "read",
        "call weather find_place {\"name\":\"Bonn\"}",
        "call weather forecast {\"id\":\"p-7\"}",
        "print Take an umbrella.",
    ] });
    project.file(
        WEATHER,
        format!("{head}agent: {agent}\nsuccess_criteria:{rest}"),
    );
    project
}

/// The agent asks for another place, and notes what it has found.
pub(super) fn other_agent(project: &Project) {
    project
        .edit(
            WEATHER,
            r#"{\"name\":\"Bonn\"}"#,
            r#"{\"name\":\"Cologne\"}"#,
        )
        .edit(
            WEATHER,
            r#""print "#,
            r#""call weather note {\"text\":\"rain\"}","print "#,
        );
}

/// A proxy with a mock behind it, which hears what the proxy makes of each call.
pub(super) fn upstream() -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "Read and write through a proxy",
        "config_file": "proxy.json",
        // However busy the machine is.
        "scoring": { "slower": { "gate": "ignore" } },
        "servers": { "proxy": {
            "type": "http",
            "url": "http://127.0.0.1:${port}/mcp",
            "headers": { "X-Tenant": "acme" },
            "start": { "command": small_proxy(), "args": ["${port}", "${config_file}"] },
        } },
        "upstreams": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": { "tools": [
            {
                "name": "read",
                "annotations": { "read_only_hint": true },
                "input_schema": { "type": "object", "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } } },
                "responses": [{ "content": "twelve bottles of red wine" }],
            },
            {
                "name": "write",
                "input_schema": { "type": "object", "properties": { "path": { "type": "string" }, "text": { "type": "string" } } },
                "responses": [{ "content": "written" }],
            },
        ] } },
        "expected_trajectory": [
            { "tool": "files__read", "args": { "path": "/a", "limit": 5 } },
            { "tool": "files__write", "args": { "path": "/b", "text": "a new text" } },
        ],
    });
    project.file("scenarios/proxy.yaml", scenario.to_string());
    proxy(&project, &[]);
    project
}

/// The proxy loses an argument, and passes a header on.
pub(super) fn other_proxy(project: &Project) {
    proxy(project, &["drop=limit", "forward=x-tenant"]);
}

fn proxy(project: &Project, faults: &[&str]) {
    let config: Value =
        json!({ "upstreams": { "files": "{{upstream.files.url}}" }, "faults": faults });
    project.file("scenarios/proxy.json", config.to_string());
}

/// A server that is built from its source, of which the working copy says something else than the last commit.
pub(super) fn versions() -> Project {
    let sourced = Sourced::new(&json!({}));
    sourced.says("the price is 7").commit("Say seven");
    sourced.says("the price is 8");
    sourced.project
}

/// A result that was stored in this version of the format.
pub(super) fn stored(version: u32) -> Project {
    let project = Project::new();
    let name = format!("tests/fixtures/result/version-{version}.json");
    project.file("result.json", std::fs::read(root().join(name)).unwrap());
    project
}
