//! Work on a run that has ended: what its time is, and what becomes of it where the runs after it do not go well.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Project, commit_all};

/// A server that is started by these words of a shell, and then sells tea at a price.
fn shop(project: &Project, before: &str, price: u32, timeout: &str) {
    let declared = json!({ "tools": [{ "name": "price", "annotations": { "read_only_hint": true }, "responses": [
        { "content": [{ "json": { "tea": price } }] },
    ] }] });
    project.file("mock.yaml", declared.to_string());
    let start = format!(
        "{before}; exec '{}' mock mock.yaml",
        env!("CARGO_BIN_EXE_mcp-eval")
    );
    let scenario = json!({
        "name": "Shop",
        "timeout": timeout,
        "servers": { "s": { "command": "sh", "args": ["-c", start] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "price" }] },
    });
    project.file("scenarios/shop.yaml", scenario.to_string());
}

/// Lets all but the first of the next starts of the server hang.
const SECOND_HANGS: &str =
    "if [ -e hangs ]; then sleep 600; fi; if [ -e armed ]; then touch hangs; fi";

fn stored(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_run_has_the_scenarios_time_for_itself() {
    let project = Project::new();
    shop(&project, "sleep 2", 3, "3500ms");
    let baseline = "baselines/shop/baseline.json";
    project
        .expect(0, &["record"])
        .says_not("nothing was learned");
    assert_eq!(stored(&project, baseline)["learned"][0]["takes"], 2);
    commit_all(&project.path(""), "Sell tea");
    // What is compared lies in the source, so that another commit of it is another version.
    project.edit(
        "scenarios/shop.yaml",
        "\"name\"",
        "\"source\":{\"repo\":\"..\"},\"name\"",
    );
    project.edit(
        "scenarios/shop.yaml",
        "exec '",
        "cd '${source.dir}'; exec '",
    );
    project.edit("mock.yaml", "\"tea\":3", "\"tea\":4");
    project
        .expect(1, &["compare", "--against", "git:HEAD"])
        .says("3")
        .says("4")
        .says_not("timeout");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_take_that_hangs_leaves_what_the_first_one_received() {
    let project = Project::new();
    shop(&project, SECOND_HANGS, 3, "2s");
    let (armed, hangs) = (project.path("armed"), project.path("hangs"));
    let arm = |is_armed: bool| {
        let remove = |it: &Path| it.exists().then(|| std::fs::remove_file(it).unwrap());
        remove(&hangs);
        remove(&armed);
        if is_armed {
            project.file("armed", "");
        }
    };
    arm(true);
    let why = "take 2 did not complete, so nothing was learned of what varies: ";
    project.expect(0, &["record"]).says(why);
    arm(false);
    project.expect(0, &["record"]).says_not(why);
    shop(&project, SECOND_HANGS, 4, "2s");
    arm(true);
    project
        .expect(1, &["compare"])
        .says(why)
        .says("mcp-eval review");
    let pending = stored(&project, "baselines/shop/pending.json");
    assert!(pending.to_string().contains("\\\"tea\\\":4"), "{pending}");
    arm(false);
    project.expect(0, &["review", "--accept", "shop"]);
    project.expect(0, &["compare"]);
}

#[test]
fn a_run_that_cannot_be_kept_for_review_says_so() {
    let project = Project::new();
    let spoil = "if [ -e spoil ]; then echo nothing > baselines/shop/baseline.json; fi";
    shop(&project, spoil, 3, "60s");
    project.expect(0, &["record"]);
    shop(&project, spoil, 4, "60s");
    project.file("spoil", "");
    project
        .expect(1, &["compare"])
        .says("not kept for review: ")
        .says("baseline.json");
    assert!(!project.path("baselines/shop/pending.json").exists());
}
