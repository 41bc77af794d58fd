//! What servers offer is stored once, and baselines name it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Project, commit_all, ran, stands_alone, whole};
use crate::recorded_again::{baselines, changed};

const CATALOGUE: &str = "baselines/_catalogues/desk.json";
const TEXT: &str = "baselines/_catalogues/desk.txt";

/// A scenario of a server with two tools, of which it uses one.
fn scenario(project: &Project, name: &str, description: &str) {
    let tool = |name: &str, description: &str| {
        json!({
            "name": name,
            "description": description,
            "annotations": { "read_only_hint": true },
            "input_schema": {
                "type": "object",
                "properties": { "of": { "type": "string", "description": "Whose" } },
                "required": ["of"],
            },
            "responses": [{ "content": "12 tickets" }],
        })
    };
    let scenario = json!({
        "name": name,
        "servers": { "desk": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "size", "args": { "of": name } }] },
        "mcp_interactions": { "desk": { "tools": [tool("size", "How many there are."), tool("idle", description)] } },
    });
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Gives all scenarios a server whose second tool is described so.
fn described(project: &Project, description: &str) {
    for name in NAMES {
        scenario(project, name, description);
    }
}

/// A repository with three recorded scenarios.
fn recorded() -> Project {
    let project = Project::new();
    described(&project, "Does nothing.");
    project.expect(0, &["record"]);
    commit_all(&project.path(""), "as recorded");
    project
}

/// Which catalogue each scenario names.
fn named(project: &Project) -> Vec<String> {
    let names = NAMES.map(|it| {
        let text = project.read(format!("baselines/{it}/baseline.json"));
        let baseline: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(baseline["format_version"], 3);
        baseline["catalogue"][0]["catalogue"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    names.to_vec()
}

/// The files of catalogues.
fn there(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.path("baselines/_catalogues")).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn scenarios_share_a_catalogue_and_one_reworded_description_is_two_changed_files() {
    let project = recorded();
    assert_eq!(there(&project), ["desk.json", "desk.txt"]);
    assert_eq!(named(&project), ["desk"; 3]);
    let baseline = project.read("baselines/a/baseline.json");
    assert!(!baseline.contains("Does nothing."), "{baseline}");
    assert_eq!(
        project.read(TEXT),
        "# desk\ndesk, 1.0.0, MCP 2025-11-25\n\n\
         ## size\nreadOnlyHint: true\n- of (string, required): Whose\n\nHow many there are.\n\n\
         ## idle\nreadOnlyHint: true\n- of (string, required): Whose\n\nDoes nothing.\n"
    );
    let tools = whole(&project, "baselines/a/baseline.json")["catalogue"][0]["tools"].clone();
    assert_eq!(tools[1]["description"], "Does nothing.");
    project.expect(0, &["compare", "--strict"]);

    // Nothing has changed.
    let before = baselines(&project);
    project.expect(0, &["record"]);
    assert_eq!(baselines(&project), before);

    // One description is another one, on another commit.
    described(&project, "Does nothing at all.");
    commit_all(&project.path(""), "reworded");
    project.expect(1, &["compare", "--strict"]);
    project.expect(0, &["record", "--jobs", "3"]);
    assert_eq!(changed(&project), [CATALOGUE, TEXT]);
    let now: BTreeMap<_, _> = baselines(&project);
    let same = |name: &str| name.contains("_catalogues") || now[name] == before[name];
    assert!(now.len() == before.len() && now.keys().all(|it| same(it)));
    project.expect(0, &["compare", "--strict"]);
    let before = baselines(&project);
    project.expect(0, &["record"]);
    assert_eq!(baselines(&project), before);
}

#[test]
fn a_single_baseline_names_its_own_catalogue_until_the_suite_is_accepted() {
    let project = recorded();
    described(&project, "Does nothing at all.");
    project.expect(0, &["record", "scenarios/b.yaml"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk"]);
    assert_eq!(
        changed(&project),
        [
            "baselines/_catalogues/desk-2.json",
            "baselines/_catalogues/desk-2.txt",
            "baselines/b/baseline.json",
            "scenarios/a.yaml",
            "scenarios/b.yaml",
            "scenarios/c.yaml",
        ]
    );
    project.expect(0, &["compare", "scenarios/b.yaml", "--strict"]);
    project.expect(
        1,
        &[
            "compare",
            "scenarios/a.yaml",
            "scenarios/c.yaml",
            "--strict",
        ],
    );

    project.expect(0, &["review", "--accept", "c"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk-2"]);
    project.expect(0, &["review", "--accept-all"]);
    assert_eq!(named(&project), ["desk"; 3]);
    assert_eq!(there(&project), ["desk.json", "desk.txt"]);
    commit_all(&project.path("scenarios"), "reworded");
    assert!(project.read(TEXT).contains("nothing at all"));
    project.expect(0, &["compare", "--strict"]);
}

#[test]
fn a_suite_of_different_catalogues_keeps_them_apart() {
    let project = recorded();
    scenario(&project, "b", "Is another.");
    project.expect(0, &["record"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk"]);
    commit_all(&project.path(""), "as recorded");
    // Both change, and each stays in its place, whichever is recorded first.
    described(&project, "Does nothing at all.");
    scenario(&project, "b", "Is quite another.");
    project.expect(0, &["record", "scenarios/b.yaml"]);
    project.expect(0, &["record"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk"]);
    assert!(project.read(TEXT).contains("nothing at all"));
    let second = project.read("baselines/_catalogues/desk-2.txt");
    assert!(second.contains("quite another"), "{second}");
}

#[test]
fn only_clean_removes_what_no_baseline_names() {
    let project = recorded();
    scenario(&project, "b", "Is another.");
    project.expect(0, &["record"]);
    let all = there(&project);
    assert_eq!(all.len(), 4);
    fs::remove_dir_all(project.path("baselines/b")).unwrap();
    fs::remove_file(project.path("scenarios/b.yaml")).unwrap();
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    assert_eq!(there(&project), all);
    // Whether there is an engine or not.
    project.run(&["clean", "--dry-run"]).says(
        "would be removed: catalogue baselines/_catalogues/desk-2.json (no baseline names it)",
    );
    assert_eq!(there(&project), all);
    project.file("baselines/d/baseline.json", "{ \"catalogue\": [");
    project
        .run(&["clean"])
        .says("baselines/d/baseline.json is not a trajectory");
    assert_eq!(there(&project), all, "nobody knows what that names");
    fs::remove_dir_all(project.path("baselines/d")).unwrap();
    let mut in_ci = project.command();
    ran(in_ci.arg("clean").env("CI", "true")).says("left alone: catalogue");
    assert_eq!(there(&project), all);
    project
        .run(&["clean"])
        .says("removed: catalogue baselines/_catalogues/desk-2.json");
    assert_eq!(there(&project), ["desk.json", "desk.txt"]);
    project.expect(0, &["compare", "--strict"]);
}

#[test]
fn a_baseline_without_its_catalogue_cannot_be_read() {
    let project = recorded();
    let stands = project.read(CATALOGUE);
    let compared = || project.expect(3, &["compare"]);
    fs::remove_file(project.path(CATALOGUE)).unwrap();
    compared()
        .says("cannot read baselines/_catalogues/desk.json, the catalogue of baselines/a/baseline.json: ")
        .says("git checkout");
    project.file(CATALOGUE, &stands[..stands.len() / 2]);
    compared().says("it ends in the middle of its JSON");
    project.file(CATALOGUE, "[]");
    compared().says("cannot read baselines/_catalogues/desk.json");
    project.file(
        CATALOGUE,
        "{\n<<<<<<< HEAD\n  \"server\": \"desk\"\n=======\n  \"server\": \"d\"\n>>>>>>> other\n}\n",
    );
    compared().says("it has both sides of a merge");
    project
        .expect(3, &["record", "--upgrade"])
        .says("it has both sides of a merge")
        .says("0 baselines rewritten; 0 in the new form already");
    fs::remove_dir_all(project.path("baselines/_catalogues")).unwrap();
    compared().says("cannot read baselines/_catalogues/desk.json");
    // The way out.
    project.expect(0, &["record"]);
    project.expect(0, &["compare", "--strict"]);
    assert_eq!(project.read(CATALOGUE), stands);
}

#[test]
fn a_catalogue_that_is_gone_is_not_replaced_by_another() {
    let project = recorded();
    let stands = project.read(CATALOGUE);
    fs::remove_file(project.path(CATALOGUE)).unwrap();
    described(&project, "Does nothing at all.");
    project.expect(0, &["record", "scenarios/b.yaml"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk"]);
    project.expect(3, &["compare", "scenarios/a.yaml"]);
    project.expect(0, &["compare", "scenarios/b.yaml", "--strict"]);
    project.file(CATALOGUE, "cut off");
    project.expect(0, &["record", "scenarios/c.yaml"]);
    assert_eq!(named(&project), ["desk", "desk-2", "desk-2"]);
    assert_eq!(project.read(CATALOGUE), "cut off");
    project.file(CATALOGUE, stands);
    project.expect(1, &["compare", "scenarios/a.yaml", "--strict"]);
    project.expect(0, &["record"]);
    assert_eq!(named(&project), ["desk"; 3]);
}

#[test]
fn names_and_links_lead_to_catalogues_alone() {
    let project = recorded();
    let path = "baselines/a/baseline.json";
    let text = project.read(path);
    let outside = tempfile::tempdir().unwrap();
    let far = outside.path().join("far.json");
    fs::copy(project.path(CATALOGUE), &far).unwrap();
    let far = far.with_extension("");
    let long = "x".repeat(101);
    for name in [
        far.to_str().unwrap(),
        "../_catalogues/desk",
        "..",
        ".desk",
        "",
        "a/b",
        "a\\b",
        "a\u{202e}b",
        "desk\n",
        &long,
    ] {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        document["catalogue"][0]["catalogue"] = name.into();
        project.file(path, document.to_string());
        project
            .expect(3, &["compare", "scenarios/a.yaml"])
            .says("is not the name of one");
    }
    project.file(path, &text);
    let stays = project.read(CATALOGUE);
    fs::remove_file(project.path(CATALOGUE)).unwrap();
    symlink(far.with_extension("json"), project.path(CATALOGUE)).unwrap();
    project
        .expect(3, &["compare"])
        .says("is a link out of its folder");
    // Nothing is written there either.
    described(&project, "Does nothing at all.");
    project.run(&["record"]);
    assert_eq!(
        fs::read_to_string(far.with_extension("json")).unwrap(),
        stays
    );
    fs::remove_dir_all(project.path("baselines/_catalogues")).unwrap();
    symlink(outside.path(), project.path("baselines/_catalogues")).unwrap();
    project
        .expect(3, &["compare"])
        .says("is a link out of its folder");
    project
        .expect(3, &["record"])
        .says("is a link out of its folder");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn baselines_of_before_are_read_and_written_anew() {
    let project = recorded();
    let before = baselines(&project);
    for name in NAMES {
        let path = format!("baselines/{name}/baseline.json");
        project.file(&path, stands_alone(&project, &path));
    }
    fs::remove_dir_all(project.path("baselines/_catalogues")).unwrap();
    let old = baselines(&project);
    project.expect(0, &["compare", "--strict"]);
    project.expect(0, &["record"]);
    assert_eq!(baselines(&project), old, "nothing has changed");

    // A change that is accepted.
    project.edit("scenarios/b.yaml", "12 tickets", "13 tickets");
    project.expect(0, &["record"]);
    assert_eq!(there(&project), ["desk.json", "desk.txt"]);
    for (name, version) in [("a", 2), ("b", 3), ("c", 2)] {
        let text = project.read(format!("baselines/{name}/baseline.json"));
        assert!(
            text.contains(&format!("\"format_version\": {version}")),
            "{text}"
        );
    }
    project.edit("scenarios/b.yaml", "13 tickets", "12 tickets");

    // All at once, without a run.
    for name in NAMES {
        project.edit(&format!("scenarios/{name}.yaml"), "size", "gone");
    }
    let upgraded = |arguments: &[&str], says: &str| {
        project
            .expect(0, &[&["record", "--upgrade"], arguments].concat())
            .says(says);
    };
    upgraded(
        &["scenarios/a.yaml"],
        "1 baseline rewritten; 0 in the new form already",
    );
    upgraded(&[], "1 baseline rewritten; 2 in the new form already");
    let now = baselines(&project);
    upgraded(&[], "0 baselines rewritten; 3 in the new form already");
    assert_eq!(baselines(&project), now);
    for (name, text) in before.iter().filter(|it| !it.0.contains("/b/")) {
        assert!(now[name] == *text, "{name}");
    }
    let mut in_ci = project.command();
    let in_ci = ran(in_ci.args(["record", "--upgrade"]).env("CI", "true"));
    assert_eq!(in_ci.code, 2);
    in_ci.says("CI does not write baselines");
}

#[test]
fn line_ends_of_another_system_are_left_alone() {
    let project = recorded();
    for (path, text) in baselines(&project) {
        let text = String::from_utf8(text).unwrap().replace('\n', "\r\n");
        fs::write(path, text).unwrap();
    }
    let before = baselines(&project);
    project.expect(0, &["record"]);
    project.expect(0, &["compare", "--strict"]);
    assert_eq!(baselines(&project), before);
    // Nor does another scenario get a second one for them.
    project.edit("scenarios/b.yaml", "12 tickets", "13 tickets");
    project.expect(0, &["record"]);
    assert_eq!(named(&project), ["desk"; 3]);
    assert_eq!(there(&project), ["desk.json", "desk.txt"]);
}

#[test]
fn a_changed_catalogue_concerns_the_scenarios_whose_baselines_name_it() {
    let project = recorded();
    scenario(&project, "b", "Is another.");
    project.expect(0, &["record"]);
    commit_all(&project.path(""), "as recorded");
    project.edit(CATALOGUE, "Does nothing.", "Did nothing.");
    let listed = project.result(0, &["list", "--changed"]);
    let ids = listed["scenarios"].as_array().unwrap().iter();
    let ids: Vec<&str> = ids.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "c"]);
}

#[test]
fn catalogues_are_no_scenarios_and_are_found_above_a_baseline() {
    let project = recorded();
    fs::create_dir_all(project.path("baselines/_catalogues/x")).unwrap();
    for file in ["baseline.json", "pending.json"] {
        let to = format!("baselines/_catalogues/x/{file}");
        project.file(&to, project.read("baselines/a/baseline.json"));
    }
    project.expect(0, &["list"]).says_not("_catalogues");
    project.expect(0, &["compare"]).says_not("_catalogues");
    project
        .expect(0, &["review", "--list"])
        .says_not("_catalogues");
    project
        .expect(0, &["record", "--upgrade"])
        .says("3 in the new form");

    for given in ["baselines/a", "baselines/a/baseline.json", "./baselines/a"] {
        project.expect(
            0,
            &[
                "compare",
                "scenarios/a.yaml",
                "--strict",
                "--baseline",
                given,
            ],
        );
    }
    // Also where the folder of all baselines is above the working one.
    for (folder, given) in [("baselines/a", "baseline.json"), ("baselines", "a")] {
        let up = "../".repeat(folder.split('/').count());
        let mut below = project.command();
        below.current_dir(project.path(folder));
        below.args([
            "compare",
            &format!("{up}scenarios/a.yaml"),
            "--no-report",
            "--no-db",
        ]);
        let below = ran(below.args(["--baseline", given]));
        assert_eq!(below.code, 0, "{below:?}");
    }
    let run = project.path("baselines/a/baseline.json");
    for run in ["baselines/a/baseline.json", run.to_str().unwrap()] {
        project.expect(0, &["compare", "scenarios/a.yaml", "--run", run]);
    }
    // A lone baseline holds its own.
    project.expect(0, &["record", "scenarios/a.yaml", "--output", "alone"]);
    assert!(
        project
            .read("alone/baseline.json")
            .contains("Does nothing.")
    );
    assert!(!project.path("alone/_catalogues").exists());
    project.expect(0, &["compare", "scenarios/a.yaml", "--baseline", "alone"]);
}

#[test]
fn what_a_killed_process_has_left_is_put_right() {
    let project = recorded();
    // Two equal ones, each named: one was about to take the place of the other.
    let second = Path::new(CATALOGUE).with_file_name("desk-2.json");
    fs::copy(project.path(CATALOGUE), project.path(&second)).unwrap();
    let before = baselines(&project);
    project.edit(
        "baselines/b/baseline.json",
        "\"catalogue\": \"desk\"",
        "\"catalogue\": \"desk-2\"",
    );
    project.expect(0, &["compare", "--strict"]);
    project.expect(0, &["record"]);
    assert_eq!(baselines(&project), before);
}

#[test]
fn servers_whose_names_differ_in_case_alone_have_files_that_differ_in_more() {
    let project = Project::new();
    let tool = |name: &str| json!({ "name": name, "responses": [{ "content": "12 tickets" }] });
    let scenario = json!({
        "name": "both",
        "servers": { "Desk": { "type": "mock" }, "desk": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "mcp__desk__size" }, { "tool": "mcp__Desk__count" }] },
        "mcp_interactions": { "Desk": { "tools": [tool("count")] }, "desk": { "tools": [tool("size")] } },
    });
    project.file("scenarios/both.yaml", scenario.to_string());
    for _ in 0..2 {
        project.expect(0, &["record"]);
        project.expect(0, &["compare", "--strict"]);
        assert_eq!(
            there(&project),
            ["desk-2.json", "desk-2.txt", "desk.json", "desk.txt"]
        );
    }
}
