//! Nothing of ours is left behind, however a run ends, and nothing of anybody else's is touched.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::common::Project;
use crate::docker::kit::{
    A, B, alone, containers, derived, docker, engine, own, scenario, search, searching,
};
use mcp_eval::docker::{Guard, Probe, Reached, Session, Slot};
use mcp_eval::model::Outcome;
use mcp_eval::run::ready::{Asks, PageAnswer};
use mcp_eval::run::{Together, Tools, Unlisted};
use mcp_eval::scenario_file::servers::{Container, HealthPage, Image, Keep, Ready, Reset};

/// A run that is busy for many seconds, in the middle of it.
struct Busy {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
}

impl Busy {
    fn start(project: &Project, section: &serde_json::Value) -> Self {
        let calls = vec![("describe_tool", json!({ "tool": "printEnv" })); 60];
        let mut docker = json!({ "image": B });
        docker
            .as_object_mut()
            .unwrap()
            .extend(section.as_object().unwrap().clone());
        scenario(project, "busy", &docker, &calls, &json!({}));
        let mut child = project
            .command()
            .args(["run", "-v", "scenarios/busy.yaml"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|it| it.unwrap().contains("call 1/60")));
        Self { child, said }
    }

    fn label(&self) -> String {
        format!("dev.mcp-eval.process={}", self.child.id())
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end and returns the exit code.
    fn end(mut self) -> Option<i32> {
        // Read to the end, so that the child is not stopped by a full pipe.
        self.said.by_ref().for_each(drop);
        self.child.wait().unwrap().code()
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_interrupted_run_removes_its_container() {
    if !engine("interrupting") {
        return;
    }
    for signal in ["-INT", "-TERM", "-HUP"] {
        let project = Project::new();
        let busy = Busy::start(&project, &json!({ "keep": "on-failure" }));
        let label = busy.label();
        assert_eq!(containers(&[&label]).len(), 1);
        busy.signal(signal);
        assert_eq!(busy.end(), Some(130));
        assert_eq!(containers(&[&label]), [""; 0], "{signal}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_killed_runs_leave_is_removed_later_and_nothing_else() {
    if !engine("killing mcp-eval") {
        return;
    }
    let _alone = alone();
    let project = Project::new();
    // Somebody else's, one with labels like ours but of another machine, and one of a run that is still at work.
    let foreign = docker(&["run", "-d", A]);
    let elsewhere = docker(&[
        "run",
        "-d",
        "--label",
        "dev.mcp-eval.session=abc",
        "--label",
        "dev.mcp-eval.machine=far",
        "--label",
        "dev.mcp-eval.process=1",
        A,
    ]);
    let other = Project::new();
    let alive = Busy::start(&other, &json!({}));

    for by in ["clean", "the next run"] {
        let leave = || {
            let busy = Busy::start(&project, &json!({}));
            let label = busy.label();
            busy.signal("-KILL");
            assert_eq!(busy.end(), None);
            label
        };
        let label = if by == "clean" {
            let mut label = String::new();
            // Whatever runs beside this removes what killed runs left, too: then there is nothing to see, and it is tried again.
            let undisturbed = (0..10).any(|_| {
                label = leave();
                let left = containers(&[&label]);
                let would = project.expect(0, &["clean", "--dry-run"]);
                if containers(&[&label]) != left || left.len() != 1 {
                    return false;
                }
                would.says(&format!(
                    "would be removed: container {} (left by a run that was killed)",
                    left[0]
                ));
                let cleaned = project.expect(0, &["clean"]);
                cleaned
                    .says("left alone: container")
                    .says(&format!("in use by process {}", alive.child.id()))
                    .says("made on another machine");
                cleaned
                    .all()
                    .contains(&format!("removed: container {}", left[0]))
            });
            assert!(undisturbed, "`clean` has removed nothing in ten tries");
            label
        } else {
            let label = leave();
            searching(&project, &json!({}));
            project.expect(0, &["run", "scenarios/s.yaml"]);
            label
        };
        // Another run may be at it as well, and not quite done.
        let is_gone = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            containers(&[&label]).is_empty()
        });
        assert!(is_gone, "{by}");
    }

    assert_eq!(containers(&[&alive.label()]).len(), 1);
    alive.signal("-INT");
    alive.end();
    for id in [foreign, elsewhere] {
        let running = docker(&["inspect", "-f", "{{.State.Running}}", &id]);
        assert_eq!(running, "true");
        docker(&["rm", "-f", &id]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_container_of_a_failed_scenario_is_kept_when_asked_for() {
    if !engine("keeping a container") {
        return;
    }
    let _alone = alone();
    let project = Project::new();
    let section = json!({ "keep": "on-failure" });
    let fails = json!({ "success_criteria": ["what nobody says"] });
    scenario(&project, "fails", &section, &search(), &fails);
    scenario(&project, "passes", &section, &search(), &json!({}));
    let fails = || {
        let ran = project.expect(1, &["run"]);
        let name = ran.stdout.split("the container is kept as ").nth(1);
        let name = name.and_then(|it| it.split(':').next()).unwrap();
        assert!(name.starts_with("mcp-eval-kept-"), "{ran:#?}");
        name.to_owned()
    };
    let is_there = |name: &str| {
        docker(&["ps", "--format", "{{.Names}}"])
            .lines()
            .any(|it| it == name)
    };
    let first = fails();
    // It is left to whoever wants to look at it, also by the next run.
    project.expect(0, &["run", "scenarios/passes.yaml"]);
    assert!(is_there(&first));
    let last = fails();
    assert!(!is_there(&first) && is_there(&last), "{first} {last}");
    project.expect(0, &["clean"]).says(&format!(
        "removed: container {last} (kept for a look at it)"
    ));
    assert!(!is_there(&last));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn networks_and_volumes_that_were_made_are_gone_and_others_stay() {
    if !engine("networks and volumes") {
        return;
    }
    let made = format!("mcp-eval-test-{}", std::process::id());
    let there = format!("{made}-there");
    docker(&["network", "create", &there]);
    docker(&["volume", "create", &there]);
    let project = Project::new();
    for (name, network) in [("made", &made), ("there", &there)] {
        let section = json!({ "network": network, "mounts": [format!("{network}:/data")] });
        scenario(&project, name, &section, &search(), &json!({}));
    }
    project.expect(0, &["run", "--jobs", "2"]);
    let names = |kind: &str| docker(&[kind, "ls", "--format", "{{.Name}}"]);
    for kind in ["network", "volume"] {
        let names = names(kind);
        assert!(!names.lines().any(|it| it == made), "{names}");
        assert!(names.lines().any(|it| it == there), "{names}");
        docker(&[kind, "rm", &there]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn anonymous_volumes_go_with_their_container() {
    if !engine("anonymous volumes") {
        return;
    }
    let image = "mcp-eval-test/demo:volume";
    derived(image, "VOLUME /data");
    let project = Project::new();
    let busy = Busy::start(&project, &json!({ "image": image }));
    let container = containers(&[&busy.label()]).remove(0);
    let volume = docker(&["inspect", "-f", "{{(index .Mounts 0).Name}}", &container]);
    busy.signal("-INT");
    busy.end();
    let volumes = docker(&["volume", "ls", "-q"]);
    assert!(!volume.is_empty() && !volumes.contains(&volume), "{volume}");
}

/// Takes any container for ready.
struct Anything;

impl Probe for Anything {
    fn is_asked(&self) -> bool {
        true
    }

    fn asks<'a>(&'a self, _: Option<&'a Reached>) -> Box<dyn Asks + 'a> {
        Box::new(Self)
    }
}

impl Asks for Anything {
    fn open(&self, _: Duration) -> BoxFuture<'_, Result<Box<dyn Tools>, Unlisted>> {
        let none: Box<dyn Tools> = Box::new(Together::new(Vec::new(), [], &[]));
        async { Ok(none) }.boxed()
    }

    fn page<'a>(
        &'a self,
        _: &'a HealthPage,
        _: Duration,
    ) -> BoxFuture<'a, Result<PageAnswer, String>> {
        async { Err("there are no pages".to_owned()) }.boxed()
    }

    fn is_same(&self, _: &Outcome, _: &Outcome) -> bool {
        true
    }

    fn clean(&self, text: &str) -> String {
        text.to_owned()
    }

    fn waiting(&self, _: &str, _: Duration) {}
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_panic_removes_the_containers() {
    if !engine("panics") {
        return;
    }
    let (name, label) = own("panic");
    let container = Container {
        name: None,
        image: Image::Named(name),
        optional: None,
        port: Some(8080),
        host_port: None,
        env: Vec::new(),
        command: None,
        mounts: Vec::new(),
        config_target: None,
        network: None,
        memory: None,
        cpus: None,
        pids: None,
        user: None,
        read_only: false,
        docker_socket: false,
        ready: Ready::default(),
        reset: Reset::Scenario,
        keep: Keep::Never,
    };
    let of_this_test = label.clone();
    let panicked = std::thread::spawn(move || {
        let session = Arc::new(Session::new(|name: &str| std::env::var(name).ok()));
        let _guard = Guard(Arc::clone(&session));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let slot = Slot::new(session, container, ("s", None));
            slot.reset(&Anything, &|_| ()).await.unwrap();
            assert_eq!(containers(&[&of_this_test]).len(), 1);
            panic!("on purpose");
        });
    });
    let message = panicked.join().unwrap_err();
    assert_eq!(message.downcast_ref::<&str>(), Some(&"on purpose"));
    assert_eq!(containers(&[&label]), [""; 0]);
}
