//! The advice of reports: nobody is advised to deploy who has looked at a part, or knows of something that did not pass.

use std::fs;

use serde_json::{Value, json};

use crate::common::Project;

/// Three scenarios with the answers of their baselines.
fn project() -> Project {
    let project = Project::new();
    for name in ["one", "two", "three"] {
        let scenario = json!({
            "name": name,
            "tags": [name],
            "servers": { "sky": { "type": "mock" } },
            "agent": { "kind": "scripted", "calls": [{ "tool": "look", "args": {} }] },
            "mcp_interactions": { "sky": { "tools": [
                { "name": "look", "annotations": { "read_only_hint": true }, "responses": [{ "content": "blue" }] },
            ] } },
        });
        project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
    }
    project.expect(0, &["record"]);
    project
}

/// What `compare` advises on the terminal, in the Markdown and on the index; all the same.
#[track_caller]
fn advice(project: &Project, code: i32, arguments: &[&str]) -> (String, Value) {
    let reports = [
        "--report",
        "terminal=t.txt",
        "--report",
        "markdown=m.md",
        "--report",
        "html=h",
    ];
    let result = project.result(code, &[&["compare"], arguments, &reports[..]].concat());
    let index = project.read("h/index.html");
    let (_, advice) = index.split_once("<p class=\"advice\">").unwrap();
    let (advice, _) = advice.split_once("</p>").unwrap();
    let table = project.read("t.txt");
    let words: Vec<&str> = table.split_whitespace().collect();
    assert!(words.join(" ").contains(advice), "{table}");
    assert!(
        project.read("m.md").contains(&format!("\n**{advice}**\n")),
        "{}",
        project.read("m.md")
    );
    (advice.to_owned(), result["selection"].clone())
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_part_of_a_suite_is_no_reason_to_deploy() {
    let project = project();
    let (whole, none) = advice(&project, 0, &[]);
    assert_eq!(whole, "Deploy: everything passed, and nothing changed.");
    assert!(none.is_null());
    for part in [
        &["-k", "one"][..],
        &["--tag", "one"],
        &["scenarios/one.yaml"],
    ] {
        let (part, selection) = advice(&project, 0, part);
        assert_eq!(
            part,
            "Everything passed, and nothing changed, of the 1 scenario that was chosen of 3. Run the other 2 before you deploy."
        );
        assert_eq!(selection, json!({ "chosen": 1, "of": 3, "not_passed": 0 }));
    }
    // A disabled one is none that could be chosen.
    let all = advice(&project, 0, &["-k", "one or two or three"]);
    assert_eq!(all.0, whole);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn known_failures_are_mentioned() {
    let project = project();
    project.edit("scenarios/two.yaml", "blue", "grey");
    advice(&project, 1, &[]);
    let (part, selection) = advice(&project, 0, &["-k", "not two"]);
    assert_eq!(
        part,
        "Everything passed, and nothing changed, of the 2 scenarios that were chosen of 3. Do not deploy yet: 1 scenario did not pass \
         when last run, and was not run again."
    );
    assert_eq!(selection, json!({ "chosen": 2, "of": 3, "not_passed": 1 }));
    let (failed, _) = advice(&project, 1, &["--last-failed"]);
    assert!(failed.ends_with(" Ran 1 of 3 scenarios."), "{failed}");
    project.edit("scenarios/two.yaml", "grey", "blue");
    let (passed, _) = advice(&project, 0, &["--last-failed"]);
    assert!(
        passed.ends_with("Run the other 2 before you deploy."),
        "{passed}"
    );
    // All have passed by now, so all run.
    let (all, _) = advice(&project, 0, &["--last-failed"]);
    assert!(all.starts_with("Deploy: "), "{all}");
}

#[test]
fn what_another_version_answers_is_no_failure_of_this_one() {
    let project = project();
    project.expect(0, &["compare"]);
    project.edit("scenarios/two.yaml", "blue", "grey");
    project.expect(1, &["compare", "--against", "run:latest"]);
    let (part, selection) = advice(&project, 0, &["-k", "not two"]);
    assert!(
        part.ends_with("Run the other one before you deploy."),
        "{part}"
    );
    assert_eq!(selection, json!({ "chosen": 2, "of": 3, "not_passed": 0 }));
    project
        .expect(1, &["compare", "--last-failed"])
        .says("all passed when `mcp-eval compare` ran them last, so all are taken");
}

#[test]
fn a_report_that_is_made_again_says_the_same() {
    let project = project();
    let (part, _) = advice(&project, 0, &["-k", "one"]);
    let again = project.expect(0, &["report", "--report", "markdown=again.md"]);
    again.says(&part);
    assert_eq!(project.read("again.md"), project.read("m.md"));
    // What an earlier program wrote has neither.
    let folder = fs::read_link(project.path("reports/latest")).unwrap();
    let file = format!(".mcp-eval/runs/{}/result.json", folder.display());
    let mut result: Value = serde_json::from_str(&project.read(&file)).unwrap();
    let members = result.as_object_mut().unwrap();
    assert!(members.remove("selection").is_some() && members.remove("called").is_some());
    project.file(&file, result.to_string());
    project
        .expect(0, &["report"])
        .says("Deploy: everything passed, and nothing changed.");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_could_not_be_run_is_no_part_of_everything() {
    let project = project();
    advice(&project, 0, &[]);
    let folder = fs::read_link(project.path("reports/latest")).unwrap();
    let file = format!(".mcp-eval/runs/{}/result.json", folder.display());
    let whole: Value = serde_json::from_str(&project.read(&file)).unwrap();
    for (why, said) in [
        (
            "it has no baseline yet",
            "Deploy if you can do without the scenario that could not be run: everything else passed, and nothing changed.",
        ),
        // Somebody has chosen that.
        (
            "the scenario is disabled (`enabled: false`)",
            "Deploy: everything passed, and nothing changed.",
        ),
    ] {
        let mut result = whole.clone();
        (result["summary"]["passed"], result["summary"]["skipped"]) = (json!(2), json!(1));
        let skipped = &mut result["scenarios"][0];
        skipped["status"] = json!("skipped");
        skipped["problem"] = json!({ "message": why, "hint": null, "details": [] });
        project.file(&file, result.to_string());
        let again = project.expect(0, &["report"]);
        let words: Vec<&str> = again.stdout.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{}", again.stdout);
    }
}
