//! Scenario files: what loads, what is found, and where.
//!
//! Cases lie in `tests/fixtures/scenarios/`, one per file: the files of the case, each after a line `-- path --`, then the
//! expected findings and the ids of what loaded after `-- findings --`. `-- variables --` holds `name=value` lines. With
//! `UPDATE_CASES=1` in the environment the expectations are written anew, to be reviewed like any other change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;

use mcp_eval::scenario_file::agent::ModelApi;
use mcp_eval::scenario_file::servers::Transport;
use mcp_eval::scenario_file::{self, Found, Loaded, Options, Session, session_scenario};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_case_has_the_expected_findings() {
    let mut failures = Vec::new();
    for case in cases() {
        let found = case.run();
        if found == case.expected {
            continue;
        }
        if std::env::var_os("UPDATE_CASES").is_some() {
            fs::write(&case.path, format!("{}{FINDINGS}\n{found}", case.input)).unwrap();
        } else {
            let name = case.path.display();
            failures.push(format!("{name}:\n{found}expected:\n{}", case.expected));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_schema_accepts_what_loads_and_refuses_unknown_keys_and_wrong_types() {
    let schema = jsonschema::draft202012::new(&scenario_file::json_schema()).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for case in cases() {
        let has_defaults = case
            .files
            .iter()
            .any(|(path, _)| path.contains("_defaults"));
        for (path, text) in &case.files {
            let is_yaml = Path::new(path).extension() == Some("yaml".as_ref());
            let is_scenario = is_yaml && !path.contains("/.");
            let Some(document) = json(text).filter(|_| is_scenario && !has_defaults) else {
                continue;
            };
            let errors: Vec<_> = schema
                .iter_errors(&document)
                .map(|it| it.to_string())
                .collect();
            let about = |it: &&str| it.starts_with(&format!("{path}:")) && it.contains(": error: ");
            let found: Vec<_> = case.expected.lines().filter(about).collect();
            if found.is_empty() {
                assert_eq!(errors, [""; 0], "{} {path}", case.path.display());
                accepted += 1;
            } else if found
                .iter()
                .any(|it| it.contains("unknown key") || it.contains("error: expected "))
            {
                assert_ne!(errors, [""; 0], "{} {path}", case.path.display());
                refused += 1;
            }
        }
    }
    assert!(accepted >= 5 && refused >= 10, "{accepted} {refused}");
}

#[test]
fn the_schema_proposes_only_keys_that_fit_the_kind() {
    let schema = scenario_file::json_schema();
    let kinds = |section: &str, tag: &str| -> Vec<(Value, Vec<String>)> {
        let kinds = schema["$defs"][section]["oneOf"].as_array().unwrap().iter();
        kinds
            .map(|it| {
                assert_eq!(it["additionalProperties"], false, "{section} {it}");
                let keys = it["properties"].as_object().unwrap().keys();
                (
                    it["properties"][tag]["const"].clone(),
                    keys.cloned().collect(),
                )
            })
            .collect()
    };
    let has = |kinds: &[(Value, Vec<String>)], key: &str| -> Vec<Value> {
        let having = kinds
            .iter()
            .filter(|(_, keys)| keys.iter().any(|it| it == key));
        having.map(|it| it.0.clone()).collect()
    };
    let agents = kinds("AgentSection", "kind");
    let words: Vec<&Value> = agents.iter().map(|it| &it.0).collect();
    let expected = serde_json::json!([
        "scripted",
        "replay",
        "anthropic",
        "openai",
        "ollama",
        "command",
        null
    ]);
    assert_eq!(serde_json::json!(words), expected);
    assert_eq!(has(&agents, "api"), ["openai".into(), Value::Null]);
    assert_eq!(has(&agents, "format"), ["command".into(), Value::Null]);
    let forcing = ["anthropic".into(), "openai".into(), Value::Null];
    assert_eq!(has(&agents, "tool_choice"), forcing);
    assert_eq!(has(&agents, "calls").len(), agents.len());
    let servers = kinds("ServerSection", "type");
    assert_eq!(has(&servers, "url"), ["http", "sse"]);
    assert_eq!(has(&servers, "cwd"), ["stdio".into(), Value::Null]);
    let upstreams = kinds("UpstreamSection", "type");
    assert_eq!(has(&upstreams, "url"), ["http"]);
    assert_eq!(
        has(&upstreams, "tap"),
        ["http".into(), "stdio".into(), Value::Null]
    );
    assert_eq!(has(&servers, "tap"), [Value::Null; 0]);
    let blocks = kinds("BlockSection", "type");
    assert_eq!(has(&blocks, "data"), ["image", "audio"]);
    assert_eq!(has(&blocks, "text"), ["text"]);
}

#[test]
fn the_schema_takes_one_kind_at_a_time() {
    let schema = jsonschema::draft202012::new(&scenario_file::json_schema()).unwrap();
    let block = |it| {
        serde_json::json!({ "mcp_interactions": { "m": { "tools": [
            { "name": "t", "responses": [{ "content": [it] }] }
        ] } } })
    };
    let agent = |it| serde_json::json!({ "agent": it });
    let server = |it| serde_json::json!({ "servers": { "s": it } });
    for (section, fits) in [
        (agent(serde_json::json!({})), true),
        (
            agent(serde_json::json!({ "kind": "openai", "model": "m", "api": "chat" })),
            true,
        ),
        (
            agent(serde_json::json!({ "kind": "ollama", "model": "m", "api": "chat" })),
            false,
        ),
        (
            agent(serde_json::json!({ "kind": "scripted", "model": "m" })),
            false,
        ),
        (agent(serde_json::json!({ "kind": "opnai" })), false),
        // The kind, or the other keys, may be those of the defaults.
        (agent(serde_json::json!({ "model": "m", "x-why": 1 })), true),
        (agent(serde_json::json!({ "kind": "openai" })), true),
        (
            server(serde_json::json!({ "url": "http://localhost" })),
            true,
        ),
        (
            server(serde_json::json!({ "type": "http", "url": "http://localhost" })),
            true,
        ),
        (
            server(serde_json::json!({ "type": "http", "command": "x" })),
            false,
        ),
        (
            server(serde_json::json!({ "url": "http://localhost", "args": [] })),
            false,
        ),
        (
            server(serde_json::json!({ "command": "x", "args": [] })),
            true,
        ),
        (server(serde_json::json!({ "headers": {} })), true),
        (block(serde_json::json!({ "text": "x" })), true),
        (
            block(serde_json::json!({ "text": "x", "uri": "a:b" })),
            false,
        ),
        (
            block(serde_json::json!({ "type": "image", "mime_type": "image/png", "data": "" })),
            true,
        ),
        (
            block(serde_json::json!({ "type": "image", "data": "" })),
            false,
        ),
    ] {
        let mut document = section;
        document["name"] = "x".into();
        assert_eq!(schema.is_valid(&document), fits, "{document}");
    }
}

#[test]
fn what_defaults_say_of_another_kind_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file(
        "_defaults.yaml",
        "agent: { kind: openai, model: m, system: \"{{nothing}}\", tool_choice: auto, timeout: 7, tool_timeout: 9 }
servers:
  s: { type: http, url: \"http://localhost\", headers: { A: b }, tool_timeout: 5 }
  t: { url: \"http://localhost\", tool_timeout: 5 }
",
    );
    file(
        "a.yaml",
        "name: a\nuser_intent: x\nagent: { kind: command, command: [x] }\nservers: { s: { type: stdio, command: run }, t: { command: run } }\n",
    );
    file(
        "b.yaml",
        "name: b\nuser_intent: x\nagent: { kind: ollama, system: y }\nservers: { s: { type: null, command: run }, t: { type: stdio, command: run } }\n",
    );
    let (found, _) = scenario_file::find(&[folder.path().to_owned()]);
    let loaded = scenario_file::load(&found, &Options::default());
    assert_eq!(loaded.findings, []);
    let [a, b] = &loaded.scenarios[..] else {
        panic!("{loaded:?}");
    };
    let servers = [&a.servers, &b.servers].into_iter().flatten();
    assert_eq!(servers.clone().count(), 4);
    for server in servers {
        let is_stdio = matches!(&server.transport, Transport::Stdio(it) if it.command == "run");
        assert!(is_stdio, "{server:?}");
        assert_eq!(server.tool_timeout, Some(Duration::from_secs(5)));
    }
    let command = a.agent.command().unwrap();
    assert_eq!(command.model.as_deref(), Some("m"));
    assert_eq!(command.timeout, Some(Duration::from_secs(7)));
    let model = b.agent.model().unwrap();
    assert_eq!((model.model.as_str(), model.api), ("m", ModelApi::Ollama));
    assert_eq!(model.tool_choice, None);
    assert_eq!(model.tool_timeout, Some(Duration::from_secs(9)));

    // A scenario that is made of this one has no defaults to drop anything of.
    let elsewhere = tempfile::tempdir().unwrap();
    let session = Session {
        name: "c".to_owned(),
        ..Session::default()
    };
    let keep = |it: &str| it.to_owned();
    let text = session_scenario(Some(&found[0]), &session, elsewhere.path(), &keep).unwrap();
    fs::write(elsewhere.path().join("c.yaml"), text).unwrap();
    let (found, _) = scenario_file::find(&[elsewhere.path().to_owned()]);
    let loaded = scenario_file::load(&found, &Options::default());
    assert_eq!(loaded.findings, []);
    assert_eq!(loaded.scenarios[0].servers, a.servers);
}

#[test]
fn every_key_of_the_schema_is_described() {
    let schema = scenario_file::json_schema();
    let mut pending = vec![(String::new(), &schema)];
    let mut keys = 0;
    while let Some((path, value)) = pending.pop() {
        if let Some(Value::Object(properties)) = value.get("properties") {
            for (key, property) in properties {
                keys += 1;
                // A variant that consists of one key is described as a whole.
                let described = if properties.len() == 1 {
                    value
                } else {
                    property
                };
                assert!(
                    property["description"].is_string() || described["description"].is_string(),
                    "{path}/{key} has no description"
                );
            }
        }
        match value {
            Value::Object(object) => {
                pending.extend(object.iter().map(|(key, it)| (format!("{path}/{key}"), it)));
            }
            Value::Array(items) => pending.extend(items.iter().map(|it| (path.clone(), it))),
            _ => {}
        }
    }
    assert!(keys > 70, "{keys}");
}

proptest! {
    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn no_text_makes_the_loader_panic(text in "\\PC*|[ \\t\\n:{}\\[\\],\"'&*<!|>%@a-c0-9.~-]*") {
        load_text(text.as_bytes());
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn no_change_of_a_sound_file_makes_the_loader_panic(
        start in 0..4000_usize,
        length in 0..40_usize,
        inserted in "[ \\t\\n:{}\\[\\],\"'&*<!|>%@a-c0-9.~-]{0,8}|\\PC{0,4}",
    ) {
        let mut bytes = fs::read(fixtures().join("everything.txt")).unwrap();
        let start = start.min(bytes.len());
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, inserted.bytes());
        load_text(&bytes);
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn what_serde_yaml_writes_reads_back_the_same(arguments in arguments()) {
        let document = serde_json::json!({
            "name": "x",
            "expected_trajectory": [{"tool": "a", "args": {"value": arguments}}],
        });
        let loaded = load_text(serde_yaml::to_string(&document).unwrap().as_bytes());
        prop_assert_eq!(loaded.findings, []);
        let read = &loaded.scenarios[0].expected_trajectory[0].arguments["value"];
        prop_assert_eq!(read, &document["expected_trajectory"][0]["args"]["value"]);
    }
}

/// JSON values whose texts look like other things.
fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[^{]{0,12}".prop_map(Value::from),
        "[-+]?[0-9._exob]{0,6}|yes|no|on|off|y|null|~|true|\\.inf|\\.nan|<<|=|0x1F|1_000|12:30|2020-01-01|- a|# b|\t"
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z0-9 :#~]{1,6}", inner, 0..4)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

const FINDINGS: &str = "-- findings --";

/// Files and what is expected of them.
struct Case {
    path: PathBuf,
    /// The text before the expectation.
    input: String,
    files: Vec<(String, String)>,
    variables: Vec<(String, String)>,
    expected: String,
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let (input, expected) = text
            .split_once(&format!("{FINDINGS}\n"))
            .unwrap_or((&text, ""));
        let mut files: Vec<(String, String)> = Vec::new();
        for line in input.split_inclusive('\n') {
            let header = line
                .strip_prefix("-- ")
                .and_then(|it| it.trim_end().strip_suffix(" --"));
            match (header, files.last_mut()) {
                (Some(name), _) => files.push((name.to_owned(), String::new())),
                (None, Some((_, text))) => text.push_str(line),
                (None, None) => panic!("{} does not start with `-- path --`", path.display()),
            }
        }
        let variables = files.iter().position(|(name, _)| name == "variables");
        let variables = variables.map(|at| files.remove(at).1).unwrap_or_default();
        let variables = variables.lines().map(|it| it.split_once('=').unwrap());
        Self {
            input: input.to_owned(),
            variables: variables
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            expected: expected.to_owned(),
            files,
            path,
        }
    }

    /// Finds and loads the files in a folder of their own; the findings and what loaded, as text.
    fn run(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (found, findings) = scenario_file::find(&[folder.path().join("scenarios")]);
        let options = Options {
            variables: self.variables.clone(),
            environment: None,
            working_dir: folder.path().to_owned(),
            ..Options::default()
        };
        let loaded = scenario_file::load(&found, &options);
        let findings = findings.iter().chain(&loaded.findings);
        let findings = findings.map(ToString::to_string);
        let scenarios = loaded.scenarios.iter();
        let loaded = scenarios.map(|it| format!("loaded {}", it.id));
        let lines: Vec<_> = findings.chain(loaded).map(|it| it + "\n").collect();
        let text = lines.concat();
        text.replace(&format!("{}/", folder.path().display()), "")
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenarios")
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = fs::read_dir(fixtures())
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    paths.sort();
    paths.into_iter().map(Case::read).collect()
}

/// A document as other readers of YAML see it; `None` where they cannot read it.
fn json(text: &str) -> Option<Value> {
    let mut document: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    document.apply_merge().ok()?;
    serde_json::to_value(document).ok()
}

fn load_text(bytes: &[u8]) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    fs::write(&path, bytes).unwrap();
    load_path(&path)
}

fn load_path(path: &Path) -> Loaded {
    let (found, findings): (Vec<Found>, _) = scenario_file::find(&[path.to_owned()]);
    assert_eq!(findings, []);
    scenario_file::load(&found, &Options::default())
}
