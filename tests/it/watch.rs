//! `--watch`: what is run again, when, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::common::{Project, commit_all, free_port, in_terminal};

/// How long anything may take that is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longer than it takes until a change is seen.
const LONG: Duration = Duration::from_millis(1200);

/// The program, watching without a terminal.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut child = project
            .command()
            .args(arguments)
            .arg("--watch")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines() {
                    let _ = send.send(line.unwrap());
                }
            });
        }
        Self { child, lines }
    }

    /// All that is said up to the line that holds a text.
    #[track_caller]
    fn until(&self, text: &str) -> String {
        let mut said = String::new();
        let until = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(until - Instant::now()) {
            said.push_str(&line);
            said.push('\n');
            if line.contains(text) {
                return said;
            }
        }
        panic!("no {text:?} in {said}");
    }

    /// All that is said until it waits again. What is printed to stdout may come a moment later.
    #[track_caller]
    fn round(&self) -> String {
        let mut said = self.until("Watching ");
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(200)) {
            said.push_str(&line);
            said.push('\n');
        }
        said
    }

    #[track_caller]
    fn says_nothing(&self) {
        let next = self.lines.recv_timeout(LONG);
        assert_eq!(next, Err(RecvTimeoutError::Timeout));
    }

    /// Sends a signal, and returns the exit code and what is said until the end.
    fn ends_by(mut self, signal: Signal) -> (Option<i32>, String) {
        let begun = Instant::now();
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let code = self.child.wait().unwrap().code();
        assert!(begun.elapsed() < Duration::from_secs(10));
        let rest: Vec<String> = self.lines.iter().collect();
        (code, rest.join("\n"))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scenario whose only call is answered so.
fn scenario(answer: &str, delay: &str) -> String {
    json!({
        "name": "x",
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": { "m": { "tools": [{
            "name": "look",
            "annotations": { "read_only_hint": true },
            "responses": [{ "delay": delay, "content": answer }],
        }] } },
    })
    .to_string()
}

/// Two scenarios with baselines.
fn project() -> Project {
    let project = Project::new();
    for name in ["a", "b"] {
        project.file(&format!("scenarios/{name}.yaml"), scenario("fine", "0 ms"));
    }
    project.expect(0, &["record"]);
    project
}

/// How many rounds have begun.
fn rounds(said: &str) -> usize {
    let is_time = |it: &str| it.len() == 8 && it.matches(':').count() == 2;
    said.lines()
        .filter(|it| it.split(" · ").next().is_some_and(is_time))
        .count()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_change_concerns_is_run_again_and_nothing_else() {
    let project = project();
    let watching = Watching::start(&project, &["compare"]);
    let first = watching.round();
    assert_eq!(rounds(&first), 1, "{first}");
    for text in [
        " · 2 scenarios\n",
        "2/2 tests passed",
        "Watching scenarios and baselines: Ctrl-C ends it",
    ] {
        assert!(first.contains(text), "no {text:?} in {first}");
    }
    assert!(!first.contains('\u{1b}'), "{first:?}");
    // Its own reports and runs are no change.
    watching.says_nothing();

    project.edit("scenarios/a.yaml", "fine", "otherwise");
    let said = watching.round();
    assert!(
        said.contains(" · scenarios/a.yaml changed · 1 of 2 scenarios\n"),
        "{said}"
    );
    assert!(said.contains("0/1 tests passed"), "{said}");
    assert!(project.path("baselines/a/pending.json").exists());
    watching.says_nothing();

    // What failed is not forgotten while others run.
    project.edit("scenarios/b.yaml", "\"x\"", "\"y\"");
    let said = watching.round();
    assert!(
        said.contains("scenarios/b.yaml changed · 1 of 2 scenarios\n"),
        "{said}"
    );
    assert!(said.contains("1/1 tests passed"), "{said}");
    assert!(
        said.contains("Not passed, and not run again: a\n"),
        "{said}"
    );
    // Nor does what passed say that all is well.
    assert!(
        said.contains("Do not deploy yet") && !said.contains("\nDeploy"),
        "{said}"
    );

    // Saved as many editors do.
    project.file("scenarios/.a.swp", scenario("fine", "0 ms"));
    fs::rename(
        project.path("scenarios/.a.swp"),
        project.path("scenarios/a.yaml"),
    )
    .unwrap();
    let said = watching.round();
    assert!(
        said.contains("scenarios/a.yaml changed · 1 of 2") && said.contains("1/1 tests passed"),
        "{said}"
    );
    assert!(!said.contains("Not passed"), "{said}");

    // Somebody accepts, or takes back, what was recorded.
    project.edit("baselines/b/baseline.json", "fine", "fair");
    let said = watching.round();
    assert!(
        said.contains("baselines/b/baseline.json changed · 1 of 2"),
        "{said}"
    );
    project.file("baselines/b/notes.txt", "nobody's");
    watching.says_nothing();

    project.file("scenarios/_defaults.yaml", "tags: [all]\n");
    let said = watching.round();
    assert!(
        said.contains("scenarios/_defaults.yaml changed · 2 scenarios"),
        "{said}"
    );

    project.file("scenarios/deep/c.yaml", scenario("new", "0 ms"));
    let said = watching.round();
    assert!(
        said.contains("scenarios/deep/c.yaml changed · 1 of 3"),
        "{said}"
    );
    fs::remove_dir_all(project.path("scenarios/deep")).unwrap();
    watching.until("deep/c is no longer there");
    project.file("scenarios/deep/c.yaml", scenario("again", "0 ms"));
    let said = watching.round();
    assert!(
        said.contains("scenarios/deep/c.yaml changed · 1 of 3"),
        "{said}"
    );
    // A folder of the same name is another one.
    fs::remove_dir_all(project.path("scenarios/deep")).unwrap();
    for answer in ["once", "twice"] {
        project.file("scenarios/deep/c.yaml", scenario(answer, "0 ms"));
        let said = watching.round();
        assert!(said.contains("c.yaml changed · 1 of 3"), "{said}");
    }
    let (code, _) = watching.ends_by(Signal::INT);
    assert_eq!(code, Some(130));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_broken_file_is_reported_and_waited_for() {
    let project = project();
    project.edit("scenarios/a.yaml", "\"name\"", "\"nme\"");
    let watching = Watching::start(&project, &["run"]);
    let said = watching.round();
    assert_eq!(rounds(&said), 0, "{said}");
    assert!(
        said.contains("4 errors in scenario files") && said.contains("did you mean `name`"),
        "{said}"
    );
    project.file("scenarios/b.yaml", scenario("fine", "1 ms"));
    let said = watching.round();
    assert_eq!(rounds(&said), 0, "{said}");
    project.edit("scenarios/a.yaml", "\"nme\"", "\"name\"");
    let said = watching.round();
    assert!(
        said.contains("2 scenarios\n") && said.contains("2/2 tests passed"),
        "{said}"
    );

    project.file("scenarios/a.yaml", "name: [\n");
    assert!(watching.round().contains("error"));
    // What has changed meanwhile is not forgotten.
    project.file("scenarios/b.yaml", scenario("fine", "2 ms"));
    watching.round();
    project.file("scenarios/a.yaml", scenario("fine", "3 ms"));
    let said = watching.round();
    assert!(
        said.contains("scenarios/a.yaml and scenarios/b.yaml changed · 2 scenarios"),
        "{said}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn sources_concern_all_but_for_what_git_ignores() {
    let project = project();
    project.file("server/src/main.c", "1");
    project.file("server/.gitignore", "*.log\nout/\n");
    project.file("server/out/program", "1");
    commit_all(&project.path(""), "All");
    let arguments = ["run", "--watch-path", "server"];
    let watching = Watching::start(&project, &arguments);
    let first = watching.round();
    assert!(
        first.contains("Watching scenarios, baselines and server: "),
        "{first}"
    );
    project.file("server/src/main.c", "2");
    let said = watching.round();
    assert!(
        said.contains("server/src/main.c changed · 2 scenarios\n"),
        "{said}"
    );
    for ignored in ["server/a.log", "server/out/program", "server/target/x"] {
        project.file(ignored, "2");
    }
    watching.says_nothing();
    // A folder that was not there before, and a file that was.
    project.file("server/src/deep/er/new.c", "1");
    assert!(watching.round().contains("new.c changed · 2 scenarios"));
    project.file("server/src/deep/er/new.c", "2");
    assert!(watching.round().contains("new.c changed · 2 scenarios"));
    fs::remove_file(project.path("server/src/main.c")).unwrap();
    assert!(watching.round().contains("main.c changed · 2 scenarios"));
    // Scenarios in there are no source.
    project.file("scenarios/a.yaml", scenario("fine", "1 ms"));
    assert!(watching.round().contains("a.yaml changed · 1 of 2"));
    drop(watching);

    // Who names what is ignored means it.
    let watching = Watching::start(&project, &["run", "--watch-path", "server/out", "-k", "b"]);
    watching.round();
    project.file("server/out/program", "3");
    assert!(watching.round().contains("program changed · 1 scenario\n"));
    drop(watching);

    // All around, our own folders included.
    let watching = Watching::start(&project, &["compare", "--watch-path", "."]);
    watching.round();
    watching.says_nothing();
    project.edit("scenarios/b.yaml", "fine", "otherwise");
    assert!(watching.round().contains("b.yaml changed · 1 of 2"));
    project.edit("baselines/b/baseline.json", "fine", "fair");
    let said = watching.round();
    assert!(said.contains("baseline.json changed · 1 of 2"), "{said}");
    watching.says_nothing();
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_server_is_started_with_concerns_those_that_name_it() {
    let project = project();
    let server = crate::common::faulty_server();
    let faults = json!({
        "name": "f",
        "servers": { "s": { "type": "stdio", "command": "sh", "args": ["server.sh"] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "echo", "args": { "text": "x" } }] },
    });
    project.file("scenarios/f.yaml", faults.to_string());
    project.file("server.sh", format!("exec {server}\n"));
    let watching = Watching::start(&project, &["run"]);
    assert!(watching.round().contains("3/3 tests passed"));
    project.file("server.sh", format!("exec {server} \n"));
    let said = watching.round();
    assert!(said.contains("server.sh changed · 1 of 3"), "{said}");
    assert!(said.contains("1/1 tests passed"), "{said}");
    // Gone while it is built, and there again.
    fs::remove_file(project.path("server.sh")).unwrap();
    let said = watching.round();
    assert!(said.contains("server.sh changed · 1 of 3"), "{said}");
    project.file("server.sh", format!("exec {server}\n"));
    let said = watching.round();
    assert!(
        said.contains("server.sh changed · 1 of 3") && said.contains("1/1 tests passed"),
        "{said}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn servers_of_the_command_line_count_for_those_that_need_them() {
    let project = project();
    let more = json!({ "servers": { "s": { "command": "nowhere" } } });
    let calls = [("echo", json!({ "text": "x" }))];
    project.faulty_with("f", &[], &calls, &more);
    let server = crate::common::faulty_server();
    project.file("server.sh", format!("exec {server}\n"));
    let servers = json!({ "mcpServers": { "s": { "command": "sh", "args": ["server.sh"] } } });
    project.file("servers.json", servers.to_string());
    let arguments = ["run", "--mcp-config", "servers.json"];
    let watching = Watching::start(&project, &arguments);
    assert!(watching.round().contains("3/3 tests passed"));
    project.file("server.sh", format!("exec {server} \n"));
    let said = watching.round();
    assert!(said.contains("server.sh changed · 1 of 3"), "{said}");
    // What is wrong with it is reported, and all is run when it is mended.
    project.file("servers.json", "{");
    assert!(watching.round().contains("servers.json:1:1: error: "));
    project.file("servers.json", servers.to_string());
    let said = watching.round();
    assert!(
        said.contains("servers.json changed · 3 scenarios"),
        "{said}"
    );
    assert!(said.contains("3/3 tests passed"), "{said}");
}

/// A scenario with a server that hangs until it is killed.
fn hanging(project: &Project) {
    let more = json!({ "before": [["touch", "ready"]] });
    let calls = [("echo", json!({ "text": "x" }))];
    project.faulty_with("hangs", &["hang"], &calls, &more);
}

#[track_caller]
fn wait_for(project: &Project, file: &str) {
    let begun = Instant::now();
    while !project.path(file).exists() {
        assert!(begun.elapsed() < PATIENCE, "no {file}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The server starts right after it.
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_change_stops_what_runs_and_what_it_has_not_finished_is_run_again() {
    let project = Project::new();
    hanging(&project);
    for name in ["a", "b"] {
        project.file(&format!("scenarios/{name}.yaml"), scenario("fine", "0 ms"));
    }
    let watching = Watching::start(&project, &["run", "--jobs", "4"]);
    wait_for(&project, "ready");
    std::thread::sleep(Duration::from_millis(500));
    project.file("scenarios/b.yaml", scenario("fine", "1 ms"));
    let said = watching.until("scenarios/b.yaml changed · 2 of 3 scenarios");
    assert_eq!(rounds(&said), 2, "{said}");
    fs::remove_file(project.path("ready")).unwrap();
    wait_for(&project, "ready");
    let calls = [("echo", json!({ "text": "x" }))];
    project.faulty("hangs", &[], &calls);
    let said = watching.round();
    assert!(said.contains("scenarios/hangs.yaml changed · "), "{said}");
    assert!(said.contains("1/1 tests passed"), "{said}");
    let (code, _) = watching.ends_by(Signal::TERM);
    assert_eq!(code, Some(130));
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn a_signal_ends_a_run_and_all_of_it() {
    let project = Project::new();
    hanging(&project);
    let watching = Watching::start(&project, &["run"]);
    wait_for(&project, "ready");
    let (code, said) = watching.ends_by(Signal::INT);
    assert_eq!(code, Some(130), "{said}");
    assert!(!said.contains("Watching"), "{said}");
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_runs_write_makes_them_not_run_for_ever() {
    let project = project();
    let write = json!([[
        "sh",
        "-c",
        "date +%N >> src/log; echo x > src/new.$$; sleep 0.6"
    ]]);
    let calls = [("echo", json!({ "text": "x" }))];
    project.faulty_with("writes", &[], &calls, &json!({ "after": write }));
    project.file("src/log", "");
    project.file("src/main.c", "1");
    let arguments = ["run", "--watch-path", "src", "-k", "writes"];
    let watching = Watching::start(&project, &arguments);
    let said = watching.until("src/log changes with every run");
    assert_eq!(rounds(&said), 3, "{said}");
    watching.round();
    watching.says_nothing();
    project.file("src/main.c", "2");
    let said = watching.round();
    assert_eq!(rounds(&said), 1, "{said}");
    watching.says_nothing();
    // While nothing runs, it counts.
    project.file("src/log", "mine");
    let said = watching.round();
    assert_eq!(rounds(&said), 1, "{said}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_built_from_the_source_is_no_change_of_it() {
    let project = Project::new();
    let server = crate::common::faulty_server();
    let more = json!({
        "source": { "repo": "../code", "prepare": [["sh", "-c", "sleep 0.5; cp main.sh server; sleep 0.5"]] },
        "servers": { "s": { "type": "stdio", "command": "sh", "args": ["${source.dir}/server"] } },
    });
    let calls = [("echo", json!({ "text": "x" }))];
    project.faulty_with("made", &[], &calls, &more);
    project.file("scenarios/other.yaml", scenario("fine", "0 ms"));
    project.file("code/main.sh", format!("exec {server}\n"));
    commit_all(&project.path("code"), "Code");
    let watching = Watching::start(&project, &["run"]);
    let first = watching.round();
    assert_eq!(rounds(&first), 1, "{first}");
    watching.says_nothing();
    project.file("code/main.sh", format!("exec {server} \n"));
    let said = watching.round();
    assert_eq!(rounds(&said), 1, "{said}");
    assert!(said.contains("code/main.sh changed · 1 of 2"), "{said}");
    assert!(said.contains("1/1 tests passed"), "{said}");
    watching.says_nothing();
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_first_round_is_what_the_command_line_picks() {
    let project = project();
    project.edit("scenarios/a.yaml", "fine", "otherwise");
    project.expect(1, &["compare"]);
    let watching = Watching::start(&project, &["compare", "--last-failed"]);
    let said = watching.round();
    assert!(
        said.contains("some of 2 scenarios") && said.contains("1 of 2 did not pass"),
        "{said}"
    );
    project.file("scenarios/b.yaml", scenario("fine", "1 ms"));
    let said = watching.round();
    assert!(said.contains("b.yaml changed · 1 of 2"), "{said}");
    drop(watching);

    commit_all(&project.path("scenarios"), "All");
    let watching = Watching::start(&project, &["run", "--changed"]);
    assert!(watching.round().contains("Nothing to do"));
    project.file("scenarios/b.yaml", scenario("fine", "2 ms"));
    assert!(watching.round().contains("b.yaml changed · 1 of 2"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_changes_while_a_round_cannot_begin_is_run() {
    let project = Project::new();
    let address = format!("http://127.0.0.1:{}/mcp", free_port());
    let scenario = |text: &str| {
        json!({
            "name": "x",
            "servers": { "m": { "type": "http", "url": "http://127.0.0.1:9/mcp" } },
            "expected_trajectory": [{ "tool": "look", "args": { "text": text } }],
        })
        .to_string()
    };
    project.file("scenarios/a.yaml", scenario("1"));
    project.file("scenarios/b.yaml", scenario("1"));
    let other = format!("url:{address}");
    let watching = Watching::start(&project, &["compare", "--against", &other]);
    // For two seconds, somebody might begin to listen there.
    watching.until("2 scenarios");
    project.file("scenarios/b.yaml", scenario("2"));
    let said = watching.until("there is no server");
    assert!(!said.contains("Watching "), "{said}");
    let said = watching.round();
    assert!(
        said.contains("scenarios/b.yaml changed · 2 scenarios"),
        "{said}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let project = project();
    project
        .expect(2, &["run", "--watch", "--format", "json"])
        .says("`--report json=FILE` overwrites a file after every run");
    project
        .expect(2, &["run", "--watch", "--watch-path", "nowhere"])
        .says("`--watch-path`: there is no nowhere");
    project
        .expect(2, &["run", "--watch-path", "scenarios"])
        .says("--watch");
    project.expect(2, &["compare", "--watch", "--run", "latest"]);
    project.expect(2, &["record", "--watch"]);
    let in_ci = crate::common::ran(
        project
            .command()
            .args(["compare", "--watch"])
            .env("CI", "true"),
    );
    assert_eq!(in_ci.code, 2);
    in_ci.says("CI is set in the environment");
    project
        .expect(2, &["compare", "--watch", "scenarois"])
        .says("there is no `scenarois` here");
    project
        .expect(3, &["compare", "--watch", "-k", "nobody"])
        .says("no scenario matches");
}

/// Types these keys while it waits; `None` where there is no terminal to be had.
fn typed(project: &Project, keys: &[&str]) -> Option<(i32, String)> {
    let watch = ["compare", "--watch"];
    let ran = in_terminal("the keys of `--watch`", project, &watch, "q quits", keys)?;
    Some((ran.code, ran.stdout))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn on_a_terminal_a_key_runs_all_or_what_failed_or_quits() {
    let project = project();
    project.edit("scenarios/a.yaml", "fine", "otherwise");
    project.edit("scenarios/b.yaml", "0 ms", "20 ms");
    let touch = "$ touch scenarios/b.yaml";
    let Some((code, seen)) = typed(&project, &["f", "\r", touch, "x", "q"]) else {
        return;
    };
    assert_eq!(seen.matches("q quits").count(), 4, "{seen:?}");
    // Each round begins with an empty screen.
    let screens: Vec<&str> = seen.split("\u{1b}[2J").collect();
    assert_eq!(screens.len(), 5, "{seen:?}");
    for (screen, head) in screens[1..].iter().zip([
        " · 2 scenarios",
        " · f · 1 of 2 scenarios",
        " · Enter · 2 scenarios",
        " · scenarios/b.yaml changed · 1 of 2 scenarios",
    ]) {
        assert!(screen.contains(head), "no {head:?} in {screen:?}");
    }
    // The last result is that of `b`, which passed.
    assert_eq!(code, 0, "{seen:?}");
    assert!(screens[4].contains("Not passed, and not run again: a"));

    let (code, _) = typed(&project, &["q"]).unwrap();
    assert_eq!(code, 1);
    let (code, _) = typed(&project, &["\u{3}"]).unwrap();
    assert_eq!(code, 130);
    // While something runs, it is stopped.
    let (code, seen) = typed(
        &project,
        &["$ sed -i s/20.ms/20s/ scenarios/b.yaml; sleep 3", "q"],
    )
    .unwrap();
    assert_eq!(code, 130, "{seen:?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn files_do_not_stay_green_while_a_scenario_cannot_be_read() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({ "q": 1 }))]);
    project.expect(0, &["record"]);
    let watching = Watching::start(&project, &["compare", "--report", "json=r.json"]);
    watching.until("Watching");
    let exit_code = || {
        let result: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
        result["gate"]["exit_code"].clone()
    };
    assert_eq!(exit_code(), 0);
    let scenario = project.read("scenarios/s.yaml");
    project.file("scenarios/s.yaml", "name: [");
    watching.until("invalid YAML");
    watching.until("Watching");
    assert_eq!(exit_code(), 2);
    project.file("scenarios/s.yaml", scenario);
    watching.until("Watching");
    assert_eq!(exit_code(), 0);
}
