//! A run that was stored is judged again as it was run: by all that it was to do, and by its scenarios' rules.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Project;

/// A scenario whose mock says `hi`, with these keys besides.
fn says_hi(project: &Project, id: &str, more: &Value) {
    let tool = json!({
        "name": "f",
        "annotations": { "read_only_hint": true },
        "responses": [{ "content": "hi" }],
    });
    let mut scenario = json!({
        "name": id,
        "servers": { "w": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "f", "args": { "c": "x" } }],
        "mcp_interactions": { "w": { "tools": [tool] } },
    });
    let keys = scenario.as_object_mut().unwrap();
    keys.extend(more.as_object().unwrap().clone());
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// Two scenarios with baselines.
fn two() -> Project {
    let project = Project::new();
    for id in ["a", "b"] {
        says_hi(&project, id, &json!({ "tags": [id] }));
    }
    project.expect(0, &["record"]);
    project
}

/// Makes a run, and returns its id.
fn run_of(project: &Project, code: i32, arguments: &[&str]) -> String {
    let result = project.result(code, arguments);
    result["run_id"].as_str().unwrap().to_owned()
}

fn statuses(result: &Value) -> Vec<(&str, &str)> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios
        .map(|it| (it["id"].as_str().unwrap(), it["status"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_a_run_was_to_do_and_has_no_trajectory_of_is_not_green() {
    let project = two();
    let id = run_of(&project, 0, &["compare"]);
    let again = ["compare", "--run", &id];
    project.expect(0, &again).says("Deploy: everything passed");
    let run = project.path(".mcp-eval/runs").join(&id);
    fs::remove_file(run.join("current/b.json")).unwrap();
    let current = run.join("current");
    for named in [&run, &current] {
        let named = ["compare", "--run", named.to_str().unwrap()];
        project
            .expect(3, &named)
            .says("b.json is not there")
            .says_not("Deploy");
        let result = project.result(3, &named);
        assert_eq!(statuses(&result), [("a", "passed"), ("b", "error")]);
    }
    // One of two is no whole.
    project
        .expect(0, &[&again[..], &["scenarios/a.yaml"]].concat())
        .says("of 2")
        .says_not("Deploy:");
    fs::remove_dir_all(&current).unwrap();
    project
        .expect(3, &again)
        .says("a.json is not there")
        .says_not("record it again");
    // What it was compared with is nothing that it made.
    assert!(run.join("baseline/a.json").is_file());
    fs::remove_file(run.join("result.json")).unwrap();
    project
        .expect(3, &again)
        .says("the plan of the run is in")
        .says_not("passed");
}

#[test]
fn a_killed_run_has_not_passed() {
    let project = two();
    run_of(&project, 0, &["compare"]);
    let killed = |more: &Value| {
        let _ = fs::remove_file(project.path("begun"));
        says_hi(&project, "b", more);
        let mut child = project
            .command()
            .args(["compare", "--no-report", "-q", "--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while !project.path("begun").exists() {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    let hangs = json!({ "before": [["sh", "-c", "touch begun; sleep 60"]] });
    killed(&hangs);
    let result = project.result(3, &["compare", "--run", "latest"]);
    assert_eq!(statuses(&result), [("a", "passed"), ("b", "interrupted")]);
    project
        .expect(3, &["compare", "--run", "latest"])
        .says("it is under way, or was killed")
        .says("Run it again before you decide")
        .says_not("Deploy");
    // Before it had made anything; no earlier one stands for it.
    says_hi(&project, "a", &hangs);
    killed(&hangs);
    let result = project.result(3, &["compare", "--run", "latest"]);
    assert_eq!(
        statuses(&result),
        [("a", "interrupted"), ("b", "interrupted")]
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn rules_that_are_not_known_let_nothing_pass() {
    let project = two();
    let bye = json!({ "evaluators": [{ "type": "text", "in": "answers", "contains": "bye" }] });
    says_hi(&project, "a", &bye);
    let id = run_of(&project, 1, &["compare"]);
    let again = ["compare", "--run", &id];
    project.expect(1, &again);
    let file = "scenarios/a.yaml";
    // Broken, it is reported as by a live comparison.
    project.edit(file, "evaluators", "evaluatorz");
    project
        .expect(2, &again)
        .says("scenarios/a.yaml:1:")
        .says("did you mean `evaluators`?");
    // What is broken elsewhere has no say.
    project.file("scenarios/c.yaml", "nome: c");
    let sound = project.read(file).replace("evaluatorz", "evaluators");
    project.file(file, sound);
    project
        .expect(1, &again)
        .says("errors in files of scenarios");
    fs::remove_file(project.path("scenarios/c.yaml")).unwrap();
    // Renamed, or gone.
    fs::rename(project.path(file), project.path("scenarios/c.yaml")).unwrap();
    for gone in ["scenarios/c.yaml", "scenarios/b.yaml"] {
        project
            .expect(3, &again)
            .says("its rules are not known: no scenario file here is `a`")
            .says("give the file back its name");
        fs::remove_file(project.path(gone)).unwrap();
    }
    // With no files at all, nothing but the comparison counts, and that is said.
    fs::remove_dir_all(project.path("scenarios")).unwrap();
    for run in [id.as_str(), "baselines"] {
        project
            .expect(0, &["compare", "--run", run])
            .says("no rules of scenario files applied to 2 scenarios")
            .says("Decide nothing by this alone")
            .says_not("Deploy");
        let result = project.result(0, &["compare", "--run", run]);
        let sentence = &result["gate"]["sentence"];
        assert_eq!(
            sentence,
            "everything passed, 2 without the rules of scenario files"
        );
        assert_eq!(result["scenarios"][0]["without_rules"], true);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_could_not_be_judged_in_one_of_several_runs_stays_so() {
    let project = Project::new();
    let answers = |letters: &str| {
        let _ = fs::remove_file(project.path("starts"));
        let runs = format!("runs={}:{letters}", project.path("starts").display());
        project.faulty("r", &[&runs], &[("count", json!({}))]);
    };
    answers(".");
    project.expect(0, &["record"]);
    answers(".x");
    let id = run_of(&project, 3, &["compare", "--repeat", "2"]);
    let again = ["compare", "--run", &id];
    project
        .expect(3, &again)
        .says("1 of 2 runs could not be run or judged");
    let result = project.result(3, &again);
    assert_eq!(result["scenarios"][0]["repeated"]["incomplete"], 1);
    answers(".");
    let of = format!("run:{id}");
    project
        .expect(3, &["compare", "--against", &of])
        .says("1 of 2 runs of `r`");
    let sound = run_of(&project, 0, &["compare"]);
    project
        .expect(3, &["compare", "--run", &sound, "--against", &of])
        .says("1 of 2 runs of `r`");
    // Each of several runs counts, and the share that passes decides.
    answers("..o");
    let id = run_of(&project, 1, &["compare", "--repeat", "3"]);
    let again = ["compare", "--run", &id];
    let result = project.result(1, &again);
    assert_eq!(result["scenarios"][0]["repeated"]["passed"], 2);
    project.expect(0, &[&again[..], &["--pass-threshold", "0.6"]].concat());
    project.expect(1, &[&again[..], &["--pass-threshold", "0.7"]].concat());
    let file = result["scenarios"][0]["repeated"]["attempts"][1]["file"].as_str();
    assert!(file.is_some_and(|it| it.ends_with("attempts/2/current/r.json")));
    project
        .expect(2, &["compare", "--run", &sound, "--pass-threshold", "0.5"])
        .says("--pass-threshold is about several runs of a scenario");
}

#[test]
fn what_was_found_in_each_of_several_runs_is_kept() {
    let project = two();
    // The second run, and it alone, finds the file that the first one left.
    let left = json!({
        "evaluators": [{ "type": "command", "command": ["sh", "-c", "cat > /dev/null; if [ -e n ]; then echo '{\"passed\": false}'; else touch n; echo '{\"passed\": true}'; fi"] }],
    });
    says_hi(&project, "a", &left);
    let compare = ["compare", "scenarios/a.yaml", "--repeat", "3"];
    let id = run_of(&project, 1, &compare);
    let result = project.result(1, &["compare", "--run", &id]);
    let repeated = &result["scenarios"][0]["repeated"];
    assert_eq!(
        (&repeated["passed"], &repeated["failed"]),
        (&json!(1), &json!(2)),
        "{repeated:#}"
    );
}

#[test]
fn tags_choose_from_a_stored_run() {
    let project = two();
    let id = run_of(&project, 0, &["compare"]);
    let again = ["compare", "--run", &id];
    let tagged =
        |code: i32, tag: &str| project.expect(code, &[&again[..], &["--tag", tag]].concat());
    tagged(0, "a").says("1/1 tests passed").says_not("Deploy:");
    tagged(3, "nosuch").says("no scenario has the tag nosuch");
    // One that has no file any more is still what it was.
    says_hi(&project, "c", &json!({ "tags": ["b"] }));
    fs::remove_file(project.path("scenarios/b.yaml")).unwrap();
    tagged(3, "b").says("its rules are not known");
    tagged(0, "a").says("1/1 tests passed");
}
