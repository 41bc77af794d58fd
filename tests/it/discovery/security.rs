//! `security`: scanners measured by what they said.

use serde_json::{Value, json};

use crate::common::{Project, Ran};

fn measure(project: &Project, code: i32, arguments: &[&str]) -> Ran {
    project.expect(code, &[&["security"], arguments].concat())
}

fn report(project: &Project) -> Value {
    serde_json::from_str(&project.read("reports/security/report.json")).unwrap()
}

/// Ids `m0…` and `b0…`, of which so many are flagged by `d`.
fn verdicts(malicious: (usize, usize), benign: (usize, usize)) -> Value {
    let entry = |letter: &str, at: usize, flagged: bool| {
        let label = if letter == "m" { "malicious" } else { "benign" };
        json!({ "id": format!("{letter}{at}"), "label": label, "category": "poisoning", "verdicts": [
            { "detector": "d", "flagged": flagged, "max_severity": "high", "detections": [] }] })
    };
    let bad = (0..malicious.1).map(|at| entry("m", at, at < malicious.0));
    let good = (0..benign.1).map(|at| entry("b", at, at < benign.0));
    json!({ "corpus_version": "s1", "detectors": ["d"], "entries": bad.chain(good).collect::<Vec<_>>() })
}

#[test]
fn a_workflow_of_the_original_finds_its_lines_and_keys() {
    let project = Project::new();
    project.file("v.json", verdicts((2, 20), (1, 23)).to_string());
    let ran = measure(
        &project,
        0,
        &[
            "--verdicts",
            "v.json",
            "--verdicts",
            "v.json",
            "--fpr-ceiling",
            "0.10",
            "--recall-floor",
            "0.05",
        ],
    );
    let lines: Vec<&str> = ran.stdout.lines().take(3).collect();
    assert_eq!(
        lines,
        [
            "d: P=0.667 R=0.100 F1=0.174 FPR=0.043 [PASS]",
            "Overall gate (fpr<=0.1 AND recall>=0.05): PASS",
            "Reports: reports/security/report.json , reports/security/report.html",
        ]
    );
    ran.says("d: too small to say: 23 benign entries are too few for an FPR of 0.1: none of them flagged would still allow 14.3 %; it takes 35");
    let report = report(&project);
    let security = &report["security"];
    assert_eq!(
        security["gate"],
        json!({ "fpr_ceiling": 0.1, "recall_floor": 0.05, "passed": true })
    );
    let d = &security["per_detector"][0];
    assert_eq!(
        [
            &d["tp"], &d["fp"], &d["tn"], &d["fn"], &d["runs"], &d["gate"]
        ]
        .map(Value::clone),
        [
            json!(2),
            json!(1),
            json!(22),
            json!(18),
            json!(2),
            json!(true)
        ]
    );
    assert_eq!(
        (&d["precision"], &d["fpr_std"]),
        (&json!(2.0 / 3.0), &json!(0.0))
    );
    assert_eq!(
        (&security["runs_averaged"], &security["corpus_version"]),
        (&json!(2), &json!("s1"))
    );
    let ran = measure(&project, 1, &["--verdicts", "v.json"]);
    ran.says("[FAIL]")
        .says("Overall gate (fpr<=0.1 AND recall>=0.8): FAIL");
    assert!(
        project
            .read("reports/security/report.html")
            .contains("<code>d</code>")
    );
}

#[test]
fn an_interval_of_several_runs_is_about_all_of_them() {
    let project = Project::new();
    // What one run flags, the other does not.
    project.file("v.json", verdicts((12, 12), (0, 16)).to_string());
    project.file("w.json", verdicts((0, 12), (16, 16)).to_string());
    for files in [["v.json", "w.json"], ["w.json", "v.json"]] {
        let bounds = ["--fpr-ceiling", "0.5", "--recall-floor", "0.5"];
        let runs = ["--verdicts", files[0], "--verdicts", files[1]];
        measure(&project, 0, &[&runs[..], &bounds].concat());
        let d = &report(&project)["security"]["per_detector"][0];
        for (rate, interval) in [("recall", "recall_interval"), ("fpr", "fpr_interval")] {
            let end = |it: usize| d[interval][it].as_f64().unwrap();
            assert_eq!(d[rate], 0.5, "{d:#}");
            assert!(
                0.2 < end(0) && end(0) < 0.5 && 0.5 < end(1) && end(1) < 0.8,
                "{d:#}"
            );
        }
    }
    // Of an odd number of them, nothing is rounded away; and what they judge otherwise is named.
    project.file("x.json", verdicts((3, 4), (0, 2)).to_string());
    project.file("y.json", verdicts((2, 4), (0, 2)).to_string());
    let files = ["--verdicts", "x.json", "--verdicts", "y.json"];
    let bounds = ["--fpr-ceiling", "0.5", "--recall-floor", "0.5"];
    let ran = measure(&project, 0, &[&files[..], &bounds].concat());
    ran.says("d: its runs do not judge alike: m2")
        .says("what compares or joins detectors are of the first");
    let d = &report(&project)["security"]["per_detector"][0];
    let interval: Vec<f64> = serde_json::from_value(d["recall_interval"].clone()).unwrap();
    let page = project.read("reports/security/report.html");
    assert!(page.contains("which do not judge alike: <code>m2</code>"));
    assert!(
        project
            .read("reports/security/report.md")
            .contains("do not judge alike: m2")
    );
    // Wilson's interval of 2.5 of 4, by hand.
    assert!((interval[0] - 0.2194).abs() < 1e-3, "{interval:?}");
    assert!((interval[1] - 0.9081).abs() < 1e-3, "{interval:?}");
}

#[test]
fn a_silent_drop_and_a_double_verdict_are_no_measurement() {
    let project = Project::new();
    let corpus = json!({ "entries": [{ "id": "m0", "label": "malicious", "category": "x" }, { "id": "b0", "label": "benign" }, { "id": "b1", "label": "benign" }] });
    project.file("c.json", corpus.to_string());
    project.file("v.json", verdicts((1, 1), (0, 1)).to_string());
    let with = ["--verdicts", "v.json", "--corpus", "c.json"];
    measure(&project, 3, &with)
        .says("silent drop: 1 of 3 entries of the corpus have no verdict, such as `b1`");
    assert_eq!(report(&project)["status"], "incomplete");
    project.file("v.json", verdicts((1, 1), (0, 2)).to_string());
    measure(&project, 0, &with);
    let mut twice = verdicts((1, 1), (0, 2));
    let again = twice["entries"][0].clone();
    twice["entries"].as_array_mut().unwrap().push(again);
    project.file("v.json", twice.to_string());
    measure(&project, 3, &with).says("`m0` is judged twice");
    let mut lacking = verdicts((1, 1), (0, 2));
    lacking["detectors"] = json!(["d", "e"]);
    project.file("v.json", lacking.to_string());
    measure(&project, 3, &with).says("`e` has no verdict on 3 of 3 entries");
    project.file("v.json", "{\"entries\": [{\"id\": \"x\", \"label\": \"bad\",\n \"verdicts\": [{\"detector\": \"d\"}]}]}");
    measure(&project, 3, &with)
        .says("v.json:1:35: error: `label` must be")
        .says("v.json:2:15: error: `flagged` must be true or false");
}

#[test]
fn a_scan_that_crashed_is_not_a_clean_one() {
    let project = Project::new();
    let entry = |id: &str, status: &str, score: Option<f64>| json!({ "id": id, "label": if id.starts_with('m') { "malicious" } else { "benign" }, "category": "x", "status": status, "reason": "too long", "score": score, "flagged": score.is_some_and(|it| it > 0.5) });
    let entries = json!([
        entry("m1", "ok", Some(0.9)),
        entry("m2", "ok", Some(0.6)),
        entry("b1", "ok", Some(0.7)),
        entry("b2", "ok", Some(0.1)),
        entry("b3", "timeout", None)
    ]);
    let file = json!({ "format_version": 2, "detector": { "name": "s", "version": "1", "threshold": 0.5 }, "run": { "seed": 1 }, "entries": entries });
    project.file("v.json", file.to_string());
    let with = [
        "--verdicts",
        "v.json",
        "--fpr-ceiling",
        "0.5",
        "--prevalence",
        "0.01",
    ];
    measure(&project, 1, &with)
        .says("[FAIL] (1 scan without a verdict: 1 timeout)")
        .says("Overall gate (fpr<=0.5 AND recall>=0.8): FAIL (scans without a verdict: s)");
    for file in ["report.html", "report.md"] {
        let text = project.read(format!("reports/security/{file}"));
        assert!(text.contains("1 scan without a verdict"), "{file}");
    }
    measure(&project, 0, &[&with[..], &["--allow-errors", "1"]].concat())
        .says("[PASS] (1 scan without a verdict: 1 timeout, and 1 may be)")
        .says("s: where 0.01 of all tools are malicious, 0.020 of what it flags is");
    let report = report(&project);
    let s = &report["security"]["per_detector"][0];
    // Of four pairs of a malicious and a benign one, three are in the right order.
    assert_eq!(s["scores"]["auc"], json!(0.75));
    assert_eq!(s["scores"]["recall_at_fpr_1"], json!(0.5));
    assert_eq!(
        s["scores"]["roc"],
        json!([[0.0, 0.0], [0.0, 0.5], [0.5, 0.5], [0.5, 1.0], [1.0, 1.0]])
    );
    assert!(
        s["scores"]["precision_at_prevalence"]["0.01"]
            .as_f64()
            .unwrap()
            < 0.03
    );
    assert_eq!(
        s["errors"],
        json!([{ "id": "b3", "status": "timeout", "reason": "too long" }])
    );
    assert!(
        project
            .read("reports/security/report.html")
            .contains("<polyline")
    );
    // Together with another, which alone judges `b3`, nobody is asked about that.
    let mut other = file;
    other["detector"]["name"] = json!("t");
    for it in other["entries"].as_array_mut().unwrap() {
        (it["status"], it["score"]) = (json!("ok"), Value::Null);
        it["flagged"] = json!(it["id"] == "b3");
    }
    project.file("w.json", other.to_string());
    let both = ["--verdicts", "v.json", "w.json", "--allow-errors", "1"];
    project.run(&[&["security"], &both[..]].concat());
    let found = self::report(&project);
    let any = &found["security"]["joined"][0];
    assert_eq!((&any["fp"], &any["tn"]), (&json!(1), &json!(1)), "{any:#}");
}

#[test]
fn a_gate_on_a_rate_of_nothing_is_not_measured() {
    let project = Project::new();
    let with = ["--verdicts", "v.json"];
    for (malicious, benign, message) in [
        (
            (5, 5),
            (0, 0),
            "the FPR is not measured: no benign entry has a verdict",
        ),
        (
            (0, 0),
            (0, 5),
            "the recall is not measured: no malicious entry has a verdict",
        ),
    ] {
        project.file("v.json", verdicts(malicious, benign).to_string());
        measure(&project, 3, &with)
            .says("[NOT MEASURED]")
            .says(&format!("d: {message}"));
        let found = report(&project);
        assert_eq!(found["status"], "incomplete");
        assert_eq!(found["security"]["per_detector"][0]["fpr"], json!(0.0));
        let tests = project.read("reports/security/junit.xml");
        assert!(tests.contains("failures=\"0\"") && tests.contains("errors=\"1\""));
    }
    // What is demanded of no rate needs none.
    let alarms = [&with[..], &["--recall-floor", "0"]].concat();
    measure(&project, 0, &alarms).says("[PASS]");
    // Allowed or not, scans without a verdict are none.
    let entries = json!([
        { "id": "m", "label": "malicious", "category": "x", "status": "ok", "flagged": true },
        { "id": "b", "label": "benign", "category": "x", "status": "skipped", "reason": "r", "flagged": false },
    ]);
    let file = json!({ "format_version": 2, "detector": { "name": "s" }, "entries": entries });
    project.file("v.json", file.to_string());
    measure(&project, 3, &[&with[..], &["--allow-errors", "1"]].concat());
}

#[test]
fn a_bound_that_is_just_reached_is_kept_and_equal_scores_stay_together() {
    let project = Project::new();
    project.file("v.json", verdicts((4, 5), (1, 10)).to_string());
    let bounds = ["--fpr-ceiling", "0.1", "--recall-floor", "0.8"];
    let with = ["--verdicts", "v.json"];
    measure(&project, 0, &[&with[..], &bounds].concat())
        .says("Overall gate (fpr<=0.1 AND recall>=0.8): PASS");
    // It takes 35, and no more.
    for (benign, is_warned) in [(34, true), (35, false)] {
        project.file("v.json", verdicts((20, 20), (0, benign)).to_string());
        let ran = measure(&project, 0, &with);
        assert_eq!(ran.all().contains("benign entries are too few"), is_warned);
    }
    let scores = |entries: Vec<Value>| {
        let file = json!({ "format_version": 2, "detector": { "name": "s", "version": "1", "threshold": 0.5 }, "run": { "seed": 1 }, "entries": entries });
        project.file("v.json", file.to_string());
        project.run(&["security", "--verdicts", "v.json"]);
        report(&project)["security"]["per_detector"][0]["scores"].clone()
    };
    let entry = |id: &str, score: f64| {
        let label = if id.starts_with('m') {
            "malicious"
        } else {
            "benign"
        };
        json!({ "id": id, "label": label, "category": "x", "status": "ok", "score": score, "flagged": score > 0.5 })
    };
    // No threshold lies between two that are equal.
    let equal = scores(vec![entry("m", 0.6), entry("b", 0.6)]);
    assert_eq!(equal["roc"], json!([[0.0, 0.0], [1.0, 1.0]]));
    assert_eq!(equal["auc"], json!(0.5));
    // One of a hundred is just one in a hundred.
    let mut all = vec![entry("m0", 0.9), entry("m1", 0.7), entry("b0", 0.8)];
    all.extend((1..100).map(|it| entry(&format!("b{it}"), 0.1)));
    assert_eq!(scores(all)["recall_at_fpr_1"], json!(1.0));
}

#[test]
fn scanners_of_others_are_read_and_compared() {
    let project = Project::new();
    let corpus = json!({ "entries": [
        { "id": "s:bad", "label": "malicious", "category": "poisoning", "pair": "p" },
        { "id": "s:good", "label": "benign", "category": "hard_negative", "pair": "p" },
        { "id": "s:plain", "label": "benign", "category": "benign", "pair": "of one" }] });
    project.file("c.json", corpus.to_string());
    let tool = |name: &str| json!({ "name": name });
    let scan = json!({ "/home/x/.cursor/mcp.json": { "path": "x", "error": null,
        "servers": [{ "name": "s", "error": null, "signature": { "prompts": [], "resources": [], "tools": [tool("bad"), tool("good"), tool("plain")] } }],
        "issues": [{ "code": "E001", "message": "poisoned", "reference": [0, 0] }, { "code": "W001", "message": "odd words", "reference": [0, 1] }] } });
    project.file("scan.json", scan.to_string());
    let cisco = |name: &str, found: u64| json!({ "tool_name": name, "server_name": "s", "status": "completed", "is_safe": found == 0, "findings": { "yara_analyzer": { "severity": "HIGH", "total_findings": found } } });
    project.file(
        "cisco.json",
        json!({ "scan_results": [cisco("bad", 2), cisco("good", 0), cisco("plain", 0)] })
            .to_string(),
    );
    let sarif = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint", "version": "3" } }, "results": [
        { "ruleId": "r", "level": "error", "locations": [{ "logicalLocations": [{ "fullyQualifiedName": "s:plain" }] }] }] }] });
    project.file("lint.sarif", sarif.to_string());
    let ran = measure(
        &project,
        1,
        &[
            "--verdicts",
            "scan.json",
            "cisco.json",
            "lint.sarif",
            "--corpus",
            "c.json",
        ],
    );
    ran.says("mcp-scan: P=0.500 R=1.000 F1=0.667 FPR=0.500 [FAIL]");
    ran.says("yara: P=1.000 R=1.000 F1=1.000 FPR=0.000 [PASS]");
    ran.says("lint: P=0.000 R=0.000 F1=0.000 FPR=0.500 [FAIL]");
    ran.says("yara: 1 of 1 pairs right on both sides")
        .says("mcp-scan: 0 of 1 pairs");
    ran.says("mcp-scan and yara: only the first right on 0, only the second on 1; p = 1.000 by McNemar's test");
    let report = report(&project);
    let joined = &report["security"]["joined"];
    assert_eq!(
        (
            &joined[0]["recall"],
            &joined[0]["fp"],
            &joined[1]["recall"],
            &joined[1]["fp"]
        ),
        (&json!(1.0), &json!(2), &json!(0.0), &json!(0))
    );
    // What did not come to its end says nothing of what it does not list.
    project.edit(
        "lint.sarif",
        "\"results\"",
        "\"invocations\":[{\"executionSuccessful\":false}],\"results\"",
    );
    measure(
        &project,
        3,
        &["--verdicts", "lint.sarif", "--corpus", "c.json"],
    )
    .says("did not come to its end");
    measure(&project, 3, &["--verdicts", "cisco.json"])
        .says("nothing says of 3 entries whether they are malicious, such as `s:bad`");
    measure(&project, 3, &["--verdicts", "c.json", "--format", "cisco"])
        .says("`scan_results` is missing");
}

/// A corpus of `s:bad`, which is malicious, `s:good` and `s:plain`, which are not; and what is asked of scanners of it.
fn suspects(project: &Project) {
    let entry = |id: &str, label: &str| json!({ "id": id, "label": label, "category": "x" });
    let entries = [
        entry("s:bad", "malicious"),
        entry("s:good", "benign"),
        entry("s:plain", "benign"),
    ];
    project.file("c.json", json!({ "entries": entries }).to_string());
}

/// Measures what stands in a file, of which the corpus of [`suspects`] tells what is so.
fn judged(project: &Project, code: i32, said: &Value, more: &[&str]) -> Ran {
    project.file("said.json", said.to_string());
    let with = ["--verdicts", "said.json", "--corpus", "c.json"];
    measure(project, code, &[&with[..], more].concat())
}

/// Ids of what came to no verdict, and why.
fn errors(project: &Project) -> Vec<(String, String)> {
    let found = report(project);
    let errors = found["security"]["per_detector"][0]["errors"].as_array();
    let errors = errors.into_iter().flatten();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    errors
        .map(|it| (text(&it["id"]), text(&it["reason"])))
        .collect()
}

#[test]
fn keys_that_nobody_reads_are_refused_with_their_place() {
    let project = Project::new();
    let file = |entry: &str| {
        format!(
            "{{\"format_version\": 2, \"detector\": {{\"name\": \"d\"}}, \"x-note\": \"free\", \"entries\": [\n\
             {{\"id\": \"m\", \"label\": \"malicious\", \"flagged\": true}},\n\
             {{\"id\": \"b\", \"label\": \"benign\", \"flagged\": false{entry}}}]}}"
        )
    };
    let with = ["--verdicts", "v.json"];
    project.file("v.json", file(""));
    measure(&project, 0, &with);
    for (more, message) in [
        (
            ", \"statuss\": \"error\"",
            "v.json:3:50: error: unknown key `statuss`; did you mean `status`?",
        ),
        (
            ", \"flagged\": true",
            "v.json:3:50: error: the key `flagged` is here twice",
        ),
        (
            ", \"detections\": [{\"spann\": [1, 2]}]",
            "v.json:3:66: error: unknown key `spann`; did you mean `span`?",
        ),
        (", \"score\": \"0.9\"", "`score` must be a number"),
        (", \"whatever\": 1", "unknown key `whatever`; known here: "),
    ] {
        project.file("v.json", file(more));
        measure(&project, 3, &with).says(message);
    }
    let text = file("").replace("\"name\": \"d\"", "\"name\": \"d\", \"treshold\": 1");
    project.file("v.json", text);
    measure(&project, 3, &with).says("unknown key `treshold`; did you mean `threshold`?");
    project.file("v.json", file("").replace(": 2,", ": 3,"));
    measure(&project, 3, &with).says("`format_version` must be 2");
    // What is published says the same.
    let schema = project.expect(0, &["schema", "verdicts"]).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let is_valid = |it: &str| schema.is_valid(&serde_json::from_str(it).unwrap());
    assert!(is_valid(&file("")) && !is_valid(&file(", \"statuss\": \"error\"")));
}

#[test]
fn a_run_of_sarif_that_was_cut_short_says_nothing_of_what_it_does_not_list() {
    let project = Project::new();
    suspects(&project);
    let result = |ids: &[&str]| {
        let places = ids
            .iter()
            .map(|it| json!({ "logicalLocations": [{ "fullyQualifiedName": it }] }));
        json!({ "ruleId": "r", "level": "error", "locations": places.collect::<Vec<_>>() })
    };
    let log = |invocations: Value, results: Value| {
        let mut run = json!({ "tool": { "driver": { "name": "lint" } }, "results": results });
        if !invocations.is_null() {
            run["invocations"] = invocations;
        }
        json!({ "version": "2.1.0", "runs": [run] })
    };
    let bad = json!([result(&["s:bad"])]);
    for (invocation, message) in [
        (
            json!({ "executionSuccessful": "false" }),
            "must be true or false, and is \"false\"",
        ),
        (
            json!({ "exitCode": 0 }),
            "must be true or false, and is missing",
        ),
        (
            json!({ "executionSuccessful": true, "exitCode": 137 }),
            "`exitCode` is 137",
        ),
        (
            json!({ "executionSuccessful": true, "exitSignalName": "SIGKILL" }),
            "SIGKILL",
        ),
        (
            json!({ "executionSuccessful": true, "processStartFailureMessage": "no such file" }),
            "no such file",
        ),
        (
            json!({ "executionSuccessful": true, "toolExecutionNotifications": [
                { "level": "error", "message": { "text": "out of memory" } }] }),
            "out of memory",
        ),
    ] {
        judged(&project, 3, &log(json!([invocation]), bad.clone()), &[]).says(message);
    }
    let ended = json!([{ "executionSuccessful": true, "exitCode": 0 }]);
    judged(&project, 3, &log(ended.clone(), Value::Null), &[])
        .says("`results` is null: the scan did not run");
    let only_alarms = ["--recall-floor", "0"];
    judged(&project, 3, &log(Value::Null, json!([])), &only_alarms)
        .says("nothing is listed, and nothing says that the scan has run");
    judged(&project, 0, &log(ended.clone(), json!([])), &only_alarms);
    // Many end with 1 where they have found something, and say that all went well.
    let found = json!([{ "executionSuccessful": true, "exitCode": 1 }]);
    judged(&project, 0, &log(found.clone(), bad.clone()), &[]);
    judged(&project, 3, &log(found, json!([])), &only_alarms).says("`exitCode` is 1");
    // What could not be looked at alone is no verdict on the rest.
    let one = json!([{ "executionSuccessful": true, "toolExecutionNotifications": [
        { "level": "error", "message": { "text": "too long" }, "locations": result(&["s:good"])["locations"] }] }]);
    judged(&project, 1, &log(one, bad), &[]).says("1 scan without a verdict: 1 error");
    assert_eq!(
        errors(&project),
        [("s:good".to_owned(), "too long".to_owned())]
    );
    // What is gone was not found, and each place is found.
    let mut gone = result(&["s:good"]);
    gone["baselineState"] = json!("absent");
    let several = json!([result(&["s:bad", "s:plain"]), gone]);
    judged(&project, 1, &log(ended, several), &[]);
    let d = &report(&project)["security"]["per_detector"][0];
    assert_eq!(
        (&d["tp"], &d["fp"], &d["tn"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[test]
fn what_mcp_scan_could_not_scan_is_an_error_and_what_is_no_tool_is_left_out() {
    let project = Project::new();
    suspects(&project);
    let named = |name: &str| json!({ "name": name });
    let tools = json!([named("bad"), named("good"), named("plain")]);
    let scan = |server: &Value, issues: &Value| json!({ "/x/mcp.json": { "path": "/x/mcp.json", "servers": [server], "issues": issues, "error": null } });
    let server = |signature: &Value| json!({ "name": "s", "error": null, "signature": signature });
    let whole = server(&json!({ "tools": tools }));
    let poisoned = json!({ "code": "E001", "message": "poisoned", "reference": [0, 0] });
    judged(&project, 0, &scan(&whole, &json!([poisoned])), &[]).says("mcp-scan: P=1.000 R=1.000");
    let all = ["s:bad", "s:good", "s:plain"];
    let started = json!({ "name": "s", "signature": null, "error": { "message": "could not start", "is_failure": true } });
    let beyond = |reference: Value| json!([poisoned, { "code": "E001", "message": "m", "reference": reference }]);
    let unread = json!({ "/x/mcp.json": { "path": "/x/mcp.json", "servers": null, "issues": [], "error": { "message": "no JSON" } } });
    for (said, reason) in [
        (scan(&started, &json!([])), "could not start"),
        (
            scan(&server(&Value::Null), &json!([])),
            "nothing is known of what it offers",
        ),
        (unread, "no JSON"),
        (
            scan(&whole, &beyond(json!([0, 3]))),
            "E001 refers to number 3, counted from 0, of 3: m",
        ),
        (
            scan(&whole, &beyond(json!([1, 0]))),
            "E001 refers to number 1, counted from 0, of 1: m",
        ),
    ] {
        judged(&project, 3, &said, &[]);
        let failed = errors(&project);
        let ids: Vec<&str> = failed.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(ids, all, "{reason}");
        assert!(failed.iter().all(|it| it.1 == reason), "{failed:?}");
    }
    judged(&project, 3, &scan(&whole, &beyond(json!("0"))), &[])
        .says("`reference` must be the numbers of a server and of what it offers");
    // A client that is not there has nothing to scan.
    let mut with_absent = scan(&whole, &json!([poisoned]));
    with_absent["/y"] = json!({ "path": "/y", "servers": null, "issues": [], "error": { "message": "no such file", "is_failure": false } });
    judged(&project, 0, &with_absent, &[]);
    // A prompt that is called as a tool is another thing, and counts among the numbers.
    let both = server(
        &json!({ "prompts": [named("good")], "resources": [named("plain")], "tools": tools }),
    );
    let issues = json!([
        { "code": "E001", "message": "m", "reference": [0, 0] },
        { "code": "E001", "message": "m", "reference": [0, 2] },
    ]);
    judged(&project, 0, &scan(&both, &issues), &[])
        .says("mcp-scan: P=1.000 R=1.000 F1=1.000 FPR=0.000 [PASS]")
        .says("that are not in the corpus count for nothing: 2, such as `s:prompt:good`");
    project.edit(
        "c.json",
        "\"entries\":[",
        "\"entries\":[{\"id\":\"s:prompt:good\",\"label\":\"malicious\"},",
    );
    judged(&project, 0, &scan(&both, &issues), &[]).says("count for nothing: 1");
    assert_eq!(report(&project)["security"]["per_detector"][0]["tp"], 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_ciscos_scanner_did_not_judge_is_no_clean_tool() {
    let project = Project::new();
    suspects(&project);
    let result = |name: &str, found: u64| json!({ "tool_name": name, "server_name": "s", "item_type": "tool", "status": "completed", "is_safe": found == 0, "findings": { "yara_analyzer": { "severity": if found == 0 { "SAFE" } else { "HIGH" }, "total_findings": found } } });
    let whole = || [result("bad", 1), result("good", 0), result("plain", 0)];
    judged(&project, 0, &json!(whole()), &[]).says("yara: P=1.000 R=1.000");
    let with_plain = |key: &str, value: &Value| {
        let mut all = whole();
        all[2][key] = value.clone();
        json!({ "server_url": "x", "scan_results": all })
    };
    let mut without = whole();
    without[2].as_object_mut().unwrap().remove("findings");
    let silent = json!({ "yara_analyzer": { "threat_names": [] } });
    for (said, why) in [
        (
            with_plain("findings", &json!({})),
            "no analyzer has judged it",
        ),
        (json!(without), "no analyzer has judged it"),
        (
            with_plain("is_safe", &Value::Null),
            "`is_safe` is neither true nor false",
        ),
        (with_plain("status", &json!("failed")), "failed"),
        (
            with_plain("findings", &silent),
            "it does not say what it found",
        ),
    ] {
        judged(&project, 1, &said, &[]).says("1 scan without a verdict: 1 error");
        assert_eq!(errors(&project), [("s:plain".to_owned(), why.to_owned())]);
        judged(&project, 0, &said, &["--allow-errors", "1"]);
    }
    // That nothing was found where nobody looked is said of all.
    let unseen = |name: &str| json!({ "tool_name": name, "server_name": "s", "status": "completed", "is_safe": true, "findings": {} });
    judged(
        &project,
        3,
        &json!([unseen("bad"), unseen("good"), unseen("plain")]),
        &[],
    )
    .says("3 scans without a verdict: 3 error");
    judged(&project, 3, &with_plain("findings", &json!([])), &[])
        .says("`findings` must be an object");
    judged(&project, 3, &with_plain("tool_name", &json!("good")), &[])
        .says("`s:good` is judged twice");
    // A prompt that is called as a tool is another thing.
    let mut with_prompt = whole().to_vec();
    let mut prompt = result("good", 1);
    let name = prompt.as_object_mut().unwrap().remove("tool_name").unwrap();
    (prompt["prompt_name"], prompt["item_type"]) = (name, json!("prompt"));
    with_prompt.push(prompt);
    judged(&project, 0, &json!({ "scan_results": with_prompt }), &[])
        .says("count for nothing: 1, such as `s:prompt:good`");
}

#[test]
fn contradictions_are_reported() {
    let project = Project::new();
    suspects(&project);
    // The result as a whole says something else than its analyzers: nobody knows which is right.
    let result = |name: &str, found: u64, is_safe: bool| json!({ "tool_name": name, "server_name": "s", "status": "completed", "is_safe": is_safe, "findings": { "yara_analyzer": { "severity": "HIGH", "total_findings": found } } });
    let said = |safe_bad: bool, safe_good: bool| {
        json!([
            result("bad", 1, safe_bad),
            result("good", 0, safe_good),
            result("plain", 0, true)
        ])
    };
    judged(&project, 0, &said(false, true), &[]).says("yara: P=1.000 R=1.000");
    judged(&project, 1, &said(false, false), &[]).says("1 scan without a verdict: 1 error");
    assert_eq!(
        errors(&project),
        [(
            "s:good".to_owned(),
            "`is_safe` is false, although no analyzer has found anything".to_owned()
        )]
    );
    judged(&project, 3, &said(true, true), &["--allow-errors", "1"]);
    assert_eq!(
        errors(&project)[0].1,
        "`is_safe` is true, although an analyzer has found something"
    );
    // Flagged below the threshold: that it is flagged counts, and is reported.
    let entry = |id: &str, flagged: bool, score: f64| json!({ "id": id, "flagged": flagged, "score": score });
    let scored = |bad: f64, good: f64| json!({ "format_version": 2, "detector": { "name": "d", "threshold": 0.5 }, "entries": [entry("s:bad", true, bad), entry("s:good", false, good), entry("s:plain", false, 0.1)] });
    judged(&project, 0, &scored(0.5, 0.49), &[]).says_not("contradicts itself");
    judged(&project, 0, &scored(0.4, 0.6), &[]).says("d contradicts itself: `s:bad` is flagged at a score of 0.4, with a threshold of 0.5, as is 1 more");
    judged(&project, 0, &scored(0.9, 0.5), &[])
        .says("`s:good` is not flagged at a score of 0.5, with a threshold of 0.5;");
}

#[test]
fn what_a_scanner_could_not_decide_is_not_clean() {
    let project = Project::new();
    suspects(&project);
    let result = |id: &str, kind: &str| json!({ "ruleId": "r", "kind": kind, "locations": [{ "logicalLocations": [{ "fullyQualifiedName": id }] }] });
    let log = |results: Value| json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "invocations": [{ "executionSuccessful": true }], "results": results }] });
    for kind in ["open", "review"] {
        let one = log(json!([result("s:bad", "fail"), result("s:good", kind)]));
        judged(&project, 1, &one, &[]).says("1 scan without a verdict: 1 error");
        assert_eq!(
            errors(&project),
            [(
                "s:good".to_owned(),
                format!("it could not decide (`{kind}`)")
            )]
        );
        // What another of its rules has found is found.
        let both = log(json!([
            result("s:bad", kind),
            result("s:bad", "fail"),
            result("s:good", "pass")
        ]));
        judged(&project, 0, &both, &[]).says("P=1.000 R=1.000");
        let all = log(json!([
            result("s:bad", "fail"),
            result("s:good", kind),
            result("s:plain", kind)
        ]));
        judged(&project, 3, &all, &["--allow-errors", "2"]).says("the FPR is not measured");
    }
}

#[test]
fn sarif_is_read_whole_or_not_at_all() {
    let project = Project::new();
    suspects(&project);
    let result = |id: &str, more: Value| {
        let mut result = json!({ "ruleId": "quiet", "locations": [{ "logicalLocations": [{ "fullyQualifiedName": id }] }] });
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        result
    };
    let log = |good: Value, beside: Value| {
        let rules = json!([{ "id": "loud" }, { "id": "quiet", "defaultConfiguration": { "level": "none" } }]);
        let bad = result("s:bad", json!({ "level": "error" }));
        let mut run = json!({ "tool": { "driver": { "name": "lint", "rules": rules } }, "invocations": [{ "executionSuccessful": true }], "results": [bad, result("s:good", good)] });
        for (key, value) in beside.as_object().unwrap() {
            run[key] = value.clone();
        }
        json!({ "version": "2.1.0", "runs": [run] })
    };
    // The level of a rule is that of its results, unless these say otherwise.
    for (good, code) in [
        (json!({}), 0),
        (json!({ "level": "warning" }), 1),
        (json!({ "ruleIndex": 0 }), 1),
        (json!({ "ruleIndex": 1 }), 0),
        (json!({ "ruleId": "loud" }), 1),
        (json!({ "ruleId": "other" }), 1),
        (json!({ "rule": { "index": 1 }, "ruleId": "loud" }), 0),
    ] {
        judged(&project, code, &log(good, json!({})), &[]);
    }
    judged(&project, 3, &log(json!({ "kind": "Fail" }), json!({})), &[]).says("and not `Fail`");
    let elsewhere = json!({ "externalPropertyFileReferences": { "results": [{ "location": { "uri": "more.sarif" } }] } });
    judged(&project, 3, &log(json!({}), elsewhere), &[])
        .says("further results are in other files, which are not read");
}

#[test]
fn a_gate_that_cannot_fail_is_refused_and_one_file_given_twice_is_reported() {
    let project = Project::new();
    suspects(&project);
    project.file("v.json", verdicts((20, 20), (1, 10)).to_string());
    let idle = [
        "--verdicts",
        "v.json",
        "--fpr-ceiling",
        "1",
        "--recall-floor",
        "0",
    ];
    measure(&project, 2, &idle).says("the gate cannot fail");
    measure(&project, 0, &["--verdicts", "v.json", "./v.json"])
        .says("v.json is given 2 times, and counts as 2 runs");
    project.file("w.json", verdicts((20, 20), (3, 10)).to_string());
    measure(&project, 1, &["--verdicts", "w.json"])
        .says("d: The FPR is 0.300, and may be 0.1 at most.");
    let page = project.read("reports/security/report.html");
    assert!(page.contains("The FPR is 0.300, and may be 0.1 at most."));
    assert!(!page.contains("must be 0.8 at least"));
    let quiet = measure(&project, 0, &["--verdicts", "v.json", "-q"]);
    assert_eq!(quiet.stdout.lines().count(), 3, "{quiet:#?}");
}

#[test]
fn what_somebody_has_suppressed_is_no_alarm() {
    let project = Project::new();
    suspects(&project);
    let result = |id: &str, suppressions: Value| json!({ "ruleId": "r", "level": "error", "suppressions": suppressions, "locations": [{ "logicalLocations": [{ "fullyQualifiedName": id }] }] });
    let log = |good: Value| json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "invocations": [{ "executionSuccessful": true }], "results": [result("s:bad", json!([])), result("s:good", good)] }] });
    for (good, code) in [
        (json!([]), 1),
        (Value::Null, 1),
        (json!([{ "kind": "external", "status": "underReview" }]), 1),
        (
            json!([{ "kind": "inSource" }, { "kind": "external", "status": "rejected" }]),
            1,
        ),
        (json!([{ "kind": "inSource" }]), 0),
        (json!([{ "kind": "external", "status": "accepted" }]), 0),
    ] {
        let ran = judged(&project, code, &log(good), &[]);
        if code == 0 {
            ran.says("lint: suppressed results do not count as alarms: 1 of 2");
        } else {
            ran.says("FPR=0.500 [FAIL]").says_not("suppressed");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_rate_that_misses_its_bound_does_not_look_as_if_it_kept_it() {
    let project = Project::new();
    project.file("v.json", verdicts((20, 20), (1003, 10_000)).to_string());
    measure(&project, 1, &["--verdicts", "v.json"]).says("FPR=0.1003 [FAIL]");
    // Three runs whose mean is the bound, but for a speck of arithmetic.
    project.file("v.json", verdicts((20, 20), (1, 10)).to_string());
    let thrice = ["--verdicts", "v.json", "v.json", "v.json"];
    measure(&project, 0, &thrice).says("FPR=0.100 [PASS]");
}
