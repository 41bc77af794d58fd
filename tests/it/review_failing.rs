//! A run that failed by itself: `review` accepts it no sooner than `record` keeps it, and nobody is advised to deploy it.

use serde_json::json;

use crate::common::{Project, in_terminal};

const PENDING: &str = "baselines/gone/pending.json";

/// A scenario whose only call fails since its tool has another name.
fn gone() -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "Gone",
        "servers": { "t": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "list" }],
        "mcp_interactions": { "t": { "tools": [
            { "name": "list", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "a": 1 } }] }] },
        ] } },
    });
    project.file("scenarios/gone.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/gone.yaml",
        "\"name\":\"list\"",
        "\"name\":\"list_all\"",
    );
    project.expect(1, &["compare"]);
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_that_record_would_not_keep_is_not_accepted_either() {
    let project = gone();
    let before = project.read("baselines/gone/baseline.json");
    let because = "because the run failed: every call failed; call 1 of `mcp__t__list` failed";
    project
        .expect(1, &["record"])
        .says("--allow-failing")
        .says("not kept")
        .says("the run failed: every call failed");
    project.expect(1, &["compare"]);
    let page = project.read("reports/latest/gone.html");
    assert!(page.contains("review --accept gone --allow-failing"));
    for (which, exit) in [(&["--accept", "gone"][..], 2), (&["--accept-all"], 3)] {
        for more in [&[][..], &["--variant"], &["--force"]] {
            project
                .expect(exit, &[&["review"], which, more].concat())
                .says(&format!("`gone` is not accepted, {because}"))
                .says("`--allow-failing` accepts it");
        }
    }
    project
        .expect(0, &["review", "--list"])
        .says("`record` would not keep it");
    assert!(project.path(PENDING).exists());
    assert_eq!(project.read("baselines/gone/baseline.json"), before);
    let asked = in_terminal(
        "the review of a run that failed",
        &project,
        &["review"],
        "  > ",
        &["A"],
    );
    if let Some(asked) = asked {
        asked
            .says("`record` would not keep it")
            .says("is not accepted")
            .says("1 still pending");
        assert_eq!(project.read("baselines/gone/baseline.json"), before);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_accepted_although_it_failed_is_never_advised_to_deploy() {
    let project = gone();
    project
        .expect(0, &["review", "--accept", "gone", "--allow-failing"])
        .says("accepted gone")
        .says("fails what its scenario expects: every call failed");
    let advice = "Look at it before you deploy: nothing is worse than what was recorded, but calls of `gone` fail as in the baseline.";
    let compared = project.expect(0, &["compare"]);
    compared
        .says("fails as in its baseline: every call failed")
        .says_not("Deploy");
    let words: Vec<&str> = compared.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(advice), "{}", compared.stdout);
    let page = project.read("reports/latest/gone.html");
    assert!(page.contains("Fails as in its baseline"));
    assert!(
        project
            .read("reports/latest/index.html")
            .contains("before you deploy")
    );
    // A script that means its call to fail is well.
    project.edit(
        "scenarios/gone.yaml",
        "\"tool\":\"list\"",
        "\"is_error\":true,\"tool\":\"list\"",
    );
    project.expect(0, &["record"]);
    project
        .expect(0, &["compare"])
        .says("Deploy: everything passed")
        .says_not("as in its baseline");
}

/// A shop of which an evaluator looks at what the run has left, and that evaluator.
fn leaving(evaluator: &serde_json::Value) -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "Left",
        "agent": { "kind": "scripted" },
        "servers": { "t": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "list" }],
        "evaluators": [evaluator],
        "mcp_interactions": { "t": { "tools": [
            { "name": "list", "annotations": { "read_only_hint": true }, "responses": [{ "content": "fine" }] },
        ] } },
    });
    project.file("scenarios/left.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_an_evaluator_found_around_a_run_counts_when_it_is_reviewed() {
    let file = json!({ "type": "file", "path": "left.txt", "exists": false });
    let command = json!({ "type": "command", "command": ["sh", "-c", "cat > /dev/null; test ! -e scenarios/left.txt -a ! -e left.txt && echo '{\"passed\": true}' || echo '{\"passed\": false, \"message\": \"it left something\"}'"] });
    let within = json!({ "type": "all_of", "of": [{ "type": "text", "in": "answers", "contains": "fine" }, file] });
    for evaluator in [file, command, within] {
        let project = leaving(&evaluator);
        let before = project.read("baselines/left/baseline.json");
        project.file("scenarios/left.txt", "here");
        project.expect(1, &["compare", "--output", "artifact"]);
        project.expect(1, &["record"]).says("not kept");
        project.expect(1, &["compare"]);
        // What it looked at is gone by the time somebody decides.
        std::fs::remove_file(project.path("scenarios/left.txt")).unwrap();
        project
            .expect(0, &["review", "--list"])
            .says("`record` would not keep it");
        let refused = "`left` is not accepted, because the run failed: the evaluator";
        for from in [&[][..], &["--from", "artifact"]] {
            for (which, exit) in [(&["--accept", "left"][..], 2), (&["--accept-all"], 3)] {
                project
                    .expect(exit, &[&["review"], which, from].concat())
                    .says(refused);
            }
        }
        assert_eq!(project.read("baselines/left/baseline.json"), before);
        // Of a run that an older version kept, nobody knows what was found.
        let pending = project.read("baselines/left/pending.json");
        let mut older: serde_json::Value = serde_json::from_str(&pending).unwrap();
        let found = older["pending"].as_object_mut().unwrap().remove("found");
        assert_eq!(found.unwrap()[0]["status"], "failed");
        project.file("baselines/left/pending.json", older.to_string());
        project
            .expect(0, &["review", "--list"])
            .says_not("`record` would not keep it");
        project.file("baselines/left/pending.json", pending);
        project
            .expect(0, &["review", "--accept", "left", "--allow-failing"])
            .says("accepted left");
    }
}

#[test]
fn an_evaluator_that_the_scenario_has_no_more_refuses_nothing() {
    let project = leaving(&json!({ "type": "file", "path": "left.txt", "exists": false }));
    project.file("scenarios/left.txt", "here");
    project.expect(1, &["compare"]);
    project.edit(
        "scenarios/left.yaml",
        "\"exists\":false",
        "\"exists\":false,\"role\":\"advisory\"",
    );
    project
        .expect(0, &["review", "--accept", "left"])
        .says("accepted left");
}
