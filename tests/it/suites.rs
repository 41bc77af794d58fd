//! Suite files: which scenarios run together, what is run around them and again, what decides nothing, and what gates.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Project;
use mcp_eval::model::{Redacted, ScenarioResult, Status, SuiteResult};
use mcp_eval::published::result;
use mcp_eval::run::{self, Progress};
use mcp_eval::scenario_file;
use mcp_eval::scenario_file::Scenario;
use mcp_eval::suite::{self, Observer, ScenarioObserver, Settings, Silent, Suite};

/// A scenario with a mock that says `fine`, and passes where it is asked for that.
fn scenario(project: &Project, id: &str, tags: &[&str], wanted: &str) {
    let scenario = json!({
        "name": format!("Scenario {id}"),
        "tags": tags,
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "success_criteria": [{ "text": wanted }],
        "mcp_interactions": { "m": { "tools": [{
            "name": "look",
            "annotations": { "read_only_hint": true },
            "responses": [{ "content": "fine" }],
        }] } },
    });
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// A scenario whose server does this before it serves, in a shell.
fn shaky(project: &Project, id: &str, first: &str, more: &Value) {
    let mock = json!({ "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] });
    project.file("mock.json", mock.to_string());
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let script = format!("{first}; exec '{program}' mock mock.json");
    let mut scenario = json!({
        "name": id,
        "servers": { "m": { "type": "stdio", "command": "sh", "args": ["-c", script] } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// Ends at once the first time, and serves from then on.
const DIES_ONCE: &str = "test -e been || { touch been; exit 1; }";

/// Four scenarios, of which `c` fails.
fn project() -> Project {
    let project = Project::new();
    scenario(&project, "a", &["smoke"], "fine");
    scenario(&project, "b", &["smoke", "slow"], "fine");
    scenario(&project, "c", &["slow"], "wrong");
    scenario(&project, "flows/d", &[], "fine");
    project
}

fn suite(project: &Project, text: &str) {
    project.file("scenarios/_suites/nightly.yaml", text);
}

#[track_caller]
fn run(project: &Project, code: i32, more: &[&str]) -> Value {
    project.result(code, &[&["run", "--suite", "nightly"], more].concat())
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_suite_is_no_scenario_and_is_found_by_its_name() {
    let project = project();
    suite(&project, "description: All of them\n");
    let list = project.result(0, &["list"]);
    assert_eq!(ids(&list), ["a", "b", "c", "flows/d"]);
    assert_eq!(ids(&run(&project, 1, &[])), ["a", "b", "c", "flows/d"]);
    // An empty file is a suite of all.
    suite(&project, "");
    let result = run(&project, 1, &[]);
    assert_eq!(result["suite"]["name"], "nightly");
    project
        .expect(2, &["run", "--suite", "nigthly"])
        .says("there is no suite `nigthly`")
        .says("did you mean `nightly`?");
    // It is found for a part of the scenarios, too.
    let part = run(&project, 0, &["scenarios/flows"]);
    assert_eq!(ids(&part), ["flows/d"]);
    project
        .expect(2, &["run", "scenarios/_suites/nightly.yaml"])
        .says("is a suite, which `mcp-eval run --suite nightly` follows");
    fs::remove_dir_all(project.path("scenarios/_suites")).unwrap();
    project
        .expect(2, &["run", "--suite", "nightly"])
        .says("a suite is a file `scenarios/_suites/NAME.yaml`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tags_pick_and_an_order_says_who_begins() {
    let project = project();
    suite(&project, "tags: { in: [smoke, slow], out: [smoke] }\n");
    assert_eq!(ids(&run(&project, 1, &[])), ["c"]);
    suite(&project, "tags: { in: [smoke] }\n");
    assert_eq!(ids(&run(&project, 0, &["-k", "not b"])), ["a"]);
    project
        .expect(3, &["run", "--suite", "nightly", "-k", "flows"])
        .says("none of 1 selected scenario belongs to the suite `nightly`");
    // In turn, one after another; the report keeps its order.
    for id in ["a", "b", "c", "flows/d"] {
        let path = format!("scenarios/{id}.yaml");
        let mut it: Value = serde_json::from_str(&project.read(&path)).unwrap();
        it["before"] = json!([["sh", "-c", format!("echo {id} >> began.txt")]]);
        project.file(&path, it.to_string());
    }
    suite(&project, "order: [flows/*, b]\njobs: 1\n");
    assert_eq!(ids(&run(&project, 1, &[])), ["a", "b", "c", "flows/d"]);
    assert_eq!(project.read("began.txt"), "flows/d\nb\na\nc\n");
    fs::remove_file(project.path("began.txt")).unwrap();
    suite(&project, "order: [c]\nfail_fast: true\n");
    let result = run(&project, 1, &[]);
    assert_eq!(project.read("began.txt"), "c\n");
    assert_eq!(result["summary"]["skipped"], 3);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_could_not_be_run_is_run_again_and_marked_flaky() {
    let project = Project::new();
    shaky(&project, "s", DIES_ONCE, &json!({}));
    let again = || fs::remove_file(project.path("been")).unwrap();
    suite(&project, "retries: { on: [timeout], backoff: 10ms }\n");
    run(&project, 3, &[]);
    again();
    suite(&project, "retries: { on: [transport], backoff: 10ms }\n");
    let result = run(
        &project,
        0,
        &["--report", "junit=junit.xml", "--report", "ctrf=ctrf.json"],
    );
    let s = &result["scenarios"][0];
    assert_eq!(
        (&s["status"], &s["flaky"]),
        (&json!("passed"), &json!(true))
    );
    assert_eq!(s["retried"][0]["trouble"], "transport");
    assert_eq!(s["retried"][0]["status"], "error");
    assert_eq!(result["summary"]["flaky"], 1);
    let kept = rusqlite::Connection::open(project.path(".mcp-eval/results.db")).unwrap();
    let flaky = kept.query_row(
        "select sum(document ->> '$.result.flaky') from results",
        [],
        |row| row.get(0),
    );
    assert_eq!(flaky, Ok(1));
    assert!(
        project
            .read("junit.xml")
            .contains("failures=\"0\" errors=\"0\"")
    );
    assert!(project.read("ctrf.json").contains("\"flaky\": true"));
    again();
    let ran = project.expect(0, &["run", "--suite", "nightly"]);
    ran.says("passed, flaky").says("1/1 tests passed (1 flaky)");
    again();
    let strict = run(&project, 1, &["--strict"]);
    assert_eq!(strict["gate"]["exit_code"], 1);
    assert!(
        strict["gate"]["sentence"]
            .as_str()
            .unwrap()
            .contains("1 flaky")
    );
    // Nor do the parts of a suite forget it when they are one again.
    again();
    let part = ["--strict", "--shard", "1/1", "--output", "parts/1"];
    run(&project, 1, &part);
    project.expect(1, &["merge", "parts"]);
    // Each attempt may be run again.
    again();
    let repeated = run(&project, 0, &["--repeat", "2"]);
    let retried = repeated["scenarios"][0]["retried"].as_array();
    assert_eq!(retried.map(Vec::len), Some(1), "{repeated:#}");
    // Once is not twice.
    again();
    let twice = "test -e been2 || { test -e been && touch been2; touch been; exit 1; }";
    shaky(&project, "s", twice, &json!({}));
    let result = run(&project, 3, &[]);
    assert_eq!(
        result["scenarios"][0]["retried"].as_array().unwrap().len(),
        1
    );
    for it in ["been", "been2"] {
        let _ = fs::remove_file(project.path(it));
    }
    suite(
        &project,
        "retries: { on: [transport], times: 2, backoff: 10ms }\n",
    );
    let result = run(&project, 0, &[]);
    assert_eq!(
        result["scenarios"][0]["retried"].as_array().unwrap().len(),
        2
    );
    let schema = jsonschema::validator_for(&result::json_schema()).unwrap();
    assert!(schema.is_valid(&result));
}

#[test]
fn a_try_that_was_not_made_is_not_shown() {
    let project = Project::new();
    shaky(&project, "s", "exit 1", &json!({}));
    suite(&project, "retries: { on: [transport], backoff: 60s }\n");
    let mut child = project
        .command()
        .args(["run", "--suite", "nightly", "-v", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = |line: std::io::Result<String>| line.unwrap().contains("until it is run again");
    assert!(said.any(waits), "it is not run again");
    let id = child.id().to_string();
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &id]).status().unwrap().success());
    said.for_each(drop);
    let output = child.wait_with_output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "error", "{scenario:#}");
    assert_eq!(scenario["retried"], Value::Null, "{scenario:#}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_that_did_not_end_in_time_is_run_again() {
    let project = Project::new();
    let hangs_once = "test -e been || { touch been; sleep 30; }";
    shaky(&project, "s", hangs_once, &json!({ "timeout": "3s" }));
    suite(&project, "retries: { on: [timeout], backoff: 10ms }\n");
    let result = run(&project, 0, &[]);
    assert_eq!(result["scenarios"][0]["retried"][0]["trouble"], "timeout");
}

#[test]
fn a_program_that_is_not_there_is_not_tried_again() {
    let project = Project::new();
    let gone = json!({ "m": { "type": "stdio", "command": "./no-such-program" } });
    shaky(&project, "s", DIES_ONCE, &json!({ "servers": gone }));
    suite(&project, "retries: { on: [transport], backoff: 10ms }\n");
    let result = run(&project, 3, &[]);
    let s = &result["scenarios"][0];
    assert_eq!(s["status"], "error");
    assert!(s.get("retried").is_none(), "{s}");
}

#[test]
fn a_verdict_is_never_retried() {
    let project = project();
    suite(&project, "retries: { on: [failed] }\n");
    for command in [&["run", "--suite", "nightly"][..], &["validate"]] {
        project
            .expect(2, command)
            .says("nightly.yaml:1:17")
            .says("`failed` cannot be retried");
    }
    suite(
        &project,
        "retries: { on: [transport, timeout, rate_limit], times: 3, backoff: 0 }\n",
    );
    let result = run(&project, 1, &[]);
    assert!(result["scenarios"][2].get("retried").is_none());
}

#[test]
fn commands_around_a_suite_are_run_once() {
    let project = project();
    let text = "setup: [[sh, -c, 'echo up >> around.txt']]\n\
                teardown:\n  - { command: [sh, -c, 'echo \"down $WHAT\" >> around.txt'], env: { WHAT: all } }\n";
    suite(&project, text);
    run(&project, 1, &[]);
    assert_eq!(project.read("around.txt"), "up\ndown all\n");
    // What cannot begin is no verdict, and is taken down all the same.
    fs::remove_file(project.path("around.txt")).unwrap();
    suite(
        &project,
        "setup: [[sh, -c, 'echo no room >&2; exit 4']]\nteardown: [[sh, -c, 'echo down >> around.txt; exit 5']]\n",
    );
    let ran = project.expect(3, &["run", "--suite", "nightly"]);
    ran.says("the suite cannot begin: the command `sh` of `setup`")
        .says("no room")
        .says("note: the command `sh` of `teardown`");
    assert_eq!(project.read("around.txt"), "down\n");
    let result = run(&project, 3, &[]);
    assert_eq!(result["summary"]["error"], 4);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_quarantined_scenario_decides_nothing_until_its_day_is_over() {
    let project = project();
    let quarantine = |until: &str| {
        suite(
            &project,
            &format!(
                "fail_fast: true\nquarantine:\n  - {{ name: c, reason: the index is new, until: {until} }}\n"
            ),
        );
    };
    quarantine("2999-12-31");
    let result = run(
        &project,
        0,
        &["--report", "junit=junit.xml", "--report", "ctrf=ctrf.json"],
    );
    let c = &result["scenarios"][2];
    assert_eq!(c["status"], "failed");
    assert_eq!(c["quarantine"]["until"], "2999-12-31");
    assert_eq!(result["summary"]["quarantined"], 1);
    assert_eq!(result["summary"]["failed"], 0);
    assert_eq!(result["summary"]["passed"], 3, "`fail_fast` goes on");
    assert!(project.read("junit.xml").contains("failures=\"0\""));
    assert!(project.read("ctrf.json").contains("\"failed\": 0"));
    project
        .expect(0, &["run", "--suite", "nightly"])
        .says("failed, quarantined")
        .says("quarantined until 2999-12-31")
        .says("the index is new")
        .says("3/4 tests passed, 1 quarantined");
    project.expect(0, &["validate"]);
    quarantine("2020-02-29");
    let result = run(&project, 1, &[]);
    assert_eq!(result["scenarios"][2]["quarantine"]["is_over"], true);
    project
        .expect(0, &["validate"])
        .says("the quarantine of `c` ended with 2020-02-29: it decides again");
    // Of two days, the later one counts.
    for (first, second) in [("2020-02-29", "2999-12-31"), ("2999-12-31", "2020-02-29")] {
        let entry = |until: &str| format!("  - {{ name: c, reason: r, until: {until} }}\n");
        let entries = entry(first) + &entry(second);
        suite(
            &project,
            &format!("fail_fast: true\nquarantine:\n{entries}"),
        );
        let result = run(&project, 0, &[]);
        assert_eq!(result["summary"]["passed"], 3);
        project
            .expect(0, &["validate"])
            .says("`c` is quarantined twice: the later of both days counts");
    }
    // Today is the last day.
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    quarantine(&today);
    run(&project, 0, &[]);
    project
        .expect(0, &["validate"])
        .says_not("it decides again");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn gates_hold_for_all_scenarios_together() {
    let project = project();
    for (gates, code, state) in [
        ("min_pass_rate: 0.75", 0, "kept"),
        ("min_pass_rate: 0.76", 1, "broken"),
        ("tags: { slow: { min_pass_rate: 0.5 } }", 0, "kept"),
        ("tags: { slow: { min_pass_rate: 0.6 } }", 1, "broken"),
        ("tags: { smoke: { min_pass_rate: 1 } }", 1, "kept"),
        ("max_duration: 10m", 1, "kept"),
        ("max_cost: 0", 1, "kept"),
        ("min_pass_rate: 0.5\n  max_duration: 1ms", 1, "kept"),
    ] {
        suite(&project, &format!("gates:\n  {gates}\n"));
        let result = run(&project, code, &[]);
        assert_eq!(
            result["suite"]["gates"][0]["state"], state,
            "{gates}: {result:#}"
        );
    }
    let ran = project.expect(1, &["run", "--suite", "nightly"]);
    ran.says("max_duration: ").says("and the bound is 1.0 ms");
    // What a share tolerates is not what failed.
    ran.says("a gate failed; max_duration")
        .says_not("1 scenario failed;");
    // One part of one is all of it.
    suite(&project, "gates: { min_pass_rate: 0.76 }\n");
    let result = run(&project, 1, &["--shard", "1/1"]);
    assert_eq!(result["suite"]["gates"][0]["state"], "broken");
    // What could not be run may have passed.
    suite(&project, "gates: { min_pass_rate: 0.75 }\n");
    project.edit(
        "scenarios/a.yaml",
        "\"type\":\"mock\"",
        "\"command\":\"./nowhere\"",
    );
    project.edit("scenarios/a.yaml", "mcp_interactions", "x-mcp");
    let result = run(&project, 3, &[]);
    assert_eq!(result["suite"]["gates"][0]["state"], "unknown");
}

#[test]
fn a_bound_that_is_just_missed_does_not_look_reached() {
    let project = project();
    suite(&project, "gates: { min_pass_rate: 0.7500001 }\n");
    let ran = project.expect(1, &["run", "--suite", "nightly"]);
    ran.says("min_pass_rate: 75.00000 %, and the bound is 75.00001 %");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn merge_decides_the_gates_of_all_parts() {
    let project = project();
    suite(&project, "gates: { min_pass_rate: 0.75 }\nquarantine: []\n");
    let part = |at: &str, code| {
        let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
        run(&project, code, &["--shard", &shard, "--output", &folder])
    };
    // What fails in a part is no failure of that part: the share of all decides.
    let (one, two) = (part("1", 0), part("2", 0));
    for it in [&one, &two] {
        assert_eq!(it["suite"]["gates"][0]["state"], "open");
    }
    let c = one["scenarios"].as_array().unwrap().iter();
    let c = c.clone().find(|it| it["id"] == "c").unwrap();
    assert_eq!(c["status"], "failed");
    assert_eq!(one["summary"]["failed"], 1);
    let left = "min_pass_rate: 75.0 %, which `mcp-eval merge` decides";
    assert_eq!(c["left_to_merge"], left);
    let arguments = ["run", "--suite", "nightly", "--shard", "1/2"];
    project
        .expect(0, &arguments)
        .says("failed, left to merge")
        .says(&format!("Suite: {left}"));
    let junit = [&arguments[..], &["--format", "junit"]].concat();
    assert!(project.expect(0, &junit).stdout.contains("failures=\"0\""));
    let merged = project.result(0, &["merge", "parts"]);
    assert_eq!(merged["suite"]["gates"][0]["state"], "kept");
    assert_eq!(merged["suite"]["gates"][0]["value"], 0.75);
    let c = &merged["scenarios"][2];
    assert_eq!((&c["id"], &c["left_to_merge"]), (&json!("c"), &Value::Null));
    assert_eq!(c["within_gate"], "min_pass_rate: 75.0 %, within 75.0 %");
    suite(&project, "gates: { min_pass_rate: 0.7 }\n");
    part("2", 0);
    project
        .expect(2, &["merge", "parts"])
        .says("the suites are");
    // Too few of all pass, and no part has said so.
    suite(&project, "gates: { min_pass_rate: 0.8 }\n");
    part("1", 0);
    part("2", 0);
    let merged = project.result(1, &["merge", "parts"]);
    assert_eq!(merged["suite"]["gates"][0]["state"], "broken");
    // A share of others is nothing to what fails.
    suite(
        &project,
        "gates: { tags: { smoke: { min_pass_rate: 0.5 } } }\n",
    );
    part("1", 1);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn errors_in_a_suite_are_reported_at_their_place() {
    let project = project();
    suite(
        &project,
        "tags: { in: [smok] }\norder: [flow/*]\njobs: 0\nretires: {}\n\
         quarantine: [{ name: x, reason: y, until: 2026-02-30 }]\ngates: { min_pass_rate: 1.5 }\n",
    );
    let wrong = project.expect(2, &["validate"]);
    wrong
        .says("nightly.yaml:3:7")
        .says("did you mean `retries`?")
        .says("`2026-02-30` is not a date")
        // What could be read is looked at all the same.
        .says("nightly.yaml:1:14: warning: no scenario has the tag `smok`")
        .says("nightly.yaml:2:9: warning: `flow/*` is not the id of a scenario")
        .says("expected a number from 0 to 1, found 1.5");
    project
        .expect(2, &["run", "--suite", "nightly"])
        .says("4 errors in scenario files");
    suite(&project, "retries: { on: [] }\n");
    project
        .expect(2, &["run", "--suite", "nightly"])
        .says("nightly.yaml:1:16: error: names nothing that is run again");
    suite(
        &project,
        "tags: { in: [smok] }\norder: [flow/d]\nquarantine: [{ name: cc, reason: y, until: 2999-01-01 }]\n",
    );
    project
        .expect(2, &["validate"])
        .says("no scenario has the tag `smok`")
        .says("did you mean `smoke`?")
        .says("did you mean `flows/d`?")
        .says("nightly.yaml:1:14: warning: no scenario has the tag `smok`")
        .says("nightly.yaml:2:9: warning: `flow/d` is not the id of a scenario")
        .says("nightly.yaml:3:22: error: `cc` is neither id nor name of a scenario");
    // Of one file, nobody asks what else there is.
    project.expect(0, &["validate", "scenarios/a.yaml"]);
    // Who follows the suite does, whatever is selected.
    for paths in [&[][..], &["scenarios/a.yaml"]] {
        project
            .expect(2, &[&["run", "--suite", "nightly"], paths].concat())
            .says("nightly.yaml:3:22: error: `cc` is neither id nor name of a scenario");
    }
    suite(
        &project,
        "tags: { in: [smoke, smok] }\norder: [flow/d, a/model=x]\nquarantine: [{ name: c, reason: y, until: 2020-01-01 }]\n",
    );
    let noted = project.expect(0, &["run", "--suite", "nightly"]);
    noted
        .says("2/2 tests passed")
        .says("nightly.yaml:1:21: warning: no scenario has the tag `smok`")
        .says("nightly.yaml:2:9: warning: `flow/d` is not the id of a scenario")
        .says("nightly.yaml:3:43: warning: the quarantine of `c` ended with 2020-01-01");
    // A cell is one of a scenario, in whichever matrix.
    assert!(!noted.all().contains("`a/model=x`"), "{noted:#?}");
    // The scenarios of one folder are not all that the suite is about.
    project.expect(0, &["run", "--suite", "nightly", "scenarios/a.yaml"]);
}

#[test]
fn the_published_schema_is_that_of_suite_files() {
    let project = Project::new();
    let printed = project.expect(0, &["schema", "suite"]).stdout;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed, scenario_file::suites::suite_json_schema());
    let schema = jsonschema::draft202012::new(&printed).unwrap();
    let good = json!({
        "order": ["a", "flows/*"], "tags": { "in": ["x"], "out": ["y"] }, "jobs": 4, "fail_fast": true,
        "retries": { "on": ["transport", "rate_limit", "timeout"], "times": 2, "backoff": "2s" },
        "setup": [["make", "up"]], "teardown": [{ "command": ["make", "down"], "timeout": "5s" }],
        "quarantine": [{ "name": "a", "reason": "b", "until": "2026-12-31" }],
        "gates": { "min_pass_rate": 0.9, "max_cost": 2.5, "max_duration": "10m", "tags": { "x": { "min_pass_rate": 1 } } },
        "x-own": 1,
    });
    assert!(schema.is_valid(&good));
    for (key, wrong) in [
        ("retries", json!({ "on": ["failed"] })),
        ("jobs", json!(0)),
        ("gates", json!({ "min_pass_rate": 2 })),
        (
            "quarantine",
            json!([{ "name": "a", "until": "2026-12-31" }]),
        ),
        ("unknown", json!(1)),
    ] {
        let mut document = good.clone();
        document[key] = wrong;
        assert!(!schema.is_valid(&document), "{key}");
    }
}

/// The order in which scenarios began.
fn began(project: &Project, arguments: &[&str]) -> String {
    let _ = fs::remove_file(project.path("began.txt"));
    project.run(arguments);
    project.read("began.txt")
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_random_order_is_printed_and_can_be_had_again() {
    let project = Project::new();
    for id in ["a", "b", "c", "d", "e", "f"] {
        scenario(&project, id, &[], "fine");
        let path = format!("scenarios/{id}.yaml");
        let mut it: Value = serde_json::from_str(&project.read(&path)).unwrap();
        it["before"] = json!([["sh", "-c", format!("echo {id} >> began.txt")]]);
        project.file(&path, it.to_string());
    }
    let one = began(&project, &["run", "--jobs", "1", "--shuffle=1"]);
    assert_eq!(one, began(&project, &["run", "--jobs", "1", "--shuffle=1"]));
    assert_ne!(one, "a\nb\nc\nd\ne\nf\n");
    assert_ne!(one, began(&project, &["run", "--jobs", "1", "--shuffle=2"]));
    fs::remove_file(project.path("began.txt")).unwrap();
    let ran = project.expect(0, &["run", "--jobs", "1", "--shuffle"]);
    let first = project.read("began.txt");
    let printed = ran.stderr.split("--shuffle=").nth(1).unwrap();
    let seed = printed.split(' ').next().unwrap();
    let again = format!("--shuffle={seed}");
    assert_eq!(first, began(&project, &["run", "--jobs", "1", &again]));
    let result = project.result(0, &["run", "--shuffle=3"]);
    assert_eq!(
        ids(&result),
        ["a", "b", "c", "d", "e", "f"],
        "the report keeps its order"
    );
    assert_eq!(result["shuffle_seed"], 3);
    project.expect(2, &["run", "--shuffle=many"]);
    // Who wants to hear little still has to find what fails in this order alone.
    let quiet = project.expect(0, &["run", "-q", "--shuffle=3"]);
    assert!(!quiet.stderr.contains("--shuffle"), "{quiet:#?}");
    scenario(&project, "c", &[], "wrong");
    let quiet = project.expect(1, &["run", "-q", "--shuffle=3"]);
    assert!(
        quiet.stderr.contains("--shuffle=3 gives it again"),
        "{quiet:#?}"
    );
    let ran = project.expect(1, &["run", "--shuffle=3"]);
    assert_eq!(ran.stderr.matches("--shuffle=3").count(), 1, "{ran:#?}");
    let parts = |seeds: [&str; 2]| {
        for (at, seed) in ["1", "2"].into_iter().zip(seeds) {
            let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
            let arguments = ["run", seed, "--shard", &shard, "--output", &folder];
            project.run(&arguments);
        }
        project.result(1, &["merge", "parts"])["shuffle_seed"].clone()
    };
    assert_eq!(parts(["--shuffle=3", "--shuffle=3"]), 3);
    assert_eq!(parts(["--shuffle=3", "--shuffle=4"]), Value::Null);
    let schema = jsonschema::validator_for(&result::json_schema()).unwrap();
    assert!(schema.is_valid(&result));
}

#[test]
fn a_dry_run_prints_the_plan_and_runs_nothing() {
    let project = project();
    let asks = json!({
        "name": "Asks", "user_intent": "Ask", "servers": { "m": { "type": "mock" } },
        "agent": { "kind": "openai", "model": "some", "base_url": "http://127.0.0.1:9/v1",
            "price": { "input": 2, "output": 10 } },
        "limits": { "max_total_tokens": 50000 },
        "mcp_interactions": { "m": { "tools": [] } },
    });
    project.file("scenarios/asks.yaml", asks.to_string());
    let left = json!({ "name": "Left out", "enabled": false, "servers": { "m": { "type": "mock" } }, "expected_trajectory": [], "mcp_interactions": { "m": { "tools": [] } } });
    project.file("scenarios/left.yaml", left.to_string());
    suite(&project, "order: [c]\nsetup: [[touch, ran]]\n");
    let ran = project.expect(0, &["run", "--suite", "nightly", "--dry-run"]);
    ran.says("c scripted, 1 call (look), on m (mock), 1 criterion")
        .says("asks openai some, calls of its own choice, on m (mock), up to 0.5")
        .says("left disabled")
        .says("6 scenarios, 5 runs to make, none made; models may cost up to 0.5");
    assert!(
        ran.stdout.starts_with("c  scripted"),
        "in their order: {ran:#?}"
    );
    for gone in ["ran", ".mcp-eval", "reports"] {
        assert!(!project.path(gone).exists(), "{gone}");
    }
    let plan = project.result(0, &["run", "--dry-run", "--repeat", "3", "--shard", "1/1"]);
    let scenarios = plan["scenarios"].as_array().unwrap();
    let asks = scenarios.iter().find(|it| it["id"] == "asks").unwrap();
    assert_eq!(
        (&asks["runs"], &asks["max_cost"], &asks["calls"]),
        (&json!(3), &json!(1.5), &Value::Null)
    );
    assert_eq!(plan["max_cost"], 1.5);
    assert_eq!(plan["shard"]["count"], 1);
    project.edit("scenarios/asks.yaml", "max_total_tokens", "max_steps");
    project
        .expect(0, &["run", "--dry-run"])
        .says("what models may cost has no bound");
    project
        .expect(0, &["run", "--dry-run", "--budget", "2"])
        .says("models may cost up to 2");
    project
        .expect(2, &["run", "--dry-run", "--format", "junit"])
        .says("a plan has no form `junit`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_environment_has_other_values_for_variables() {
    let project = Project::new();
    let text = "name: s\nservers: { m: { type: mock } }\nexpected_trajectory: [{ tool: look, args: { at: \"{{host}}\" } }]\n\
                success_criteria: [{ text: \"here {{host}}\" }]\n\
                mcp_interactions: { m: { tools: [{ name: look, responses: [{ content: \"here {{args.at}}\" }] }] } }\n";
    project.file("scenarios/s.yaml", text);
    let defaults = "variables: { host: local, key: { value: k3y-of-local, secret: true } }\n\
                    environments:\n  staging: { host: stage, key: k3y-of-staging }\n  prod: { host: prod }\n";
    project.file("scenarios/_defaults.yaml", defaults);
    let called = |arguments: &[&str]| {
        let result = project.result(0, &[&["run"], arguments].concat());
        let run = result["run_id"].as_str().unwrap();
        project.read(format!(".mcp-eval/runs/{run}/current/s.json"))
    };
    assert!(called(&[]).contains("here local"));
    assert!(called(&["--environment", "staging"]).contains("here stage"));
    let over = called(&["--environment", "staging", "--var", "host=mine"]);
    assert!(over.contains("here mine"));
    project
        .expect(2, &["run", "--environment", "stagin"])
        .says("no scenario has an environment `stagin`")
        .says("did you mean `staging`?");
    project.expect(0, &["validate", "--environment", "prod"]);
    // A secret stays one.
    project.edit("scenarios/s.yaml", "\"{{host}}\" }", "\"{{key}}\" }");
    project.edit("scenarios/s.yaml", "here {{host}}", "here");
    let staged = called(&["--environment", "staging"]);
    assert!(
        !staged.contains("k3y-of-staging") && staged.contains("here"),
        "{staged}"
    );
    project.edit(
        "scenarios/_defaults.yaml",
        "prod: { host: prod }",
        "prod: [1]",
    );
    project.expect(2, &["validate"]).says("expected a map");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fail_fast_has_left_out_is_open_although_a_share_is_reached() {
    let project = project();
    for gates in [
        "min_pass_rate: 0.5",
        "min_pass_rate: 0.25",
        "min_pass_rate: 0",
        "tags: { slow: { min_pass_rate: 0.5 } }",
    ] {
        let text = format!("jobs: 1\nfail_fast: true\ngates: {{ {gates} }}\n");
        suite(&project, &text);
        let result = run(&project, 3, &[]);
        assert_eq!(result["summary"]["passed"], 2, "{gates}: {result:#}");
        assert_eq!(result["summary"]["skipped"], 1);
        let mut scenarios = result["scenarios"].as_array().unwrap().iter();
        assert!(scenarios.any(|it| it["not_run"] == "fail_fast"));
        let sentence = result["gate"]["sentence"].as_str().unwrap();
        assert!(sentence.contains("1 scenario not begun"), "{sentence}");
        // The same of parts that are put together: `a` and `c`, `b` and `d`.
        suite(&project, &format!("order: [c]\n{text}"));
        let parts = ["1", "2"].map(|at| {
            let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
            let arguments = ["--shard", &shard, "--output", &folder];
            let all = [&["run", "--suite", "nightly"][..], &arguments].concat();
            project.run(&all).code
        });
        let merged = project.expect(3, &["merge", "parts"]);
        merged.says("not begun (`--fail-fast`)");
        assert_eq!(parts, [3, 0], "{gates}");
    }
    // Where it breaks whatever becomes of the rest, and where nothing was left out.
    suite(
        &project,
        "jobs: 1\nfail_fast: true\ngates: { min_pass_rate: 0.8 }\n",
    );
    run(&project, 1, &[]);
    suite(
        &project,
        "jobs: 1\nfail_fast: true\norder: [a, b, flows/*, c]\ngates: { min_pass_rate: 0.5 }\n",
    );
    run(&project, 0, &[]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn where_all_is_quarantined_nothing_gates_and_that_is_said() {
    let project = Project::new();
    scenario(&project, "a", &["slow"], "fine");
    scenario(&project, "b", &["slow"], "wrong");
    let quarantine = |gates: &str| {
        let entry = |id: &str| format!("  - {{ name: {id}, reason: r, until: 2999-12-31 }}\n");
        let entries = entry("a") + &entry("b");
        suite(&project, &format!("quarantine:\n{entries}{gates}"));
    };
    quarantine("");
    let files = [
        "--report",
        "markdown=out.md",
        "--report",
        "e2e=out.txt",
        "--output",
        "pages",
    ];
    let result = run(&project, 0, &files);
    assert_eq!(result["gate"]["name"], "undecided");
    let sentence = "nothing gates, because all scenarios are quarantined; 1 of 2 passed";
    assert_eq!(result["gate"]["sentence"], sentence);
    let markdown = project.read("out.md");
    let heading = markdown.lines().next().unwrap();
    assert!(
        heading.contains(sentence) && !heading.contains('✓'),
        "{heading}"
    );
    let lines = project.read("out.txt");
    let end = format!("No verdict\nVerdict: {sentence}\n");
    assert!(lines.ends_with(&end), "{lines}");
    assert!(project.read("pages/index.html").contains(sentence));
    let ran = project.expect(0, &["run", "--suite", "nightly"]);
    ran.says(&format!("Exit 0: {sentence}"));
    // That all of them pass says no more.
    scenario(&project, "b", &["slow"], "fine");
    let e2e = ["run", "--suite", "nightly", "--format", "e2e"];
    let ran = project.expect(0, &e2e);
    ran.says("No verdict").says_not("Test PASSED");
    // A share of nothing is not known.
    for gates in [
        "gates: { min_pass_rate: 0.5 }\n",
        "gates: { min_pass_rate: 0 }\n",
        "gates: { tags: { slow: { min_pass_rate: 1 } } }\n",
    ] {
        quarantine(gates);
        let result = run(&project, 3, &[]);
        assert_eq!(result["suite"]["gates"][0]["state"], "unknown", "{gates}");
        let ran = project.expect(3, &["run", "--suite", "nightly"]);
        ran.says("not known (all its scenarios are quarantined)");
        for at in ["1", "2"] {
            let (shard, folder) = (format!("{at}/2"), format!("parts/{at}"));
            run(&project, 0, &["--shard", &shard, "--output", &folder]);
        }
        let merged = project.result(3, &["merge", "parts"]);
        assert_eq!(merged["suite"]["gates"][0]["state"], "unknown", "{gates}");
    }
    // Another bound is kept or broken all the same.
    quarantine("gates: { max_duration: 10m }\n");
    assert_eq!(run(&project, 0, &[])["gate"]["name"], "passed");
}

#[test]
fn an_environment_has_values_for_variables_that_scenarios_declare() {
    let project = Project::new();
    let scenario = |id: &str, more: &str| {
        let text = format!(
            "name: {id}\nservers: {{ m: {{ type: mock }} }}\nexpected_trajectory: [{{ tool: look, args: {{}} }}]\n\
             mcp_interactions: {{ m: {{ tools: [{{ name: look, responses: [{{ content: fine }}] }}] }} }}\n{more}"
        );
        project.file(&format!("scenarios/{id}.yaml"), text);
    };
    scenario("a", "");
    scenario("deep/b", "variables: { port: 1 }\n");
    let defaults = |staging: &str| {
        let text = format!("variables: {{ host: local }}\nenvironments:\n  staging: {staging}\n");
        project.file("scenarios/_defaults.yaml", text);
    };
    defaults("{ host: stage, port: 2 }");
    project.expect(0, &["validate"]);
    // The scenario that has the variable need not be among those that are named.
    project.expect(0, &["run", "scenarios/a.yaml", "--environment", "staging"]);
    defaults("{ hots: stage }");
    for command in [
        &["validate"][..],
        &["run"],
        &["compare", "--environment", "staging"],
        &["run", "scenarios/a.yaml"],
        &["record"],
    ] {
        let refused = project.expect(2, command);
        refused
            .says("scenarios/_defaults.yaml:3:14: error: no scenario declares the variable `hots`")
            .says("did you mean `host`?");
    }
    // And in a scenario, of which the others say nothing.
    defaults("{ host: stage }");
    scenario("a", "environments: { prod: { port: 2 } }\n");
    project
        .expect(2, &["validate"])
        .says("scenarios/a.yaml:5:25: error: no scenario declares the variable `port`");
    project.expect(2, &["run", "scenarios/a.yaml"]);
    // What a text names is one that each environment gives.
    scenario(
        "a",
        "user_intent: \"Look at {{port}}\"\nenvironments: { prod: { port: 2 } }\n",
    );
    project.expect(0, &["run", "scenarios/a.yaml", "--environment", "prod"]);
}

#[test]
fn a_plan_writes_no_report() {
    let project = project();
    for (command, option) in [
        (
            ["run", "--report", "junit=out.xml"],
            "`--report junit=out.xml`",
        ),
        (["compare", "--output", "pages"], "`--output pages`"),
    ] {
        let arguments = [&command[..], &["--dry-run"]].concat();
        project
            .expect(2, &arguments)
            .says(option)
            .says("--dry-run --format json > FILE");
    }
}

/// Looks on, and panics as soon as the scenario `b` does anything, or as soon as it makes a call.
#[derive(Clone, Copy)]
struct Panics {
    at_a_call: bool,
}

impl Observer for Panics {
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        if scenario.id == "b" {
            Arc::new(*self)
        } else {
            Arc::new(Silent)
        }
    }

    fn finished(&self, _: &Redacted<ScenarioResult>) {}

    fn ended(&self) {}
}

impl run::Observer for Panics {
    fn progress(&self, progress: Progress<'_>) {
        let is_call = matches!(progress, Progress::Calling { .. });
        assert!(self.at_a_call && !is_call, "on purpose");
    }
}

impl ScenarioObserver for Panics {
    fn attempt(&self, _: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(*self)
    }

    fn attempted(&self, _: u16, _: u16, _: Status) {}

    fn judged(&self, _: &Redacted<ScenarioResult>) {}
}

/// Records the scenarios of a project.
fn recorded(project: &Project, observer: Panics) -> Redacted<SuiteResult> {
    let (found, _) = scenario_file::find(&[project.path("scenarios")]);
    let loaded = scenario_file::load(&found, &scenario_file::Options::default());
    let settings = Settings {
        program: Some(env!("CARGO_BIN_EXE_mcp-eval").into()),
        baselines: project.path("baselines"),
        runs: project.path("runs"),
        ..Settings::default()
    };
    let suite = Suite {
        observer: Arc::new(observer),
        ..Suite::new(loaded.scenarios)
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let finished = runtime.block_on(suite::record(suite, &settings)).unwrap();
    finished.suite
}

#[test]
fn a_panic_ends_its_scenario_and_no_other() {
    let project = Project::new();
    for id in ["a", "b", "c"] {
        scenario(&project, id, &[], "fine");
    }
    let suite = recorded(&project, Panics { at_a_call: false });
    let statuses = suite.scenarios.iter().map(|it| it.status);
    let expected = [Status::Recorded, Status::Error, Status::Recorded];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
    let problem = suite.scenarios[1].problem.as_ref().unwrap();
    let place = format!("panicked at {}:", file!());
    assert!(problem.message.contains(&place), "{problem:?}");
    assert!(problem.message.ends_with("on purpose"), "{problem:?}");
    assert!(problem.hint.as_ref().unwrap().contains("please report it"));
}

#[test]
fn after_a_panic_everything_that_was_set_up_is_torn_down() {
    let project = Project::new();
    project.file(
        "mock.json",
        r#"{ "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] }"#,
    );
    let at = |name: &str| project.path(name).display().to_string();
    // Each leaves a process behind that ends with it.
    let leaves = |name: &str| format!("sleep 1000 & echo $! > '{}'", at(name));
    let mock = format!(
        "exec '{}' mock '{}'",
        env!("CARGO_BIN_EXE_mcp-eval"),
        at("mock.json")
    );
    let over_http = format!(
        "{}; {mock} --transport http --port ${{port}}",
        leaves("http")
    );
    let scenario = json!({
        "name": "b",
        "before": [["sh", "-c", leaves("before")]],
        "after": [["sh", "-c", format!("echo done > '{}'", at("after"))]],
        "servers": {
            "own": { "type": "stdio", "command": "sh", "args": ["-c", format!("{}; {mock}", leaves("own"))] },
            "http": {
                "type": "http",
                "url": "http://127.0.0.1:${port}/mcp",
                "start": { "command": "sh", "args": ["-c", over_http] },
            },
        },
        "expected_trajectory": [{ "tool": "mcp__own__look", "args": {} }],
    });
    project.file("scenarios/b.yaml", scenario.to_string());
    let suite = recorded(&project, Panics { at_a_call: true });
    let problem = suite.scenarios[0].problem.as_ref().unwrap();
    assert!(problem.message.ends_with("on purpose"), "{problem:?}");
    assert!(project.path("after").exists(), "what resets was not run");
    for name in ["before", "own", "http"] {
        let pid = fs::read_to_string(project.path(name)).unwrap();
        let process = Path::new("/proc").join(pid.trim());
        let is_gone = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(20));
            !process.exists()
        });
        assert!(is_gone, "{name} has left a process");
    }
}
