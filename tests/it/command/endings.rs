//! How the work of an agent can end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::kit::{Stage, faulty, steps};
use crate::common::Project;

#[test]
fn an_agent_that_fails_is_an_error_with_its_last_words() {
    let cases = [
        (
            &["call s echo {}", "complain out of cheese", "exit 4"][..],
            "exited with code 4",
        ),
        (
            &["call s echo {}", "complain out of cheese", "abort"],
            "was killed by signal 6",
        ),
    ];
    for (agent, message) in cases {
        let stage = Stage::new(agent, &faulty(&[]));
        let (ran, recorded) = stage.run(3);
        ran.says(message).says("stderr of the agent: out of cheese");
        // What it did is kept.
        assert_eq!(steps(&recorded)[1], "s.echo {} ok");
        assert_eq!(stage.project.survivors(), [""; 0]);
    }
}

#[test]
fn an_agent_that_cannot_be_started_is_an_error() {
    let cases = [
        (
            "no-such-agent",
            "the agent cannot be started: `no-such-agent`: No such file or directory",
        ),
        ("./agents/none", "No such file or directory"),
        ("./s.yaml", "Permission denied"),
    ];
    for (program, message) in cases {
        let more = json!({ "agent": { "command": [program] } });
        let (ran, _) = Stage::with(&[], &faulty(&[]), &more).run(3);
        ran.says(message);
    }
    let more = json!({ "agent": { "cwd": "nowhere" } });
    let (ran, _) = Stage::with(&[], &faulty(&[]), &more).run(3);
    ran.says("nowhere is not a folder");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn its_own_timeout_is_an_error_and_that_of_the_scenario_a_timeout() {
    let agent = ["start", "call s echo {}", "complain still here", "sleep"];
    let more = json!({ "agent": { "timeout": "1s" } });
    let stage = Stage::with(&agent, &faulty(&[]), &more);
    let (ran, recorded) = stage.run(3);
    ran.says("the agent was not done within 1s (`agent.timeout`)");
    ran.says("stderr of the agent: still here");
    assert_eq!(steps(&recorded)[1], "s.echo {} ok");
    assert_eq!(stage.project.survivors(), [""; 0]);

    let more = json!({ "timeout": "1s", "agent": { "cwd": "." } });
    let stage = Stage::with(&agent, &faulty(&["hang"]), &more);
    let ran = stage.project.expect(3, &["run"]);
    ran.says("timeout")
        .says("the scenario's timeout of 1s passed");
    assert_eq!(steps(&stage.recorded())[1], "s.echo {} timeout");
    assert_eq!(stage.project.survivors(), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_it_leaves_behind_is_ended_with_it() {
    // The process it leaves holds its output open.
    let more = json!({ "agent": { "cwd": "." } });
    let stage = Stage::with(&["start", "print done"], &faulty(&[]), &more);
    let (_, recorded) = stage.run(0);
    assert_eq!(steps(&recorded)[1], "assistant: done");
    assert_eq!(stage.project.survivors(), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_interruption_ends_it_with_all_it_has_started() {
    let more = json!({ "agent": { "cwd": "." } });
    let stage = Stage::with(&["start", "config", "sleep"], &faulty(&[]), &more);
    let mut command = stage.project.command();
    let mut running = command
        .args(["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&stage.project, "sleep 1000");
    let id = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(stage.project.survivors(), [""; 0]);
}

/// Waits until a process of the project runs this command.
fn wait_for(project: &Project, command: &str) {
    let begun = Instant::now();
    loop {
        let running = project.survivors().into_iter().any(|id| {
            let line = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            line.replace('\0', " ").trim() == command
        });
        if running {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no `{command}`");
        std::thread::sleep(Duration::from_millis(20));
    }
}
