//! Recordings of the original tool, and what they are read as.

use std::fs;

use mcp_eval::import::{ImportError, original};
use mcp_eval::model::{Ending, Git, Outcome, Step, ToolCall, Trajectory};
use serde_json::{Value, json};

use crate::common::root;

/// The log of one of our own recordings.
pub(crate) fn fixture(name: &str) -> String {
    let path = root().join(format!("tests/fixtures/import/{name}/detailed_log.json"));
    fs::read_to_string(path).unwrap()
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
fn summary(trajectory: &Trajectory) -> Vec<String> {
    let steps = trajectory.steps.iter().map(|it| match it {
        Step::User { text } => format!("user: {text}"),
        Step::Assistant { text } => format!("agent: {text}"),
        Step::ToolCall(call) => call.full_name(),
    });
    steps.collect()
}

#[test]
fn a_recording_without_messages_is_read_from_its_summary() {
    let bar = original(&fixture("bar"), "bar").unwrap();
    assert_eq!(
        summary(&bar),
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
        summary(&with_messages.unwrap()),
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
fn times_are_taken_from_the_log_and_never_made_up() {
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
fn files_that_are_no_recordings_are_recognized() {
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
            "it is not a recording of the original tool: it holds neither `messages` nor `tool_calls_summary`",
        ),
        (
            "{\"messages\": [null, 1, {\"content\": \"x\"}]}",
            "neither `execution_time` nor any message tells when it was recorded",
        ),
        (
            "{\"execution_time\": \"2026-01-01T00:00:00\", \"tool_calls_summary\": [{}]}",
            "it is not a recording of the original tool: call 1 has no `tool_name`",
        ),
        (
            "{\"execution_time\": \"2026-01-01T00:00:00\", \"tool_calls_summary\": [{\"tool_name\": \"a\", \"tool_input\": \"b\"}]}",
            "it is not a recording of the original tool: the arguments of `a` are no object",
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
    let Some(Git::Known(commit)) = odd.unwrap().stamp.source else {
        panic!("the commit is lost");
    };
    assert_eq!(
        (commit.short.as_str(), commit.committed_at.as_str()),
        ("ab", "?")
    );
}
