//! Servers of our own that run within us, in a task in the place of a process: mocks of a scenario, and how such a task ends.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use mcp_eval::process::{Child, ChildCommand, Work};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::sync::CancellationToken;

use crate::common::{Project, small_agent};

/// A scenario that asks its mock `first`, and then `second`, which this is the response of.
fn two_calls(project: &Project, more: &Value, second: &Value) {
    let mut scenario = json!({
        "name": "s",
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "first" }, { "tool": "second" }],
        "mcp_interactions": { "m": { "tools": [
            { "name": "first", "responses": [{ "content": "one" }] },
            { "name": "second", "responses": [second] },
        ] } },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file("scenarios/s.yaml", scenario.to_string());
}

fn asked_by_a_program() -> Value {
    let command = json!([small_agent(), "call m first {}", "call m second {}"]);
    json!({ "user_intent": "Ask both.", "agent": { "kind": "command", "command": command } })
}

#[test]
fn a_mock_that_is_declared_to_exit_at_a_call_ends_the_run_as_a_process_would() {
    for more in [json!({}), asked_by_a_program()] {
        let project = Project::new();
        two_calls(&project, &more, &json!({ "fault": { "exit": 7 } }));
        let ran = project.expect(3, &["run"]);
        ran.says("server `m` closed the connection: it exited with code 7");
    }
}

#[test]
fn a_signal_ends_a_run_whose_mock_does_not_answer() {
    for more in [json!({}), asked_by_a_program()] {
        let project = Project::new();
        two_calls(
            &project,
            &more,
            &json!({ "delay": "5m", "content": "late" }),
        );
        let mut run = project
            .command()
            .args(["run", "-v"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(run.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("first") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "`first` is answered");
        }
        let signalled = Instant::now();
        let id = rustix::process::Pid::from_child(&run);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(130), "{rest}");
        assert!(signalled.elapsed() < Duration::from_secs(4), "{rest}");
        assert_eq!(project.survivors(), [""; 0]);
    }
}

/// What a task of a test does once it has read a line.
#[derive(Debug, Clone, Copy)]
enum Does {
    Hang,
    Panic,
    Leave(u8),
}

#[derive(Debug)]
struct Worker {
    does: Does,
    ended: CancellationToken,
}

impl Work for Worker {
    fn run(
        self: Arc<Self>,
        [mut stdin, mut stdout, mut stderr]: [DuplexStream; 3],
    ) -> BoxFuture<'static, u8> {
        let ended = self.ended.clone().drop_guard();
        Box::pin(async move {
            let _ended = ended;
            let mut read = [0; 1];
            stdin.read_exact(&mut read).await.unwrap();
            stdout.write_all(&read).await.unwrap();
            stderr.write_all(b"has read").await.unwrap();
            match self.does {
                Does::Hang => std::future::pending().await,
                Does::Panic => panic!("as it should"),
                Does::Leave(code) => code,
            }
        })
    }
}

/// Begins with such a task and lets it read; returns it with its stdin and the token that is cancelled at its end.
async fn begun(does: Does) -> (Child, mcp_eval::process::Stdin, CancellationToken) {
    let ended = CancellationToken::new();
    let worker = Worker {
        does,
        ended: ended.clone(),
    };
    let command = ChildCommand {
        within: Some(Arc::new(worker)),
        ..ChildCommand::default()
    };
    let (child, mut stdin, mut stdout) = Child::start(&command).unwrap();
    stdin.write_all(b"x").await.unwrap();
    let mut written = [0; 1];
    stdout.read_exact(&mut written).await.unwrap();
    (child, stdin, ended)
}

async fn soon(what: impl Future) {
    let soon = tokio::time::timeout(Duration::from_secs(5), what).await;
    assert!(soon.is_ok());
}

#[tokio::test]
async fn a_task_says_how_it_ended_as_often_as_it_is_asked() {
    for (does, end) in [
        (Does::Leave(7), "exited with code 7"),
        (Does::Panic, "was killed by signal 9"),
    ] {
        let (mut child, _stdin, ended) = begun(does).await;
        for _ in 0..2 {
            assert_eq!(child.describe_end().await, end);
        }
        assert_eq!(child.stderr(), ["has read"]);
        assert!(ended.is_cancelled());
        child.end().await;
    }
}

#[tokio::test]
async fn a_task_is_gone_when_its_child_is_dropped_or_does_not_leave() {
    let (child, _stdin, ended) = begun(Does::Hang).await;
    drop(child);
    soon(ended.cancelled()).await;

    let (child, stdin, ended) = begun(Does::Hang).await;
    drop(stdin);
    soon(child.end()).await;
    assert!(ended.is_cancelled());
}
