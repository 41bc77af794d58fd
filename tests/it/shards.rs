//! A suite in parts on several machines, and `merge`, which makes one result of theirs.

use std::collections::BTreeSet;
use std::fs;

use mcp_eval::published::result;
use serde_json::{Value, json};

use crate::common::{Project, commit_all, copy, ran};

/// A scenario with a mock that answers this.
fn scenario(project: &Project, id: &str, answer: &str) {
    let scenario = json!({
        "name": format!("Scenario {id}"),
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "success_criteria": [{ "text": "fine" }],
        "mcp_interactions": { "m": { "tools": [{
            "name": "look",
            "annotations": { "read_only_hint": true },
            "responses": [{ "content": answer }],
        }] } },
    });
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// Five scenarios with baselines.
fn suite() -> Project {
    let project = Project::new();
    for id in ["a", "b", "c", "d", "e"] {
        scenario(&project, id, "fine");
    }
    project.expect(0, &["record", "--takes", "1"]);
    for id in ["a", "b", "c", "d", "e"] {
        took(&project, id, Some(10.0));
    }
    project
}

/// Runs all parts, each with its pages in `parts/K`.
#[track_caller]
fn run_parts(project: &Project, command: &str, count: u32, codes: &[i32]) -> Vec<Value> {
    let part = |index: u32| {
        let (shard, folder) = (format!("{index}/{count}"), format!("parts/{index}"));
        let code = codes.get(index as usize - 1).copied().unwrap_or(0);
        project.result(code, &[command, "--shard", &shard, "--output", &folder])
    };
    (1..=count).map(part).collect()
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

/// Changes the stored result of a part.
fn change(project: &Project, part: u32, change: impl FnOnce(&mut Value)) {
    let path = format!("parts/{part}/result.json");
    let mut document: Value = serde_json::from_str(&project.read(&path)).unwrap();
    change(&mut document);
    project.file(&path, document.to_string());
}

/// Lets a scenario of a part have come out otherwise, with all that says so.
fn came_to(project: &Project, part: u32, status: &str) {
    change(project, part, |it| {
        let was = it["scenarios"][0]["status"].as_str().unwrap().to_owned();
        let mut count = |status: &str, by: i64| {
            let counted = it["summary"][status].as_i64().unwrap_or_default();
            it["summary"][status] = json!(counted + by);
        };
        count(&was, -1);
        count(status, 1);
        it["scenarios"][0]["status"] = json!(status);
        it["gate"]["exit_code"] = json!(i32::from(status == "failed"));
    });
}

/// What all parts are called by in every result, without what each says of itself.
fn plan(result: &Value) -> &Value {
    &result["shard"]["plan"]
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_machine_makes_the_same_plan_and_runs_its_part() {
    let project = suite();
    let parts = run_parts(&project, "compare", 3, &[]);
    let mut all = BTreeSet::new();
    for (at, part) in parts.iter().enumerate() {
        assert_eq!(plan(part), plan(&parts[0]));
        assert_eq!(part["shard"]["index"], at + 1);
        assert_eq!(part["shard"]["count"], 3);
        let planned = plan(part)[at]["scenarios"].as_array().unwrap();
        let planned: Vec<&str> = planned
            .iter()
            .map(|it| it["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids(part), planned);
        for id in ids(part) {
            assert!(all.insert(id.to_owned()), "{id} ran twice");
        }
    }
    assert_eq!(all.len(), 5);
    // Only what is selected is parted.
    let picked = project.result(0, &["compare", "--shard", "1/1", "-k", "not b"]);
    assert_eq!(ids(&picked), ["a", "c", "d", "e"]);
}

/// Says how long the run of a baseline took.
fn took(project: &Project, id: &str, duration_ms: Option<f64>) {
    let path = format!("baselines/{id}/baseline.json");
    let mut baseline: Value = serde_json::from_str(&project.read(&path)).unwrap();
    baseline["duration_ms"] = json!(duration_ms);
    project.file(&path, baseline.to_string());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn parts_take_about_as_long_as_the_baselines_tell() {
    let project = suite();
    for (id, duration) in [("a", 100.0), ("b", 100.0), ("c", 900.0), ("d", 500.0)] {
        took(&project, id, Some(duration));
    }
    // Nothing is known of it, so it counts as what lies in the middle: 300.
    took(&project, "e", None);
    let parts = run_parts(&project, "compare", 2, &[]);
    assert_eq!(ids(&parts[0]), ["b", "c"]);
    assert_eq!(ids(&parts[1]), ["a", "d", "e"]);
    assert_eq!(plan(&parts[0])[0]["expected_ms"], 1000.0);
    assert_eq!(plan(&parts[0])[1]["expected_ms"], 900.0);
    project
        .expect(0, &["compare", "--shard", "2/2"])
        .says("Part 2/2: 3 of 5 scenarios, about 900 ms of 1.9 s");
    // `run` looks at them, too, and without any, all are alike.
    let run = project.result(0, &["run", "--shard", "1/2"]);
    assert_eq!(ids(&run), ["b", "c"]);
    fs::remove_dir_all(project.path("baselines")).unwrap();
    let run = project.result(0, &["run", "--shard", "1/2"]);
    assert_eq!(ids(&run), ["a", "c", "e"]);
    assert_eq!(plan(&run)[0]["expected_ms"], Value::Null);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_part_without_scenarios_is_green_and_says_so() {
    let project = suite();
    let empty = project.expect(0, &["compare", "--shard", "7/7"]);
    empty
        .says("Part 7/7: 0 of 5 scenarios")
        .says("this part of the suite has no scenarios, so nothing was run");
    let parts = run_parts(&project, "compare", 7, &[]);
    assert_eq!(parts[6]["gate"]["name"], "empty_shard");
    let merged = project.result(0, &["merge", "parts"]);
    assert_eq!(ids(&merged), ["a", "b", "c", "d", "e"]);
    assert_eq!(merged["merged"]["shards"].as_array().unwrap().len(), 7);
    // That it has only disabled ones is the same; where all are, nothing runs anywhere.
    for id in ["a", "b", "c", "d", "e"] {
        let path = format!("scenarios/{id}.yaml");
        let mut disabled: Value = serde_json::from_str(&project.read(&path)).unwrap();
        disabled["enabled"] = json!(false);
        project.file(&path, disabled.to_string());
        let code = if id == "e" { 3 } else { 0 };
        let parts: Vec<i32> = (1..=5)
            .map(|it| {
                project
                    .run(&["compare", "--shard", &format!("{it}/5")])
                    .code
            })
            .collect();
        assert_eq!(parts, [code; 5], "{id}");
    }
}

#[test]
fn where_nothing_has_changed_no_part_has_anything_to_do() {
    let project = suite();
    project.file(".gitignore", ".mcp-eval/\nreports/\nparts/\n");
    commit_all(&project.path(""), "All");
    for part in ["1", "2"] {
        let (shard, folder) = (format!("{part}/2"), format!("parts/{part}"));
        let arguments = [
            "compare",
            "--changed",
            "--shard",
            &shard,
            "--output",
            &folder,
        ];
        let result = project.result(0, &arguments);
        assert_eq!(result["gate"]["name"], "unchanged");
    }
    let merged = project.result(0, &["merge", "parts"]);
    assert_eq!(merged["gate"]["name"], "unchanged");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_put_together_is_what_one_machine_finds() {
    let project = suite();
    scenario(&project, "b", "wrong");
    scenario(&project, "d", "wrong");
    let one = project.result(1, &["compare"]);
    let codes: Vec<i32> = (1..=3)
        .map(|it| {
            let (shard, folder) = (format!("{it}/3"), format!("parts/{it}"));
            project
                .run(&["compare", "--shard", &shard, "--output", &folder])
                .code
        })
        .collect();
    assert!(codes.contains(&1), "{codes:?}");
    // Far from where they were made.
    let elsewhere = Project::new();
    copy(&project.path("parts"), &elsewhere.path("artifacts"));
    let merged = elsewhere.result(
        1,
        &[
            "merge",
            "artifacts",
            "--report",
            "junit=junit.xml",
            "--report",
            "markdown=summary.md",
        ],
    );
    for member in ["command", "summary", "format_version"] {
        assert_eq!(merged[member], one[member], "{member}");
    }
    assert_eq!(ids(&merged), ids(&one));
    let causes = |it: &Value| -> Vec<Value> {
        let causes = it["causes"].as_array().unwrap().iter();
        causes
            .map(|it| json!([it["text"], it["scenarios"]]))
            .collect()
    };
    assert_eq!(causes(&merged), causes(&one));
    for (ours, theirs) in merged["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .zip(one["scenarios"].as_array().unwrap())
    {
        for member in ["id", "status", "comparison", "checks", "in_words"] {
            let (ours, theirs) = (untimed(&ours[member]), untimed(&theirs[member]));
            assert_eq!(ours, theirs, "{member}");
        }
        for side in ["baseline", "current"] {
            let run = merged["run_id"].as_str().unwrap();
            let file = ours[side]["file"].as_str().unwrap();
            let file = elsewhere.path(format!("reports/{run}")).join(file);
            assert!(file.is_file(), "{}", file.display());
        }
    }
    let schema = jsonschema::validator_for(&result::json_schema()).unwrap();
    let part = serde_json::from_str(&project.read("parts/1/result.json")).unwrap();
    for document in [&merged, &part] {
        let errors: Vec<String> = schema
            .iter_errors(document)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    assert!(
        elsewhere
            .read("junit.xml")
            .contains("tests=\"5\" failures=\"2\"")
    );
    assert!(elsewhere.read("summary.md").contains("Scenario b"));
    let page = elsewhere.read("reports/latest/b.html");
    assert!(page.contains("wrong"), "the conversation is shown");
    // It is a stored run as any other.
    elsewhere
        .expect(0, &["report", "latest"])
        .says("3/5 tests passed");
    elsewhere.expect(0, &["explain", "b"]).says("wrong");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_the_merged_report_shows_can_be_accepted() {
    let project = suite();
    scenario(&project, "b", "fine, and otherwise");
    for it in 1..=2 {
        let (shard, folder) = (format!("{it}/2"), format!("parts/{it}"));
        project.run(&["compare", "--shard", &shard, "--output", &folder]);
    }
    project.run(&["merge", "parts", "--output", "merged"]);
    // Whatever was kept where the parts ran is gone.
    for gone in [".mcp-eval", "reports", "parts"] {
        fs::remove_dir_all(project.path(gone)).unwrap();
    }
    for entry in fs::read_dir(project.path("baselines")).unwrap() {
        let _ = fs::remove_file(entry.unwrap().path().join("pending.json"));
    }
    project.expect(
        1,
        &["compare", "b"].map(|it| if it == "b" { "scenarios/b.yaml" } else { it }),
    );
    project.expect(0, &["review", "--accept", "b", "--from", "merged"]);
    project.expect(0, &["compare"]).says("5/5 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_hole_is_named_and_never_green() {
    let project = suite();
    run_parts(&project, "compare", 3, &[]);
    fs::remove_dir_all(project.path("parts/2")).unwrap();
    let hole = project.expect(3, &["merge", "parts"]);
    hole.says("part 2/3 has left no result, and 2 scenarios are missing: b, e")
        .says("mcp-eval compare --shard 2/3");
    let merged = project.result(3, &["merge", "parts"]);
    let hint = merged["scenarios"][1]["problem"]["hint"].as_str().unwrap();
    assert!(hint.contains("mcp-eval compare --shard 2/3"), "{hint}");
    let result = project.result(3, &["merge", "parts"]);
    assert_eq!(result["merged"]["missing"], json!(["b", "e"]));
    assert_eq!(result["summary"]["error"], 2);
    assert_eq!(result["summary"]["selected"], 5);
    assert!(
        result["gate"]["sentence"]
            .as_str()
            .unwrap()
            .ends_with("2 scenarios are missing")
    );
    // What failed weighs more, as everywhere.
    came_to(&project, 1, "failed");
    project.expect(1, &["merge", "parts"]).says("missing: b, e");
    came_to(&project, 1, "passed");
    let allowed = project.result(0, &["merge", "parts", "--allow-missing"]);
    assert_eq!(allowed["merged"]["missing"], json!(["b", "e"]));
    assert_eq!(allowed["summary"]["skipped"], 2);
    assert_eq!(allowed["summary"]["selected"], 3);
    assert!(
        allowed["gate"]["sentence"]
            .as_str()
            .unwrap()
            .contains("2 scenarios are missing")
    );
    // A part that lost a scenario is no whole one.
    run_parts(&project, "compare", 3, &[]);
    change(&project, 3, |it| it["scenarios"] = json!([]));
    project
        .expect(3, &["merge", "parts"])
        .says("the result of part 3/3 is not whole, and 1 scenario is missing: c");
    // Nor is one that was cut off.
    let text = project.read("parts/3/result.json");
    project.file("parts/3/result.json", &text[..text.len() / 2]);
    project
        .expect(3, &["merge", "parts"])
        .says("parts/3/result.json: the JSON ends too early")
        .says("missing: c");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_interrupted_part_has_no_verdict() {
    let project = suite();
    run_parts(&project, "compare", 2, &[]);
    came_to(&project, 2, "interrupted");
    change(&project, 2, |it| it["interrupted"] = json!(true));
    let result = project.result(3, &["merge", "parts"]);
    assert_eq!(result["summary"]["interrupted"], 1);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn links_that_all_parts_have_are_those_of_the_whole() {
    let project = suite();
    run_parts(&project, "compare", 2, &[]);
    let link = |name: &str| json!({ "name": name, "url": format!("https://example.com/{name}") });
    change(&project, 1, |it| {
        it["links"] = json!([link("job-1"), link("commit")]);
    });
    change(&project, 2, |it| {
        it["links"] = json!([link("commit"), link("job-2")]);
    });
    let merged = project.result(0, &["merge", "parts"]);
    assert_eq!(merged["links"], json!([link("commit")]));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_same_scenario_in_two_results_is_refused() {
    let project = suite();
    run_parts(&project, "compare", 2, &[]);
    scenario(&project, "b", "wrong");
    project.run(&["compare", "--shard", "2/2", "--output", "parts/again"]);
    project
        .expect(2, &["merge", "parts"])
        .says("the scenario `b` is not the same in both");
    let arguments = ["merge", "parts", "--allow-different"];
    let refused = project.expect(
        2,
        &[&arguments[..], &["--report", "json=out.json"]].concat(),
    );
    refused
        .says("several results have the same scenario: b, d")
        .says("parts/2/result.json")
        .says("parts/again/result.json")
        .says("--allow-overlap");
    let result: Value = serde_json::from_str(&project.read("out.json")).unwrap();
    assert_eq!(result["gate"]["exit_code"], 2);
    let later = project.result(1, &[&arguments[..], &["--allow-overlap"]].concat());
    assert_eq!(later["summary"]["failed"], 1);
    assert_eq!(later["scenarios"].as_array().unwrap().len(), 5);
    // A copy of one and the same result is no second one: a report and the run it is of.
    fs::remove_dir_all(project.path("parts/again")).unwrap();
    copy(&project.path("parts/1"), &project.path("parts/copy"));
    project.expect(0, &["merge", "parts", "parts/2/result.json"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn results_of_different_runs_are_refused() {
    let project = suite();
    run_parts(&project, "compare", 2, &[]);
    let everything = ["a", "b", "c", "d", "e"].map(|it| json!({ "id": it, "path": "" }));
    for (member, value, problem) in [
        ("mcp_eval", json!("0.0.1"), "they were made by the versions"),
        ("git", json!({ "unknown": "x" }), ""),
        (
            "command",
            json!("run"),
            "the commands are `compare` and `run`",
        ),
        (
            "gate",
            json!({ "threshold": 0.5, "exit_code": 0, "name": "passed", "sentence": "" }),
            "the thresholds are",
        ),
        (
            "shard",
            json!({ "index": 2, "count": 2, "plan": [
            { "shard": 1, "expected_ms": null, "scenarios": [] },
            { "shard": 2, "expected_ms": null, "scenarios": everything },
        ] }),
            "their plans split the scenarios differently",
        ),
    ] {
        let before = project.read("parts/2/result.json");
        change(&project, 2, |it| it[member] = value);
        if problem.is_empty() {
            project.expect(0, &["merge", "parts"]);
        } else {
            project.expect(2, &["merge", "parts"]).says(problem);
            let code = if member == "command" { 2 } else { 0 };
            project.expect(code, &["merge", "parts", "--allow-different"]);
        }
        project.file("parts/2/result.json", before);
    }
    // A commit that is known on one machine alone is another one.
    commit_all(&project.path(""), "All");
    project.expect(0, &["compare", "--shard", "2/2", "--output", "parts/2"]);
    project
        .expect(2, &["merge", "parts"])
        .says("the commits are unknown and ");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_no_part_is_left_alone() {
    let project = suite();
    project.expect(0, &["compare", "--output", "whole"]);
    project
        .expect(2, &["merge", "whole/result.json"])
        .says("whole/result.json is not the result of a part");
    project
        .expect(3, &["merge", "whole"])
        .says("there is no result of a part in whole");
    project
        .expect(2, &["merge", "nowhere"])
        .says("there is no nowhere");
    project.expect(2, &["merge"]).says("<RESULTS>");
    run_parts(&project, "compare", 2, &[]);
    project.expect(0, &["merge", "whole", "parts"]);
    // Stored runs are named by their ids, and a document may be called otherwise.
    let part = project.result(
        0,
        &["compare", "--shard", "1/2", "--report", "json=out/one.json"],
    );
    let run = part["run_id"].as_str().unwrap();
    fs::remove_dir_all(project.path("parts/1")).unwrap();
    project.expect(0, &["merge", run, "parts"]);
    project.expect(0, &["merge", "out", "parts"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn nothing_in_a_result_leads_out_of_its_folder() {
    let project = suite();
    run_parts(&project, "compare", 2, &[]);
    for (member, value) in [
        ("/run_id", "../../elsewhere"),
        ("/scenarios/0/id", "../../../etc/passwd"),
        ("/shard/plan/0/scenarios/0/id", "/etc/passwd"),
        // Of no part of the plan.
        ("/scenarios/0/id", "f"),
    ] {
        let before = project.read("parts/1/result.json");
        change(&project, 1, |it| {
            *it.pointer_mut(member).unwrap() = json!(value);
        });
        project
            .expect(3, &["merge", "parts"])
            .says("left out: parts/1/result.json: ");
        project.expect(3, &["merge", "parts/1/result.json", "parts/2"]);
        project.file("parts/1/result.json", before);
    }
    // What is called a trajectory and is none, or leads elsewhere, is not taken along.
    project.file("secret.json", "{ \"secret\": true }");
    let of_a = project.path("parts/1/trajectories/current/a.json");
    fs::remove_file(&of_a).unwrap();
    std::os::unix::fs::symlink(project.path("secret.json"), &of_a).unwrap();
    project.file(
        "parts/1/trajectories/current/c.json",
        "{ \"secret\": true }",
    );
    fs::remove_dir_all(project.path(".mcp-eval/runs")).unwrap();
    let merged = project.expect(0, &["merge", "parts", "--output", "merged"]);
    merged.says("the trajectories of 2 scenarios do not lie beside the results");
    // Of what is unchanged, the whole has its trajectories among the runs, and no copies.
    let kept = |name: &str| project.last_run().join(format!("current/{name}.json"));
    assert!(!kept("a").exists() && !kept("c").exists());
    assert!(kept("b").exists());
}

#[test]
fn a_wrong_part_is_refused() {
    let project = suite();
    for (written, problem) in [
        ("0/3", "parts are counted from 1"),
        ("4/3", "there is no part 4 of 3"),
        ("2", "write K/N, such as 2/7"),
        ("a/b", "write K/N, such as 2/7"),
        ("1/100000", "there are at most 10000 parts"),
    ] {
        for command in ["run", "compare"] {
            project
                .expect(2, &[command, "--shard", written])
                .says(problem);
        }
    }
    project
        .expect(2, &["run", "--shard", "1/2", "--watch"])
        .says("cannot be used with");
    project
        .expect(2, &["compare", "--shard", "1/2", "--run", "latest"])
        .says("cannot be used with");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn strict_statistics_hold_for_all_parts_together() {
    let project = suite();
    let arguments = [
        "compare",
        "--repeat",
        "2",
        "--strict-statistics",
        "--shard",
        "1/1",
        "--output",
        "parts/1",
    ];
    project.expect(0, &arguments);
    came_to(&project, 1, "inconclusive");
    project.expect(3, &["merge", "parts"]);
    change(&project, 1, |it| {
        it["gate"]["strict_statistics"] = json!(false);
    });
    project.expect(0, &["merge", "parts"]);
    // Every attempt comes along.
    let run = project.result(0, &["merge", "parts"]);
    let attempt = &run["scenarios"][0]["repeated"]["attempts"][1];
    assert!(attempt["file"].is_string(), "{attempt:#}");
    let run = run["run_id"].as_str().unwrap();
    let attempts = project.path(format!(".mcp-eval/runs/{run}/attempts"));
    assert!(attempts.join("2/current/a.json").is_file());
}

/// A part of a result without how long anything took, which is never the same twice.
fn untimed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "duration_ms");
            let members = members.map(|(name, it)| (name.clone(), untimed(it)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(untimed).collect(),
        other => other.clone(),
    }
}

/// Runs the two parts of a suite, each with options of its own.
fn two(project: &Project, one: &[&str], other: &[&str]) {
    for (at, more) in ["1", "2"].into_iter().zip([one, other]) {
        let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
        let arguments = ["run", "--shard", &shard, "--output", &folder];
        project.run(&[&arguments[..], more].concat());
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn parts_that_were_judged_otherwise_are_refused() {
    let project = Project::new();
    for id in ["a", "b"] {
        scenario(&project, id, "fine");
    }
    let defaults = "variables: { word: x }\nenvironments: { staging: { word: y } }\n";
    project.file("scenarios/_defaults.yaml", defaults);
    let options: [(&[&str], &str); 5] = [
        (&["--strict"], "`--strict`"),
        (&["--environment", "staging"], "`--environment staging`"),
        (&["--var", "word=z"], "`--var word=z`"),
        (&["--repeat", "2"], "`--repeat 2`"),
        (
            &["--repeat", "2", "--pass-threshold", "0.5"],
            "`--pass-threshold 0.5`, `--repeat 2`",
        ),
    ];
    for (given, options) in options {
        two(&project, given, &[]);
        let refused = project.expect(2, &["merge", "parts"]);
        refused
            .says("parts/1/result.json and parts/2/result.json are not parts of one run")
            .says(&format!("their options are {options} and none"));
        project.expect(0, &["merge", "parts", "--allow-different"]);
        // An older program has not written how it was called.
        change(&project, 1, |it| {
            it.as_object_mut().unwrap().remove("called");
            for part in it["shard"]["plan"].as_array_mut().unwrap() {
                for scenario in part["scenarios"].as_array_mut().unwrap() {
                    scenario.as_object_mut().unwrap().remove("fingerprint");
                }
            }
        });
        project.expect(0, &["merge", "parts"]);
        two(&project, given, given);
        project.expect(0, &["merge", "parts"]);
    }
    // A file of servers may lie elsewhere on each machine.
    for name in ["here/s.json", "there/s.json", "there/t.json"] {
        project.file(name, "{\"mcpServers\": {}}");
    }
    let path = |it: &str| project.path(it).display().to_string();
    let [here, there, other] = ["here/s.json", "there/s.json", "there/t.json"].map(path);
    let config = |it| ["--mcp-config", it];
    two(&project, &config(&here), &config(&there));
    project.expect(0, &["merge", "parts"]);
    two(&project, &config(&here), &config(&other));
    project
        .expect(2, &["merge", "parts"])
        .says("`--mcp-config …/s.json` and `--mcp-config …/t.json`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn parts_of_other_scenarios_and_of_other_quarantines_are_refused() {
    let project = Project::new();
    for id in ["a", "b"] {
        scenario(&project, id, "fine");
    }
    let (suite, one) = (["--suite", "s"], ["run", "--shard", "1/2"]);
    let quarantine = |until: &str| {
        let text = format!("quarantine: [{{ name: b, reason: r, until: {until} }}]\n");
        project.file("scenarios/_suites/s.yaml", text);
    };
    quarantine("2999-01-01");
    two(&project, &suite, &suite);
    project.expect(0, &["merge", "parts"]);
    quarantine("2999-01-02");
    let again = [&one[..], &suite, &["--output", "parts/1"]].concat();
    project.expect(0, &again);
    project
        .expect(2, &["merge", "parts"])
        .says("quarantined are `b` until 2999-01-02 and `b` until 2999-01-01");
    // What another part runs is not the same either, although its own part is.
    two(&project, &suite, &suite);
    project.edit("scenarios/b.yaml", "\"fine\"}]", "\"fin\"}]");
    project.expect(0, &again);
    project
        .expect(2, &["merge", "parts"])
        .says("the scenario `b` is not the same in both");
    // Where the parts lie makes no difference, nor do the values of secrets.
    let secret = "variables: { key: { value: \"${KEY}\", secret: true } }\n";
    project.file("scenarios/_defaults.yaml", secret);
    let elsewhere = Project::new();
    copy(
        &project.path("scenarios"),
        &elsewhere.path("deep/scenarios"),
    );
    for (at, project) in [("1", &project), ("2", &elsewhere)] {
        let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
        let mut command = project.command();
        if at == "2" {
            command.current_dir(project.path("deep"));
        }
        let arguments = ["run", "--shard", &shard, "--output", &folder];
        let key = format!("k3y-of-machine-{at}");
        let ran = ran(command.args(arguments).env("KEY", key));
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    copy(&elsewhere.path("deep/parts/2"), &project.path("parts/2"));
    project.expect(0, &["merge", "parts"]);
}

#[test]
fn a_hole_is_reported_with_the_options_that_its_part_needs() {
    let project = Project::new();
    for id in ["a", "b"] {
        scenario(&project, id, "fine");
    }
    project.file(
        "scenarios/_suites/g.yaml",
        "gates: { min_pass_rate: 0.5 }\n",
    );
    two(&project, &["--suite", "g", "--strict"], &["--suite", "g"]);
    fs::remove_dir_all(project.path("parts/2")).unwrap();
    let hole = project.expect(3, &["merge", "parts"]);
    hole.says("run it again: `mcp-eval run --shard 2/2 --suite g --strict`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_result_that_contradicts_itself_is_left_out() {
    let project = Project::new();
    scenario(&project, "a", "wrong");
    scenario(&project, "b", "fine");
    two(&project, &[], &[]);
    project.expect(1, &["merge", "parts"]);
    let before = project.read("parts/1/result.json");
    change(&project, 1, |it| {
        it["scenarios"][0]["status"] = json!("passed");
    });
    let refused = project.expect(3, &["merge", "parts"]);
    refused
        .says("left out: parts/1/result.json: contradicts itself: `a` passed, and yet")
        .says("part 1/2 has left no result");
    // Each that says otherwise is enough.
    change(&project, 1, |it| it["scenarios"][0]["checks"] = json!([]));
    project
        .expect(3, &["merge", "parts"])
        .says("its summary counts 0 passed, and there are 1");
    change(&project, 1, |it| {
        it["summary"]["passed"] = json!(1);
        it["summary"]["failed"] = json!(0);
    });
    project
        .expect(3, &["merge", "parts"])
        .says("its exit code is 1, and nothing in it has failed");
    project.file("parts/1/result.json", before);
    let named = ["merge", "parts/1/result.json", "parts/2"];
    project.expect(1, &named);
    // As does an evaluator that gates.
    let evaluator = "\"evaluators\":[{\"type\":\"text\",\"contains\":\"nowhere\"}],\"servers\"";
    project.edit("scenarios/a.yaml", "\"servers\"", evaluator);
    project.edit("scenarios/a.yaml", "\"wrong\"", "\"fine\"");
    two(&project, &[], &[]);
    change(&project, 1, |it| {
        it["scenarios"][0]["status"] = json!("passed");
    });
    project.expect(3, &named).says("contradicts itself");
}
