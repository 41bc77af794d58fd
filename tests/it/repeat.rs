//! Scenarios that are run several times: attempts, the gate on how often they pass, and baselines of several runs.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Project;

/// A project whose scenario `s` is answered, in its n-th run, as the n-th letter says; the last one goes on. See `faulty_server.rs`.
fn varying(letters: &str, more: &Value) -> Project {
    let project = Project::new();
    vary(&project, letters, more);
    project
}

/// Gives the scenario other letters, and begins with the first again.
fn vary(project: &Project, letters: &str, more: &Value) {
    let starts = project.path("starts");
    let _ = fs::remove_file(&starts);
    let runs = format!("runs={}:{letters}", starts.display());
    project.faulty_with("s", &[&runs], &[("count", json!({}))], more);
}

/// The result of the one scenario.
#[track_caller]
fn only(project: &Project, code: i32, arguments: &[&str]) -> Value {
    let result = project.result(code, arguments);
    assert_eq!(result["scenarios"].as_array().unwrap().len(), 1);
    result["scenarios"][0].clone()
}

fn statuses(scenario: &Value) -> Vec<&str> {
    let attempts = scenario["repeated"]["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_share_that_passes_decides() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record"]);
    let again = || vary(&project, "..t.t.....", &json!({}));

    again();
    let scenario = only(&project, 1, &["compare", "--repeat", "10"]);
    assert_eq!(scenario["status"], "failed");
    let repeated = &scenario["repeated"];
    for (member, expected) in [
        ("runs", json!(10)),
        ("passed", json!(8)),
        ("failed", json!(2)),
        ("incomplete", json!(0)),
        ("pass_rate", json!(0.8)),
        ("pass_threshold", json!(1.0)),
        ("flaky", json!(true)),
        ("shown", json!(3)),
        ("baseline", Value::Null),
        ("difference", Value::Null),
        ("usage", Value::Null),
    ] {
        assert_eq!(repeated[member], expected, "{member}: {repeated:#}");
    }
    // Wilson's interval for 8 of 10, by hand.
    let close =
        |found: &Value, expected: f64| (found.as_f64().unwrap() - expected).abs() < 0.000_05;
    assert!(close(&repeated["interval"]["low"], 0.4902), "{repeated:#}");
    assert!(close(&repeated["interval"]["high"], 0.9433), "{repeated:#}");
    assert!(close(&repeated["score"]["mean"], 0.8), "{repeated:#}");
    assert!(
        close(&repeated["score"]["standard_deviation"], 0.4216),
        "{repeated:#}"
    );
    assert!(
        close(&repeated["pass_at_k"][1]["chance"], 1.0 - 1.0 / 45.0),
        "{repeated:#}"
    );
    assert!(
        close(&repeated["pass_hat_k"][1]["chance"], 28.0 / 45.0),
        "{repeated:#}"
    );
    assert!(
        repeated["reason"]
            .as_str()
            .unwrap()
            .contains("8 of 10 runs passed")
    );
    // What is shown is an attempt that failed.
    assert_eq!(scenario["comparison"]["passed"], false);
    assert_eq!(scenario["current"]["failed_calls"], 1);

    again();
    project.expect(
        1,
        &["compare", "--repeat", "10", "--pass-threshold", "0.81"],
    );
    again();
    let ran = project.expect(
        0,
        &["compare", "--repeat", "10", "--pass-threshold", "0.8", "-v"],
    );
    ran.says("passed 8 of 10 (80 %, 49–94 %) · score 0.80 ± 0.42 (0.00–1.00) · flaky")
        .says("pass@1 80 %, pass@2 98 %")
        .says("pass^1 80 %, pass^2 62 %")
        .says("attempt 3 of 10, failed:")
        .says("attempt 2 of 10: passed")
        .says("everything passed, but 1 scenario passed not in every run (8 of 10 runs).");
    // In the scenario itself, and in the defaults of a folder, where the nearest wins.
    let lenient = json!({ "scoring": { "pass_threshold": 0.8 } });
    vary(&project, "..t.t.....", &lenient);
    project.expect(0, &["compare", "--repeat", "10"]);
    again();
    project.file(
        "scenarios/_defaults.yaml",
        "scoring: { pass_threshold: 0.8 }",
    );
    project.expect(0, &["compare", "--repeat", "10"]);
    again();
    project.expect(1, &["compare", "--repeat", "10", "--pass-threshold", "1"]);
    vary(
        &project,
        "..t.t.....",
        &json!({ "scoring": { "pass_threshold": 1.01 } }),
    );
    project
        .expect(2, &["compare", "--repeat", "10"])
        .says("pass_threshold");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_attempt_is_kept_and_the_report_can_be_made_again() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record"]);
    vary(&project, ".ot", &json!({}));
    let result = project.result(1, &["compare", "--repeat", "3"]);
    let folder = project
        .path(".mcp-eval/runs")
        .join(result["run_id"].as_str().unwrap());
    let attempts = result["scenarios"][0]["repeated"]["attempts"]
        .as_array()
        .unwrap();
    let report = project.path("reports/latest");
    let said = |index: usize| {
        let file = report.join(attempts[index]["file"].as_str().unwrap());
        let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        kept["steps"][0]["outcome"]["content"][0]["text"].clone()
    };
    assert_eq!(said(1), "something else");
    assert_eq!(said(2), "the disk is on fire");
    let shown = result["scenarios"][0]["repeated"]["shown"]
        .as_u64()
        .unwrap();
    let kept = |path: String| fs::read_to_string(folder.join(path)).unwrap();
    assert_eq!(
        kept("current/s.json".to_owned()),
        kept(format!("attempts/{shown}/current/s.json"))
    );
    // Both can be scored again: the run that was shown, and each attempt.
    let run = format!("{}/attempts/1", folder.display());
    project.expect(0, &["compare", "--run", &run]);
    project.expect(1, &["compare", "--run", folder.to_str().unwrap()]);
    project
        .expect(
            1,
            &[
                "compare",
                "--run",
                folder.join("attempts").to_str().unwrap(),
            ],
        )
        .says("Suite Results: 1/3 tests passed");
    project
        .expect(0, &["explain", result["run_id"].as_str().unwrap(), "1"])
        .says("attempt 2 of 3, failed")
        .says("score 0.000");

    let id = result["run_id"].as_str().unwrap();
    let page = project.read(format!("reports/{id}/s.html"));
    let again = project.expect(
        0,
        &["report", id, "--format", "html", "--output", "deep/again"],
    );
    again.says_not("note:");
    let rendered = project.read("deep/again/s.html");
    for text in [
        "3 runs",
        "flaky",
        "1 of 3",
        "attempt </span>3",
        "What follows is about attempt",
    ] {
        assert!(
            page.contains(text) && rendered.contains(text),
            "{text}: {rendered}"
        );
    }
    let links = rendered.matches("/attempts/").count();
    assert_eq!(links, 3, "{rendered}");
    for link in rendered
        .split("href=\"")
        .skip(1)
        .map(|it| it.split('"').next().unwrap())
    {
        let is_file = link.contains("/attempts/");
        assert!(
            !is_file || project.path("deep/again").join(link).exists(),
            "{link}"
        );
    }
    assert!(project.read("deep/again/index.html").contains("flaky"));
}

#[test]
fn once_is_no_repetition() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record", "--repeat", "1"]);
    assert!(
        !project
            .read("baselines/s/baseline.json")
            .contains("repeated")
    );
    let mut results =
        [&["compare"][..], &["compare", "--repeat", "1"]].map(|it| project.result(0, it));
    for result in &mut results {
        assert!(
            result["scenarios"][0].get("repeated").is_none(),
            "{result:#}"
        );
        for times in ["run_id", "started_at", "duration_ms"] {
            result[times] = Value::Null;
        }
        result["called"] = Value::Null;
        let scenario = &mut result["scenarios"][0];
        scenario["duration_ms"] = Value::Null;
        for side in ["baseline", "current"] {
            scenario[side]["duration_ms"] = Value::Null;
            scenario[side]["file"] = Value::Null;
            scenario[side]["stamp"]["recorded_at"] = Value::Null;
        }
        for side in ["baseline", "current"] {
            scenario["comparison"]["rows"][0][side]["duration_ms"] = Value::Null;
        }
    }
    assert_eq!(results[0], results[1]);
    for run in fs::read_dir(project.path(".mcp-eval/runs")).unwrap() {
        assert!(!run.unwrap().path().join("attempts").exists());
    }
}

#[test]
fn what_goes_with_several_runs_only_is_refused_without() {
    let project = varying(".", &json!({}));
    for arguments in [
        &["compare", "--pass-threshold", "0.5"][..],
        &["compare", "--strict-statistics"],
        &["compare", "--repeat", "2", "--run", "x"],
        &["compare", "--repeat", "0"],
        &["compare", "--repeat", "1001"],
        &["run", "--repeat", "2", "--pass-threshold", "1.5"],
        &["record", "--repeat", "2", "--takes", "2"],
    ] {
        project.expect(2, arguments);
    }
}

#[test]
fn expectations_are_checked_in_every_run() {
    let more = json!({ "success_criteria": ["calls"] });
    let project = varying(".o..", &more);
    let scenario = only(&project, 1, &["run", "--repeat", "4"]);
    assert_eq!(
        statuses(&scenario),
        ["passed", "failed", "passed", "passed"]
    );
    assert_eq!(scenario["repeated"]["shown"], 2);
    assert_eq!(scenario["checks"][0]["passed"], false);
    vary(&project, ".o..", &more);
    project.expect(0, &["run", "--repeat", "4", "--pass-threshold", "0.75"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_drop_fails_only_where_chance_does_not_explain_it() {
    let project = varying("..........", &json!({}));
    project.expect(0, &["record", "--repeat", "10"]);

    vary(&project, ".ttttttttt", &json!({}));
    let scenario = only(
        &project,
        1,
        &["compare", "--repeat", "10", "--pass-threshold", "0"],
    );
    assert_eq!(scenario["status"], "failed");
    let repeated = &scenario["repeated"];
    assert_eq!(repeated["baseline"]["runs"], 10);
    assert_eq!(repeated["baseline"]["passed"], 10);
    assert_eq!(repeated["difference"]["value"], -0.9);
    assert_eq!(repeated["difference"]["significant"], true);
    assert!(repeated["difference"]["high"].as_f64().unwrap() < 0.0);

    let unsure = ".........t";
    vary(&project, unsure, &json!({}));
    let result = project.result(0, &["compare", "--repeat", "10"]);
    assert_eq!(result["scenarios"][0]["status"], "inconclusive");
    assert_eq!(result["summary"]["inconclusive"], 1);
    assert_eq!(result["gate"]["name"], "inconclusive");
    // Nor does the database say that it has passed.
    let kept = rusqlite::Connection::open(project.path(".mcp-eval/results.db")).unwrap();
    let sql = "select verdict from results where status = 'inconclusive'";
    let verdict: String = kept.query_row(sql, [], |row| row.get(0)).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["passed"], Value::Null, "{verdict}");
    assert_eq!(
        result["scenarios"][0]["repeated"]["difference"]["significant"],
        false
    );
    vary(&project, unsure, &json!({}));
    project
        .expect(3, &["compare", "--repeat", "10", "--strict-statistics"])
        .says("? s inconclusive")
        .says("chance alone may explain that")
        .says("about 44 runs on each side")
        .says("Suite Results: 0/1 tests passed, 1 inconclusive");
    vary(&project, unsure, &json!({}));
    project.expect(
        0,
        &[
            "compare",
            "--repeat",
            "10",
            "--pass-threshold",
            "0.9",
            "--strict-statistics",
        ],
    );
    // A single run has no share to speak of.
    vary(&project, "t", &json!({}));
    project.expect(1, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn no_worse_than_its_baseline_is_good_enough() {
    let project = varying(".......ttt", &json!({}));
    project
        .expect(0, &["record", "--repeat", "10"])
        .says("recorded 10 times, 7 passed");
    vary(&project, "t.t.t.....", &json!({}));
    let scenario = only(&project, 0, &["compare", "--repeat", "10"]);
    assert_eq!(scenario["status"], "passed");
    let reason = scenario["repeated"]["reason"].as_str().unwrap();
    assert!(reason.contains("it is no worse"), "{reason}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_could_not_be_run_is_no_verdict() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record"]);
    vary(&project, "..x.", &json!({}));
    let scenario = only(
        &project,
        3,
        &["compare", "--repeat", "4", "--pass-threshold", "0.5"],
    );
    assert_eq!(scenario["status"], "error");
    assert_eq!(statuses(&scenario), ["passed", "passed", "error", "passed"]);
    assert_eq!(scenario["repeated"]["incomplete"], 1);
    assert_eq!(scenario["repeated"]["pass_rate"], 1.0);
    assert_eq!(scenario["repeated"]["attempts"][2]["score"], Value::Null);
    let message = scenario["problem"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("1 of 4 runs could not be run or judged: attempt 3: "),
        "{message}"
    );
    // Failing is all it could do, whatever the lost run would have been.
    vary(&project, ".tx.", &json!({}));
    let scenario = only(&project, 1, &["compare", "--repeat", "4"]);
    assert_eq!(scenario["status"], "failed");
    let reason = scenario["repeated"]["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("even if the 1 without a verdict had passed"),
        "{reason}"
    );
    vary(&project, "x", &json!({}));
    let scenario = only(&project, 3, &["compare", "--repeat", "2"]);
    assert_eq!(scenario["repeated"]["pass_rate"], Value::Null);
    assert_eq!(scenario["repeated"]["interval"], Value::Null);
    project.expect(0, &["report"]).says("no verdict in 2 runs");
    // Time out, all of them.
    vary(&project, "h", &json!({ "timeout": "300ms" }));
    let scenario = only(&project, 3, &["compare", "--repeat", "2"]);
    assert_eq!(scenario["status"], "timeout");
    // Without a baseline, there is nothing to repeat.
    fs::remove_dir_all(project.path("baselines")).unwrap();
    let scenario = only(&project, 3, &["compare", "--repeat", "2"]);
    assert!(scenario.get("repeated").is_none());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_most_typical_run_becomes_the_baseline() {
    let more = json!({ "success_criteria": ["calls"] });
    let project = varying("o.t..", &more);
    let scenario = only(&project, 0, &["record", "--repeat", "5"]);
    assert_eq!(scenario["status"], "recorded");
    assert_eq!(
        statuses(&scenario),
        ["failed", "passed", "failed", "passed", "passed"]
    );
    assert_eq!(scenario["repeated"]["shown"], 2);
    assert_eq!(scenario["repeated"]["pass_threshold"], Value::Null);
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    assert_eq!(baseline["repeated"], json!({ "runs": 5, "passed": 3 }));
    assert_eq!(baseline["format_version"], 3);
    assert!(
        project
            .read("baselines/s/trajectory.txt")
            .contains("recorded 5 times, 3 passed")
    );
    // Runs that failed are never kept, be they most of all.
    vary(&project, "oo.o.", &more);
    let scenario = only(&project, 0, &["record", "--repeat", "5"]);
    assert_eq!(scenario["repeated"]["shown"], 3);
    assert_eq!(scenario["repeated"]["passed"], 2);
    vary(&project, "o.t..", &more);
    project.expect(0, &["record", "--repeat", "5"]);
    // Where all failed, none is kept, and no run is kept where one could not be made.
    let before = project.read("baselines/s/baseline.json");
    let demanded = json!({ "success_criteria": [{ "text": "calls" }] });
    vary(&project, "ot", &demanded);
    project
        .expect(1, &["record", "--repeat", "3"])
        .says("not kept, because all 3 runs failed");
    vary(&project, "..x", &more);
    project
        .expect(3, &["record", "--repeat", "9"])
        .says("attempt 3 of 9, without which nothing is kept");
    assert_eq!(before, project.read("baselines/s/baseline.json"));
    // A later comparison of one run says how it was recorded.
    vary(&project, ".", &more);
    project.expect(0, &["compare"]);
    assert!(
        project
            .read("reports/latest/s.html")
            .contains("recorded 5 times, 3 passed (60 %)")
    );
}

#[test]
fn a_minority_is_not_kept_although_it_came_first() {
    let project = varying("t....", &json!({}));
    let scenario = only(&project, 0, &["record", "--repeat", "5", "--allow-failing"]);
    assert_eq!(
        statuses(&scenario),
        ["failed", "passed", "passed", "passed", "passed"]
    );
    assert_eq!(scenario["repeated"]["shown"], 2);
}

#[test]
fn several_runs_show_what_varies() {
    let project = Project::new();
    project.faulty("s", &["random"], &[("count", json!({}))]);
    let ran = project.expect(0, &["record", "-v", "--repeat", "3"]);
    ran.says("learned from 3 takes")
        .says("recorded 3 times, 3 passed");
    project.expect(0, &["compare", "--repeat", "2"]);
}

#[test]
fn a_tally_that_cannot_be_is_refused() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record", "--repeat", "2"]);
    project.edit(
        "baselines/s/baseline.json",
        "\"passed\": 2",
        "\"passed\": 3",
    );
    project
        .expect(3, &["compare"])
        .says("its `repeated` says that 3 of 2 runs passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn fail_fast_finishes_the_attempts_and_starts_no_further_scenario() {
    let project = varying("t...", &json!({}));
    project.faulty("t", &[], &[("echo", json!({}))]);
    let more = json!({ "success_criteria": ["calls"] });
    vary(&project, "t...", &more);
    let result = project.result(1, &["run", "--repeat", "3", "--fail-fast"]);
    assert_eq!(statuses(&result["scenarios"][0]).len(), 3);
    assert_eq!(result["scenarios"][1]["status"], "skipped");
    // What is inconclusive ends a suite only where the command fails for it: nothing is left out silently.
    vary(&project, "..........", &more);
    project.expect(0, &["record", "--repeat", "10"]);
    let arguments = [
        "compare",
        "--repeat",
        "10",
        "--fail-fast",
        "--strict-statistics",
    ];
    for (code, arguments, second) in [
        (0, &arguments[..4], "passed"),
        (3, &arguments[..], "skipped"),
    ] {
        vary(&project, ".........t", &more);
        let result = project.result(code, arguments);
        assert_eq!(result["scenarios"][0]["status"], "inconclusive");
        assert_eq!(result["scenarios"][1]["status"], second);
    }
}

#[test]
fn ctrl_c_ends_a_repetition_and_keeps_the_runs_made() {
    let project = varying(".", &json!({}));
    let mut child = project
        .command()
        .args(["run", "--repeat", "1000", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let third = || {
        let runs = fs::read_dir(project.path(".mcp-eval/runs"))
            .into_iter()
            .flatten()
            .flatten();
        runs.map(|it| it.path().join("attempts/3/current/s.json"))
            .any(|it| it.exists())
    };
    while !third() {
        assert!(started.elapsed() < Duration::from_secs(30), "nothing runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
    assert_eq!(result["interrupted"], true);
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "interrupted", "{scenario:#}");
    let repeated = &scenario["repeated"];
    let made = repeated["attempts"].as_array().unwrap();
    assert!(repeated["passed"].as_u64().unwrap() >= 2, "{repeated:#}");
    let (last, before) = made.split_last().unwrap();
    assert_eq!(last["status"], "interrupted");
    assert!(before.iter().all(|it| it["status"] == "passed"));
    let why = format!("interrupted in attempt {} of 1000", made.len());
    assert_eq!(scenario["problem"]["message"], why);
    assert!(third());
    // A process may need a moment to be gone.
    while !project.survivors().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "children live");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn one_run_is_enough_to_say_that_it_is_another_experiment() {
    let project = varying(".", &json!({}));
    project.expect(0, &["record", "--repeat", "2"]);
    vary(&project, ".", &json!({ "user_intent": "Something else" }));
    let scenario = only(&project, 3, &["compare", "--repeat", "5"]);
    assert_eq!(scenario["status"], "error");
    assert!(
        !scenario["experiment_changes"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(scenario["current"]["file"].is_string());
    // One run, and one more that shows the reviewer of the first what varies.
    assert_eq!(project.read("starts").len(), 2);
    project.expect(0, &["compare", "--repeat", "5", "--allow-changed"]);
    assert_eq!(project.read("starts").len(), 8);
}
