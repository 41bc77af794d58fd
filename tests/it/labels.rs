//! Calls of a gateway's one tool are distinguished by what they are for, in everything that people read.

use serde_json::{Value, json};

use crate::common::Project;

/// A gateway whose tool passes calls on; `echo` may answer otherwise.
fn gateway(project: &Project, tool: &str, argument: &str, echo: &str, more: &Value) {
    let call = |name: &str| json!({ "tool": tool, "args": { argument: name } });
    let answer = |name: &str, said: &str| json!({ "match": { argument: name }, "content": [{ "json": { "said": said } }] });
    let mut scenario = json!({
        "name": "S",
        "servers": { "p": { "type": "mock" } },
        "mcp_interactions": { "p": { "tools": [{ "name": tool, "annotations": { "read_only_hint": true },
            "responses": [answer("everything:echo", echo), answer("everything:add", "42")] }] } },
        "expected_trajectory": [call("everything:add"), call("everything:echo")],
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file("scenarios/s.yaml", scenario.to_string());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn reports_say_what_a_call_is_for() {
    let own = json!({ "label": { "dispatch": "args.what" } });
    let plain = json!({});
    for (tool, argument, more) in [
        ("call_tool_read", "name", &plain),
        ("dispatch", "what", &own),
    ] {
        let project = Project::new();
        gateway(&project, tool, argument, "hello", more);
        project.expect(0, &["validate"]);
        project.expect(0, &["record"]);
        let baseline = project.read("baselines/s/baseline.json");
        assert!(!baseline.contains('→'), "{baseline}");
        gateway(&project, tool, argument, "something else entirely", more);
        let ran = project.expect(1, &["compare"]);
        ran.says(&format!(
            "`{tool} → everything:echo` returned a different `said`"
        ));
        let result: Value =
            serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
        let scenario = &result["scenarios"][0]["comparison"];
        assert_eq!(scenario["rows"][0]["label"], "everything:add");
        assert_eq!(scenario["rows"][1]["label"], "everything:echo");
        assert_eq!(scenario["rows"][1]["tool"], tool);
        assert_eq!(scenario["changes"][0]["label"], "everything:echo");
        let cause = result["causes"][0]["text"].as_str().unwrap();
        assert!(
            cause.contains(&format!("`{tool} → everything:echo`")),
            "{cause}"
        );
        let mut pages = String::new();
        for entry in walkdir::WalkDir::new(project.path("reports"))
            .into_iter()
            .flatten()
        {
            if entry.path().extension().is_some_and(|it| it == "html") {
                pages += &std::fs::read_to_string(entry.path()).unwrap();
            }
        }
        assert!(
            pages.contains(&format!("{tool} → everything:add")),
            "the heading of a call"
        );
        project
            .expect(0, &["explain", "latest", "--scenario", "s"])
            .says(&format!("{tool} → everything:echo of p"));
    }
}

#[test]
fn a_tool_that_is_none_of_these_is_called_by_its_name() {
    let project = Project::new();
    gateway(&project, "dispatch", "what", "hello", &json!({}));
    project.expect(0, &["record"]);
    project
        .expect(0, &["compare", "-v"])
        .says_not("→ everything");
    gateway(
        &project,
        "dispatch",
        "what",
        "hello",
        &json!({ "label": { "dispatch": "what" } }),
    );
    project
        .expect(2, &["validate"])
        .says("`what` is not the path of an argument");
}
