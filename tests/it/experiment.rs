//! Comparing what is not the same experiment: it is said first, and gates only when that is allowed.

use serde_json::{Value, json};

use crate::agent::stand_in::Stage;
use crate::common::{Project, stands_alone};

/// A model that looks at the weather, and says so; as often as it is asked.
const LOOKS: &str =
    "  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Lisbon } }] }
  - { text: Rain. }\n";
const CALLS: &str = "expected_trajectory: [{ tool: forecast, args: { city: Lisbon } }]";

fn changes(result: &Value) -> Value {
    result["scenarios"][0]["experiment_changes"].clone()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn another_model_gates_only_when_that_is_allowed() {
    let stage = Stage::new("kind: anthropic", CALLS, LOOKS);
    stage.expect(0, &["record"]);
    stage.expect(0, &["compare"]);
    let compare = ["compare", "--model", "m2"];
    let sentence = "not the same experiment: model m → m2";
    let ran = stage.expect(3, &compare);
    ran.says(sentence)
        .says("--allow-changed")
        .says("mcp-eval record --scenario scenarios/s.yaml");
    // Said before all else of the scenario; computed and shown all the same.
    let below = ran.stdout.split_once('\n').unwrap();
    assert!(
        below.0.contains("error") && below.0.contains("1.00"),
        "{ran:#?}"
    );
    assert!(
        below.1.trim_start().starts_with(&format!("! {sentence}\n")),
        "{ran:#?}"
    );
    let result: Value =
        serde_json::from_str(&stage.project.read("reports/latest/result.json")).unwrap();
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "error");
    assert_eq!(scenario["comparison"]["scores"]["overall"], 1.0);
    assert_eq!(
        changes(&result),
        json!([{ "what": "model", "baseline": "m", "current": "m2" }])
    );
    let page = stage.project.read("reports/latest/s.html");
    let (banner, heading) = (page.find(sentence).unwrap(), page.find("<h2").unwrap());
    assert!(banner < heading && page.contains("Error</h2>"), "{page}");
    assert!(
        stage
            .project
            .read("reports/latest/index.html")
            .contains("other experiment")
    );
    stage.expect(0, &["report"]).says(sentence);
    stage.expect(0, &["explain", "latest"]).says(sentence);

    let allowed = stage.expect(0, &[&compare[..], &["--allow-changed"]].concat());
    allowed.says(sentence).says("1/1 tests passed");
    stage
        .project
        .edit("scenarios/s.yaml", "sky: rain", "sky: sun");
    stage.expect(3, &compare);
    stage
        .expect(1, &[&compare[..], &["--allow-changed"]].concat())
        .says(sentence)
        .says("sun");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn another_agent_and_a_changed_scenario_are_shown_with_the_model() {
    let stage = Stage::new("kind: anthropic", CALLS, LOOKS);
    stage.expect(0, &["record"]);
    stage
        .expect(3, &["compare", "--agent", "scripted"])
        .says("not the same experiment: model m → none, agent anthropic → scripted");
    stage
        .project
        .edit("scenarios/s.yaml", "Do I need", "Do we need");
    stage
        .expect(3, &["compare", "--agent", "openai", "--model", "m2"])
        .says("OPENAI_API_KEY");
    stage
        .expect(3, &["compare", "--model", "m2"])
        .says("not the same experiment: model m → m2, the user's message: Do I need an umbrella? → Do we need an umbrella?");
    // A replay asks what was asked by whomever; what should be asked now is another matter.
    stage
        .expect(3, &["compare", "--agent", "replay"])
        .says("not the same experiment: the scenario has changed");
    stage
        .project
        .edit("scenarios/s.yaml", "Do we need", "Do I need");
    stage.expect(0, &["compare", "--agent", "replay"]);
    stage.project.edit(
        "scenarios/s.yaml",
        "model: m,",
        "model: m, system: Be quick.,",
    );
    stage.expect(0, &["compare", "--agent", "replay"]);
    stage
        .expect(3, &["compare"])
        .says("not the same experiment: `agent.system` has changed");
    // A replay that is answered as before changes nothing: the calls stay those of the agent as it was.
    stage.expect(0, &["record", "--agent", "replay"]);
    stage
        .expect(3, &["compare"])
        .says("not the same experiment: `agent.system` has changed");
    stage.expect(0, &["record"]);
    stage.expect(0, &["compare"]);
    // A baseline that does not know the parts of what its agent was given says no more than that they are others.
    let path = "baselines/s/baseline.json";
    let mut stored: Value = serde_json::from_str(&stage.project.read(path)).unwrap();
    let parts = stored["stamp"]
        .as_object_mut()
        .unwrap()
        .remove("agent_parts");
    assert!(parts.unwrap()["system"].as_str().unwrap().len() == 16);
    stage.project.file(path, stored.to_string());
    stage
        .project
        .edit("scenarios/s.yaml", "Be quick.", "Be slow.");
    stage
        .expect(3, &["compare"])
        .says("not the same experiment: the scenario has changed");
}

#[test]
fn a_model_named_by_the_environment_is_shown_by_its_name() {
    let stage = Stage::new("kind: anthropic", CALLS, LOOKS);
    stage
        .project
        .edit("scenarios/s.yaml", "model: m,", "model: \"${MODEL}\",");
    for (model, command, code) in [("a", "record", 0), ("a", "compare", 0), ("b", "compare", 3)] {
        let ran = crate::common::ran(stage.command(&[command]).env("MODEL", model));
        assert_eq!(ran.code, code, "{ran:#?}");
        assert_eq!(ran.stdout.contains("model a → b"), code == 3, "{ran:#?}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_script_plays_is_part_of_the_experiment_and_what_describes_it_is_not() {
    let project = Project::shipped();
    let file = "scenarios/flows/ticket.yaml";
    let compare = ["compare", file];
    project.edit(file, "Each step uses", "Every step uses");
    project.edit(file, "tags: [", "timeout: 50s\ntags: [");
    assert_eq!(changes(&project.result(0, &compare)), json!([]));
    project.edit(file, "priority: 2", "priority: 3");
    let call = |priority: u8| {
        format!("create_ticket {{\"title\":\"Login page is broken\",\"priority\":{priority}}}")
    };
    let part = "call 1 of the script";
    let scenario = json!([{ "what": "scenario", "part": part, "script": { "baseline": 1, "current": 1 }, "baseline": call(2), "current": call(3) }]);
    assert_eq!(changes(&project.result(3, &compare)), scenario);
    project.expect(0, &["list", file]).says("outdated");
    // A run that passes is reported, too.
    project
        .expect(1, &[&compare[..], &["--allow-changed"]].concat())
        .says("not the same experiment: call 1 of the script: create_ticket")
        .says("`create_ticket` is called with a different `priority`: 2 → 3");
    project.expect(0, &["record", file]);
    assert_eq!(changes(&project.result(0, &compare)), json!([]));
}

#[test]
fn stored_runs_are_distinguished_as_live_ones_are() {
    let project = Project::shipped();
    let old = "baselines/flows/ticket/baseline.json";
    project.file(
        "new.json",
        stands_alone(&project, old).replace(
            "\"agent\": \"scripted\"",
            "\"agent\": \"anthropic\",\n\"model\": \"m\"",
        ),
    );
    let offline = ["compare", "--baseline", "baselines", "--run"];
    project.expect(0, &[&offline[..], &[old]].concat());
    let changed = [&offline[..], &["new.json"]].concat();
    project
        .expect(3, &changed)
        .says("not the same experiment: model none → m, agent scripted → anthropic");
    project.expect(0, &[&changed[..], &["--allow-changed"]].concat());
    // One without a hash was imported: nothing is known of its scenario.
    let text = project.read("new.json");
    let at = text.find("\"hash\": \"").unwrap() + "\"hash\": ".len();
    project.file(
        "new.json",
        format!("{}null{}", &text[..at], &text[at + 66..]),
    );
    project.expect(0, &changed);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn changes_to_a_scenario_are_shown_part_by_part() {
    let tools: Vec<_> = ["a", "b", "c"].map(|name| json!({ "name": name, "annotations": { "read_only_hint": true }, "responses": [{ "content": name }] })).into();
    let write = |project: &Project, says: &[&str], calls: &[&str]| {
        let calls: Vec<_> = calls
            .iter()
            .map(|it| json!({ "tool": it, "args": {} }))
            .collect();
        let scenario = json!({
            "name": "S", "user_intent": says[0],
            "servers": { "s": { "type": "mock" } },
            "agent": { "kind": "scripted", "calls": calls },
            "mcp_interactions": { "s": { "tools": tools } },
        });
        project.file("scenarios/s.yaml", scenario.to_string());
    };
    let project = Project::new();
    write(&project, &["Look."], &["a", "b", "c"]);
    project.expect(0, &["record"]);
    for (says, calls, message) in [
        (
            "Look up.",
            &["a", "b", "c"][..],
            "experiment: the user's message: Look. → Look up.",
        ),
        // What only moves is not reported.
        (
            "Look.",
            &["c", "a", "b", "c"],
            "experiment: call 1 of the script: none → c {}",
        ),
        (
            "Look.",
            &["a", "c"],
            "experiment: call 2 of the script: b {} → none",
        ),
        (
            "Look.",
            &["b", "a", "c", "a", "a", "a", "a", "a", "a", "b"],
            ", what it asks at ",
        ),
    ] {
        write(&project, &[says], calls);
        project.expect(3, &["compare"]).says(message);
    }
}
