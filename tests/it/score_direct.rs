//! The effect of a proxy on the answers of the servers behind it: which answer is held beside which, what each cost, and which tool is which.

use mcp_eval::model::{
    Catalogue, Direct, Failure, FailureKind, Outcome, ServerCatalogue, Tool, Trajectory,
};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{answer, object, trajectory, with_lane};

/// A call of the agent that got this.
fn got(text: &str) -> Value {
    json!({ "tool": "mcp__p__files__read", "text": text, "ms": 9.0 })
}

/// A call that a server behind received.
fn behind_call(cause: Option<usize>, text: &str) -> Value {
    json!({ "cause": cause, "tool": "mcp__files__read", "text": text })
}

/// What comes straight, within 2 ms.
#[expect(
    clippy::unnecessary_wraps,
    reason = "one that was made, among those that may not be"
)]
fn straight(it: &Value) -> Option<(Outcome, f64)> {
    Some((Outcome::Answer(answer(it)), 2.0))
}

fn failed(kind: FailureKind) -> Outcome {
    Outcome::Failure(Failure {
        kind,
        message: "no".to_owned(),
        code: None,
        data: None,
    })
}

/// The agent's call, with what was found, of each call behind.
fn found(direct: &Direct) -> Vec<(usize, String)> {
    let calls = direct.calls.iter();
    calls.map(|it| (it.call, it.findings.join("; "))).collect()
}

fn row(call: usize, findings: &str) -> (usize, String) {
    (call, findings.to_owned())
}

#[test]
fn an_answer_is_compared_with_the_upstream_one() {
    let run = with_lane(
        trajectory(&[got("it is noon"), got("Result: done")]),
        &[
            behind_call(None, "what the proxy asks for itself"),
            behind_call(Some(1), "it is noon"),
            behind_call(Some(2), "done"),
            behind_call(Some(7), "of no call"),
        ],
    );
    let later = json!({ "text": "it is one o'clock" });
    let direct = score::direct(&run, &[None, straight(&later), straight(&later), None]);
    let expected = [row(1, ""), row(2, "8 characters were put around the text")];
    assert_eq!(
        found(&direct),
        expected,
        "straight, the time is another one"
    );
    let first = &direct.calls[0];
    assert_eq!(first.tool, "mcp__p__files__read");
    assert_eq!((&*first.server, &*first.upstream_tool), ("files", "read"));
    assert_eq!(
        (first.through.ms, first.straight.ms),
        (Some(9.0), Some(2.0))
    );
    let text = json!({ "content": [{ "type": "text", "text": "it is noon" }] }).to_string();
    assert_eq!(
        (first.through.bytes, first.straight.bytes),
        (text.len(), text.len())
    );
    assert_eq!(first.through.tokens, text.len().div_ceil(4));
    // What was not made straight is reported all the same, but for its time.
    let unasked = score::direct(&run, &[]);
    assert_eq!(found(&unasked), expected);
    assert_eq!(unasked.calls[0].straight.ms, None);
}

#[test]
fn of_several_calls_behind_the_answer_that_was_passed_on_counts() {
    let cases = [
        (["other", "done"], ["", ""]),
        (["done", "other"], ["", ""]),
        (
            ["first", "done and more"],
            ["", "cut after 4 of 13 characters"],
        ),
    ];
    for (answers, expected) in cases {
        let behind = answers.map(|it| behind_call(Some(1), it));
        let run = with_lane(trajectory(&[got("done")]), &behind);
        let expected = expected.map(|it| row(1, it));
        assert_eq!(found(&score::direct(&run, &[])), expected, "{answers:?}");
    }
}

#[test]
fn a_call_that_was_not_answered_behind_is_held_beside_the_straight_answer() {
    let run = |kind| -> Trajectory {
        let mut run = with_lane(trajectory(&[got("done")]), &[behind_call(Some(1), "")]);
        run.upstream.as_mut().unwrap().calls[0].call.outcome = failed(kind);
        run
    };
    let late = straight(&json!({ "text": "done, at last" }));
    let found = |kind| found(&score::direct(&run(kind), std::slice::from_ref(&late)));
    assert_eq!(
        found(FailureKind::Transport),
        [row(1, "cut after 4 of 13 characters")]
    );
    assert_eq!(
        found(FailureKind::Rpc),
        [row(
            1,
            "an error became a success: no; refused, but not when asked straight: no"
        )]
    );
}

#[test]
fn refusals_only_through_the_proxy_are_reported() {
    let refused =
        json!({ "cause": 1, "tool": "mcp__files__read", "text": "no token", "is_error": true });
    let through = json!({ "tool": "mcp__p__files__read", "text": "no token", "is_error": true });
    let run = with_lane(trajectory(&[through]), std::slice::from_ref(&refused));
    let found = |it: &Value| found(&score::direct(&run, &[straight(it)]));
    assert_eq!(
        found(&json!({ "text": "twelve" })),
        [row(1, "refused, but not when asked straight: no token")]
    );
    assert_eq!(found(&refused), [row(1, "")]);
}

#[test]
fn each_tool_is_found_among_those_that_the_proxy_lists() {
    let tool = |name: &str, description: &str| Tool {
        served: object(
            &json!({ "name": name, "description": description, "annotations": { "readOnlyHint": true } }),
        ),
    };
    let offering = |server: &str, tools: Vec<Tool>| ServerCatalogue {
        server: server.to_owned(),
        tools,
        ..ServerCatalogue::default()
    };
    let mut run = with_lane(trajectory(&[]), &[]);
    let mut bare = tool("write", "Writes");
    bare.served.remove("annotations");
    run.catalogue = Catalogue {
        servers: vec![offering(
            "proxy",
            vec![
                tool("files__read", "Reads files"),
                tool("my_files__read", "Reads my files, at once"),
                bare,
            ],
        )],
        ..Catalogue::default()
    };
    run.upstream.as_mut().unwrap().catalogue = Catalogue {
        servers: vec![
            offering("my-files", vec![tool("read", "Reads my files")]),
            offering(
                "files",
                vec![
                    tool("read", "Reads files"),
                    tool("write", "Writes a file"),
                    tool("find", "Finds"),
                ],
            ),
        ],
        ..Catalogue::default()
    };
    let direct = score::direct(&run, &[]);
    let found = direct.tools.iter().map(|it| {
        let listed_as = it.listed_as.as_deref();
        (&*it.server, &*it.tool, listed_as, it.findings.join("; "))
    });
    let found = found.collect::<Vec<_>>();
    let none = String::new;
    assert_eq!(
        found,
        [
            ("my-files", "read", Some("my_files__read"), "`description` got more text".to_owned()),
            ("files", "read", Some("files__read"), none()),
            (
                "files",
                "write",
                Some("write"),
                r#"`description` was changed: "Writes a file" became "Writes"; `annotations` was lost"#.to_owned()
            ),
            ("files", "find", None, none()),
        ]
    );
}
