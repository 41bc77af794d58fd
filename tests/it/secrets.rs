//! No secret is stored or shown, in whatever spelling and on whatever way; and none distorts a comparison.

mod table;

use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use mcp_eval::model::Redaction;
use mcp_eval::published::trajectory;
use mcp_eval::redact::{Redactor, Secrets};
use mcp_eval::store;

use crate::common::{Project, Ran, ran, root};
use table::{Case, DECLARED, cases, survivors};

/// Finds what must be in no byte written or printed: the canaries, and parts of the declared secret.
struct Canaries {
    all: Vec<String>,
    automaton: AhoCorasick,
}

impl Canaries {
    fn of(cases: &[Case]) -> Self {
        let declared = [
            "s3cr3t-Tok3n",
            &hex::encode("s3cr3t-Tok3n")[..16],
            "czNjcjN0LVRvazNu",
        ];
        let declared = declared.into_iter().map(str::to_owned);
        let of_cases = cases.iter().flat_map(|it| it.canaries.clone());
        let all: Vec<String> = declared.chain(of_cases).collect();
        let automaton = AhoCorasick::new(&all).unwrap();
        Self { all, automaton }
    }

    fn within(&self, bytes: &[u8]) -> Vec<&String> {
        let found = self.automaton.find_iter(bytes);
        found.map(|it| &self.all[it.pattern().as_usize()]).collect()
    }

    /// Those in files below a folder, but for the scenarios, which hold them as they were written.
    fn below(&self, folder: &Path) -> Vec<String> {
        let files = walkdir::WalkDir::new(folder).into_iter().flatten();
        let files = files.filter(|it| {
            let path = it.path().strip_prefix(folder).unwrap();
            it.file_type().is_file() && !path.starts_with("scenarios")
        });
        let leaks = files.flat_map(|file| {
            let bytes = fs::read(file.path()).unwrap();
            let found = self.within(&bytes).into_iter();
            let leaks = found.map(|it| format!("{}: {it}", file.path().display()));
            leaks.collect::<Vec<_>>()
        });
        leaks.collect()
    }
}

/// A project whose mock server answers with these texts, and is sent the declared secret.
fn answering(texts: &[(String, String)]) -> Project {
    let project = Project::new();
    let responses = texts.iter().map(|(name, text)| {
        json!({ "match": { "k": name }, "content": [{ "type": "text", "text": text }] })
    });
    let calls = texts
        .iter()
        .map(|(name, _)| json!({ "tool": "get", "args": { "k": name } }));
    let sent =
        json!({ "tool": "put", "args": { "password": "{{token}}", "text": "x {{token}} y" } });
    let scenario = json!({
        "name": "s",
        "variables": { "token": { "value": "${CANARY}", "secret": true } },
        "user_intent": "Use {{token}} well",
        "servers": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": { "tools": [
            { "name": "get", "annotations": { "read_only_hint": true }, "responses": responses.collect::<Value>() },
            { "name": "put", "responses": [{ "content": "put {{args.text}}" }] },
        ] } },
        "agent": { "kind": "scripted", "calls": calls.chain([sent]).collect::<Value>() },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project
}

fn with_canary(project: &Project, arguments: &[&str], canary: &str) -> Ran {
    let mut command = project.command();
    command.args(arguments).env("CANARY", canary);
    ran(&mut command)
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn no_secret_is_in_any_byte_written_or_printed() {
    let cases = cases();
    let texts: Vec<(String, String)> = cases
        .iter()
        .map(|it| (it.name.clone(), it.text.clone()))
        .collect();
    let project = answering(&texts);
    let canaries = Canaries::of(&cases);
    for (arguments, code) in [
        (&["record", "-v"][..], 0),
        (&["record", "--takes", "1", "-v"], 0),
        (&["compare", "-v"], 0),
        (&["compare", "--format", "json"], 0),
        (&["compare", "--agent", "replay", "-v"], 0),
        (&["compare", "--servers", "recorded", "-v"], 0),
        (&["compare", "--repeat", "2"], 0),
        (&["compare", "--run", "baselines", "-v"], 0),
        (&["run", "-v"], 0),
        (&["report"], 0),
        (&["explain", "latest", "--scenario", "s"], 0),
        (&["list", "--format", "json"], 0),
        (&["validate"], 0),
    ] {
        let ran = with_canary(&project, arguments, DECLARED);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:#?}");
        let shown = ran.all();
        let shown = canaries.within(shown.as_bytes());
        assert!(shown.is_empty(), "{arguments:?}: {shown:?}");
    }
    assert_eq!(canaries.below(&project.path("")), [""; 0]);
    // The same in a file as it is: `scan` finds each.
    for case in cases.iter().filter(|it| !it.canaries.is_empty()) {
        project.file(&format!("raw/{}.txt", case.name), &case.text);
    }
    let scanned = project.result(1, &["scan", "raw"]);
    let findings = scanned["findings"].as_array().unwrap();
    for case in cases.iter().filter(|it| !it.canaries.is_empty()) {
        let path = format!("raw/{}.txt", case.name);
        assert!(
            findings.iter().any(|it| it["path"] == path.as_str()),
            "{path}: {}",
            case.text
        );
    }
    let mut command = project.command();
    command
        .args(["scan", "baselines", "reports", ".mcp-eval"])
        .env("CANARY", DECLARED);
    let clean = ran(&mut command);
    assert_eq!(clean.code, 0, "{}", clean.stdout);
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let survivors = survivors();
    let texts: Vec<(String, String)> = survivors
        .iter()
        .map(|(text, _)| ((*text).to_owned(), (*text).to_owned()))
        .collect();
    let texts: Vec<(String, String)> = texts
        .into_iter()
        .enumerate()
        .map(|(at, (_, text))| (format!("t{at}"), text))
        .collect();
    let project = answering(&texts);
    assert_eq!(with_canary(&project, &["record"], DECLARED).code, 0);
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    let stored: Vec<&Value> = baseline["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["outcome"]["content"][0]["text"])
        .collect();
    for (text, value) in &survivors {
        assert!(stored.contains(&value), "{text}");
    }
}

#[test]
fn runs_that_differ_only_in_their_secrets_compare_as_equal() {
    let project = answering(&[]);
    assert_eq!(
        with_canary(&project, &["record"], "my-canary-1 \"x\"").code,
        0
    );
    let baseline = project.read("baselines/s/baseline.json");
    assert!(
        baseline.contains("\"<secret:var.token>\"") && baseline.contains("x <secret:var.token> y"),
        "{baseline}"
    );
    for arguments in [
        &["compare"][..],
        &["compare", "--agent", "replay"],
        &["compare", "--servers", "recorded"],
    ] {
        let ran = with_canary(&project, arguments, "quite another 2");
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:#?}");
        ran.says("1/1 tests passed");
    }
}

#[test]
fn a_secret_in_front_changes_nothing_behind() {
    let texts = |front: &str| {
        let first = ("a".to_owned(), format!("{front}ready"));
        let second = (
            "b".to_owned(),
            json!({ "password": "first-of-7all", "api_key": "k-4of-all" }).to_string(),
        );
        [first, second]
    };
    let project = answering(&texts(""));
    assert_eq!(
        with_canary(&project, &["record", "--takes", "1"], DECLARED).code,
        0
    );
    let other = answering(&texts(
        "see https://h/?access_token=zzzz9yyyy&password=other-7one ",
    ));
    project.file("scenarios/s.yaml", other.read("scenarios/s.yaml"));
    let mut command = project.command();
    command
        .args(["compare", "--format", "json"])
        .env("CANARY", DECLARED);
    let result: Value = serde_json::from_str(&ran(&mut command).stdout).unwrap();
    let rows = result["scenarios"][0]["comparison"]["rows"]
        .as_array()
        .unwrap();
    assert!(
        rows[0]["response"]["similarity"].as_f64() < Some(1.0),
        "{rows:#?}"
    );
    assert_eq!(rows[1]["response"]["similarity"], 1.0, "{rows:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_secret_that_is_none_any_more_is_a_change() {
    let texts = |text: &str| [("a".to_owned(), json!({ "api_key": text }).to_string())];
    let project = answering(&texts("k-41of-all-9"));
    assert_eq!(with_canary(&project, &["record"], DECLARED).code, 0);
    for (now, code) in [
        ("another-51-key", 0),
        ("your-api-key", 1),
        ("<secret:api-key>", 1),
    ] {
        let other = answering(&texts(now));
        project.file("scenarios/s.yaml", other.read("scenarios/s.yaml"));
        let ran = with_canary(&project, &["compare"], DECLARED);
        assert_eq!(ran.code, code, "{now}: {ran:#?}");
    }
}

/// Puts a text in the place of the n-th text of a value; false where there are not as many.
fn plant(value: &mut Value, n: &mut usize, planted: &str) -> bool {
    match value {
        Value::String(text) if *n == 0 => {
            planted.clone_into(text);
            true
        }
        Value::String(_) => {
            *n -= 1;
            false
        }
        Value::Array(items) => items.iter_mut().any(|it| plant(it, n, planted)),
        Value::Object(members) => members.values_mut().any(|it| plant(it, n, planted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The calls that the servers behind a proxy may have received in a run with one call, each kind of text at least once.
fn upstream_lane() -> Value {
    let outcomes = json!([
        {
            "status": "ok",
            "content": [{ "type": "text", "text": "done" }],
            "structured_content": { "done": "yes" },
            "other": { "_meta": { "by": "x" } },
        },
        { "status": "rpc_error", "error": { "message": "no", "code": -1, "data": { "why": "x" } } },
    ]);
    let call = |outcome: &Value| {
        json!({
            "cause": 1, "server": "files", "tool": "write", "arguments": { "text": "a", "deep": [{ "er": "b" }] },
            "outcome": outcome, "start_ms": null, "duration_ms": null, "headers": [{ "name": "x-trace", "value": "t" }],
        })
    };
    json!({
        "calls": outcomes.as_array().unwrap().iter().map(call).collect::<Vec<_>>(),
        "headers": [{ "server": "files", "name": "x-trace", "value": "t" }],
        "catalogue": [{
            "server": "files", "info": { "name": "files" }, "protocol_version": "2025-11-25", "instructions": "Write.",
            "tools": [{ "name": "write", "description": "Writes.", "inputSchema": { "properties": { "text": { "type": "string" } } } }],
        }],
    })
}

#[test]
fn no_field_of_a_trajectory_is_forgotten() {
    const SECRET: &str = "s3cr3t-Tok3n-of-32-characters-xx";
    // What we make ourselves; the id is the path of a file, and is redacted with its scenario.
    let ours = ["id", "hash", "mcp_eval", "agent", "agent_hash"].map(|it| format!("\"{it}\": "));
    let mut secrets = Secrets::default();
    secrets.declare("var.token", "", SECRET);
    let redactor = Redactor::new(&secrets, &Redaction::default());
    let (mut planted, mut leaks) = (0, Vec::new());
    for baseline in ["baselines/flows/ticket", "baselines/proxy/failing_tool"] {
        let stored = store::load(&root().join(baseline).join("baseline.json")).unwrap();
        let mut whole: Value = serde_json::from_str(&trajectory::to_json(&stored)).unwrap();
        // Made of what is redacted already.
        for made in ["bindings", "learned"] {
            whole.as_object_mut().unwrap().remove(made);
        }
        whole["upstream"] = upstream_lane();
        for n in 0.. {
            let mut changed = whole.clone();
            if !plant(&mut changed, &mut n.clone(), SECRET) {
                break;
            }
            // Where nothing but certain words may stand, no secret can.
            let Ok(trajectory) = trajectory::parse(changed.to_string().as_bytes(), &|_| {
                unreachable!("it names none")
            }) else {
                continue;
            };
            let stored = trajectory::to_json(&redactor.trajectory(trajectory));
            let is_ours = |it: &&str| ours.iter().any(|own| it.trim_start().starts_with(own));
            leaks.extend(
                stored
                    .lines()
                    .filter(|it| it.contains(SECRET) && !is_ours(it))
                    .map(str::to_owned),
            );
            planted += 1;
        }
    }
    assert_eq!(leaks, [""; 0]);
    assert!(planted > 100, "{planted}");
}

#[test]
fn a_number_that_is_a_secret_leaves_json_what_it_is() {
    let redactor = Redactor::new(&Secrets::default(), &Redaction::default());
    let answer = json!({ "password": 12_345_678, "a": 1 });
    for text in [
        answer.to_string(),
        json!({ "inner": answer.to_string() }).to_string(),
    ] {
        let stored = redactor.text(&text);
        let stored: Value = serde_json::from_str(&stored).unwrap();
        assert!(!stored.to_string().contains("12345678"), "{stored}");
        let inner = stored["inner"].as_str();
        let inner = inner.map_or(stored.clone(), |it| serde_json::from_str(it).unwrap());
        assert_eq!(inner["a"], 1, "{inner}");
    }
}

#[test]
fn a_placeholder_is_no_element_that_a_later_one_closes() {
    let redactor = Redactor::new(&Secrets::default(), &Redaction::default());
    let clean = redactor.text("s3cr3tis un</<secret:s3cr3tis ");
    assert_eq!(*redactor.text(&clean), *clean);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Made of what the rules look for, so that each of them is met half.
    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn no_text_is_too_odd_to_be_looked_through(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                "\\", "u", "n", "key", "api ", "token", "password", "Cookie", ":", "=", "=>", ",", "\"", "'", "é", "\n", " ", "<", ">",
                "</", "|", "x", "7", "-", "--", "//", "@", "is ", "with ", "login ", "value", "name", "{", "}", "[", "]", "(", "eyJ",
                ".", "sk-", "sig=", " -u ", "Bearer ", "Basic ", "-----BEGIN ", "<secret:", "%", "&#", ";", "s3cr3t", "Tok3n",
            ]),
            0..24,
        ),
    ) {
        let mut secrets = Secrets::default();
        secrets.declare("var.token", "", DECLARED);
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let text = pieces.concat();
        let clean = redactor.text(&text).into_inner();
        prop_assert_eq!(redactor.text(&clean).into_inner(), clean);
        let _ = redactor.value(json!({ "password": text, "a": [text] }));
    }
}

#[test]
fn text_taken_for_a_secret_is_reported_with_its_call() {
    let text = "password: hunter2x, key ghp_A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2".to_owned();
    let project = answering(&[
        ("odd".to_owned(), "nothing".to_owned()),
        ("even".to_owned(), text),
    ]);
    with_canary(&project, &["record"], DECLARED)
        .says("taken for secrets in the answers to call 2 (github-token, password): list what is not secret in `redact.keep` to show and compare it");
}

#[test]
fn a_placeholder_that_a_server_makes_up_is_never_filled_in() {
    let project = Project::new();
    let scenario = |token: &str| {
        json!({
            "name": "s",
            "variables": { "token": { "value": token, "secret": true } },
            "servers": { "files": { "type": "mock" } },
            "mcp_interactions": { "files": { "tools": [
                { "name": "get", "responses": [{ "content": "{\"id\": \"<secret:var.token>\"}" }] },
                { "name": "put", "responses": [{ "content": "put {{args.id}}" }] },
            ] } },
            "agent": { "kind": "scripted", "calls": [
                { "tool": "get" },
                { "tool": "put", "args": { "id": "{{calls.0.json:/id}}", "own": "{{token}}" } },
            ] },
        })
        .to_string()
    };
    project.file("scenarios/s.yaml", scenario("canary-of-mine-1"));
    project.expect(0, &["record"]);
    let baseline = project.read("baselines/s/baseline.json");
    assert!(
        baseline.contains("<secret::var.token>")
            && baseline.contains("\"own\": \"<secret:var.token>\""),
        "{baseline}"
    );
    // The server echoes what it is sent: it must be the text that it made up, not the secret.
    let ran = project.expect(0, &["compare", "--agent", "replay"]);
    ran.says("1/1 tests passed");
    for entry in walkdir::WalkDir::new(project.path(".mcp-eval"))
        .into_iter()
        .flatten()
    {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        assert!(
            !text.contains("put <secret:var.token>"),
            "{}",
            entry.path().display()
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn baselines_of_version_1_load_and_any_placeholder_equals_theirs() {
    let project = answering(&[(
        "a".to_owned(),
        json!({ "password": "first-of-7all" }).to_string(),
    )]);
    assert_eq!(with_canary(&project, &["record"], DECLARED).code, 0);
    let path = "baselines/s/baseline.json";
    let old = project
        .read(path)
        .replace("<secret:var.token:json>", "<redacted:secret:1>");
    let old = old
        .replace("<secret:var.token>", "<redacted:secret:1>")
        .replace("<secret:password>", "<redacted:value:2>");
    assert!(old.contains("<redacted:value:2>"), "{old}");
    project.file(path, old);
    assert_eq!(with_canary(&project, &["compare"], DECLARED).code, 0);
    assert_eq!(
        with_canary(&project, &["compare", "--servers", "recorded"], DECLARED).code,
        0
    );
    let replayed = with_canary(&project, &["compare", "--agent", "replay"], DECLARED);
    assert_eq!(replayed.code, 3, "{replayed:#?}");
    replayed
        .says("whose value is now unknown")
        .says("secret: true");
}

#[test]
fn secrets_in_keys_and_names_are_replaced_put_back_and_never_sent_as_placeholders() {
    let project = Project::new();
    let scenario = |token: Value, name: &str, key: &str| {
        json!({
            "name": "s",
            "variables": { "token": token },
            "servers": { "files": { "type": "mock" } },
            "mcp_interactions": { "files": { "tools": [
                { "name": "put", "responses": [{ "content": "put {{args.by}}" }] },
                { "name": name, "responses": [{ "structured_content": { key: { "of": 1 } } }] },
            ] } },
            "agent": { "kind": "scripted", "calls": [
                { "tool": "put", "args": { "by": { key: { "active": true } } } },
                { "tool": name },
            ] },
        })
        .to_string()
    };
    let canary = "S3cure-Pass/word";
    let declared = json!({ "value": canary, "secret": true });
    project.file(
        "scenarios/s.yaml",
        scenario(declared, &format!("get_{canary}"), canary),
    );
    for arguments in [
        &["record", "-v"][..],
        &["compare", "-v"],
        &["compare", "--agent", "replay", "-v"],
    ] {
        let ran = project.expect(0, arguments);
        assert!(!ran.all().contains(canary), "{arguments:?}: {ran:#?}");
    }
    for folder in ["baselines", ".mcp-eval", "reports"] {
        for entry in walkdir::WalkDir::new(project.path(folder))
            .into_iter()
            .flatten()
        {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            assert!(!text.contains(canary), "{}", entry.path().display());
        }
    }
    // A script that was made of what is stored, without the secret.
    let unknown = scenario(json!("other"), "get", "<secret:var.password>");
    project.file("scenarios/s.yaml", unknown);
    project
        .expect(3, &["run"])
        .says("call 1 of the script holds `<secret:var.password>`")
        .says("secret: true");
}

#[test]
fn findings_repeat_no_secret_of_the_line_they_show() {
    let project = Project::new();
    let token = format!("{}{}", "ghp_", "a1B2c3D4e5F6".repeat(3));
    let first =
        format!(
            "name: s
variables: {{ pw: {{ value: canary-of-7mine, secret: true }} }}
servers: {{ x: {{ command: nothing, args: [\"--token={token}\", \"--password\", hunter-22], envv: {{ API_TOKEN: zzz-41-canary }}, env: {{ A: canary-of-7mine }} }} }}
agent: {{ kind: \"{token}\" }}
timeout: canary-of-7mine
"
        );
    project.file("scenarios/s.yaml", &first);
    for arguments in [
        &["validate"][..],
        &["validate", "--format", "json"],
        &["run"],
        &["list"],
        &["mock", "scenarios/s.yaml"],
        &["run", "--format", "json"],
    ] {
        let ran = project.run(arguments);
        assert_ne!(ran.code, 0, "{ran:#?}");
        let all = ran.all();
        for canary in ["a1B2c3D4", "hunter-22", "zzz-41", "canary-of-7mine"] {
            assert!(!all.contains(canary), "{arguments:?}: {canary}: {all}");
        }
    }
    // In lists of lines, an option stands in the line before its value.
    for (form, extra) in [
        ("args: [--token, zzz-41-canary, []]", "x: 1"),
        (
            "args:\n      - --password\n      - [zzz-41-canary]",
            "x: https://u:p&zzz-41-canary@h/",
        ),
        (
            "args: [a]\n    env: { DB_PASSWORD: p&zzz-41-canary, A: [] }",
            "y: 'password=p&zzz-41-canary'",
        ),
    ] {
        let text = format!(
            "name: s\nservers:\n  x:\n    command: nothing\n    envv: 1\n    {form}\n{extra}\n"
        );
        project.file("scenarios/s.yaml", text);
        let ran = project.run(&["validate"]);
        assert_ne!(ran.code, 0, "{ran:#?}");
        assert!(!ran.all().contains("zzz-41"), "{}", ran.all());
    }
    project.file("scenarios/s.yaml", first);
    // The caret stands where the line says so.
    let shown = project.run(&["validate"]).all();
    let lines: Vec<&str> = shown.lines().collect();
    let at = lines
        .iter()
        .position(|it| it.contains("unknown key `envv`"))
        .unwrap();
    let caret = lines[at + 2].find('^').unwrap();
    let column = lines[at + 1].char_indices().nth(caret).unwrap().0;
    assert!(lines[at + 1][column..].starts_with("envv"), "{shown}");
}

#[test]
fn values_of_any_name_may_be_marked_and_texts_be_kept() {
    let project = Project::new();
    let kept = format!("{}{}", "sk-ant-", "example1".repeat(3));
    let more = json!({
        "redact": { "patterns": ["acme_[0-9a-f]{8}"], "keep": [kept] },
        "agent": { "kind": "scripted", "calls": [{ "tool": "echo", "args": { "text": format!("hidden-mode acme_01234567 {kept} customer quiet-rule") } }] },
        // One that is read by another way than the other sections are.
        "success_criteria": [{ "type": "command", "command": ["sh", "-c", "cat > /dev/null; echo '{\"passed\": true}'"],
            "env": { "RULE": { "value": "quiet-rule", "secret": true } } }],
    });
    project.faulty_with("s", &[], &[], &more);
    let text = project.read("scenarios/s.yaml");
    let mut scenario: Value = serde_json::from_str(&text).unwrap();
    scenario["servers"]["s"]["env"] =
        json!({ "MODE": { "value": "hidden-mode", "secret": true }, "PARTITION_KEY": "customer" });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    let baseline = project.read("baselines/s/baseline.json");
    let expected = format!("<secret:env.MODE> <secret:pattern> {kept} customer <secret:env.RULE>");
    assert!(baseline.contains(&expected), "{baseline}");
}

#[test]
fn what_is_secret_within_a_declared_value_is_hidden_by_itself() {
    let base64 = |text: &str| STANDARD.encode(text);
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2);
    let block =
        format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}9\n-----END PRIVATE KEY-----\n");
    let account = json!({ "private_key": block, "client_secret": "acc-7Hu8Yg", "client_id": "me" });
    let cases = [
        (
            "DATABASE_URL",
            "postgres://app:p%40ss%2F7Hu8Yg@host/db".to_owned(),
            vec!["p@ss/7Hu8Yg", "p%40ss%2F7Hu8Yg", "p%40ss%2f7Hu8Yg"],
        ),
        (
            "DB_DSN",
            "postgres://app:p%40ss%2F7Hu8Yg@host/db".to_owned(),
            vec!["p@ss/7Hu8Yg"],
        ),
        (
            "BASIC_AUTH",
            base64("app:p@ss/7Hu8Yg"),
            vec!["app:p@ss/7Hu8Yg", "p@ss/7Hu8Yg"],
        ),
        (
            "Authorization",
            format!("Basic {}", base64("app:p@ss/7Hu8Yg")),
            vec!["p@ss/7Hu8Yg"],
        ),
        (
            "CREDENTIALS",
            account.to_string(),
            vec!["acc-7Hu8Yg", &line],
        ),
        (
            "CREDENTIALS",
            base64(&account.to_string()),
            vec!["acc-7Hu8Yg", &line],
        ),
        ("PRIVATE_KEY", block.clone(), vec![&line]),
        (
            "DB_SECRET",
            "Server=host;Database=app;Password=x7-yZ9;Encrypt=true".to_owned(),
            vec!["x7-yZ9"],
        ),
        (
            "API_KEYS",
            "first-key-1,second-key-2".to_owned(),
            vec!["first-key-1", "second-key-2"],
        ),
        (
            "Cookie",
            "sid=a7B9x2Qz4L; Path=/; Domain=host".to_owned(),
            vec!["a7B9x2Qz4L"],
        ),
        ("api_key", "uk%2Bq8Zr4Tn6".to_owned(), vec!["uk+q8Zr4Tn6"]),
    ];
    for (name, value, parts) in cases {
        let mut secrets = Secrets::default();
        secrets.named("env", "", [(name, value.as_str())]);
        let redactor = Redactor::new(&secrets, &Redaction::default());
        for part in parts {
            for text in [
                format!("it is {part} here"),
                json!({ "a": json!({ "b": part }).to_string() }).to_string(),
            ] {
                let clean = redactor.text(&text);
                assert!(
                    !clean.contains(part) && clean.contains(&format!("<secret:env.{name}")),
                    "{name}: {part} in {}",
                    *clean
                );
            }
            let encoded = redactor.text(&base64(&format!("x{part}"))).into_inner();
            assert!(
                part == line || part.len() < 9 || part.contains('%') || encoded.starts_with('<'),
                "{name}: {part} in {encoded}"
            );
        }
        let stays = "the app on host has a db of its own, sslmode=require";
        assert_eq!(*redactor.text(stays), stays, "{name}");
        // What can be put back is put back as it was; what cannot is reported.
        let raw = json!({ "a": value, "b": "p@ss/7Hu8Yg", "c": "x7-yZ9" });
        let mut stored = redactor.value(raw.clone()).into_inner();
        assert!(
            secrets
                .restore(stored.as_object_mut().unwrap(), "s")
                .is_ok_and(|()| stored == raw),
            "{name}: {stored}"
        );
    }
    let mut secrets = Secrets::default();
    secrets.named("env", "", [("API_KEYS", "first-key-1,second-key-2")]);
    let redactor = Redactor::new(&secrets, &Redaction::default());
    let mut stored = redactor.value(json!({ "a": "second-key-2" })).into_inner();
    let unknown = secrets
        .restore(stored.as_object_mut().unwrap(), "s")
        .unwrap_err();
    assert!(
        unknown.hint.contains("one of several possible parts"),
        "{}",
        unknown.hint
    );
}

#[test]
fn what_may_be_a_password_stays_hidden() {
    for value in [
        "hunter2",
        "swordfish",
        "correct horse battery staple",
        "production-database",
        "s3cr3t",
        "P@ssw0rd!",
        "mypassword",
        "changeit123",
        "Password-123",
        "token!7",
    ] {
        let clean = redactor()
            .value(json!({ "password": value, "text": format!("db_password: '{value}'") }))
            .into_inner();
        let expected =
            json!({ "password": "<secret:password>", "text": "db_password: '<secret:password>'" });
        assert_eq!(clean, expected, "{value}");
    }
}

#[test]
fn a_private_key_in_json_is_one_secret() {
    let block = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        "MIIEabc1".repeat(8)
    );
    let text = json!({ "private_key": block }).to_string();
    let clean = redactor().text(&text);
    assert_eq!(
        *clean,
        r#"{"private_key": "<secret:private-key>\n"}"#.replace(": ", ":")
    );
}

/// Values as servers answer them, some with secrets.
fn answers() -> impl Strategy<Value = Value> {
    let texts = prop_oneof![
        "[a-z]{0,8}",
        Just("hunter2-canary".to_owned()),
        "(password|token|api_key)[=:] ?[a-z0-9]{0,12}",
        "<secret:[a-z.]{1,6}>",
        "https://u:[a-z0-9]{1,9}@h/",
        "\\PC{0,12}",
    ];
    let leaf = prop_oneof![
        texts.prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            "[a-z]{1,4}",
            Just("password".to_owned()),
            Just("token".to_owned())
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn redactor() -> Redactor {
    let mut secrets = Secrets::default();
    secrets.declare("var.token", "", "hunter2-canary");
    Redactor::new(&secrets, &Redaction::default())
}

fn texts_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|it| texts_of(it, found)),
        Value::Object(members) => members.values().for_each(|it| texts_of(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let members = members
                .iter()
                .rev()
                .map(|(key, it)| (key.clone(), reversed(it)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// Without the numbers that tell secrets of one kind apart, which follow the order they are met in.
fn unnumbered(value: &Value) -> String {
    let numbers = regex::Regex::new("#[0-9]+>").unwrap();
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    numbers.replace_all(&sorted.to_string(), ">").into_owned()
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(value in answers()) {
        let once = redactor().value(value).into_inner();
        let mut texts = Vec::new();
        texts_of(&once, &mut texts);
        for text in texts {
            let twice = redactor().text(&text);
            prop_assert_eq!(&*twice, &text);
        }
    }

    #[test]
    fn the_order_of_keys_is_of_no_matter(value in answers()) {
        let there = redactor().value(value.clone()).into_inner();
        let back = redactor().value(reversed(&value)).into_inner();
        prop_assert_eq!(unnumbered(&there), unnumbered(&back));
    }

    #[test]
    fn what_is_added_changes_nothing_beside_it(value in answers(), added in "[a-z ]{0,9}") {
        let alone = redactor().value(value.clone()).into_inner();
        let beside = redactor().value(json!({ "x": value, "added": added })).into_inner();
        prop_assert_eq!(unnumbered(&beside["x"]), unnumbered(&alone));
    }
}
