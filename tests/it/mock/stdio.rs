//! Standard streams: lines, signals, and the end.

use std::process::Command;

use serde_json::json;

use super::client::{Piped, request};
use crate::common::Project;

#[test]
fn it_leaves_with_0_at_the_end_of_its_input_and_on_signals() {
    let project = Project::new();
    let piped = Piped::start(&project, &[]);
    assert_eq!(piped.close(), (String::new(), 0));
    for signal in ["-INT", "-TERM"] {
        let mut piped = Piped::start(&project, &[]);
        // It answers, so its handlers are there.
        piped.ask("ping", &json!({}));
        let id = piped.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(piped.end(), (String::new(), 0), "{signal}");
    }
}

#[test]
fn answers_under_way_are_still_given_when_the_input_ends() {
    let (_project, mut piped) =
        Piped::of("tools: [{ name: slow, responses: [{ delay: 300ms, content: late }] }]");
    piped.send(request(1, "tools/call", &json!({ "name": "slow" })));
    let (rest, code) = piped.close();
    assert!(rest.contains("late"), "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn a_slow_answer_does_not_hold_up_others() {
    let (_project, mut piped) = Piped::of(
        "tools: [{ name: slow, responses: [{ delay: 1h, content: late }] }, { name: quick }]",
    );
    piped.send(request(1, "tools/call", &json!({ "name": "slow" })));
    piped.send(request(2, "tools/call", &json!({ "name": "quick" })));
    assert_eq!(piped.next()["id"], 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_cancelled_call_is_never_answered() {
    let (_project, mut piped) = Piped::of(
        "tools: [{ name: slow, responses: [{ delay: 300ms, content: late }] }, { name: slower, responses: [{ delay: 900ms, content: later }] }]",
    );
    piped.send(request(1, "tools/call", &json!({ "name": "slow" })));
    piped.send(request(2, "tools/call", &json!({ "name": "slower" })));
    let cancelled = json!({ "requestId": 1, "reason": "no longer needed" });
    let message =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    piped.send(message.to_string());
    assert_eq!(piped.next()["id"], 2);
    assert_eq!(piped.close(), (String::new(), 0));
}

#[test]
fn calls_under_way_are_bounded() {
    let (_project, mut piped) =
        Piped::of("tools: [{ name: slow, responses: [{ delay: 1h, content: late }] }]");
    for id in 0..=1000 {
        piped.send(request(id, "tools/call", &json!({ "name": "slow" })));
    }
    let refused = piped.next();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1000), &json!(-32000))
    );
    assert_eq!(piped.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_works() {
    let project = Project::new();
    let mut piped = Piped::start(&project, &["--max-body", "1000"]);
    piped.send("x".repeat(500_000));
    let reply = piped.next();
    assert_eq!(
        (&reply["error"]["code"], &reply["id"]),
        (&json!(-32600), &json!(null))
    );
    let message = request(1, "ping", &json!({}));
    piped.send(format!("{}{message}", " ".repeat(1000 - message.len() - 1)));
    assert_eq!(piped.next()["result"], json!({}));
}

#[test]
fn options_of_the_other_transport_are_refused() {
    let project = Project::new();
    for option in [
        &["--admin"][..],
        &["--port", "80"],
        &["--legacy-sse"],
        &["--allow-remote"],
    ] {
        let ran = project.expect(2, &[&["mock"], option].concat());
        ran.says("means nothing over stdio")
            .says("--transport http");
    }
    project
        .expect(2, &["mock", "--transport", "http", "--host", "0.0.0.0"])
        .says("--allow-remote");
}
