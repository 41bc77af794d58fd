//! The model that a scenario file becomes: every key reaches it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use mcp_eval::model::Source;
use mcp_eval::model::rules::{ArgumentMatch, Gate, Match, Preset, Responses};
use mcp_eval::model::usage::Price;
use mcp_eval::scenario_file::agent::{
    Agent, Criterion, Limits, ModelAgent, ModelApi, Pace, Replaying, Temperature, ToolChoice,
};
use mcp_eval::scenario_file::mock::{AnswerBlock, ArgumentCondition, MockReply};
use mcp_eval::scenario_file::servers::{Start, Transport};
use mcp_eval::scenario_file::{self, Options, Scenario};

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The scenarios of a folder, without any findings.
fn load(folder: &Path, variables: &[(&str, &str)]) -> Vec<Scenario> {
    let (found, findings) = scenario_file::find(&[folder.join("scenarios")]);
    assert_eq!(findings, []);
    let options = Options {
        variables: variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        environment: None,
        working_dir: folder.join("work"),
        ..Options::default()
    };
    let loaded = scenario_file::load(&found, &options);
    assert_eq!(loaded.findings, []);
    loaded.scenarios
}

fn load_one(text: &str, variables: &[(&str, &str)]) -> Scenario {
    let folder = folder(&[("scenarios/x.yaml", text)]);
    load(folder.path(), variables).remove(0)
}

/// The scenario of the case file that uses every key.
fn everything() -> (TempDir, Scenario) {
    let case =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenarios/everything.txt");
    let text = fs::read_to_string(case).unwrap();
    let (files, _) = text.split_once("-- findings --").unwrap();
    let parts: Vec<(&str, &str)> = files
        .split("-- scenarios/")
        .filter_map(|it| it.split_once(" --\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scenarios")).unwrap();
    for (name, text) in parts {
        fs::write(folder.path().join("scenarios").join(name), text).unwrap();
    }
    let scenario = load(folder.path(), &[]).remove(0);
    (folder, scenario)
}

#[test]
fn what_is_left_out_has_its_default() {
    let scenario = load_one("name: x\nexpected_trajectory: [{ tool: a }]\n", &[]);
    assert!(scenario.enabled);
    assert_eq!(scenario.timeouts.scenario, Duration::from_secs(300));
    assert_eq!(scenario.scoring, model::rules::Rules::default());
    let Agent::Scripted { calls } = &scenario.agent else {
        panic!("{:?}", scenario.agent)
    };
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].tool, "a");
    assert_eq!(calls[0].critical, None);
}

#[test]
fn every_key_of_servers_hooks_and_containers_arrives() {
    let (folder, scenario) = everything();
    let home = folder.path().join("scenarios");
    assert_eq!(scenario.name, "Everything at once");
    assert_eq!(scenario.description.as_deref(), Some("One of each"));
    assert!(!scenario.enabled);
    assert_eq!(scenario.tags, ["all", "12"]);
    assert_eq!(scenario.config_file, Some(home.join("mcp.json")));
    assert_eq!(
        scenario.user_intent.as_deref(),
        Some("Find environment tools")
    );
    assert_eq!(scenario.source.repo, Some(home.join("../repo")));
    assert_eq!(scenario.timeouts.scenario, Duration::from_secs(120));
    assert_eq!(scenario.timeouts.connect, Duration::from_millis(1500));
    assert_eq!(scenario.timeouts.tool, Duration::from_secs(10));
    let names: Vec<_> = scenario.servers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["tools", "web", "child", "extra"]);
    assert_eq!(scenario.servers[0].transport, Transport::Mock);
    assert_eq!(
        scenario.servers[0].connect_timeout,
        Some(Duration::from_secs(90))
    );
    assert_eq!(
        scenario.servers[0].tool_timeout,
        Some(Duration::from_millis(250))
    );
    assert_eq!(
        scenario.servers[1].transport,
        Transport::Http {
            style: scenario_file::servers::HttpStyle::default(),
            url: "${URL:-http://localhost}/mcp".to_owned(),
            headers: vec![("X-Key".to_owned(), "${KEY}".to_owned())],
            bearer_token_env: Some("TOKEN".to_owned()),
            start: None,
            headers_command: Vec::new(),
        }
    );
    assert_eq!(
        scenario.servers[2].transport,
        Transport::Stdio(Start {
            command: home.join("./serve").display().to_string(),
            args: vec!["--port".to_owned(), "${PORT}".to_owned()],
            env: vec![("A".to_owned(), "1".to_owned())],
            cwd: Some(home.join("sub")),
        })
    );
}

#[test]
fn every_key_of_script_and_expectation_arrives() {
    let (_folder, scenario) = everything();
    let Agent::Scripted { calls } = &scenario.agent else {
        panic!("{:?}", scenario.agent)
    };
    assert_eq!(calls[1].tool, "mcp__tools__search");
    assert_eq!(
        json!(calls[1].arguments),
        json!({"query": "environment variables", "limit": 10, "on": true, "id": "{{calls.0.json:/id}}"})
    );
    assert_eq!(calls[1].critical, Some(true));
    let expected = &scenario.expected_trajectory[0];
    assert_eq!(expected.action.as_deref(), Some("search"));
    assert_eq!(json!(expected.arguments), json!({"query": "environment"}));
    assert_eq!(expected.notes.as_deref(), Some("not {{filled}}"));
    assert!(expected.is_error);
    assert_eq!(expected.critical, Some(false));
    assert_eq!(
        scenario.success_criteria,
        [
            Criterion::Text("environment".to_owned()),
            Criterion::ToolCalled("mcp__tools__search".to_owned()),
            Criterion::ToolNeverCalled("delete".to_owned()),
        ]
    );
}

#[test]
fn every_key_of_replays_arrives() {
    let (_folder, scenario) = everything();
    let replaying = &scenario.replaying;
    assert_eq!(replaying.pace, Pace::Recorded);
    assert_eq!(replaying.poll_timeout, Duration::from_secs(45));
    let [bound, recorded] = replaying.bindings.as_slice() else {
        panic!("{replaying:?}")
    };
    let from = Source {
        call: 1,
        path: "/new/id".to_owned(),
    };
    assert_eq!((bound.call, bound.path.as_str()), (2, "/id"));
    assert_eq!(bound.from, Some(from));
    assert_eq!(bound.value, Some(json!("k7")));
    assert!(bound.place.ends_with("x.yaml:59:15"), "{}", bound.place);
    assert_eq!((recorded.call, &recorded.from), (3, &None));
}

#[test]
fn a_replay_needs_no_calls_of_its_own() {
    let scenario = load_one("name: x\nagent: { kind: replay }\n", &[]);
    assert_eq!(scenario.agent, Agent::Replay { calls: Vec::new() });
    let whole = Duration::from_secs(300);
    assert_eq!(scenario.replaying, Replaying::within(whole));
    assert_eq!(scenario.replaying.poll_timeout, Duration::from_secs(30));
    let short = load_one("name: x\ntimeout: 10s\nagent: { kind: replay }\n", &[]);
    assert_eq!(short.replaying.poll_timeout, Duration::from_secs(5));
    let text = "name: x\nagent: { kind: replay }\nexpected_trajectory: [{ tool: a }]\n";
    assert_eq!(load_one(text, &[]).agent.calls().len(), 1, "for recording");
}

#[test]
fn every_key_of_scoring_arrives() {
    let (_folder, scenario) = everything();
    let rules = &scenario.scoring;
    assert!((rules.threshold - 0.7).abs() < 1e-12);
    assert_eq!(rules.preset, Preset::Classic);
    assert_eq!(rules.matching, Match::AnyOrder);
    assert_eq!(rules.responses, Responses::Shape);
    assert_eq!(rules.drift, Gate::Fail);
    let arguments: Vec<_> = rules
        .arguments
        .iter()
        .map(|it| (it.tool.as_deref(), it.argument.as_str(), it.how.clone()))
        .collect();
    assert_eq!(
        arguments,
        [
            (None, "query", ArgumentMatch::Words),
            (
                Some("search"),
                "limit",
                ArgumentMatch::Number { max_diff: 5.0 }
            ),
            (Some("files.read"), "path", ArgumentMatch::Ignore),
            (
                None,
                "mode",
                ArgumentMatch::OneOf(vec![json!("a"), json!(1)])
            ),
            (None, "id", ArgumentMatch::Regex("^[0-9]+$".to_owned())),
            (None, "token", ArgumentMatch::Ignore),
            (None, "operation", ArgumentMatch::Exact),
            (None, "note", ArgumentMatch::Any),
        ]
    );
    assert_eq!(rules.reads[0].tool, "search");
    assert_eq!(rules.reads[1].tool, "upstream");
    assert_eq!(
        json!(rules.reads[1].arguments),
        json!({"operation": "list"})
    );
    assert_eq!(rules.ignore, ["/content/*/id"]);
    assert!((rules.slower.factor - 2.0).abs() < 1e-12);
    assert_eq!(rules.slower.floor, Duration::from_millis(100));
    assert_eq!(rules.slower.gate, Gate::Fail);
    assert!((rules.tokens.factor - 1.5).abs() < 1e-12);
    assert_eq!(rules.tokens.floor, 10);
    assert_eq!(rules.tokens.gate, Gate::Fail);
}

#[test]
fn every_key_of_limits_and_models_arrives() {
    let (_folder, scenario) = everything();
    assert_eq!(
        scenario.limits,
        Limits {
            max_total_tokens: Some(1000),
            max_steps: Some(5),
            max_duration: Some(Duration::from_secs(60)),
            max_cost: Some(0.5),
        }
    );
    let scenario = load_one(
        "name: x\nturns: [a, \"{{b}}\"]\nvariables: { b: c }\nagent:\n  kind: openai\n  api: responses\n  model: m\n  base_url: \"http://h\"\n  api_key_env: K\n\
         \x20 system: s\n  temperature: null\n  max_tokens: 5\n  max_steps: 6\n  tool_choice: { tool: t }\n  timeout: 7s\n  tool_timeout: 8s\n\
         \x20 max_result_chars: 9\n  extra_headers: { A: b }\n  extra_body: { c: null }\n  price: { input: 1, output: 2, cache_read: 3, cache_write: 4 }\n",
        &[],
    );
    assert_eq!(scenario.turns, ["a", "c"]);
    assert_eq!(scenario.user_intent.as_deref(), Some("a\n\nc"));
    let expected = ModelAgent {
        base_url: Some("http://h".to_owned()),
        api_key_env: Some("K".to_owned()),
        system: Some("s".to_owned()),
        temperature: Temperature::Unset,
        max_tokens: Some(5),
        max_steps: 6,
        tool_choice: Some(ToolChoice::Tool("t".to_owned())),
        timeout: Duration::from_secs(7),
        tool_timeout: Some(Duration::from_secs(8)),
        max_result_chars: Some(9),
        extra_headers: vec![("A".to_owned(), "b".to_owned())],
        extra_body: json!({ "c": null }).as_object().unwrap().clone(),
        price: Some(Price {
            input: 1.0,
            output: 2.0,
            cache_read: Some(3.0),
            cache_write: Some(4.0),
        }),
        ..ModelAgent::new(ModelApi::OpenAiResponses, "m")
    };
    assert_eq!(scenario.agent.model(), Some(&expected));
}

#[test]
fn every_key_of_mocks_arrives_in_the_words_of_the_protocol() {
    let (_folder, scenario) = everything();
    let (name, server) = &scenario.interactions[0];
    assert_eq!(name, "tools");
    assert_eq!(server.name.as_deref(), Some("Toolbox"));
    assert_eq!(server.version.as_deref(), Some("2.0.1"));
    assert_eq!(server.instructions.as_deref(), Some("Search first"));
    let tool = &server.tools[0];
    assert_eq!(tool.served["title"], "Search");
    assert_eq!(tool.served["description"], "Finds tools");
    let schema = tool.input_schema().unwrap();
    assert_eq!(
        schema["properties"],
        json!({"some_key": {"type": "string"}})
    );
    assert_eq!(tool.served["outputSchema"], json!({"type": "object"}));
    assert_eq!(
        tool.served["annotations"],
        json!({"title": "S", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false})
    );
    let first = &tool.responses[0];
    let conditions: Vec<_> = first
        .matches
        .iter()
        .map(|(name, it)| (name.as_str(), it.clone()))
        .collect();
    assert_eq!(
        conditions,
        [
            ("exactly", ArgumentCondition::Equals(json!([1, "two"]))),
            ("part", ArgumentCondition::Contains("env".to_owned())),
            ("pattern", ArgumentCondition::Regex("^e.*t$".to_owned())),
            ("there", ArgumentCondition::Any),
            ("object", ArgumentCondition::Equals(json!({"a": 1}))),
        ]
    );
    assert_eq!(first.times, Some(2));
    assert_eq!(first.delay, Some(Duration::from_millis(5)));
    let replies: Vec<_> = tool.responses.iter().map(|it| it.reply.clone()).collect();
    // What becomes a text of JSON only when it is served stands here under `json`.
    let result = |content: serde_json::Value, structured_content, is_error| MockReply::Result {
        content: content
            .as_array()
            .unwrap()
            .iter()
            .map(|block| {
                let mut block = block.clone();
                let json = block.as_object_mut().unwrap().remove("json");
                AnswerBlock {
                    served: block,
                    json,
                }
            })
            .collect(),
        structured_content,
        is_error,
        meta: None,
    };
    assert_eq!(
        replies,
        [
            result(
                json!([{"type": "text", "text": "plain {{args.query}}"}]),
                None,
                false
            ),
            result(
                json!([
                    {"type": "text", "text": "hello", "annotations":
                        {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}},
                    {"type": "text", "json": {"some_key": [1, 2.5, null], "b": "{{args.query}}"}},
                    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                    {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "a"}},
                    {"type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "description": "d",
                        "mimeType": "text/plain", "size": 3},
                ]),
                Some(json!({"some_key": 1})),
                true
            ),
            result(json!([]), Some(json!({"some_key": 2})), false),
            MockReply::Error {
                code: -32603,
                message: "broken".to_owned(),
                data: Some(json!({"some_key": 1})),
            },
        ]
    );
}

#[test]
fn variables_from_outside_keep_the_type_they_replace() {
    let text = "name: x\nvariables: { n: 1, b: true, t: '1', u: 1 }\n\
        user_intent: '{{n}}'\n\
        expected_trajectory: [{ tool: 'a{{n}}', args: { n: '{{n}}', b: '{{ b }}', t: '{{t}}', u: '{{u}}', in: 'x{{n}}{{b}}{{t}}' } }]\n";
    let scenario = load_one(
        text,
        &[
            ("n", "2"),
            ("n", "3"),
            ("b", "false"),
            ("t", "4"),
            ("u", "many"),
        ],
    );
    let call = &scenario.expected_trajectory[0];
    assert_eq!(scenario.user_intent.as_deref(), Some("3"));
    assert_eq!(call.tool, "a3");
    assert_eq!(
        json!(call.arguments),
        json!({"n": 3, "b": false, "t": "4", "u": "many", "in": "x3false4"})
    );
}

#[test]
fn a_maps_own_keys_win_over_merged_ones() {
    let text = "name: x\nx-one: &one { a: 1, b: 1 }\nx-two: &two { b: 2, c: 2 }\n\
        expected_trajectory: [{ tool: t, args: { a: 0, <<: [*one, *two], \"<<\": plain } }]\n";
    let arguments = &load_one(text, &[]).expected_trajectory[0].arguments;
    assert_eq!(
        json!(arguments),
        json!({"a": 0, "<<": "plain", "b": 1, "c": 2})
    );
}

#[test]
fn the_nearest_defaults_win_and_lists_replace() {
    let folder = folder(&[
        ("_defaults.yaml", "tags: [not, reached]\n"),
        (
            "scenarios/_defaults.yaml",
            "tags: [root, base]\ntimeout: 10\nscoring: { threshold: 0.1, drift: fail, slower: { factor: 9, floor: 1 } }\n\
            servers: { s: { command: ./run, cwd: data } }\nsource: { repo: repo }\n",
        ),
        (
            "scenarios/a/_defaults.yaml",
            "tags: [near]\nscoring: { threshold: 0.2, slower: { factor: 8 } }\n",
        ),
        (
            "scenarios/a/b/x.yaml",
            "name: x\ntimeout: 20\nscoring: { threshold: 0.3 }\nservers: { s: { cwd: own }, t: { url: http://t } }\n\
            expected_trajectory: [{ tool: a }]\n",
        ),
        (
            "scenarios/y.yaml",
            "name: y\nsource:\nexpected_trajectory: [{ tool: a }]\n",
        ),
    ]);
    let scenarios = load(folder.path(), &[]);
    let ids: Vec<_> = scenarios.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["a/b/x", "y"]);
    let [x, y] = &scenarios[..] else { panic!() };
    assert_eq!(x.tags, ["near"]);
    assert_eq!(y.tags, ["root", "base"]);
    assert_eq!(x.timeouts.scenario, Duration::from_secs(20));
    assert!((x.scoring.threshold - 0.3).abs() < 1e-12);
    assert_eq!(x.scoring.drift, Gate::Fail);
    assert!((x.scoring.slower.factor - 8.0).abs() < 1e-12);
    assert_eq!(x.scoring.slower.floor, Duration::from_secs(1));
    assert!((y.scoring.threshold - 0.1).abs() < 1e-12);
    let home = folder.path().join("scenarios");
    // Paths are relative to the file that holds them, be it the scenario or its defaults.
    let Transport::Stdio(Start { command, cwd, .. }) = &x.servers[0].transport else {
        panic!()
    };
    assert_eq!(command, &home.join("./run").display().to_string());
    assert_eq!(cwd, &Some(home.join("a/b/own")));
    assert_eq!(x.source.repo, Some(home.join("repo")));
    assert_eq!(y.source.repo, None);
}

/// What a run of this scenario is known by: the hashes of what is asked, and of what the agent is given.
fn experiment(text: &str, variables: &[(&str, &str)]) -> (String, Option<String>) {
    let scenario = load_one(text, variables);
    let given = scenario_file::agent_hash(&scenario.agent, &scenario.redaction);
    (scenario.hash, given)
}

const SCRIPT: &str = "name: x
user_intent: Look at {{a}}
variables: { a: 1, token: { value: abcdef-1, secret: true } }
servers: { s: { type: mock } }
mcp_interactions: { s: { tools: [{ name: a, responses: [{ content: yes }] }] } }
expected_trajectory: [{ tool: a, args: { q: 'a {{a}}', b: 2, t: '{{token}}' }, notes: one }]
";

const MODEL: &str = "name: x
turns: [Look, Look again]
servers: { s: { type: mock } }
mcp_interactions: { s: { tools: [{ name: a, responses: [{ content: yes }] }] } }
agent: { kind: anthropic, model: m, system: Be kind., max_tokens: 10 }
";

#[test]
fn what_only_describes_limits_or_judges_makes_no_other_experiment() {
    let (script, model) = (experiment(SCRIPT, &[]), experiment(MODEL, &[]));
    assert_eq!(script.0.len(), 64);
    let same = [
        (
            "name: x",
            "name: y\ndescription: d\ntags: [t]\nenabled: false",
        ),
        (
            "name: x",
            "# A remark.\nname: 'x'\nsuccess_criteria: [yes]\nscoring: { threshold: 0.1 }",
        ),
        (
            "name: x",
            "name: x\ntimeout: 9s\nlimits: { max_steps: 3 }\nsource: { repo: . }\nredact: ['acme_\\d{9}']",
        ),
        ("name: x", "name: x\nx-note: 1"),
        ("content: yes", "content: no"),
        ("type: mock }", "type: mock, tool_timeout: 3s }"),
    ];
    for (from, to) in same {
        for (text, base) in [(SCRIPT, &script), (MODEL, &model)] {
            assert_eq!(&experiment(&text.replace(from, to), &[]), base, "{to}");
        }
    }
    let of_script = [
        ("notes: one", "notes: two, action: look"),
        ("q: 'a {{a}}', b: 2", "b: 2, q: 'a 1'"),
        ("abcdef-1", "abcdef-2"),
        ("user_intent: Look at {{a}}", "turns: [\"Look at {{a}}\"]"),
    ];
    for (from, to) in of_script {
        assert_eq!(experiment(&SCRIPT.replace(from, to), &[]), script, "{to}");
    }
    let of_model = [
        ("model: m", "model: n"),
        (
            "model: m",
            "model: m, base_url: 'http://localhost:1', api_key_env: K, timeout: 3s, max_steps: 4",
        ),
        (
            "model: m",
            "model: m, temperature: 0.0, tool_choice: auto, price: { input: 1, output: 2 }",
        ),
        ("name: x", "name: x\nexpected_trajectory: [{ tool: a }]"),
    ];
    for (from, to) in of_model {
        assert_eq!(experiment(&MODEL.replace(from, to), &[]), model, "{to}");
    }
}

#[test]
fn what_is_asked_or_given_to_the_agent_makes_another_experiment() {
    let ((asked, calls), (turns, settings)) = (experiment(SCRIPT, &[]), experiment(MODEL, &[]));
    let (other, others) = experiment(SCRIPT, &[("a", "2")]);
    assert!(other != asked && others != calls);
    assert_ne!(experiment(&SCRIPT.replace("Look", "See"), &[]).0, asked);
    assert_ne!(experiment(&MODEL.replace("Look,", "See,"), &[]).0, turns);
    for (from, to) in [
        ("b: 2", "b: 3"),
        ("tool: a,", "tool: mcp__s__a,"),
        ("notes: one", "critical: true"),
        (", t: '{{token}}'", ""),
        ("notes: one }]", "notes: one }, { tool: a }]"),
    ] {
        let changed = experiment(&SCRIPT.replace(from, to), &[]);
        assert!(changed.0 == asked && changed.1 != calls, "{to}");
    }
    for to in [
        "model: m, temperature: 1",
        "model: m, temperature: null",
        "model: m, tool_choice: required",
        "model: m, tool_choice: { tool: a }",
        "model: m, max_result_chars: 9",
        "model: m, extra_body: { seed: 1 }",
    ] {
        let changed = experiment(&MODEL.replace("model: m", to), &[]);
        assert!(changed.0 == turns && changed.1 != settings, "{to}");
    }
    for (from, to) in [("kind.", "quick."), ("max_tokens: 10", "max_tokens: 11")] {
        let changed = experiment(&MODEL.replace(from, to), &[]);
        assert!(changed.0 == turns && changed.1 != settings, "{to}");
    }
}

#[test]
fn a_configuration_file_is_looked_for_upwards_and_in_the_working_directory() {
    let scenario = "name: x\nconfig_file: configs/c.json\nexpected_trajectory: [{ tool: a }]\n";
    let config = r#"{"mcpServers": {"s": {"url": "http://s"}}}"#;
    for place in [
        "scenarios/a/configs/c.json",
        "scenarios/configs/c.json",
        "configs/c.json",
        "work/configs/c.json",
    ] {
        let folder = folder(&[("scenarios/a/x.yaml", scenario), (place, config)]);
        let scenarios = load(folder.path(), &[]);
        assert_eq!(scenarios[0].config_file, Some(folder.path().join(place)));
        assert_eq!(scenarios[0].servers[0].name, "s");
    }
}

#[test]
fn the_shape_of_a_path_does_not_matter() {
    let folder = folder(&[
        ("scenarios/_defaults.yaml", "tags: [base]\n"),
        (
            "scenarios/a/x.yaml",
            "name: x\nexpected_trajectory: [{ tool: a }]\n",
        ),
    ]);
    for path in [
        "scenarios/a/x.yaml",
        "scenarios/a/../a/./x.yaml",
        "scenarios/a",
    ] {
        let path: PathBuf = folder.path().join(path);
        let (found, _) = scenario_file::find(&[path]);
        let loaded = scenario_file::load(&found, &Options::default());
        assert_eq!(loaded.scenarios[0].tags, ["base"]);
        assert_eq!(loaded.scenarios[0].id, "a/x");
    }
}
