//! Recordings of the original tool become baselines.

use std::fs;

use mcp_eval::import::{ImportError, original};
use mcp_eval::model::stamp::GitStamp;
use mcp_eval::model::trajectory::{Ending, Outcome, Step, ToolCall, Trajectory};
use serde_json::{Value, json};

use crate::common::{Project, ran, root};

const GREETING: &str = "recordings/greeting/detailed_log.json";

fn fixture(name: &str) -> String {
    let path = root().join(format!("tests/fixtures/import/{name}/detailed_log.json"));
    fs::read_to_string(path).unwrap()
}

fn project(names: &[&str]) -> Project {
    let project = Project::new();
    for name in names {
        project.file(
            &format!("recordings/{name}/detailed_log.json"),
            fixture(name),
        );
    }
    project
}

/// The greeting with something changed, imported.
fn greeting(change: impl FnOnce(&mut Value)) -> Result<Trajectory, ImportError> {
    let mut log = serde_json::from_str(&fixture("greeting")).unwrap();
    change(&mut log);
    original(&log.to_string(), "greeting")
}

fn add(log: &mut Value, list: &str, item: Value) {
    log[list].as_array_mut().unwrap().push(item);
}

fn calls(trajectory: &Trajectory) -> Vec<&ToolCall> {
    let calls = trajectory.steps.iter().filter_map(|it| match it {
        Step::ToolCall(call) => Some(call.as_ref()),
        Step::User { .. } | Step::Assistant { .. } => None,
    });
    calls.collect()
}

fn text(call: &ToolCall) -> String {
    match &call.outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => format!("{:?}: {}", failure.kind, failure.message),
    }
}

/// The steps in short.
fn told(trajectory: &Trajectory) -> Vec<String> {
    let steps = trajectory.steps.iter().map(|it| match it {
        Step::User { text } => format!("user: {text}"),
        Step::Assistant { text } => format!("agent: {text}"),
        Step::ToolCall(call) => call.full_name(),
    });
    steps.collect()
}

#[test]
fn a_recording_becomes_a_baseline_with_all_that_happened() {
    let project = project(&["greeting"]);
    project
        .expect(0, &["import", "original", "recordings/greeting"])
        .says("greeting: 2 calls, 1 of tools that are not scored, kept as baselines/greeting/baseline.json")
        .says("Imported 1 of 1 recording");
    let baseline: Value =
        serde_json::from_str(&project.read("baselines/greeting/baseline.json")).unwrap();
    let steps = baseline["steps"].as_array().unwrap();
    let told: Vec<String> = steps
        .iter()
        .map(|it| match it["kind"].as_str().unwrap() {
            "tool_call" => format!(
                "{} {} {}",
                it["server"], it["tool"], it["outcome"]["status"]
            )
            .replace('"', ""),
            kind => format!("{kind}: {}", it["text"].as_str().unwrap()),
        })
        .collect();
    assert_eq!(
        told,
        [
            "user: Greet Ada and note it down",
            "assistant: I will greet the guest.",
            "null TodoWrite ok",
            "front__desk greet ok",
            "front note tool_error",
            "assistant: Ada was greeted.",
        ]
    );
    assert_eq!(
        steps[3]["outcome"]["content"],
        json!([{ "type": "text", "text": "{\"said\":\"hello\"}" }])
    );
    assert_eq!(
        steps[4]["outcome"]["content"],
        json!([{ "type": "text", "text": "the book is closed" }])
    );
    assert_eq!(
        (&steps[3]["start_ms"], &steps[3]["duration_ms"]),
        (&json!(1500.0), &json!(250.0))
    );
    assert_eq!(baseline["duration_ms"], 4000.0);
    assert_eq!(baseline["stamp"]["recorded_at"], "2026-01-02T03:04:05.5Z");
    assert_eq!(baseline["stamp"]["source"]["subject"], "Greet politely");
    assert_eq!(
        baseline["stamp"]["source"]["committed_at"],
        "2026-01-01T10:00:00+01:00"
    );
    assert!(
        project
            .read("baselines/greeting/trajectory.txt")
            .contains("CALL 2: mcp__front__desk__greet")
    );
    project
        .expect(0, &["compare", "--run", "baselines"])
        .says("Suite Results: 1/1 tests passed");
}

#[test]
fn a_recording_without_messages_is_read_from_its_summary() {
    let bar = original(&fixture("bar"), "bar").unwrap();
    assert_eq!(
        told(&bar),
        [
            "user: Order limes if there are few",
            "mcp__bar__count",
            "mcp__bar__order",
            "mcp__bar__order",
            "Bash",
            "mcp__bar__count",
        ]
    );
    let calls = calls(&bar);
    let texts: Vec<String> = calls.iter().map(|it| text(it)).collect();
    assert_eq!(
        texts,
        [
            "{\"limes\": 3, \"note\": \"it's épuisé\"}",
            "ordered",
            "nothing to order",
            "InvalidResponse: command not found",
            "Disconnected: the recording holds no answer",
        ]
    );
    let failed: Vec<bool> = calls.iter().map(|it| it.outcome.is_failure()).collect();
    assert_eq!(failed, [false, false, true, true, true]);
    assert_eq!(bar.stamp.recorded_at.to_string(), "2026-02-03T04:05:06.7Z");
    assert_eq!(calls[1].start_ms, Some(1200.0));
    assert_eq!((calls[2].start_ms, bar.duration_ms), (None, None));
}

#[test]
fn messages_of_the_user_are_kept_in_their_place() {
    let with_messages = greeting(|log| {
        let message =
            |content: Value| json!({ "type": "UserMessage", "content": { "content": content } });
        let messages = log["messages"].as_array_mut().unwrap();
        messages.insert(4, message(json!([{ "text": "And kindly." }])));
        messages.insert(1, message(json!("Greet Ada and note it down")));
    });
    assert_eq!(
        told(&with_messages.unwrap()),
        [
            "user: Greet Ada and note it down",
            "agent: I will greet the guest.",
            "TodoWrite",
            "user: And kindly.",
            "mcp__front__desk__greet",
            "mcp__front__note",
            "agent: Ada was greeted.",
        ]
    );
}

#[test]
fn a_call_the_messages_lack_comes_at_its_time() {
    let late = json!({ "tool_name": "mcp__front__look", "tool_id": "t9", "timestamp": "2026-01-02T03:04:07.5" });
    let with_call = greeting(|log| add(log, "tool_calls_summary", late)).unwrap();
    let names: Vec<String> = calls(&with_call).iter().map(|it| it.full_name()).collect();
    assert_eq!(
        names,
        [
            "TodoWrite",
            "mcp__front__desk__greet",
            "mcp__front__look",
            "mcp__front__note",
        ]
    );
}

#[test]
fn an_answer_is_taken_from_where_it_stands() {
    let quoting =
        json!([{ "type": "text", "text": "[{\"type\":\"text\",\"text\":\"an example\"}]" }]);
    let served = quoting.clone();
    let changed = greeting(|log| {
        log["messages"][5]["content"]["content"][0]["content"] = served;
        // The summary has the error alone, the messages have what the tool said.
        log["tool_calls_summary"][2]["response"] = Value::Null;
        log["tool_calls_summary"][2]["error"] = json!("Tool returned error response");
    })
    .unwrap();
    let calls = calls(&changed);
    let Outcome::Answer(answer) = &calls[1].outcome else {
        panic!("{:?}", calls[1].outcome);
    };
    assert_eq!(
        json!(answer.content),
        quoting,
        "what a server says is no wrapping"
    );
    assert_eq!(text(calls[2]), "the book is closed");

    let without_result = greeting(|log| {
        log["messages"].as_array_mut().unwrap().remove(5);
    })
    .unwrap();
    let call = self::calls(&without_result)[1];
    assert_eq!(text(call), "{\"said\":\"hello\"}", "from the summary");
    assert_eq!((call.start_ms, call.duration_ms), (Some(1500.0), None));
}

#[test]
fn times_are_measured_where_they_are_told_and_never_made_up() {
    let without = |log: &mut Value, key: &str| log.as_object_mut().unwrap().remove(key);
    let from_message = greeting(|log| drop(without(log, "execution_time"))).unwrap();
    assert_eq!(
        from_message.stamp.recorded_at.to_string(),
        "2026-01-02T03:04:05.6Z"
    );
    let timeless = greeting(|log| {
        log["execution_time"] = json!("yesterday");
        for message in log["messages"].as_array_mut().unwrap() {
            without(message, "timestamp");
        }
    });
    assert_eq!(timeless, Err(ImportError::NoTime));
    let set_back = greeting(|log| log["execution_time"] = json!("2026-01-02T03:04:07.1")).unwrap();
    let starts: Vec<Option<f64>> = calls(&set_back).iter().map(|it| it.start_ms).collect();
    assert_eq!(starts, [None, None, Some(900.0)]);
}

#[test]
fn the_log_says_how_the_run_ended() {
    let kind = |trajectory: &Trajectory| match &trajectory.ending {
        Ending::Completed => "completed".to_owned(),
        Ending::Blocked { .. } => "blocked".to_owned(),
        Ending::Error { message, .. } => message.clone(),
        other => format!("{other:?}"),
    };
    let report = |subtype: &str, is_error: bool| json!({ "type": "ResultMessage", "content": { "subtype": subtype, "is_error": is_error } });
    let ended = |change: &dyn Fn(&mut Value)| kind(&greeting(change).unwrap());
    assert_eq!(ended(&|_| {}), "completed");
    assert_eq!(
        ended(&|log| log["execution_status"] = json!("PARTIAL")),
        "completed"
    );
    assert_eq!(ended(&|log| log["early_stopped"] = json!(true)), "blocked");
    assert_eq!(
        ended(&|log| log["execution_status"] = json!("BLOCKED")),
        "blocked"
    );
    assert_eq!(
        ended(&|log| add(log, "messages", report("success", false))),
        "completed"
    );
    assert_eq!(
        ended(&|log| add(log, "messages", report("error_max_turns", false))),
        "the agent's session ended with `error_max_turns`"
    );
    assert_eq!(
        ended(&|log| add(log, "messages", report("success", true))),
        "the agent's session ended with `success`"
    );
    let kitchen = original(&fixture("kitchen"), "kitchen").unwrap();
    assert_eq!(
        kind(&kitchen),
        "the recorded run failed: the session was lost"
    );
}

#[test]
fn what_is_no_recording_is_told_apart() {
    for (log, problem) in [
        (
            "{\"messages\": [",
            "it is cut off: it ends in the middle of its JSON",
        ),
        ("", "it is cut off: it ends in the middle of its JSON"),
        (
            "messages: []",
            "it is not JSON: expected value at line 1 column 1",
        ),
        (
            "[]",
            "it is no recording of the original tool: it holds neither `messages` nor `tool_calls_summary`",
        ),
        (
            "{\"messages\": [null, 1, {\"content\": \"x\"}]}",
            "neither `execution_time` nor any message tells when it was recorded",
        ),
        (
            "{\"execution_time\": \"2026-01-01T00:00:00\", \"tool_calls_summary\": [{}]}",
            "it is no recording of the original tool: call 1 has no `tool_name`",
        ),
        (
            "{\"execution_time\": \"2026-01-01T00:00:00\", \"tool_calls_summary\": [{\"tool_name\": \"a\", \"tool_input\": \"b\"}]}",
            "it is no recording of the original tool: the arguments of `a` are no object",
        ),
    ] {
        assert_eq!(
            original(log, "x").unwrap_err().to_string(),
            problem,
            "{log}"
        );
    }
    let odd =
        greeting(|log| log["mcpproxy_git_info"] = json!({ "git_hash": "ab", "commit_date": "?" }));
    let Some(GitStamp::Known(commit)) = odd.unwrap().stamp.source else {
        panic!("the commit is lost");
    };
    assert_eq!(
        (commit.short.as_str(), commit.committed_at.as_str()),
        ("ab", "?")
    );
}

#[test]
fn one_broken_recording_holds_up_no_other() {
    let project = project(&["greeting", "cut"]);
    project.file(
        "recordings/latin/detailed_log.json",
        b"{\"scenario\": \"caf\xe9\"}",
    );
    let import = ["import", "original", "recordings", "--output", "out"];
    project
        .expect(2, &import)
        .says("cut: recordings/cut/detailed_log.json: it is cut off")
        .says("latin: recordings/latin/detailed_log.json: it is not UTF-8 text")
        .says("Imported 1 of 3 recordings");
    assert!(project.path("out/greeting/baseline.json").exists());
    assert!(!project.path("out/cut").exists());
    project
        .expect(2, &["import", "original", "nowhere"])
        .says("there is no nowhere");
    project
        .expect(2, &["import", "original", "out"])
        .says("holds no detailed_log.json");
}

#[test]
fn an_accepted_baseline_is_replaced_by_force_alone() {
    let project = project(&["greeting"]);
    let import = ["import", "original", "recordings"];
    project.expect(0, &import);
    project.edit(GREETING, "I will greet the guest.", "Here I come.");
    let result = project.result(2, &import);
    assert_eq!(
        (&result["imported"], &result["failed"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        result["recordings"][0]["problem"],
        "baselines/greeting/baseline.json is there already (--force replaces it)"
    );
    let kept = || project.read("baselines/greeting/trajectory.txt");
    assert!(!kept().contains("Here I come."));
    project.expect(0, &[&import[..], &["--force"]].concat());
    assert!(kept().contains("Here I come."));
}

#[test]
fn two_recordings_never_become_one_baseline() {
    let project = project(&["greeting"]);
    project.file("recordings/recordings/detailed_log.json", fixture("bar"));
    project.file("recordings/detailed_log.json", fixture("bar"));
    project
        .expect(2, &["import", "original", "recordings", "--force"])
        .says("another recording has become the baseline `recordings` just now")
        .says("Imported 2 of 3 recordings");
}

#[test]
fn a_run_that_did_not_complete_becomes_no_baseline() {
    let project = project(&["kitchen", "greeting"]);
    project
        .expect(3, &["import", "original", "recordings"])
        .says("not kept, because the run did not complete: the recorded run failed: the session was lost")
        .says("Imported 1 of 2 recordings");
    assert!(!project.path("baselines/kitchen").exists());
}

#[test]
fn what_cannot_be_written_is_incomplete() {
    let project = project(&["greeting"]);
    project.file("taken", "a file where the folder should be");
    project
        .expect(
            3,
            &["import", "original", "recordings", "--output", "taken"],
        )
        .says("cannot write taken/greeting/trajectory.txt");
}

#[test]
fn names_come_from_folders_however_they_are_given() {
    let project = project(&["greeting"]);
    project.file("recordings/deep/er/detailed_log.json", fixture("bar"));
    for (path, out, ids) in [
        ("recordings", "a", &["deep/er", "greeting"][..]),
        ("recordings/greeting", "b", &["greeting"]),
        (GREETING, "c", &["greeting"]),
        ("recordings/greeting/../greeting/.", "d", &["greeting"]),
    ] {
        let result = project.result(0, &["import", "original", path, "--output", out]);
        let named = result["recordings"].as_array().unwrap();
        let named: Vec<&str> = named.iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(named, ids, "{path}");
        for id in ids {
            assert!(project.path(format!("{out}/{id}/baseline.json")).exists());
        }
    }
}

#[test]
fn no_secret_is_written_or_shown_wherever_it_stands() {
    let token = format!("ghp_{}", "A1b2C3d4".repeat(5));
    let mut log: Value = serde_json::from_str(&fixture("greeting")).unwrap();
    let hidden = json!(format!("before {token} after"));
    log["scenario"] = hidden.clone();
    log["user_intent"] = hidden.clone();
    log["mcpproxy_git_info"]["commit_message"] = hidden.clone();
    log["mcpproxy_git_info"]["branch"] = hidden.clone();
    log["messages"][1]["content"]["content"][0]["text"] = hidden.clone();
    log["messages"][4]["content"]["content"][0]["input"]["guest"] = hidden.clone();
    log["messages"][5]["content"]["content"][0]["content"][0]["text"] =
        json!(json!({ "said": hidden }).to_string());
    let project = project(&[]);
    project.file("recordings/all/detailed_log.json", log.to_string());
    log["messages"][4]["content"]["content"][0]["name"] = json!(format!("mcp__front__{token}"));
    project.file("recordings/name/detailed_log.json", log.to_string());
    log["messages"][4]["content"]["content"][0]["input"] = json!(token);
    project.file("recordings/input/detailed_log.json", log.to_string());
    log["execution_status"] = json!("ERROR");
    log["error"] = json!(format!("refused {token}"));
    log["messages"][4]["content"]["content"][0]["input"] = json!({});
    project.file("recordings/error/detailed_log.json", log.to_string());
    project.file(
        &format!("recordings/{token}/detailed_log.json"),
        fixture("bar"),
    );

    for format in ["terminal", "json"] {
        project
            .expect(
                2,
                &[
                    "import",
                    "original",
                    "recordings",
                    "--force",
                    "--format",
                    format,
                ],
            )
            .says("are no object")
            .says("refused <redacted:github-token:1>")
            .says_not(&token);
    }
    for id in ["all", "name"] {
        for file in ["baseline.json", "trajectory.txt"] {
            let kept = project.read(format!("baselines/{id}/{file}"));
            assert!(!kept.contains(&token), "{id}/{file}: {kept}");
            assert!(kept.contains("<redacted:github-token:1>"), "{id}/{file}");
        }
    }
}

#[test]
fn ci_imports_by_force_alone() {
    let project = project(&["greeting"]);
    let in_ci = |more: &[&str]| {
        let arguments = [&["import", "original", "recordings"], more].concat();
        ran(project.command().args(arguments).env("CI", "true"))
    };
    let refused = in_ci(&[]);
    assert_eq!(refused.code, 2);
    refused.says("CI does not write baselines");
    assert!(!project.path("baselines").exists());
    assert_eq!(in_ci(&["--force"]).code, 0);
}
