//! Recorded trajectories, served again.

use serde_json::{Value, json};

use super::client::Piped;
use crate::common::{Project, whole};

#[test]
fn a_baseline_answers_as_it_was_recorded() {
    let project = Project::shipped();
    for from in [
        "flows/ticket",
        "baselines/flows/ticket",
        "baselines/flows/ticket/baseline.json",
    ] {
        let mut piped = Piped::start(&project, &["--from", from]);
        let hello = piped.ask("initialize", &json!({}));
        assert_eq!(
            hello["result"]["serverInfo"],
            json!({ "name": "ticket-desk", "version": "2.1.0" })
        );
        let baseline = whole(&project, "baselines/flows/ticket/baseline.json");
        let listed = piped.ask("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"], baseline["catalogue"][0]["tools"]);
        for step in baseline["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["kind"] == "tool_call")
        {
            let result = piped.call(step["tool"].as_str().unwrap(), &step["arguments"]);
            assert_eq!(result["content"], step["outcome"]["content"]);
        }
        let wrong = piped.call(
            "assign_ticket",
            &json!({ "id": "T-1042", "team": "desktop", "now": true }),
        );
        assert_eq!(wrong["isError"], true);
        let text = wrong["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("`team` was \"web\" and is \"desktop\", `now` was not given"),
            "{text}"
        );
        assert!(text.contains(r#"{"id":"T-1042","team":"web"}"#), "{text}");
    }
}

#[test]
fn repeated_calls_failures_and_texts_like_references_come_back_in_order() {
    let project = Project::new();
    let call = |args: Value, outcome: Value| {
        json!({
            "kind": "tool_call", "server": "s", "tool": "t", "arguments": args, "outcome": outcome, "start_ms": 1.0, "duration_ms": 1.0,
        })
    };
    let text =
        |text: &str| json!({ "status": "ok", "content": [{ "type": "text", "text": text }] });
    let mut unlisted = call(json!({}), text("who told you?"));
    unlisted["tool"] = json!("secret");
    let document = json!({
        "format_version": 1,
        "scenario": { "id": "s", "name": "S", "hash": null },
        "stamp": { "recorded_at": "2026-01-02T03:04:05Z", "mcp_eval": "0.1.0", "agent": "scripted", "scenarios": { "unknown": "not asked" }, "source": null },
        "ending": { "kind": "completed" }, "duration_ms": 12.0,
        "steps": [
            call(json!({ "n": 1 }), text("first {{now}}")),
            call(json!({ "n": 1 }), text("second")),
            call(json!({ "n": 2 }), json!({ "status": "tool_error", "content": [{ "type": "text", "text": "broken" }] })),
            unlisted,
        ],
        "catalogue": [{ "server": "s", "info": null, "protocol_version": null, "tools": [{ "name": "t", "x-vendor": 1, "inputSchema": { "type": "object" } }, { "name": "idle" }] }],
    });
    project.file("b/baseline.json", document.to_string());
    let mut piped = Piped::start(&project, &["--from", "b"]);
    let mut say = |args: Value| piped.call("t", &args)["content"][0]["text"].clone();
    assert_eq!(say(json!({ "n": 1 })), "first {{now}}");
    assert_eq!(say(json!({ "n": 1.0 })), "second");
    assert_eq!(say(json!({ "n": 1 })), "second");
    assert_eq!(say(json!({ "n": 2 })), "broken");
    assert_eq!(piped.call("t", &json!({ "n": 2 }))["isError"], true);
    // Of calls that differ in as many arguments, the one with the most letters in common is the nearest.
    let unknown = piped.call("t", &json!({ "n": 22 }))["content"][0]["text"].clone();
    assert!(
        unknown.as_str().unwrap().contains("`n` was 2 and is 22"),
        "{unknown}"
    );
    let listed = piped.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], document["catalogue"][0]["tools"]);
    // Not listed, but called and answered.
    let unlisted = piped.call("secret", &json!({}));
    assert_eq!(unlisted["content"][0]["text"], "who told you?");
    let idle = piped.call("idle", &json!({}));
    assert!(
        idle["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("never called in the recording")
    );
}

#[test]
fn what_is_no_baseline_is_refused() {
    let project = Project::shipped();
    project
        .expect(2, &["mock", "--from", "nowhere"])
        .says("there is no baseline at nowhere");
    project.file("x.json", "{}");
    project
        .expect(2, &["mock", "--from", "x.json"])
        .says("x.json");
    project
        .expect(2, &["mock", "--from", "flows/two_servers"])
        .says("--server takes one of");
    project.expect(
        2,
        &[
            "mock",
            "--from",
            "flows/ticket",
            "scenarios/flows/ticket.yaml",
        ],
    );
    project
        .expect(2, &["mock", "--server", "x"])
        .says("there is none");
}
