//! Runs that failed or changed: they wait for review, and become the baseline when somebody says so.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, Ran, in_terminal, ran};

pub(crate) const BASELINE: &str = "baselines/shop/baseline.json";
pub(crate) const PENDING: &str = "baselines/shop/pending.json";

/// A shop whose answers hold an id that varies, and prices.
pub(crate) fn shop(project: &Project) {
    let scenario = json!({
        "name": "The shop",
        "servers": { "shop": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [
            { "tool": "price", "args": { "of": "tea" } },
            { "tool": "stock", "args": {} },
            { "tool": "visit", "args": {} },
        ] },
        "mcp_interactions": { "shop": { "tools": [
            { "name": "price", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "tea": 3, "unit": "euro" } }] }] },
            { "name": "stock", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "left": 40, "shelf": "north" } }] }] },
            { "name": "visit", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "visit": "{{uuid}}" } }] }] },
        ] } },
    });
    project.file("scenarios/shop.yaml", scenario.to_string());
    project.expect(0, &["record"]);
}

/// The same with another price and another stock by now.
pub(crate) fn changed_shop(project: &Project) {
    shop(project);
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"tea\":4");
    project.edit("scenarios/shop.yaml", "\"left\":40", "\"left\":39");
    project.expect(1, &["compare"]).says("mcp-eval review");
}

fn read_json(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

/// What was accepted has the answers of the run where something has changed, and else all as it was: ids, too, and the times of the calls.
fn assert_mixed(accepted: &Value, before: &Value, run: &Value) {
    let of = |of: &Value, tool: &str| -> Value {
        let mut steps = of["steps"].as_array().unwrap().iter();
        steps.rfind(|it| it["tool"] == tool).unwrap().clone()
    };
    assert_eq!(
        of(accepted, "price")["outcome"],
        of(run, "price")["outcome"]
    );
    assert_eq!(
        of(accepted, "stock")["outcome"],
        of(run, "stock")["outcome"]
    );
    assert_eq!(of(accepted, "visit"), of(before, "visit"));
    assert_ne!(of(accepted, "visit"), of(run, "visit"));
    for tool in ["price", "stock"] {
        assert_eq!(of(accepted, tool)["start_ms"], of(before, tool)["start_ms"]);
    }
    assert_eq!(
        accepted["stamp"]["recorded_at"],
        before["stamp"]["recorded_at"]
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_compared_becomes_the_baseline_and_knows_what_varies() {
    let project = Project::new();
    changed_shop(&project);
    let pending = read_json(&project, PENDING);
    let run = pending["pending"]["run"].as_str().unwrap();
    let stored = read_json(&project, &format!(".mcp-eval/runs/{run}/current/shop.json"));
    assert_eq!(pending["steps"], stored["steps"]);
    let before = read_json(&project, BASELINE);
    project
        .expect(0, &["review", "--list"])
        .says("✗ 1 scenario, shop: `price` returned a different `tea`: 3 → 4")
        .says("✗ 1 scenario, shop: `stock`");
    project.expect(1, &["review", "--check"]);
    project
        .expect(0, &["review", "--accept", "shop"])
        .says("accepted shop");
    assert!(!project.path(PENDING).exists());
    let accepted = read_json(&project, BASELINE);
    assert_mixed(&accepted, &before, &stored);
    assert!(accepted.get("pending").is_none());
    let learned = accepted["learned"].as_array().unwrap();
    assert_eq!(learned.len(), 3, "{learned:#?}");
    assert!(learned.iter().all(|it| it["takes"] == 2), "{learned:#?}");
    assert_eq!(learned[2]["varies"][0]["path"], "/content/0/json/visit");
    assert!(
        project
            .read("baselines/shop/trajectory.txt")
            .contains("\"tea\":4")
    );
    project.expect(0, &["review", "--check"]);
    project.expect(0, &["compare", "--strict"]);
    // What does not vary is held as before.
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":5");
    project.expect(1, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_passes_leaves_nothing_to_review_and_ci_keeps_nothing() {
    let project = Project::new();
    changed_shop(&project);
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":3");
    project.edit("scenarios/shop.yaml", "\"left\":39", "\"left\":40");
    project.expect(0, &["compare"]).says_not("mcp-eval review");
    assert!(!project.path(PENDING).exists());
    // An addition passes, and is a change all the same.
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"tea\":3,\"milk\":1");
    let in_ci = |arguments: &[&str]| ran(project.command().args(arguments).env("CI", "true"));
    assert_eq!(in_ci(&["compare"]).code, 0);
    assert!(!project.path(PENDING).exists());
    assert_eq!(in_ci(&["compare", "--pending"]).code, 0);
    assert!(project.path(PENDING).exists());
    let refused = in_ci(&["review", "--accept-all"]);
    assert_eq!(refused.code, 2);
    refused.says("CI is set");
    assert_eq!(in_ci(&["review", "--check"]).code, 1);
    project
        .expect(0, &["review", "--reject-all"])
        .says("stays as it is");
    assert!(!project.path(PENDING).exists());
    assert!(!project.read(BASELINE).contains("milk"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_pending_run_is_never_compared_with() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(1, &["compare"]);
    project.expect(1, &["compare"]);
    assert!(!project.read(BASELINE).contains("\\\"tea\\\":4"));
}

#[test]
fn what_was_compared_with_something_else_is_not_accepted_unseen() {
    let project = Project::new();
    changed_shop(&project);
    let before = project.read(BASELINE);
    let mut other: Value = serde_json::from_str(&before).unwrap();
    other["name"] = json!("x");
    other["scenario"]["name"] = json!("Another");
    project.file(BASELINE, serde_json::to_string_pretty(&other).unwrap());
    for (which, exit) in [(&["--accept", "shop"][..], 2), (&["--accept-all"], 3)] {
        project
            .expect(exit, &[&["review"], which].concat())
            .says("is not the baseline that this run was compared with")
            .says("mcp-eval compare")
            .says("--force");
    }
    assert!(project.path(PENDING).exists());
    project.expect(0, &["review", "--accept", "shop", "--force"]);
    assert!(project.read(BASELINE).contains("\\\"tea\\\":4"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_asked_otherwise_is_not_accepted_unseen() {
    for (was, is) in [
        ("\"of\":\"tea\"", "\"of\":\"milk\""),
        (
            "\"name\":\"The shop\"",
            "\"name\":\"The shop\",\"user_intent\":\"Buy\"",
        ),
    ] {
        let project = Project::new();
        changed_shop(&project);
        let before = project.read(BASELINE);
        project.edit("scenarios/shop.yaml", was, is);
        project
            .expect(2, &["review", "--accept", "shop"])
            .says("scenarios/shop.yaml no longer asks what this run was asked");
        assert_eq!(project.read(BASELINE), before);
        assert!(project.path(PENDING).exists());
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn names_are_ids_names_or_files_and_a_wrong_one_is_reported() {
    let project = Project::new();
    changed_shop(&project);
    project
        .expect(2, &["review", "--accept", "shp"])
        .says("did you mean `shop`");
    project
        .expect(2, &["review", "--accept", "shop", "--reject", "shop"])
        .says("both accepted and rejected");
    project
        .expect(2, &["review", "--variant"])
        .says("--accept NAME --variant");
    project
        .expect(2, &["review"])
        .says("no terminal")
        .says("--accept-all")
        .says("--list")
        .says("--check");
    assert!(project.path(PENDING).exists());
    // Named twice, it is meant once.
    let twice = ["review", "--reject", "The shop", "--reject", "shop"];
    let said = project.expect(0, &twice).stdout;
    assert_eq!(said.matches("rejected shop").count(), 1, "{said}");
    project.expect(1, &["compare"]);
    let twice = ["review", "--accept", "shop", "--accept", "shop"];
    let said = project.expect(0, &twice).stdout;
    assert_eq!(said.matches("accepted shop").count(), 1, "{said}");
    project
        .expect(2, &["review", "--reject", "shop"])
        .says("nothing of `shop` is pending");
    project
        .expect(0, &["review", "--list"])
        .says("Nothing is pending");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_from_a_report_of_ci_is_accepted_as_it_was_seen() {
    let project = Project::new();
    shop(&project);
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"tea\":4");
    let compared = ran(project
        .command()
        .args(["compare", "--output", "artifact"])
        .env("CI", "true"));
    assert_eq!(compared.code, 1, "{compared:#?}");
    assert!(!project.path(PENDING).exists());
    // The artifact is all that CI hands over.
    fs::remove_dir_all(project.path(".mcp-eval")).unwrap();
    let seen = read_json(&project, "artifact/trajectories/current/shop.json");
    let before = read_json(&project, BASELINE);
    project
        .expect(0, &["review", "--list", "--from", "artifact"])
        .says("✗ 1 scenario, shop: ");
    project.expect(0, &["review", "--accept", "shop", "--from", "artifact"]);
    let accepted = read_json(&project, BASELINE);
    assert_mixed(&accepted, &before, &seen);
    let visit = accepted["learned"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["call"] == 3);
    assert_eq!(visit.unwrap()["takes"], 2, "what was known stays known");
    project.expect(0, &["compare"]);
    project
        .expect(2, &["review", "--accept", "shop", "--from", "artifact"])
        .says("is not the baseline that this run was compared with");
    project
        .expect(2, &["review", "--accept", "shop", "--from", "nowhere"])
        .says("no folder");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn variants_pass_either_way_and_are_retired_when_none_comes_near() {
    let project = Project::new();
    changed_shop(&project);
    project
        .expect(0, &["review", "--accept", "shop", "--variant"])
        .says("variant-2.json");
    project.expect(0, &["compare"]);
    project.expect(0, &["list"]).says("2 variants");
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":3");
    project.edit("scenarios/shop.yaml", "\"left\":39", "\"left\":40");
    project.expect(0, &["compare"]);
    // The second was nearest to one of the last three comparisons.
    project
        .expect(0, &["review", "--retire", "3"])
        .says("Nothing is retired");
    project.expect(0, &["compare"]);
    project
        .expect(0, &["review", "--retire", "2"])
        .says("retired baselines/shop/variant-2.json");
    assert!(!project.path("baselines/shop/variant-2.json").exists());
    project.expect(0, &["list"]).says_not("variants");
}

#[test]
fn reads_of_servers_that_outlive_a_run_are_asked_twice_where_they_are_new() {
    let project = Project::new();
    let declared = json!({ "tools": [
        { "name": "same", "annotations": { "read_only_hint": true }, "responses": [{ "content": "as ever" }] },
        { "name": "new", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "price": 3, "id": "{{uuid}}" } }] }] },
    ] });
    project.file("mock.yaml", declared.to_string());
    let serve = || {
        crate::common::served(
            &project,
            &[
                "mock",
                "mock.yaml",
                "--transport",
                "http",
                "--call-log",
                "calls.jsonl",
            ],
        )
    };
    let (server, url) = serve();
    let scenario = |url: &str| {
        json!({
            "name": "s", "servers": { "s": { "type": "http", "url": url } },
            "agent": { "kind": "scripted", "calls": [{ "tool": "same", "args": {} }, { "tool": "new", "args": {} }] },
        })
        .to_string()
    };
    project.file("scenarios/s.yaml", scenario(&url));
    project.expect(0, &["record"]);
    drop(server);
    project.edit("mock.yaml", "\"price\":3", "\"price\":4");
    let (_server, url) = serve();
    project.file("scenarios/s.yaml", scenario(&url));
    project.file("calls.jsonl", "");
    project.expect(1, &["compare"]);
    let pending = read_json(&project, "baselines/s/pending.json");
    let learned = pending["learned"].as_array().unwrap();
    assert_eq!(learned.len(), 2, "{learned:#?}");
    assert!(learned.iter().all(|it| it["takes"] == 2), "{learned:#?}");
}

/// Types these keys into the review, each when it is asked for; `None` where there is no terminal to be had.
fn typed(project: &Project, keys: &str) -> Option<Ran> {
    let keys: Vec<String> = keys.chars().map(String::from).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    in_terminal("the keys of `review`", project, &["review"], "  > ", &keys)
}

/// Three shops with another price, of which the last has another stock, too.
fn shops(project: &Project) {
    shop(project);
    let scenario = project.read("scenarios/shop.yaml");
    let write = |id: &str, (price, left): (u8, u8)| {
        let scenario = scenario.replace("The shop", id);
        let scenario = scenario.replace("\"tea\":3", &format!("\"tea\":{price}"));
        let scenario = scenario.replace("\"left\":40", &format!("\"left\":{left}"));
        project.file(&format!("scenarios/{id}.yaml"), scenario);
    };
    for id in ["shop", "stall", "till"] {
        write(id, (3, 40));
    }
    project.expect(0, &["record"]);
    for (id, left) in [("shop", 40), ("stall", 40), ("till", 39)] {
        write(id, (4, left));
    }
    project.expect(1, &["compare"]);
}

fn is_pending(project: &Project, id: &str) -> bool {
    project
        .path(format!("baselines/{id}/pending.json"))
        .exists()
}

#[test]
fn a_cause_of_several_scenarios_is_one_question() {
    let project = Project::new();
    shops(&project);
    let Some(ran) = typed(&project, "dasq") else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("change 1 of 2: ✗\u{1b}[0m `price` returned a different `tea`: 3 → 4 · 3 scenarios")
        .says("- 3")
        .says("+ 4")
        .says("accepted shop")
        .says("accepted stall")
        .says("change 2 of 2: ✗\u{1b}[0m `stock` returned a different `left`: 40 → 39")
        .says("not accepted, because not all of their changes were: till")
        .says("1 still pending")
        .says_not("change 3");
    let (shown, explained) = (ran.stdout.find("- 3"), ran.stdout.find("call 1: price"));
    assert!(
        shown < explained,
        "details begin with what differs: {ran:#?}"
    );
    let (asked, _) = ran.stdout.split_once("  > ").unwrap();
    for line in asked
        .replace("\u{1b}[31m", "")
        .replace("\u{1b}[0m", "")
        .lines()
    {
        assert!(line.chars().count() <= 80 + "\u{1b}[2m".len(), "{line}");
    }
    assert!(is_pending(&project, "till") && !is_pending(&project, "stall"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn keys_decide_on_all_scenarios_of_a_cause() {
    for (keys, code, pending, said) in [
        ("aa", 0, 0, "accepted till"),
        ("ss", 1, 3, "3 still pending"),
        ("r", 0, 0, "rejected stall"),
        ("A", 0, 0, "accepted till"),
        ("I", 0, 0, "done with till"),
        ("ii", 0, 0, "done with stall"),
        ("v", 0, 0, "baselines/stall/variant-2.json"),
        ("q", 1, 3, "3 still pending"),
    ] {
        let project = Project::new();
        shops(&project);
        let Some(ran) = typed(&project, keys) else {
            return;
        };
        assert_eq!(ran.code, code, "{keys}: {ran:#?}");
        ran.says(said);
        let ids = ["shop", "stall", "till"];
        let left = ids.into_iter().filter(|it| is_pending(&project, it));
        assert_eq!(left.count(), pending, "{keys}");
    }
}

#[test]
fn a_cause_is_accepted_by_its_id() {
    let project = Project::new();
    shops(&project);
    let listed = project.expect(0, &["review", "--list"]).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(
        lines[0].contains("  ✗ 3 scenarios, such as shop: `price`"),
        "{listed}"
    );
    let ids: Vec<&str> = lines.iter().filter_map(|it| it.split(' ').next()).collect();
    project
        .expect(2, &["review", "--accept-cause", "cause-x"])
        .says("no pending run has the cause `cause-x`")
        .says(ids[0])
        .says(ids[1]);
    for other in [["--accept", "shop"], ["--reject", "shop"]] {
        let both = [&["review", "--accept-cause", ids[0]][..], &other].concat();
        project.expect(2, &both).says("cannot be used with");
    }
    project
        .expect(1, &["review", "--accept-cause", ids[1]])
        .says(&format!("till is left: it fails for {}: `price`", ids[0]));
    project
        .expect(0, &["review", "--accept-cause", ids[0]])
        .says("accepted shop")
        .says("accepted stall")
        .says(&format!("till is left: it fails for {}: `stock`", ids[1]));
    assert!(is_pending(&project, "till"));
    project
        .expect(
            0,
            &["review", "--accept-cause", ids[0], "--accept-cause", ids[1]],
        )
        .says("accepted till");
    project.expect(2, &["review", "--accept-cause", ids[0]]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_key_for_each_change_accepts_the_run() {
    let project = Project::new();
    changed_shop(&project);
    let Some(ran) = typed(&project, "aa") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("a accept · v accept as a variant · i ignore this place · r reject · s skip · d details · o open page · q quit")
        .says("change 1 of 2: ✗\u{1b}[0m `price` returned a different `tea`: 3 → 4")
        .says("3 → 4")
        .says("change 2 of 2: ✗\u{1b}[0m `stock` returned a different `left`: 40 → 39")
        .says("accepted shop");
    assert!(project.read(BASELINE).contains("\\\"tea\\\":4"));
    assert!(!project.path(PENDING).exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn capitals_decide_on_the_whole_scenario() {
    for (key, code, accepted, pending, variant) in [
        ("A", 0, true, false, false),
        ("R", 0, false, false, false),
        ("r", 0, false, false, false),
        ("S", 1, false, true, false),
        ("as", 1, false, true, false),
        ("q", 1, false, true, false),
        ("aq", 1, false, true, false),
        ("\u{3}", 130, false, true, false),
        ("a\u{3}", 130, false, true, false),
        ("v", 0, false, false, true),
    ] {
        let project = Project::new();
        changed_shop(&project);
        let before = project.read(BASELINE);
        let Some(ran) = typed(&project, key) else {
            return;
        };
        assert_eq!(ran.code, code, "{key:?}: {ran:#?}");
        assert_eq!(project.read(BASELINE) != before, accepted, "{key:?}");
        assert_eq!(project.path(PENDING).exists(), pending, "{key:?}");
        let beside = project.path("baselines/shop/variant-2.json");
        assert_eq!(beside.exists(), variant, "{key:?}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_place_that_is_ignored_is_let_go_of_from_then_on() {
    let project = Project::new();
    changed_shop(&project);
    let Some(ran) = typed(&project, "ii") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("ignored from now on");
    let baseline = read_json(&project, BASELINE);
    let varies = |call: usize| {
        let learned = baseline["learned"].as_array().unwrap();
        learned[call - 1]["varies"][0]["path"].clone()
    };
    assert_eq!(varies(1), "/content/0/json/tea");
    assert_eq!(varies(2), "/content/0/json/left");
    assert!(
        project.read(BASELINE).contains("\\\"tea\\\":3"),
        "the baseline is what it was"
    );
    assert!(!project.path(PENDING).exists());
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":7");
    project.expect(0, &["compare", "--strict"]);
    // What stands beside it is held.
    project.edit("scenarios/shop.yaml", "euro", "dollar");
    project.expect(1, &["compare"]);
    // One place ignored, the other change accepted.
    let Some(ran) = typed(&project, "a") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(project.read(BASELINE).contains("dollar"));
    project.edit("scenarios/shop.yaml", "\"tea\":7", "\"tea\":8");
    project.expect(0, &["compare", "--strict"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn details_and_the_page_are_there_for_a_key() {
    let project = Project::new();
    changed_shop(&project);
    project.file("xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
    let open = project.path("xdg-open");
    let mut rights = fs::metadata(&open).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    fs::set_permissions(&open, rights).unwrap();
    let Some(ran) = typed(&project, "d?oq") else {
        return;
    };
    for _ in 0..50 {
        if project.path("opened").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let opened = project.read("opened");
    assert!(
        opened.trim_end().ends_with("/shop.html") && opened.contains("/reports/"),
        "{opened}"
    );
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("call 1: price of shop");
    assert_eq!(
        ran.stdout.matches("a accept ·").count(),
        2,
        "`?` shows the keys again"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn which_of_several_variants_is_played_is_said_without_being_asked() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(0, &["review", "--accept", "shop", "--variant"]);
    for (how, said) in [
        (&["--agent", "replay"][..], "the replay plays"),
        (&["--servers", "recorded"], "the servers answer from"),
    ] {
        let of = format!("note: shop: {said} {BASELINE}, of 2 variants");
        let compared = project.run(&[&["compare"], how].concat());
        assert!(compared.stderr.contains(&of), "{compared:#?}");
    }
    project.expect(0, &["compare"]).says_not("of 2 variants");
}
