//! `scan`, `redact` and secret variables: no secret stays on disk unnoticed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::common::Project;

/// Made up here, so that no scanner of this repository finds it.
fn github() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

#[test]
fn secrets_are_found_where_they_stand_and_never_shown() {
    let project = Project::new();
    let token = github();
    project.file("baselines/b.json", format!("{{\n  \"max_tokens\": 12,\n  \"é\": \"see {token}\",\n  \"next\": {{ \"api_key\": \"Zq81-mmP0-7yyt-lkq3\" }}\n}}\n"));
    project.file(
        "reports/page.html",
        format!("<p>\n<b>{{&quot;x&quot;: {token}}}</b>\n"),
    );
    project.file("scenarios/notes.env", "PASSWORD=zQ8!kk2p\nOTHER=1\n");
    project.file(
        ".mcp-eval/key.pem",
        format!("-----BEGIN PRIVATE KEY-----\n{}\n", "MIIEvQ0Abc".repeat(6)),
    );
    project.file(
        "reports/query.txt",
        "GET https://h/x?page=2&access_token=Zm9vYmFyMTIz HTTP/1.1\n",
    );
    let ran = project.expect(1, &["scan"]);
    for place in [
        "baselines/b.json:3:13: github-token, 40 characters",
        "baselines/b.json:4:25: api-key, 19 characters",
        "reports/page.html:2:20: github-token, 40 characters",
        "scenarios/notes.env:1:10: password, 8 characters",
        ".mcp-eval/key.pem:1:1: private-key",
        "reports/query.txt:1:37: token, 12 characters",
        "6 secrets in 5 files",
    ] {
        ran.says(place);
    }
    for secret in [&token, "ghp_", "Zq81", "zQ8!kk2p", "Zm9vYmFyMTIz"] {
        ran.says_not(secret);
    }
    let document = project.result(1, &["scan", "baselines"]);
    assert_eq!(document["found"], 2);
    assert_eq!(
        document["findings"][0],
        json!({ "path": "baselines/b.json", "line": 3, "column": 13, "kind": "github-token", "length": 40 })
    );
}

#[test]
fn what_only_looks_like_a_secret_is_none() {
    let project = Project::new();
    project.file("baselines/a.json", json!({
        "max_tokens": 12, "input_tokens": "12", "token": "<redacted:github-token:1>", "password": "${PASSWORD}",
        "authorization": "Bearer <redacted:bearer-token:2>", "api_key": "your-key-here", "secret": "xxxxxxxx",
        "cookie": "{{args.token}}", "sha": "cc9decf0e4ab43355b7ad66314ca1573b10cc9de",
        "id": "123e4567-e89b-12d3-a456-426614174000", "inner": "{\"token\": \"<token>\", \"api_key\": \"${KEY}\"}",
    }).to_string());
    project.file("notes.yaml", "token: ${TOKEN}\nbearer_token_env: PROXY_TOKEN\napi_key: <your key>\nsecret: true\npassword: {{password}}\n");
    project.file("notes.txt", "Authorization: Bearer ${TOKEN}\nAPI_KEY=$KEY https://h/?token=xxxx sk-xxxxxxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE\n");
    project
        .expect(0, &["scan", "baselines", "notes.yaml", "notes.txt"])
        .says("0 secrets in 3 files");
}

#[test]
fn what_a_baseline_has_learned_of_ids_is_no_secret() {
    let project = Project::new();
    let content =
        json!([{ "type": "text", "text": "created task 5f3c{{uuid}}9b in project alpha" }]);
    let scenario = json!({
        "name": "s",
        "user_intent": "Look",
        "servers": { "s": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "get" }],
        "mcp_interactions": { "s": { "tools": [{ "name": "get", "responses": [{ "content": content }] }] } },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    assert!(
        project
            .read("baselines/s/baseline.json")
            .contains("\"seen\"")
    );
    project.expect(0, &["scan"]).says("0 secrets");
}

#[test]
fn odd_files_are_reported_and_loops_end() {
    let project = Project::new();
    project.file("d/binary", b"\0\x01ghp_");
    project.file("d/latin", b"caf\xe9 and more\n");
    let long = format!(
        "{}{} {}",
        "lorem ".repeat(174_760),
        github(),
        "x ".repeat(600_000)
    );
    project.file("d/long", long);
    symlink(project.path("d"), project.path("d/loop")).unwrap();
    symlink("nowhere", project.path("d/dangling")).unwrap();
    project
        .expect(1, &["scan", "d"])
        .says("skipped: d/binary is binary")
        .says("d/long:1:1048561: github-token")
        .says("1 secret in 2 files");
    project
        .expect(2, &["scan", "gone"])
        .says("gone does not exist");
    project
        .expect(2, &["scan"])
        .says("there is nothing to scan");
    project
        .expect(2, &["scan", "d", "--redact", ".*"])
        .says("matches any text");
}

#[test]
fn a_file_that_cannot_be_read_is_no_clean_one() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.file("d/closed", "x");
    fs::set_permissions(project.path("d/closed"), fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(project.path("d/closed")).is_ok() {
        // Root may read anything but this: reading at offset 0 of a process's memory fails for everybody.
        project
            .expect(3, &["scan", "/proc/self/mem"])
            .says("cannot be read");
        return;
    }
    project
        .expect(3, &["scan", "d"])
        .says("d/closed cannot be read");
}

#[test]
fn declared_secrets_are_stored_nowhere() {
    let project = Project::new();
    let more = json!({
        "variables": { "token": { "value": "${SCAN_CANARY}", "secret": true } },
        "user_intent": "use {{token}} and acme_0123456789abcdef",
        "redact": ["acme_[0-9a-f]{16}"],
    });
    let calls = [(
        "echo",
        json!({ "text": "{{token}}, acme_0123456789abcdef" }),
    )];
    project.faulty_with("s", &[], &calls, &more);
    project
        .expect(0, &["validate"])
        .says("`SCAN_CANARY` is not set");
    project.expect(3, &["record"]).says("SCAN_CANARY");
    let mut command = project.command();
    command
        .args(["record"])
        .env("SCAN_CANARY", "canary-of-mine");
    let ran = crate::common::ran(&mut command);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says_not("canary-of-mine");
    let baseline = project.read("baselines/s/baseline.json");
    assert!(
        baseline.contains("<secret:var.token>, <secret:pattern>"),
        "{baseline}"
    );
    let mut command = project.command();
    command
        .args(["scan", "baselines", ".mcp-eval"])
        .env("SCAN_CANARY", "canary-of-mine");
    let ran = crate::common::ran(&mut command);
    assert_eq!(ran.code, 0, "{ran:#?}");
    project.file(
        "baselines/leak.txt",
        "a canary-of-mine, acme_0123456789abcdef\n",
    );
    let mut command = project.command();
    command
        .args(["scan", "baselines"])
        .env("SCAN_CANARY", "canary-of-mine");
    crate::common::ran(&mut command)
        .says("baselines/leak.txt:1:3: var.token")
        .says("baselines/leak.txt:1:19: pattern");
}

#[test]
fn patterns_that_match_anything_are_refused_with_their_place() {
    let project = Project::new();
    for wrong in ["", ".*", ".+", "(", r"\\w+"] {
        project.file(
            "scenarios/_defaults.yaml",
            format!("redact:\n  - ok_[0-9]+\n  - \"{wrong}\"\n"),
        );
        project.file(
            "scenarios/s.yaml",
            "name: s\nservers: { s: { type: stdio, command: x } }\nexpected_trajectory: [{ tool: t }]\n",
        );
        project.expect(2, &["validate"]).says("_defaults.yaml:3:5");
    }
}

#[test]
fn what_is_staged_is_looked_at_as_it_would_be_committed() {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let as_somebody = ["-c", "user.name=a", "-c", "user.email=a@b"];
        command.args(as_somebody).args(arguments);
        let done = command.current_dir(project.path("")).output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    project
        .expect(2, &["scan", "--staged"])
        .says("--staged: not in a git repository");
    git(&["init", "-q"]);
    let token = format!("ghp_{}", "A1b2C3d4".repeat(4) + "E5f6");
    project.file("scenarios/s.yaml", format!("name: s\n# {token}\n"));
    project.file("notes/old.txt", &token);
    project.file("notes/fine.txt", "nothing");
    git(&["add", "."]);
    // The file is clean by now, what is staged is not.
    project.file("scenarios/s.yaml", "name: s\n");
    project
        .expect(1, &["scan", "--staged"])
        .says("scenarios/s.yaml:2:3: github-token")
        .says("notes/old.txt:1:1: github-token")
        .says("2 secrets in 3 files");
    project
        .expect(1, &["scan", "--staged", "notes"])
        .says("1 secret in 2 files");
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    // What is committed is not staged any more, and what is not staged is not looked at.
    project.file("scenarios/t.yaml", format!("# {token}\n"));
    project
        .expect(0, &["scan", "--staged"])
        .says("0 secrets in 0 files");
    git(&["rm", "-q", "notes/old.txt"]);
    project
        .expect(0, &["scan", "--staged"])
        .says("0 secrets in 0 files");
}
