//! What a scenario and the command line say of a model.

use serde_json::{Value, json};

use super::stand_in::{APIS, Stage, scenario};
use crate::common::Project;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn only_what_is_set_is_sent() {
    let keys = [
        &["model", "max_tokens", "temperature", "tools", "messages"][..],
        &["model", "temperature", "tools", "messages"],
        &["model", "temperature", "tools", "input"],
        &["model", "stream", "options", "tools", "messages"],
    ];
    for ((name, agent), keys) in APIS.into_iter().zip(keys) {
        let stage = Stage::new(agent, "", "  - { text: Hello. }\n");
        stage.trajectory(0);
        let body = &stage.bodies()[0];
        let found: Vec<&str> = body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(found, keys, "{name}");
        let temperature = body
            .get("temperature")
            .or(body.pointer("/options/temperature"));
        assert_eq!(temperature, Some(&json!(0)), "{name}");
        let bare = Stage::new(
            &format!("{agent}, temperature: null"),
            "",
            "  - { text: Hello. }\n",
        );
        bare.trajectory(0);
        let body = bare.bodies()[0].to_string();
        assert!(!body.contains("temperature"), "{name}: {body}");
    }
}

#[test]
fn everything_that_is_set_is_sent() {
    let agent = "kind: openai, temperature: 0.5, max_tokens: 7, tool_choice: none, system: \"S {{x}}\", extra_headers: { X-A: \"${HOME}\" }, extra_body: { seed: 3, temperature: null }";
    let script = "  - { expect: { headers: { x-a: { any: true } } }, text: Hello. }\n";
    let stage = Stage::new(agent, "variables: { x: 1 }", script);
    stage.trajectory(0);
    let body: &Value = &stage.bodies()[0];
    assert_eq!(body["max_tokens"], 7);
    assert_eq!(body["seed"], 3);
    assert_eq!(body["tool_choice"], "none");
    assert_eq!(body.get("temperature"), None);
    assert_eq!(
        body["messages"][0],
        json!({ "role": "system", "content": "S 1" })
    );
}

#[test]
fn the_command_line_chooses_agent_and_model() {
    let stage = Stage::new(
        "kind: anthropic",
        "expected_trajectory: [{ tool: forecast, args: { city: Lisbon } }]",
        "  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Lisbon } }] }\n  - { text: Hello. }\n",
    );
    stage.expect(0, &["run", "--model", "bigger"]);
    assert_eq!(stage.bodies()[0]["model"], "bigger");
    let asked = stage.bodies().len();
    stage.expect(0, &["run", "--agent", "scripted"]);
    assert_eq!(stage.bodies().len(), asked);
    stage
        .expect(2, &["run", "--agent", "openai"])
        .says("names no model of openai")
        .says("add --model NAME");
    stage
        .expect(2, &["run", "--agent", "scripted", "--model", "x"])
        .says("no scenario has an agent with a model");
    stage
        .expect(3, &["run", "--agent", "openai", "--model", "x"])
        .says("OPENAI_API_KEY");
    stage.expect(0, &["run", "--agent", "anthropic"]);
}

#[test]
fn what_makes_no_sense_is_found_when_the_file_is_read() {
    let cases = [
        (
            "kind: anthropic, tool_chioce: auto",
            "",
            "unknown key `tool_chioce`",
        ),
        (
            "kind: anthropic, api: chat",
            "",
            "`api` means nothing for this kind of agent",
        ),
        (
            "kind: ollama, tool_choice: auto",
            "",
            "`tool_choice` means nothing for this kind of agent",
        ),
        (
            "kind: scripted, max_tokens: 5",
            "expected_trajectory: [{ tool: x }]",
            "`max_tokens` means nothing for this kind of agent",
        ),
        (
            "kind: openai, temperature: 3",
            "",
            "expected a number from 0 to 2, or null",
        ),
        (
            "kind: openai, price: { input: 1 }",
            "",
            "missing key `output`",
        ),
        ("kind: openai, timeout: 0", "", "must be above zero"),
        (
            "kind: openai",
            "limits: { max_cost: 1 }",
            "`max_cost` cannot be kept",
        ),
        (
            "kind: openai",
            "limits: { max_token: 1 }",
            "unknown key `max_token`",
        ),
        ("kind: openai", "turns: []", "lists no message"),
        (
            "kind: openai",
            "turns: [a]\nuser_intent: b",
            "both say what the user wants",
        ),
        (
            "kind: openai, extra_headers: { A: \"${B\" }",
            "",
            "has no closing",
        ),
        (
            "kind: ollama, extra_body: { stream: true }",
            "",
            "`stream` cannot be asked for",
        ),
        ("kind: opnai", "", "did you mean `openai`?"),
    ];
    for (agent, more, words) in cases {
        let project = Project::new();
        project.file("scenarios/s.yaml", scenario("S", agent, more));
        project.expect(2, &["validate"]).says(words);
    }
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        "name: S\nservers: { s: { type: http, url: \"http://x\" } }\nagent: { kind: openai }\n",
    );
    project
        .expect(2, &["validate"])
        .says("missing key `model`")
        .says("the model has nothing to do");
}

#[test]
fn defaults_for_models_do_not_disturb_other_agents() {
    let project = Project::new();
    project.file(
        "scenarios/_defaults.yaml",
        "agent: { kind: openai, model: m, temperature: 1 }\n",
    );
    project.file(
        "scenarios/s.yaml",
        scenario(
            "S",
            "kind: scripted",
            "expected_trajectory: [{ tool: forecast }]",
        )
        .replace(
            ", model: m, base_url: \"${LLM_URL}\", api_key_env: LLM_KEY",
            "",
        ),
    );
    project.expect(0, &["validate"]);
    project.expect(0, &["run"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_stand_in_says_what_a_request_lacks() {
    let cases = [
        (
            "{ model: other }",
            "interaction 1 expects another `model` than \"m\"",
        ),
        (
            "{ tools: [nothing] }",
            "interaction 1 expects the tool `nothing`",
        ),
        ("{ tool_results: [x] }", "1 tool results and got 0"),
        (
            "{ body: { /max_tokens: 5 } }",
            "something else at `/max_tokens` of the body than 4096",
        ),
        (
            "{ headers: { x-api-key: other } }",
            "another header `x-api-key`",
        ),
        (
            "{ user: { regex: \"^x\" } }",
            "another `user` than \"Do I need an umbrella?\"",
        ),
    ];
    for (expect, words) in cases {
        let script = format!("  - {{ expect: {expect}, text: Hello. }}\n");
        let stage = Stage::new("kind: anthropic", "", &script);
        stage.expect(3, &["run"]).says(words);
    }
    let stage = Stage::new(
        "kind: anthropic",
        "",
        "  - { tool_calls: [{ name: mcp__weather__forecast }] }\n",
    );
    stage
        .expect(3, &["run"])
        .says("the script ends after one answer, and this request asks for answer 2 of the model");
}

#[test]
fn a_script_that_makes_no_sense_is_refused() {
    let cases = [
        ("  - { texd: x }", "did you mean `text`?"),
        (
            "  - { text: x, error: { status: 500 } }",
            "is more than one kind of answer",
        ),
        ("  - { delay: 1s }", "does not say what to answer"),
        (
            "  - { error: { status: 200 } }",
            "expected a number from 400 to 599, found 200",
        ),
        (
            "  - { text: x, times: 2 }",
            "`times` means nothing for an answer of the model",
        ),
        ("  []", "lists no interaction"),
    ];
    for (script, words) in cases {
        let project = Project::new();
        project.file("llm.yaml", format!("llm_interactions:\n{script}\n"));
        let ran = project.expect(2, &["mock", "--llm", "llm.yaml"]);
        ran.says("llm.yaml cannot be served").says(words);
    }
    let project = Project::new();
    project.file("llm.yaml", "tools: []\n");
    project
        .expect(2, &["mock", "--llm", "llm.yaml"])
        .says("declares no interactions of a model");
    project.expect(2, &["mock", "--llm", "llm.yaml", "--transport", "stdio"]);
}
