//! Recording asks each read again right after its answer, where the scenario is not played twice. Nobody but the learner notices.

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use mcp_eval::agent::Scripted;
use mcp_eval::mcp::{Launch, Target};
use mcp_eval::model::{FailureKind, Outcome, Redacted, ToolCall, Trajectory};
use mcp_eval::process::ChildCommand;
use mcp_eval::redact::Redactor;
use mcp_eval::run::{Agent, AskAgain, Connection, Conversation, Job, Observer, Progress, Stop};
use mcp_eval::scenario_file::Scenario;
use mcp_eval::{mcp, run, scenario_file, score};
use reqwest::Client;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::common::Project;
use crate::mock::Served;
use crate::score_kit::recorded;

/// Servers whose answers to the same request are one after the other; reads but for `write` and `effect`.
fn interactions() -> Value {
    let read = |name: &str, responses: Value| json!({ "name": name, "annotations": { "read_only_hint": true }, "responses": responses });
    let text = |text: &str| json!({ "content": text });
    json!({ "desk": { "state": { "notes": {} }, "tools": [
        read("same", json!([text("as ever")])),
        read("new", json!([{ "content": [{ "json": { "id": "{{uuid}}", "name": "Ada" } }] }])),
        read("late", json!([
            { "times": 1, "content": [{ "json": { "tools": null } }] },
            { "content": [{ "json": { "tools": ["a"] } }] },
        ])),
        read("breaks", json!([{ "times": 1, "content": "fine" }, { "content": "no more", "is_error": true }])),
        read("hangs", json!([{ "times": 1, "content": "fine" }, { "fault": "hang" }])),
        read("fails", json!([{ "content": "never", "is_error": true }])),
        read("slow", json!([{ "delay": "400ms", "content": "at last" }])),
        read("slower", json!([{ "delay": "1200ms", "content": "at last" }])),
        read("list", json!([{ "content": [{ "json": { "notes": "{{get.notes | values}}" } }] }])),
        read("asks", json!([{
            "steps": [{ "sample": { "messages": [{ "content": "who?" }], "max_tokens": 5 } }],
            "content": "{{sampling.content.text}}",
        }])),
        read("tells", json!([{
            "steps": [{ "progress": { "progress": 1, "total": 2 } }, { "log": { "level": "info", "data": "half" } }],
            "content": "told",
        }])),
        { "name": "write", "responses": [{ "set": { "notes[counter.note]": "{{args.text}}" }, "content": "written" }] },
        { "name": "slow_write", "responses": [{ "delay": "300ms", "set": { "notes[counter.note]": "{{args.text}}" }, "content": "written" }] },
        { "name": "either", "responses": [text("done")] },
    ] } })
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Over {
    Stdio,
    Http,
}

/// A server of a test, with what it was called.
struct Desk {
    project: Project,
    target: Target,
    _served: Option<Served>,
}

impl Desk {
    fn new(over: Over) -> Self {
        let project = Project::new();
        let declared = json!({ "mcp_interactions": interactions() });
        project.file("mock.yaml", declared.to_string());
        let log = project.path("calls.jsonl").into_os_string();
        let served = (over == Over::Http).then(|| {
            let log = log.to_str().unwrap();
            Served::start(&project, &["mock.yaml", "--call-log", log])
        });
        let launch = if let Some(served) = &served {
            Launch::Http {
                style: scenario_file::servers::HttpStyle::default(),
                url: served.url.clone(),
                headers: Vec::new(),
                bearer_token: None,
            }
        } else {
            let words = ["mock", "mock.yaml", "--call-log"].map(OsString::from);
            Launch::Child(ChildCommand {
                program: env!("CARGO_BIN_EXE_mcp-eval").into(),
                args: words.into_iter().chain([log]).collect(),
                env: Vec::new(),
                cwd: Some(project.path("")),
                supervisor: None,
                ..ChildCommand::default()
            })
        };
        Self {
            project,
            target: Target {
                name: "desk".to_owned(),
                launch,
                protocol: None,
                inputs: Vec::new(),
                may_be_starting: false,
                if_late: Target::GIVE_MORE,
                connect_timeout: Duration::from_secs(20),
                tool_timeout: Duration::from_millis(2500),
                observed: mcp::Observed::default(),
            },
            _served: served,
        }
    }

    /// How often a tool was called.
    fn calls(&self, tool: &str) -> usize {
        let log = self.project.read("calls.jsonl");
        let calls = log
            .lines()
            .map(|it| serde_json::from_str::<Value>(it).unwrap());
        calls.filter(|it| it["tool"] == tool).count()
    }

    /// Runs an agent against the server, through the gateway or not, as `record` does where it asks `again`.
    fn run(
        &self,
        agent: &mut dyn Agent,
        gateway: bool,
        scenario: &Value,
        again: bool,
    ) -> Redacted<Trajectory> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(self.running(agent, gateway, scenario, again, CancellationToken::new()))
    }

    async fn running(
        &self,
        agent: &mut dyn Agent,
        gateway: bool,
        scenario: &Value,
        again: bool,
        interrupt: CancellationToken,
    ) -> Redacted<Trajectory> {
        let scenario = self.scenario(scenario);
        let rules = scenario.scoring.clone();
        let ask_again = again.then(|| {
            AskAgain::new(Duration::ZERO, move |call, offered| {
                score::only_reads(call, offered, &rules)
            })
        });
        let targets = [self.target.clone()];
        let asking = ask_again.clone();
        run::run(Job {
            scenario: &scenario,
            stamp: recorded(&[]).stamp,
            connect: async move {
                if gateway {
                    mcp::open_gateway(
                        &targets,
                        None,
                        mcp::GatewayPlace::new(None).unwrap(),
                        asking,
                        &|_| (),
                    )
                    .await
                    .map(Connection::Gateway)
                } else {
                    mcp::connect(&targets, &|_| ()).await.map(Connection::Tools)
                }
            }
            .boxed(),
            agent,
            observer: &Nobody,
            interrupt,
            budget: None,
            ask_again,
            patience: None,
            behind: None,
            proven_by_calls: false,
            redactor: &Redactor::default(),
        })
        .await
        .trajectory
    }

    fn scenario(&self, more: &Value) -> Scenario {
        let mut scenario =
            json!({ "name": "S", "agent": { "kind": "scripted", "calls": [{ "tool": "same" }] } });
        let more = more.as_object().unwrap().clone();
        scenario.as_object_mut().unwrap().extend(more);
        self.project.file("s.yaml", scenario.to_string());
        let (found, _) = scenario_file::find(&[self.project.path("s.yaml")]);
        let loaded = scenario_file::load(&found, &scenario_file::Options::default());
        let mut scenarios = loaded.scenarios;
        scenarios
            .pop()
            .unwrap_or_else(|| panic!("{:?}", loaded.findings))
    }
}

struct Nobody;

impl Observer for Nobody {
    fn progress(&self, _: Progress<'_>) {}
}

/// An agent that asks through us.
fn script(desk: &Desk, calls: &[(&str, Value)]) -> Scripted {
    let calls = calls.iter();
    let calls: Vec<Value> = calls
        .map(|(tool, args)| json!({ "tool": tool, "args": args }))
        .collect();
    let scenario = json!({ "agent": { "kind": "scripted", "calls": calls } });
    Scripted::new(Vec::new(), desk.scenario(&scenario).agent.calls().to_vec())
}

/// An agent with a client of its own: makes these calls, those of one list at once, and keeps all that it sees of the server.
struct Caller {
    calls: Vec<Vec<(&'static str, Value)>>,
    /// Ends its session when it is done.
    leaves: bool,
    seen: Mutex<Vec<String>>,
    /// How long each call took.
    took: Mutex<Vec<Duration>>,
}

impl Caller {
    fn new(calls: &[&[(&'static str, Value)]]) -> Self {
        Self {
            calls: calls.iter().map(|it| it.to_vec()).collect(),
            leaves: false,
            seen: Mutex::default(),
            took: Mutex::default(),
        }
    }

    async fn work(&self, url: &str) {
        let client = crate::mock::http_client();
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "sampling": {} }, "clientInfo": { "name": "c", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (session, _) = self.post(&client, url, None, &hello).await;
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post(&client, url, session.as_deref(), &done).await;
        let session = session.as_deref();
        let mut id = 0;
        for calls in &self.calls {
            let calls = calls.iter().map(|(tool, arguments)| {
                id += 1;
                let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            });
            let calls: Vec<Value> = calls.collect();
            join_all(calls.iter().map(|call| async {
                let begun = Instant::now();
                self.post(&client, url, session, call).await;
                self.took.lock().unwrap().push(begun.elapsed());
            }))
            .await;
        }
        if self.leaves {
            let gone = client
                .delete(url)
                .header("Mcp-Session-Id", session.unwrap());
            assert!(gone.send().await.unwrap().status().is_success());
        }
    }

    /// Sends a message and takes all that comes in answer; what the server asks is answered.
    async fn post(
        &self,
        client: &Client,
        url: &str,
        session: Option<&str>,
        message: &Value,
    ) -> (Option<String>, String) {
        let request = client.post(url).json(message);
        let mut request = request.header("Accept", "application/json, text/event-stream");
        if let Some(session) = session {
            request = request.header("Mcp-Session-Id", session);
        }
        let mut response = request.send().await.unwrap();
        let id = response.headers().get("mcp-session-id");
        let id = id.map(|it| it.to_str().unwrap().to_owned());
        let mut text = String::new();
        while let Some(piece) = response.chunk().await.unwrap() {
            text.push_str(&String::from_utf8_lossy(&piece));
            let asked = text.split("data: ").last().unwrap_or_default();
            if let Ok(asked) = serde_json::from_str::<Value>(asked)
                && asked["method"] == "sampling/createMessage"
            {
                let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "me" } });
                let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said });
                Box::pin(self.post(client, url, session, &reply)).await;
            }
        }
        self.seen.lock().unwrap().push(text.clone());
        (id, text)
    }

    /// How often something came.
    fn saw(&self, what: &str) -> usize {
        self.seen.lock().unwrap().concat().matches(what).count()
    }
}

impl Agent for Caller {
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        async move {
            let url = conversation.endpoints()[0].url.clone();
            self.work(&url).await;
            Ok(())
        }
        .boxed()
    }
}

/// What the server said again, call by call: the text of an answer, or how it failed.
fn again(trajectory: &Trajectory) -> Vec<Vec<String>> {
    trajectory.calls().map(said_again).collect()
}

fn said_again(call: &ToolCall) -> Vec<String> {
    let said = |outcome: &Outcome| match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => failure.kind.words().to_owned(),
    };
    call.again.iter().map(said).collect()
}

const WAYS: [(Over, bool); 4] = [
    (Over::Stdio, false),
    (Over::Http, false),
    (Over::Stdio, true),
    (Over::Http, true),
];

/// Makes calls one after the other, by a script or by a client of its own.
fn recorded_calls(
    desk: &Desk,
    gateway: bool,
    calls: &[(&'static str, Value)],
    scenario: &Value,
) -> Redacted<Trajectory> {
    let trajectory = if gateway {
        let one_by_one: Vec<_> = calls.iter().map(std::slice::from_ref).collect();
        let mut client = Caller::new(&one_by_one);
        let trajectory = desk.run(&mut client, true, scenario, true);
        // Nothing but the answers to its own requests.
        assert_eq!(client.saw(r#""id":"#), calls.len() + 1);
        assert_eq!(client.saw(r#""id":21474"#), 0);
        trajectory
    } else {
        desk.run(&mut script(desk, calls), false, scenario, true)
    };
    assert_eq!(trajectory.calls().count(), calls.len(), "{trajectory:#?}");
    trajectory
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_read_is_asked_again_and_nothing_else() {
    std::thread::scope(|scope| {
        for (over, gateway) in WAYS {
            scope.spawn(move || reads_alone_are_asked_again(over, gateway));
        }
    });
}

fn reads_alone_are_asked_again(over: Over, gateway: bool) {
    let desk = Desk::new(over);
    let none = json!({});
    let calls = [
        ("same", none.clone()),
        ("write", json!({ "text": "a" })),
        ("list", none.clone()),
        ("new", none.clone()),
        ("late", none.clone()),
        ("breaks", none.clone()),
        ("hangs", none.clone()),
        ("fails", none.clone()),
        ("either", json!({ "do": "look", "n": 1.0 })),
        ("either", json!({ "do": "change" })),
        ("tells", none.clone()),
        ("write", json!({ "text": "b" })),
    ];
    // What is asked again counts for no limit.
    let scenario = json!({
        "limits": { "max_steps": calls.len() },
        "scoring": { "reads": [{ "tool": "either", "args": { "do": "look", "n": 1 } }] },
    });
    let trajectory = recorded_calls(&desk, gateway, &calls, &scenario);
    let again = again(&trajectory);
    let (late, timed_out) = (r#"{"tools":["a"]}"#, FailureKind::Timeout.words());
    assert!(again[3][0].contains("Ada"), "{again:#?}");
    let expected: [&[&str]; 12] = [
        &["as ever"],
        &[],
        &[r#"{"notes":["a"]}"#],
        &[&again[3][0].clone()],
        &[late, late],
        &["no more", "no more"],
        &[timed_out, timed_out],
        &[],
        &["done"],
        &[],
        &["told"],
        &[],
    ];
    assert_eq!(again, expected, "{over:?} {gateway}");
    let first = trajectory.calls().nth(3).unwrap();
    let Outcome::Answer(answer) = &first.outcome else {
        panic!("{first:?}")
    };
    assert_ne!(again[3][0], answer.text(), "a new id each time");
    let counts = ["same", "late", "hangs", "fails", "either", "write"].map(|it| desk.calls(it));
    assert_eq!(counts, [2, 3, 3, 1, 3, 2], "{over:?} {gateway}");
    // Waiting for the answer that hangs is part of no call's duration.
    let longest = trajectory.calls().filter_map(|it| it.duration_ms);
    assert!(longest.fold(0.0, f64::max) < 2500.0, "{trajectory:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn only_record_asks_again_and_only_where_nothing_is_played_twice() {
    let small = crate::common::small_agent();
    let scripted = json!({ "kind": "scripted", "calls": [{ "tool": "same" }] });
    let program = json!({ "kind": "command", "command": [small, "call desk same {}"] });
    let record: &[&str] = &["record"];
    let cases: [(&Value, Over, &[&str], usize); 10] = [
        (&scripted, Over::Http, record, 2),
        (&scripted, Over::Http, &["record", "--takes", "1"], 1),
        (&scripted, Over::Http, &["record", "--takes", "3"], 3),
        (&scripted, Over::Http, &["record", "--repeat", "2"], 4),
        (&scripted, Over::Http, &["compare"], 1),
        (&scripted, Over::Http, &["run"], 1),
        (&program, Over::Http, record, 2),
        (&program, Over::Http, &["compare"], 1),
        (&program, Over::Stdio, record, 2),
        (&program, Over::Stdio, &["record", "--takes", "1"], 1),
    ];
    for (agent, over, arguments, expected) in cases {
        let desk = Desk::new(over);
        let server = match &desk.target.launch {
            Launch::Http { url, .. } => json!({ "url": url }),
            Launch::Child(_) => json!({
                "command": env!("CARGO_BIN_EXE_mcp-eval"),
                "args": ["mock", "mock.yaml", "--call-log", "calls.jsonl"],
            }),
        };
        let scenario = json!({ "name": "S", "servers": { "desk": server }, "agent": agent, "user_intent": "Look." });
        desk.project.file("scenarios/s.yaml", scenario.to_string());
        let mut before = 0;
        if arguments[0] == "compare" {
            desk.project.expect(0, &["record", "--takes", "1"]);
            before = desk.calls("same");
        }
        desk.project.expect(0, arguments);
        let asked = desk.calls("same") - before;
        assert_eq!(asked, expected, "{} {over:?} {arguments:?}", agent["kind"]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_read_with_a_secret_is_not_asked_again_where_nothing_is_new() {
    let small = crate::common::small_agent();
    let arguments = json!({ "access_token": "tok_a4B9x2Qz", "of": "tok_a4B9x2Qz" });
    let scripted = json!({ "kind": "scripted", "calls": [{ "tool": "same", "args": arguments }, { "tool": "new", "args": arguments }] });
    let calls = ["same", "new"].map(|it| format!("call desk {it} {arguments}"));
    let program = json!({ "kind": "command", "command": [small, calls[0], calls[1]] });
    for agent in [scripted, program] {
        let desk = Desk::new(Over::Http);
        let Launch::Http { url, .. } = &desk.target.launch else {
            unreachable!("it is reached over HTTP");
        };
        let scenario = json!({ "name": "S", "servers": { "desk": { "url": url } }, "agent": agent, "user_intent": "Look." });
        desk.project.file("scenarios/s.yaml", scenario.to_string());
        desk.project.expect(0, &["record"]);
        let stored = desk.project.read("baselines/s/baseline.json");
        assert!(!stored.contains("tok_a4B9x2Qz"), "{stored}");
        let before = ["same", "new"].map(|it| desk.calls(it));
        assert_eq!(before, [2, 2], "{}", agent["kind"]);
        desk.project.expect(0, &["compare"]);
        let asked = ["same", "new"].map(|it| desk.calls(it));
        assert_eq!(asked, [3, 3], "{}", agent["kind"]);
    }
}

#[test]
fn without_the_option_nothing_is_asked_again() {
    for (over, gateway) in WAYS {
        let desk = Desk::new(over);
        let calls = [("same", json!({}))];
        let trajectory = if gateway {
            desk.run(&mut Caller::new(&[&calls]), true, &json!({}), false)
        } else {
            desk.run(&mut script(&desk, &calls), false, &json!({}), false)
        };
        assert_eq!(again(&trajectory), [[""; 0]]);
        assert_eq!(desk.calls("same"), 1, "{over:?} {gateway}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn asking_again_takes_nothing_of_the_runs_time() {
    let desk = Desk::new(Over::Http);
    let calls = [
        ("slower", json!({})),
        ("slower", json!({ "n": 2 })),
        ("slower", json!({ "n": 3 })),
    ];
    let limits = json!({ "limits": { "max_duration": "6s" }, "timeout": "6s" });
    let begun = Instant::now();
    let trajectory = desk.run(&mut script(&desk, &calls), false, &limits, true);
    assert!(begun.elapsed() > Duration::from_millis(7200));
    assert!(trajectory.ending.is_complete(), "{:?}", trajectory.ending);
    assert_eq!(again(&trajectory), [["at last"]; 3]);
    let duration = trajectory.duration_ms.unwrap();
    assert!((3600.0..6000.0).contains(&duration), "{duration}");
    let starts: Vec<f64> = trajectory.calls().filter_map(|it| it.start_ms).collect();
    assert!(starts[2] - starts[1] < 2400.0, "{starts:?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_client_has_its_answer_at_once_and_its_next_call_waits() {
    for over in [Over::Stdio, Over::Http] {
        let desk = Desk::new(over);
        let none = json!({});
        let mut client = Caller::new(&[
            &[("slower", none.clone())],
            &[("write", json!({ "text": "x" }))],
            &[("slow", none.clone())],
        ]);
        // What it has asked last is still being asked again when it leaves.
        client.leaves = true;
        let trajectory = desk.run(&mut client, true, &json!({}), true);
        let said = again(&trajectory);
        assert_eq!(said, [vec!["at last"], vec![], vec!["at last"]]);
        let took = client.took.lock().unwrap().clone();
        assert!(took[0] < Duration::from_millis(2300), "{took:?}");
        // It was held up, and that is not the server's time.
        let written = trajectory.calls().nth(1).unwrap().duration_ms.unwrap();
        let held_up = took[1].as_secs_f64() * 1000.0 - written;
        assert!(held_up > 600.0, "{held_up} of {took:?}");
    }
}

#[test]
fn what_asks_the_client_is_not_asked_again() {
    for over in [Over::Stdio, Over::Http] {
        let desk = Desk::new(over);
        let mut client = Caller::new(&[&[("asks", json!({}))], &[("tells", json!({}))]]);
        let trajectory = desk.run(&mut client, true, &json!({}), true);
        assert_eq!(again(&trajectory), [vec![], vec!["told"]], "{over:?}");
        assert_eq!(desk.calls("asks"), 1);
        assert_eq!(client.saw("sampling/createMessage"), 1);
        assert_eq!(client.saw("notifications/progress"), 1);
        assert_eq!(client.saw("told"), 1);
    }
}

#[test]
fn an_interruption_ends_what_is_asked_again() {
    for gateway in [false, true] {
        let mut desk = Desk::new(Over::Stdio);
        desk.target.tool_timeout = Duration::from_secs(60);
        let calls = [("hangs", json!({}))];
        let mut agent: Box<dyn Agent> = if gateway {
            Box::new(Caller::new(&[&calls]))
        } else {
            Box::new(script(&desk, &calls))
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let begun = Instant::now();
        let trajectory = runtime.block_on(async {
            let interrupt = CancellationToken::new();
            let ctrl_c = async {
                while !desk.project.path("calls.jsonl").exists() || desk.calls("hangs") < 2 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                interrupt.cancel();
            };
            let none = json!({});
            let run = desk.running(agent.as_mut(), gateway, &none, true, interrupt.clone());
            tokio::join!(run, ctrl_c).0
        });
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(format!("{:?}", trajectory.ending), "Interrupted");
        assert!(!trajectory.calls().next().unwrap().outcome.is_failure());
        assert_eq!(desk.project.survivors(), [""; 0]);
    }
}

#[test]
fn what_was_asked_again_is_as_clean_as_what_was_stored() {
    let token = |letter: &str| format!("ghp_{}", letter.repeat(36));
    let mut trajectory = recorded(&[json!({ "tool": "mcp__s__t", "text": token("a") })]);
    for step in &mut trajectory.steps {
        if let model::Step::ToolCall(call) = step {
            let Outcome::Answer(answer) = &call.outcome else {
                continue;
            };
            let mut other = answer.clone();
            other.content[0]["text"] = json!(token("b"));
            call.again = vec![call.outcome.clone(), Outcome::Answer(other)];
        }
    }
    let later = recorded(&[json!({ "tool": "mcp__s__u", "text": token("c") })]);
    trajectory.steps.extend(later.steps);
    let trajectory = Redactor::default().trajectory(trajectory);
    let shown = format!("{trajectory:?}");
    assert!(!shown.contains("ghp_"), "{shown}");
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    assert_eq!(calls[0].again[0], calls[0].outcome);
    assert_ne!(calls[0].again[1], calls[0].outcome);
    // Nobody knows in a later run of what was only asked again, so the others are called as if it had not been.
    let Outcome::Answer(answer) = &calls[1].outcome else {
        panic!()
    };
    assert!(answer.text().ends_with("#2>"), "{}", answer.text());
}
