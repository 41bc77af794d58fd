//! `record --listen`: a session of somebody else becomes a scenario and its baseline.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Project, Ran, faulty_server, ran, small_agent};

/// A running `record --listen`.
struct Listening {
    child: Child,
    config: String,
}

/// Starts it and waits until it says where the servers are.
#[track_caller]
fn listen(command: &mut Command, arguments: &[&str]) -> Listening {
    let mut child = command
        .args(["record", "--listen"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut config = String::new();
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines() {
        let line = line.unwrap();
        config.push_str(&line);
        if line == "}" {
            return Listening { child, config };
        }
    }
    panic!("{}", end(child).stderr);
}

fn end(mut child: Child) -> Ran {
    let mut stderr = String::new();
    let pipe = child.stderr.as_mut().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    Ran {
        code: child.wait().unwrap().code().unwrap(),
        stdout: String::new(),
        stderr,
        took: std::time::Duration::ZERO,
    }
}

impl Listening {
    /// Has a session with these steps.
    #[track_caller]
    fn session(&self, project: &Project, steps: &[&str]) -> Ran {
        project.file("client.json", &self.config);
        let mut agent = Command::new(small_agent());
        agent
            .args(steps)
            .env("MCP_EVAL_MCP_CONFIG", project.path("client.json"));
        let ran = ran(&mut agent);
        std::fs::remove_file(project.path("client.json")).unwrap();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran
    }

    fn signal(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }

    /// Ends it as Ctrl-C does.
    #[track_caller]
    fn done(self, code: i32) -> Ran {
        self.signal();
        let ran = end(self.child);
        assert_eq!(ran.code, code, "{ran:#?}");
        ran
    }
}

/// A project with a scenario of two tickets, whose ids are new every time.
fn tickets() -> Project {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        r#"
name: S
user_intent: something else
variables: { who: me }
servers: { desk: { type: mock } }
agent: { kind: command, command: [none] }
limits: { max_steps: 1 }
mcp_interactions:
  desk:
    state: { tickets: {} }
    tools:
      - name: open
        responses:
          - set: { "tickets[uuid.ticket]": { id: "{{uuid.ticket}}", title: "{{args.title}}" } }
            content: [{ json: { id: "{{uuid.ticket}}" } }]
      - name: show
        responses:
          - when: { "tickets[args.id]": { absent: true } }
            content: there is no such ticket
            is_error: true
          - content: [{ json: { ticket: "{{get.tickets[args.id]}}" } }]
"#,
    );
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn sessions_become_a_scenario_and_a_baseline_that_pass() {
    let project = tickets();
    let arguments = [
        "scenarios/s.yaml",
        "--name",
        "mine/two",
        "--intent",
        "A ticket, please.",
    ];
    let listening = listen(&mut project.command(), &arguments);
    let config: Value = serde_json::from_str(&listening.config).unwrap();
    assert_eq!(config["mcpServers"]["desk"]["type"], "http");
    let steps = [
        r#"call desk open {"title": "broken"}"#,
        r#"call desk show {"id": "<id>"}"#,
    ];
    listening.session(&project, &steps).says("broken");
    listening
        .session(&project, &[r#"call desk show {"id": "gone"}"#])
        .says("no such ticket");
    let output = listening.done(0);
    output.says("call 3 mcp__desk__show: tool error");
    output.says("kept as scenarios/mine/two.yaml and baselines/mine/two/baseline.json");
    output.says("taken from an earlier answer: call 2 /id ← call 1 response /id");
    assert_eq!(project.survivors(), [""; 0]);
    // It is a result like any other.
    project.expect(0, &["history", "mine/two"]).says("recorded");
    let info = project.expect(0, &["db", "info"]);
    info.says("1 run, 1 result");

    let scenario = project.read("scenarios/mine/two.yaml");
    for said in [
        "user_intent: A ticket, please.",
        "kind: replay",
        "is_error: true",
    ] {
        assert!(scenario.contains(said), "{scenario}");
    }
    for not in ["something else", "limits", "who"] {
        assert!(!scenario.contains(not), "{scenario}");
    }
    project.expect(0, &["validate"]);
    project.expect(0, &["compare", "scenarios/mine/two.yaml"]);
    project.expect(0, &["run", "scenarios/mine/two.yaml"]);
    // What differs is found.
    project.edit(
        "scenarios/mine/two.yaml",
        "there is no such ticket",
        "ask somebody else",
    );
    project.expect(1, &["compare", "scenarios/mine/two.yaml"]);

    // Nothing is overwritten unasked.
    let again = [
        "record",
        "--listen",
        "scenarios/s.yaml",
        "--name",
        "mine/two",
    ];
    project
        .expect(2, &again)
        .says("is there already")
        .says("--force");
    let arguments = ["scenarios/s.yaml", "--name", "mine/two", "--force"];
    let listening = listen(&mut project.command(), &arguments);
    listening.session(&project, &[r#"call desk open {"title": "new"}"#]);
    listening.done(0);
    assert!(
        !project
            .read("scenarios/mine/two.yaml")
            .contains("show\n  args")
    );
    project.expect(0, &["compare", "scenarios/mine/two.yaml"]);
}

#[test]
fn calls_that_a_replay_in_one_session_cannot_repeat_are_reported() {
    let project = tickets();
    let listening = listen(&mut project.command(), &["scenarios/s.yaml", "--name", "t"]);
    let opened = listening.session(&project, &["call desk open {}"]);
    let opened: Value = serde_json::from_str(opened.stdout.trim()).unwrap();
    // A mock forgets with its process, and each session has its own.
    let show = format!("call desk show {}", json!({ "id": opened["id"] }));
    listening.session(&project, &[&show]).says("no such ticket");
    listening
        .done(0)
        .says("in one session, it was answered differently");
    project.expect(1, &["compare", "scenarios/t.yaml"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn reads_of_a_server_that_outlives_the_session_are_asked_again() {
    let declared = json!({ "mcp_interactions": { "desk": { "tools": [
        { "name": "look", "annotations": { "read_only_hint": true }, "responses": [{ "content": "a desk" }] },
        { "name": "sit", "responses": [{ "content": "you sit" }] },
    ] } } });
    for (takes, looked) in [(None, 2), (Some("1"), 1), (Some("2"), 2)] {
        let log = ["--call-log", "calls.jsonl"];
        let (project, served) = crate::mock::Served::of(&declared.to_string(), &log);
        let config = json!({ "mcpServers": { "desk": { "url": served.url } } });
        project.file("servers.json", config.to_string());
        let mut arguments = vec!["--mcp-config", "servers.json", "--name", "s"];
        arguments.extend(takes.iter().flat_map(|it| ["--takes", it]));
        let listening = listen(&mut project.command(), &arguments);
        let session = listening.session(&project, &["call desk look {}", "call desk sit {}"]);
        assert_eq!(session.stdout, "a desk\nyou sit\n");
        listening.done(0);
        let log = project.read("calls.jsonl");
        let calls = |tool: &str| log.matches(&format!(r#""tool":"{tool}""#)).count();
        let sat = takes.map_or(1, |it| it.parse().unwrap());
        assert_eq!((calls("look"), calls("sit")), (looked, sat), "{takes:?}");
    }
}

#[test]
fn a_clients_configuration_gives_the_servers_and_keeps_its_secrets() {
    const CANARY: &str = "canary-config-0a1b2c3d4e";
    let project = Project::new();
    let server = json!({
        "command": faulty_server(),
        "args": ["random"],
        "env": { "API_KEY": CANARY },
    });
    let config = json!({ "mcpServers": { "s": server } });
    project.file("servers.json", config.to_string());
    let arguments = ["--mcp-config", "servers.json", "--name", "s"];
    let listening = listen(&mut project.command(), &arguments);
    let key = format!("call s echo {}", json!({ "api_key": CANARY }));
    listening.session(&project, &["call s count {}", &key]);
    let output = listening.done(0);
    // What is new every time was learned by playing it again.
    output.says("the answer to call 1 varies");
    output.says_not(CANARY);
    project.expect(0, &["compare"]).says_not(CANARY);
    project.expect(0, &["run"]).says_not(CANARY);
    std::fs::remove_file(project.path("servers.json")).unwrap();
    let output = Command::new("grep")
        .args(["-r", "-l", CANARY, "."])
        .current_dir(project.path(""))
        .output();
    assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), "");
    let scenario = project.read("scenarios/s.yaml");
    assert!(
        scenario.contains("config_file: ../servers.json"),
        "{scenario}"
    );
}

#[test]
fn paths_lead_to_the_same_places_from_elsewhere() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("flows/deep/work")).unwrap();
    let server = project.path("flows/server");
    std::os::unix::fs::symlink(faulty_server(), server).unwrap();
    project.file("flows/deep/_defaults.yaml", "tool_timeout: 5s\n");
    project.file(
        "flows/deep/s.yaml",
        "name: S\nservers: { s: { command: ../server, cwd: work, env: { LEVEL: \"${LEVEL:-info}\" } } }\nexpected_trajectory: [{ tool: echo }]\n",
    );
    let listening = listen(
        &mut project.command(),
        &["flows/deep/s.yaml", "--name", "s", "--output", "kept"],
    );
    listening.session(&project, &["call s echo {}"]);
    listening.done(0).says("--baseline kept");
    let scenario = project.read("scenarios/s.yaml");
    for said in [
        "command: ../flows/server",
        "cwd: ../flows/deep/work",
        "LEVEL: ${LEVEL:-info}",
        "tool_timeout: 5s",
    ] {
        assert!(scenario.contains(said), "{said}: {scenario}");
    }
    project.expect(0, &["compare", "--baseline", "kept"]);
}

#[test]
fn what_was_not_answered_is_left_out_and_nothing_is_written_for_nothing() {
    let project = Project::new();
    project.faulty("s", &["die-after=1"], &[("echo", json!({}))]);
    let begin = || {
        listen(
            &mut project.command(),
            &["scenarios/s.yaml", "--name", "mine"],
        )
    };
    // A server that dies is started again with the next session.
    let listening = begin();
    listening.session(&project, &["call s echo {}", "call s echo {}"]);
    listening.session(&project, &["call s echo {\"n\": 2}"]);
    let output = listening.done(0);
    output.says("left out, because it was not answered: `mcp__s__echo`: closed the connection");
    assert_eq!(
        project
            .read("scenarios/mine.yaml")
            .matches("- tool:")
            .count(),
        2
    );
    std::fs::remove_dir_all(project.path("baselines")).unwrap();
    std::fs::remove_file(project.path("scenarios/mine.yaml")).unwrap();

    begin().done(3).says("nothing was written");
    assert!(!project.path("scenarios/mine.yaml").exists());
    assert!(!project.path("baselines").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_second_interruption_keeps_nothing() {
    let project = Project::new();
    // It is slow to leave, so there is time for a second one.
    project.faulty("s", &["stubborn"], &[("echo", json!({}))]);
    let listening = listen(
        &mut project.command(),
        &["scenarios/s.yaml", "--name", "mine"],
    );
    listening.session(&project, &["call s echo {}"]);
    listening.signal();
    std::thread::sleep(std::time::Duration::from_millis(900));
    let output = listening.done(130);
    output.says("interrupted: nothing was kept");
    assert!(!project.path("scenarios/mine.yaml").exists());
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn what_could_not_be_kept_is_refused_before_the_session() {
    let project = tickets();
    project
        .file("scenarios/plain", "")
        .file("baselines/plain2", "");
    let long = "n".repeat(300);
    let cases = [
        ("plain/x", "scenarios/plain is not a folder"),
        ("plain2/x", "baselines/plain2 is not a folder"),
        (&long, "name too long"),
    ];
    for (name, message) in cases {
        let arguments = ["record", "--listen", "scenarios/s.yaml", "--name", name];
        let ran = project.run(&arguments);
        assert_eq!(ran.code, 3, "{ran:#?}");
        assert!(ran.stdout.is_empty(), "the session has begun: {ran:#?}");
        assert!(ran.all().to_lowercase().contains(message), "{ran:#?}");
    }
    // Trying leaves nothing behind.
    assert!(!project.path("scenarios/plain2").exists());
    assert!(!project.path("baselines/plain").exists());
    assert!(!project.path(".mcp-eval").exists());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let project = tickets();
    project.file("scenarios/t.yaml", project.read("scenarios/s.yaml"));
    let file = "scenarios/s.yaml";
    let cases: [(&[&str], &str); 8] = [
        (&[], "--listen needs servers"),
        (&["scenarios"], "several were named"),
        (
            &[file, "--name", "../x"],
            "cannot be the name of a scenario",
        ),
        (&[file, "--intent", "{{x}}"], "begins a variable"),
        (&[file, "--agent", "replay"], "cannot be used with"),
        (&[file, "--repeat", "2"], "cannot be used with"),
        (&[file, "--name", "s"], "is there already"),
        (&["scenarios/none.yaml"], "none.yaml"),
    ];
    for (arguments, message) in cases {
        let arguments = [&["record", "--listen"], arguments].concat();
        project.expect(2, &arguments).says(message);
    }
    project
        .expect(2, &["record", "--port", "1"])
        .says("--listen");
    let mut in_ci = project.command();
    let ran = ran(in_ci.args(["record", "--listen", file]).env("CI", "1"));
    assert_eq!(ran.code, 2, "{ran:#?}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let arguments = ["record", "--listen", file, "--port", &port];
    project.expect(3, &arguments).says("cannot listen on port");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_secret_that_was_typed_in_a_session_is_played_again_once_it_has_a_name() {
    let project = tickets();
    let key = format!("ghp_{}", "A1b2C3d4".repeat(5));
    let step = format!(r#"call desk open {{"title": "{key}"}}"#);
    let session = |file: &str| {
        let mut command = project.command();
        command.env("GITHUB_TOKEN", &key);
        let listening = listen(&mut command, &[file, "--name", "mine", "--force"]);
        listening.session(&project, &[&step]);
        listening.done(0)
    };
    session("scenarios/s.yaml")
        .says("could not be played again")
        .says(r#"`variables: { github_token: { value: "${GITHUB_TOKEN}", secret: true } }`"#)
        .says("a session with `record --listen` and that scenario")
        .says_not("ghp_");
    project.expect(3, &["compare", "scenarios/mine.yaml"]);

    let scenario = project.read("scenarios/mine.yaml");
    let declared = "variables: { github_token: { value: \"${GITHUB_TOKEN}\", secret: true } }\n";
    project.file("scenarios/mine.yaml", format!("{declared}{scenario}"));
    session("scenarios/mine.yaml").says_not("could not be played again");
    let mut compare = project.command();
    compare.env("GITHUB_TOKEN", &key);
    let ran = ran(compare.args(["compare", "scenarios/mine.yaml"]));
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn what_a_client_answered_is_answered_again() {
    let project = Project::new();
    let asks = |messages: &[&str], answer: &str| {
        let steps: Vec<Value> = (messages.iter())
            .map(|it| {
                let size =
                    json!({ "type": "object", "properties": { "size": { "type": "string" } } });
                json!({ "elicit": { "message": it, "requested_schema": size } })
            })
            .collect();
        let tools =
            json!([{ "name": "ask", "responses": [{ "steps": steps, "content": answer }] }]);
        let mock = json!({ "mcp_interactions": { "desk": { "tools": tools } } });
        project.file("mock.yaml", mock.to_string());
    };
    asks(&["how big?"], "it is {{elicitation.content.size}}");
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let server = json!({ "command": program, "args": ["mock", "mock.yaml"], "cwd": ".." });
    let scenario = json!({ "name": "S", "servers": { "desk": server }, "expected_trajectory": [] });
    project.file("scenarios/s.yaml", scenario.to_string());
    let listening = listen(
        &mut project.command(),
        &["scenarios/s.yaml", "--name", "two"],
    );
    listening
        .session(&project, &["call desk ask {}"])
        .says("it is big");
    listening.done(0);
    let baseline = project.read("baselines/two/baseline.json");
    let baseline: Value = serde_json::from_str(&baseline).unwrap();
    let client = &baseline["catalogue"][0]["client"];
    assert_eq!(
        client["answers"][0]["result"]["content"]["size"], "big",
        "{client}"
    );
    assert_eq!(baseline["learned"][0]["takes"], 2);
    assert_eq!(baseline["learned"][0]["varies"], Value::Null);
    project.expect(0, &["compare", "scenarios/two.yaml"]);
    asks(&["how big?"], "it was {{elicitation.content.size}}");
    project.expect(1, &["compare", "scenarios/two.yaml"]);
    // Whoever was never asked cannot answer, and nothing is compared.
    asks(
        &["how big?", "how wide?"],
        "it is {{elicitation.content.size}}",
    );
    project
        .expect(3, &["compare", "scenarios/two.yaml"])
        .says("`elicitation/create`");
}
