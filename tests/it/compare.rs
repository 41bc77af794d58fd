//! Comparing with baselines, and reporting what was found.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Project, at_a_desk, ran, stands_alone};

fn scenario<'a>(result: &'a Value, id: &str) -> &'a Value {
    result["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["id"] == id)
        .unwrap()
}

#[test]
fn the_shipped_scenarios_pass_and_are_reported() {
    let project = Project::shipped();
    let ran = project.expect(0, &["compare"]);
    ran.says("Suite Results: 9/9 tests passed")
        .says("Report: reports/");
    let latest = project.path("reports/latest");
    let names: Vec<String> = fs::read_dir(&latest)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        names.contains(&"index.html".to_owned()) && names.contains(&"result.json".to_owned()),
        "{names:?}"
    );
    assert_eq!(
        names.iter().filter(|it| it.contains(".html")).count(),
        10,
        "{names:?}"
    );
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    assert_eq!(result["format_version"], 3);
    assert_eq!(result["gate"]["exit_code"], 0);
    for scenario in result["scenarios"].as_array().unwrap() {
        assert_eq!(
            scenario["comparison"]["scores"]["overall"], 1.0,
            "{}",
            scenario["id"]
        );
        let file = scenario["current"]["file"].as_str().unwrap();
        assert!(latest.canonicalize().unwrap().join(file).exists(), "{file}");
    }
}

#[test]
fn a_changed_answer_fails_and_names_the_call_and_both_values() {
    let project = Project::shipped();
    project.edit(
        "scenarios/flows/ticket.yaml",
        "id: T-1042, state: closed",
        "id: T-1042, state: open",
    );
    project.edit(
        "scenarios/flows/ticket.yaml",
        "success_criteria:\n  - closed\n",
        "",
    );
    let ran = project.expect(1, &["compare"]);
    ran.says("Suite Results: 8/9 tests passed")
        .says("call 4")
        .says("`close_ticket` returned a different `state`: \"closed\" → \"open\"")
        .says("Exit 1: 1 scenario failed. Fix it, or accept the change with `mcp-eval review`.")
        .says_not("Next: ")
        .says("closed")
        .says("open");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let ticket = scenario(&result, "flows/ticket");
    assert_eq!(ticket["status"], "failed");
    let lost: f64 = ticket["comparison"]["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["points"].as_f64().unwrap())
        .sum();
    let overall = ticket["comparison"]["scores"]["overall"].as_f64().unwrap();
    assert!(
        (1.0 - overall - lost).abs() < 1e-6,
        "{lost} lost of {overall}"
    );
}

#[test]
fn a_changed_call_fails_and_names_the_argument() {
    let project = Project::shipped();
    project.edit(
        "scenarios/proxy/read_cached_pages.yaml",
        "args: { key: xyz123, offset: 4, limit: 2 }",
        "args: { key: other, offset: 4, limit: 2 }",
    );
    let ran = project.expect(
        1,
        &[
            "compare",
            "scenarios/proxy/read_cached_pages.yaml",
            "--allow-changed",
        ],
    );
    ran.says("read_cache").says("xyz123").says("other");
}

#[test]
fn a_missing_call_and_an_extra_call_fail() {
    let project = Project::new();
    let calls = [
        ("echo", json!({ "n": 1 })),
        ("echo", json!({ "n": 2 })),
        ("count", json!({})),
    ];
    project.faulty("s", &[], &calls);
    project.expect(0, &["record"]);
    project.faulty("s", &[], &calls[..2]);
    project
        .expect(1, &["compare", "--allow-changed"])
        .says("`count` is not called any more");
    project.faulty(
        "s",
        &[],
        &[&calls[..], &[("count", json!({ "again": true }))]].concat(),
    );
    project
        .expect(1, &["compare", "--allow-changed"])
        .says("`count` is called, and was not before");
}

#[test]
fn without_a_baseline_there_is_no_verdict_but_a_way_out() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({}))]);
    let ran = project.expect(3, &["compare"]);
    ran.says("no baseline")
        .says("mcp-eval record --scenario scenarios/s.yaml")
        .says("Suite Results: 0/1 tests passed");
}

#[test]
fn a_baseline_that_cannot_be_read_says_what_to_do() {
    let project = Project::shipped();
    let path = "baselines/flows/ticket/baseline.json";
    let whole = project.read(path);
    project.file(path, &whole[..whole.len() / 2]);
    project
        .expect(3, &["compare", "scenarios/flows/ticket.yaml"])
        .says("baseline.json is cut off")
        .says("version control");
    project.file(
        path,
        whole.replacen("\"format_version\": 3", "\"format_version\": 9", 1),
    );
    project
        .expect(3, &["compare", "scenarios/flows/ticket.yaml"])
        .says("has format version 9, and mcp-eval")
        .says("reads version 3")
        .says("a newer mcp-eval");
    project.file(path, "[1]");
    project
        .expect(3, &["compare", "scenarios/flows/ticket.yaml"])
        .says("is not a trajectory");
}

#[test]
fn nothing_that_ran_is_never_green() {
    let project = Project::new();
    project
        .expect(2, &["compare"])
        .says("no scenario files match");
    project.faulty_with(
        "s",
        &[],
        &[("echo", json!({}))],
        &json!({ "enabled": false, "tags": ["x"] }),
    );
    project
        .expect(3, &["compare"])
        .says("skipped")
        .says("disabled")
        .says("Suite Results: 0/0 tests passed");
    project
        .expect(3, &["compare", "--tag", "nope"])
        .says("no scenario has the tag nope");
}

#[test]
fn an_invalid_file_stops_everything_before_anything_runs() {
    let project = Project::shipped();
    project.file("scenarios/broken.yaml", "name: broken\nagnt: {}\n");
    project
        .expect(2, &["compare"])
        .says("scenarios/broken.yaml:2:1")
        .says("`agnt`")
        .says("`agent`");
    assert!(!project.path("reports").exists());
}

#[test]
fn the_threshold_can_be_given_on_the_command_line() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({ "q": "one two three" }))]);
    let reads = json!({ "scoring": { "reads": ["echo"], "responses": "ignore" } });
    project.faulty_with(
        "s",
        &[],
        &[("echo", json!({ "q": "one two three" }))],
        &reads,
    );
    project.expect(0, &["record"]);
    project.faulty_with(
        "s",
        &[],
        &[("echo", json!({ "q": "one two four" }))],
        &reads,
    );
    project
        .expect(1, &["compare", "--allow-changed"])
        .says("0.65");
    project.expect(0, &["compare", "--allow-changed", "--threshold", "0.6"]);
    project
        .expect(2, &["compare", "--threshold", "1.5"])
        .says("from 0 to 1");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn jobs_run_at_once_and_keep_their_order() {
    let project = Project::new();
    for name in ["d", "b", "a", "c"] {
        project.faulty(name, &["hang"], &[("echo", json!({}))]);
        project.edit(
            &format!("scenarios/{name}.yaml"),
            "{\"name\"",
            "{\"tool_timeout\": 1, \"name\"",
        );
    }
    let ran = project.run(&["run", "--jobs", "4", "--format", "json"]);
    assert!(
        ran.took < Duration::from_millis(3500),
        "four times one second at once: {:?}",
        ran.took
    );
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ids: Vec<_> = result["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
}

#[test]
fn fail_fast_starts_no_further_scenario() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.faulty(name, &["tool-error"], &[("echo", json!({}))]);
    }
    let result = project.result(1, &["run", "-x"]);
    let statuses: Vec<_> = result["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["failed", "skipped", "skipped"]);
    assert!(
        result["scenarios"][1]["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("--fail-fast")
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn ctrl_c_stops_at_once_kills_children_and_keeps_what_finished() {
    let project = Project::new();
    project.faulty("a", &[], &[("echo", json!({}))]);
    project.faulty("b", &["hang", "stubborn"], &[("echo", json!({}))]);
    let mut child = project
        .command()
        .args(["run", "--format", "json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    // Wait until the first has finished and the second is waiting for its answer.
    while project.survivors().len() < 2 || !any_run(&project, "a.json") {
        assert!(started.elapsed() < Duration::from_secs(20), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let asked = std::time::Instant::now();
    assert!(
        Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let status = child.wait().unwrap();
    assert!(
        asked.elapsed() < Duration::from_secs(3),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(status.code(), Some(130));
    let result: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
    assert_eq!(result["interrupted"], true);
    assert_eq!(result["summary"]["selected"], 2);
    let statuses = ["passed", "interrupted"];
    for (scenario, status) in result["scenarios"].as_array().unwrap().iter().zip(statuses) {
        assert_eq!(scenario["status"], status, "{scenario:#}");
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(project.survivors(), [""; 0]);
}

fn any_run(project: &Project, file: &str) -> bool {
    walkdir::WalkDir::new(project.path(".mcp-eval"))
        .into_iter()
        .flatten()
        .any(|it| it.file_name() == file)
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn kill_during_record_leaves_the_old_baseline_whole() {
    let project = Project::new();
    let size = "big=3000000";
    project.faulty("s", &[size], &[("echo", json!({}))]);
    project.expect(0, &["record"]);
    for delay in [5, 15, 30, 60, 90, 120] {
        let mut child = project
            .command()
            .args(["record", "-q"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let baseline: Value =
            serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
        assert_eq!(baseline["format_version"], 3);
    }
    project.expect(0, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_closed_pipe_is_no_panic() {
    let project = Project::shipped();
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    for command in [
        "compare",
        "list",
        "schema scenario",
        "--help",
        "help",
        "help record",
        "help scenario",
    ] {
        let script = format!("{program} {command} | true; echo ${{PIPESTATUS[0]}}");
        let ran = ran(at_a_desk(
            Command::new("bash")
                .args(["-c", &script])
                .current_dir(project.path("")),
        ));
        assert_eq!(ran.stdout.trim(), "0", "{command}: {ran:?}");
        ran.says_not("panicked");
    }
}

#[test]
fn hostile_answers_stay_text_everywhere() {
    let project = Project::new();
    let hostile = "text=<script>alert(1)</script>\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}";
    project.faulty(
        "s",
        &[hostile],
        &[("echo", json!({ "q": "<img src=x onerror=alert(1)>" }))],
    );
    project.expect(0, &["record"]);
    project.faulty(
        "s",
        &["text=harmless"],
        &[("echo", json!({ "q": "<img src=x onerror=alert(1)>" }))],
    );
    let ran = project.expect(1, &["compare", "--color", "never"]);
    assert!(
        !ran.all().contains('\u{1b}') && !ran.all().contains('\u{202e}'),
        "{ran:?}"
    );
    ran.says("<script>");
    for page in fs::read_dir(project.path("reports/latest")).unwrap() {
        let path = page.unwrap().path();
        if path.extension().is_some_and(|it| it == "html") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.matches("<script").count() == 1 && !text.contains("<img"),
                "{}",
                path.display()
            );
            assert!(!text.contains('\u{1b}'), "{}", path.display());
        }
    }
    assert!(
        !project
            .read("baselines/s/trajectory.txt")
            .contains('\u{1b}')
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn stored_trajectories_are_compared_without_running_anything() {
    let project = Project::shipped();
    project.expect(
        0,
        &[
            "compare",
            "--baseline",
            "baselines",
            "--run",
            "baselines/flows/ticket/baseline.json",
        ],
    );
    project.expect(
        0,
        &[
            "compare",
            "--baseline",
            "baselines/flows/ticket",
            "--run",
            "baselines/flows/ticket/baseline.json",
        ],
    );
    project
        .expect(
            0,
            &["compare", "--baseline", "baselines", "--run", "baselines"],
        )
        .says("Suite Results: 9/9 tests passed");
    let ticket = stands_alone(&project, "baselines/flows/ticket/baseline.json");
    let changed = ticket.replace("T-1042", "T-1043");
    project.file("run.json", changed);
    project
        .expect(1, &["compare", "--run", "run.json"])
        .says("T-1042")
        .says("T-1043");
    let unfinished = ticket.replace("\"kind\": \"completed\"", "\"kind\": \"interrupted\"");
    project.file("run.json", unfinished);
    project
        .expect(3, &["compare", "--run", "run.json"])
        .says("interrupted");
    project
        .expect(2, &["compare", "--run", "nowhere.json"])
        .says("there is no run, folder or file nowhere.json")
        .says("`mcp-eval report --list` lists the runs that are stored");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_stored_result_is_rendered_again() {
    let project = Project::shipped();
    project.edit(
        "scenarios/flows/ticket.yaml",
        "id: T-1042, state: closed",
        "id: T-1042, state: shut",
    );
    let compared = project.run(&["compare"]);
    let index = project.read("reports/latest/index.html");
    let page = project.read("reports/latest/flows.ticket.html");
    let run = fs::read_link(project.path("reports/latest"))
        .unwrap()
        .into_os_string()
        .into_string()
        .unwrap();
    fs::remove_dir_all(project.path("reports")).unwrap();
    // Neither servers nor baselines are needed any more.
    fs::remove_dir_all(project.path("baselines")).unwrap();
    fs::remove_dir_all(project.path("scenarios")).unwrap();
    assert_eq!(project.expect(0, &["report"]).stdout, compared.stdout);
    assert_eq!(project.expect(0, &["report", &run]).stdout, compared.stdout);
    project.expect(
        0,
        &[
            "report",
            "--format",
            "html",
            "--output",
            &format!("reports/{run}"),
        ],
    );
    assert_eq!(project.read(format!("reports/{run}/index.html")), index);
    assert_eq!(
        project.read(format!("reports/{run}/flows.ticket.html")),
        page
    );
    let result = project.result(0, &["report", &run]);
    assert_eq!(result["run_id"], run);
    project
        .expect(0, &["explain", &run, "4", "--scenario", "flows/ticket"])
        .says("close_ticket")
        .says("shut");
    project
        .expect(2, &["report", "no-such-run"])
        .says("there is no stored result");
}

#[test]
fn success_criteria_gate() {
    let project = Project::new();
    let unmet = json!({ "success_criteria": ["nowhere found", { "tool_never_called": "echo" }, { "tool_called": "count" }, "{\"A\":1}"] });
    project.faulty_with("s", &[], &[("echo", json!({ "a": 1 }))], &unmet);
    let ran = project.expect(1, &["run"]);
    ran.says("the scenario expects `nowhere found`: appears nowhere")
        .says("the scenario expects `tool_never_called: echo`: call 1 calls the tool")
        .says("the scenario expects `tool_called: count`: the tool was not called")
        .says_not("{\"A\":1}`: ");
    project.expect(1, &["record"]).says("not kept");
    project.expect(0, &["record", "--allow-failing"]);
    // What was accepted as it is does not fail the comparison for ever.
    project.expect(0, &["compare"]);
}

#[test]
fn a_script_refers_to_earlier_answers() {
    let project = Project::new();
    let calls = [
        ("echo", json!({ "id": 7 })),
        (
            "echo",
            json!({ "again": "{{calls.0.json:/id}}", "text": "<{{calls.0.text}}>" }),
        ),
    ];
    project.faulty("s", &[], &calls);
    project.expect(0, &["record"]);
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    assert_eq!(
        baseline["steps"][1]["arguments"],
        json!({ "again": 7, "text": "<{\"id\":7}>" })
    );
    project.faulty(
        "s",
        &[],
        &[("echo", json!({ "again": "{{calls.0.json:/id}}" }))],
    );
    project
        .expect(2, &["run"])
        .says("`calls.0` is the call that contains the reference")
        .says("calls are counted from 0, and nothing is answered before this one");
}

#[test]
fn references_that_can_never_lead_anywhere_are_errors_of_the_file() {
    let project = Project::new();
    let scenario = r#"name: s
servers: { s: { type: mock } }
mcp_interactions: { s: { tools: [{ name: say, responses: [{ content: hi }] }, { name: ask, responses: [{ content: hi }] }] } }
agent:
  calls:
    - { tool: say, args: { a: "{{calls.1.text}}" } }
    - { tool: ask, args: { a: "{{calls.0.text}} {{calls.1.text:(h)}}" } }
    - { tool: say, args: { a: ["{{calls.1.text}}", "{{calls.5.json:/id}}"] } }
expected_trajectory:
  - { tool: ask, args: { a: "{{calls.2.text}} {{calls.3.text}}" } }
"#;
    project.file("scenarios/s.yaml", scenario);
    project
        .expect(2, &["validate"])
        .says(
            "scenarios/s.yaml:6:34: error: `calls.1` is made later than the call that refers to it",
        )
        .says("scenarios/s.yaml:7:51: error: `calls.1` is the call that contains the reference")
        .says("calls are counted from 0: did you mean `calls.0`, the call of `say`?")
        .says("scenarios/s.yaml:8:55: error: `calls.5` is not a call of the script, which has 3")
        .says("did you mean `calls.1`, the call of `ask`?")
        .says("scenarios/s.yaml:10:49: error: `calls.3` is not a call of the script, which has 3")
        .says("4 errors");
    // Nobody knows what a model calls before.
    project.edit(
        "scenarios/s.yaml",
        "agent:\n",
        "user_intent: Ask.\nagent:\n  kind: ollama\n  model: m\n",
    );
    (project.expect(2, &["validate"])).says("3 errors");
}

#[test]
fn what_begins_like_a_reference_and_is_none_is_an_error_of_the_file() {
    for (reference, said) in [
        (
            r"{{calls.0.text:(\d{4}}}",
            r"`(\d{4}` is not a valid regular expression: unclosed group",
        ),
        (
            r"{{calls.0.text:[0-9}} {{calls.0.text}}",
            "`[0-9` is not a valid regular expression: unclosed character class",
        ),
        ("so {{ calls.0.text", "`calls.0.text` is not closed"),
        (
            "{{calls.0.txt}}",
            "`calls.0.txt` is not a reference to an earlier answer",
        ),
    ] {
        let project = Project::new();
        let calls = [("echo", json!({})), ("echo", json!({ "a": reference }))];
        project.faulty("s", &[], &calls);
        let ran = project.expect(2, &["validate"]);
        ran.says("scenarios/s.yaml:1:").says(said).says("1 error");
    }
}

#[test]
fn run_passes_every_shipped_scenario() {
    let project = Project::shipped();
    project
        .expect(0, &["run"])
        .says("Suite Results: 9/9 tests passed");
}

#[test]
fn run_fails_when_a_read_asks_for_something_else() {
    let project = Project::new();
    project.faulty_with(
        "s",
        &[],
        &[("echo", json!({ "q": "other" }))],
        &json!({ "expected_trajectory": [{ "tool": "echo", "args": { "q": "wanted" } }], "scoring": { "reads": ["echo"] } }),
    );
    project.expect(1, &["run"]).says("wanted").says("other");
}

#[test]
fn expectations_may_refer_to_answers_and_hold_secrets() {
    let project = Project::new();
    project.faulty_with(
        "s",
        &[],
        &[],
        &json!({ "agent": { "kind": "scripted" }, "expected_trajectory": [
            { "tool": "echo", "args": { "id": "n1", "password": "hunter3hunter3" } },
            { "tool": "count", "args": { "id": "{{calls.0.json:/id}}" } },
        ], "success_criteria": ["hunter3hunter3"] }),
    );
    project.expect(0, &["run"]).says_not("hunter3hunter3");
    project
        .expect(0, &["record"])
        .says_not("deviates")
        .says_not("hunter3hunter3");
    project.expect(0, &["compare"]).says_not("hunter3hunter3");
    for entry in walkdir::WalkDir::new(project.path("")) {
        let path = entry.unwrap().into_path();
        let text = fs::read(&path).unwrap_or_default();
        let shown = path.strip_prefix(project.path("")).unwrap();
        let holds = String::from_utf8_lossy(&text).contains("hunter3hunter3");
        assert!(!holds || shown.starts_with("scenarios"), "{shown:?}");
    }
}

#[test]
fn variables_and_defaults_reach_the_mock() {
    let project = Project::new();
    project
        .file("mine/_defaults.yaml", "servers: { w: { type: mock } }\nmcp_interactions: { w: { tools: [{ name: look, responses: [{ content: ok }] }] } }\n")
        .file("mine/sub/-odd.yaml", "name: odd\nvariables: { city: }\nexpected_trajectory: [{ tool: look, args: { city: \"{{city}}\" } }]\n");
    project.expect(2, &["run", "mine"]).says("city");
    project.expect(0, &["run", "mine", "--var", "city=Rome"]);
}

#[test]
fn an_id_in_a_file_leads_nowhere_else() {
    let project = Project::shipped();
    let whole = project.read("baselines/flows/ticket/baseline.json");
    for id in ["../../../evil", "/evil", "", "a/../b"] {
        let text = whole.replace("\"id\": \"flows/ticket\"", &format!("\"id\": \"{id}\""));
        assert_ne!(text, whole);
        project.file("run.json", text);
        project
            .expect(2, &["compare", "--run", "run.json"])
            .says("is not a relative path");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn large_answers_hold_up_nobody_else() {
    let project = Project::new();
    project.faulty("a", &["big=20000000"], &[("echo", json!({}))]);
    project.faulty_with(
        "b",
        &["hang"],
        &[("echo", json!({}))],
        &json!({ "tool_timeout": "1s" }),
    );
    let result = project.result(1, &["run", "--jobs", "2"]);
    let waited = scenario(&result, "b")["duration_ms"].as_f64().unwrap();
    // A busy machine takes its time, but not this much.
    assert!(
        waited < 30_000.0,
        "a timeout of one second took {waited} ms"
    );
}

#[test]
fn without_a_report_the_result_is_kept_for_one_later() {
    let project = Project::shipped();
    let ran = project.expect(0, &["compare", "--no-report"]);
    ran.says("Result: .mcp-eval/runs/");
    assert!(!project.path("reports").exists());
    project.expect(0, &["report", "--format", "html"]);
    assert!(project.path("reports").read_dir().unwrap().count() > 0);
    let ran = project.expect(2, &["compare", "--no-report", "--output", "there"]);
    ran.says("cannot be used with");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_result_that_cannot_be_printed_is_not_green() {
    let project = Project::shipped();
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    for command in ["compare", "compare --format json", "list", "validate"] {
        let script = format!("{program} {command} > /dev/full");
        let ran = ran(at_a_desk(
            Command::new("bash")
                .args(["-c", &script])
                .current_dir(project.path("")),
        ));
        assert_eq!(ran.code, 3, "{command}: {ran:?}");
        ran.says("the result could not be printed");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn with_format_json_stdout_is_one_document_whatever_happens() {
    let project = Project::shipped();
    let schema: Value =
        serde_json::from_str(&project.expect(0, &["schema", "result"]).stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for (code, arguments) in [
        (2, &["compare", "nowhere"][..]),
        (3, &["compare", "--tag", "nope"]),
        (2, &["run", "--mcp-config", "nowhere.json"]),
        (2, &["compare", "--run", "nowhere.json"]),
    ] {
        let result = project.result(code, arguments);
        assert_eq!(result["gate"]["exit_code"], code, "{arguments:?}");
        assert!(result["problem"]["message"].is_string(), "{arguments:?}");
        assert!(schema.is_valid(&result), "{arguments:?}");
    }
    project.file("blocked", "a file where a folder should be");
    let result = project.result(3, &["compare", "--output", "blocked"]);
    assert!(
        result["problem"]["message"].is_string(),
        "found before anything runs"
    );
    // The report turns out not to be writable: the gate in the document has the exit code of the program.
    project.file("reports", "a file where a folder should be");
    let result = project.result(3, &["compare"]);
    assert_eq!(result["gate"]["exit_code"], 3);
    assert_eq!(result["summary"]["passed"], 9);
}

#[test]
fn names_of_scenarios_do_not_collide_in_the_store() {
    let project = Project::new();
    for name in ["result", "x", "x.baseline", "pending"] {
        project.faulty(name, &[], &[("echo", json!({ "name": name }))]);
    }
    project.expect(0, &["record"]);
    project
        .expect(0, &["compare"])
        .says("Suite Results: 4/4 tests passed");
    let run = fs::read_link(project.path("reports/latest")).unwrap();
    let folder = format!(".mcp-eval/runs/{}", run.to_str().unwrap());
    project
        .expect(0, &["compare", "--run", &folder])
        .says("Suite Results: 4/4 tests passed");
    project
        .expect(0, &["report", "--format", "html", "--output", "again"])
        .says_not("not shown");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn options_that_can_have_no_effect_are_refused() {
    let project = Project::shipped();
    project.expect(0, &["compare"]);
    project
        .expect(2, &["report", "--format", "json", "--output", "foo"])
        .says("--format json makes none");
    for call in ["0", "9"] {
        project
            .expect(
                2,
                &["explain", "latest", call, "--scenario", "flows/ticket"],
            )
            .says("numbered from 1 to 4");
    }
}

#[test]
fn rules_that_can_have_no_effect_are_reported() {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        "name: s\nservers: { s: { type: stdio, command: x } }\nexpected_trajectory: [{ tool: mcp__s__find, args: { q: 1 } }]\n\
         scoring:\n  reads: [find, serach]\n  args: { q: exact, limit: ignore }\n  ignore: [$.at]\n",
    );
    project
        .expect(0, &["validate"])
        .says("scenarios/s.yaml:5:17: warning: a rule can have no effect: scoring.reads: no call is made to `serach`")
        .says("scenarios/s.yaml:6:21: warning: a rule can have no effect: scoring.args: no call has an argument `limit`")
        .says("1 valid scenario, 0 errors, 2 warnings");
    project.edit("scenarios/s.yaml", "$.at", "\"$.a[\"");
    project
        .expect(2, &["validate"])
        .says("scenarios/s.yaml:7")
        .says("invalid path");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn strictly_nothing_may_change_in_an_answer_that_was_received_once() {
    let said = "The cellar holds twelve bottles of red wine; none is open.";
    let answers = |text: &str| vec![format!("text={text}")];
    let project = Project::new();
    let write = |faults: &[String]| {
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        project.faulty("s", &faults, &[("echo", json!({ "n": 1 }))]);
    };
    write(&answers(said));
    project.expect(0, &["record", "--takes", "1"]);
    project.expect(0, &["compare", "--strict"]);
    for changed in [
        "The cellar holds eleven bottles of red wine; none is open.",
        "The cellar holds twelve bottles of red wine; none is Open.",
        "The cellar holds twelve bottles of red wine: none is open.",
        "The cellar holds twelve bottles of red wine; none is open",
        "The cellar holds twelve bottles of red wine;  none is open.",
        "The cellar holds twelve bottles of red wine; none is open.\n",
        "none is open; The cellar holds twelve bottles of red wine.",
    ] {
        write(&answers(changed));
        project
            .expect(1, &["compare", "--strict", "-v"])
            .says("nothing may change: call 1, mcp__s__echo");
        project.expect(0, &["compare"]);
    }
}
