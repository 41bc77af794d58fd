//! Many clients, and many calls.

use serde_json::json;

use super::client::{Served, posting, request};
use crate::common::many;

const DECLARED: &str =
    "tools: [{ name: a, responses: [{ delay: 1ms, content: '{{args.n}} {{uuid}}' }] }]";

#[tokio::test]
#[ignore = "left to .ci/run, which has the time"]
async fn a_hundred_sessions_at_once_get_their_own_answers() {
    let (_project, served) = Served::of(DECLARED, &[]);
    let clients = (0..100).map(async |client: u64| {
        let session = served.open(json!({})).await;
        for call in 0..10 {
            let number = client * 100 + call;
            let params = json!({ "name": "a", "arguments": { "n": number } });
            let posting = served.posting(request(number, "tools/call", &params));
            let response = posting
                .header("mcp-session-id", &session)
                .send()
                .await
                .unwrap();
            let reply: serde_json::Value = response.json().await.unwrap();
            assert_eq!(reply["id"], number);
            let text = reply["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with(&format!("{number} ")), "{text}");
        }
        session
    });
    let mut sessions = futures_util::future::join_all(clients).await;
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 100);
}

#[tokio::test]
#[ignore = "left to .ci/run, which has the time"]
async fn sessions_are_bounded_and_the_silent_ones_make_room() {
    let (_project, served) = Served::of("tools: []", &[]);
    let first = served.open(json!({})).await;
    let second = served.open(json!({})).await;
    let ping = async |session: &str| {
        let posting = served.posting(request(1, "ping", &json!({})));
        posting
            .header("mcp-session-id", session)
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    for _ in 0..998 {
        served.open(json!({})).await;
    }
    assert_eq!(ping(&first).await, 200);
    served.open(json!({})).await;
    assert_eq!((ping(&first).await, ping(&second).await), (200, 404));
}

/// What the server's process holds in memory, in KiB; none where the system does not say.
fn memory(served: &Served) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[tokio::test]
#[ignore = "left to .ci/run, which has the time"]
async fn ten_thousand_calls_take_no_more_memory() {
    let (_project, served) = Served::of(
        "tools: [{ name: a, responses: [{ content: '{{args.n}}' }] }]",
        &[],
    );
    let text = "x".repeat(10_000);
    let call = async || {
        let params = json!({ "name": "a", "arguments": { "n": text } });
        let posting = posting(
            &served.client,
            &served.url,
            request(1, "tools/call", &params),
        );
        let answer = posting.send().await.unwrap().bytes().await.unwrap();
        assert!(answer.len() > 10_000);
    };
    // What is remembered of calls has its full size after these.
    for _ in 0..2_500 {
        call().await;
    }
    let before = memory(&served);
    for _ in 0..many(10_000) {
        call().await;
    }
    let after = memory(&served);
    if let (Some(before), Some(after)) = (before, after) {
        // They carried 100 MB in the gate, and 20 MB else.
        assert!(after < before + 8 * 1024, "{before} KiB became {after} KiB");
    }
}
