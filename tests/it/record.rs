//! Recording baselines.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::common::Project;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn recording_twice_changes_nothing() {
    let project = Project::shipped();
    fs::remove_dir_all(project.path("baselines")).unwrap();
    project.expect(0, &["record"]);
    let path = "baselines/flows/ticket/baseline.json";
    let (first, dialogue) = (
        project.read(path),
        project.read("baselines/flows/ticket/trajectory.txt"),
    );
    project.expect(0, &["record"]);
    assert_eq!(first, project.read(path));
    assert_eq!(
        dialogue,
        project.read("baselines/flows/ticket/trajectory.txt")
    );
    assert!(
        !first.contains(project.path("").to_str().unwrap()),
        "no absolute paths"
    );
    project.expect(0, &["compare"]);
}

#[test]
fn deviations_from_the_expected_trajectory_are_shown_per_parameter() {
    let project = Project::new();
    project.faulty_with(
        "s",
        &[],
        &[
            ("echo", json!({ "q": "env vars", "limit": 5 })),
            ("count", json!({})),
        ],
        &json!({ "expected_trajectory": [
            { "tool": "echo", "args": { "q": "environment variables", "deep": true } },
            { "tool": "nothing", "args": {} },
        ] }),
    );
    let ran = project.expect(0, &["record"]);
    ran.says("call 1 of `mcp__s__echo`")
        .says("`q`")
        .says(r#"expected "environment variables", got "env vars""#)
        .says("`deep`")
        .says("`limit`")
        .says("`mcp__s__nothing`")
        .says("`mcp__s__count`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn ci_does_not_write_baselines() {
    let project = Project::shipped();
    let record = |ci: &str, arguments: &[&str]| {
        crate::common::ran(
            project
                .command()
                .arg("record")
                .args(arguments)
                .env("CI", ci),
        )
    };
    let before = project.read("baselines/flows/ticket/baseline.json");
    let ran = record("true", &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.says("CI is set in the environment").says("--force");
    assert_eq!(before, project.read("baselines/flows/ticket/baseline.json"));
    assert_eq!(record("true", &["--force"]).code, 0);
    assert_eq!(
        record("", &[]).code,
        0,
        "an empty variable is as good as none"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn recording_over_a_baseline_shows_what_changed() {
    let project = Project::shipped();
    project.expect(0, &["record"]).says_not("→");
    project.edit(
        "scenarios/flows/ticket.yaml",
        "state: closed",
        "state: done",
    );
    project.edit("scenarios/flows/ticket.yaml", "  - closed\n", "  - done\n");
    project
        .expect(0, &["record"])
        .says("`close_ticket` returned a different `state`: \"closed\" → \"done\"");
    project.expect(0, &["compare"]);
}

#[test]
fn a_run_in_which_every_call_fails_is_not_kept_unseen() {
    let project = Project::new();
    project.faulty("s", &["tool-error"], &[("echo", json!({}))]);
    project
        .expect(1, &["record"])
        .says("every call failed")
        .says("the disk is on fire")
        .says("--allow-failing");
    assert!(!project.path("baselines").exists());
    project.expect(0, &["record", "--allow-failing"]);
    project.expect(0, &["compare"]);
}

#[test]
fn a_run_that_did_not_complete_is_never_kept() {
    let project = Project::new();
    project.faulty("s", &["die-after=0"], &[("echo", json!({}))]);
    project.expect(3, &["record", "--allow-failing"]);
    assert!(!project.path("baselines").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_original_tools_way_of_naming_folders_works() {
    let project = Project::shipped();
    let file = "scenarios/proxy/find_tools.yaml";
    project.expect(
        0,
        &["record", "--scenario", file, "--output", "mine/find_tools"],
    );
    assert!(project.path("mine/find_tools/baseline.json").exists());
    project.expect(
        0,
        &[
            "compare",
            "--scenario",
            file,
            "--baseline",
            "mine/find_tools",
            "--output",
            "out",
        ],
    );
    assert!(project.path("out/index.html").exists());
    // Several scenarios: the folder of all.
    project.expect(0, &["record", "scenarios/proxy", "--output", "all"]);
    assert!(project.path("all/proxy/find_tools/baseline.json").exists());
    project.expect(0, &["compare", "scenarios/proxy", "--baseline", "all"]);
}

#[test]
fn a_baseline_that_cannot_be_written_is_an_error_and_the_old_one_stays() {
    // Root may write anywhere, so the folder is a file instead of read-only.
    let project = Project::shipped();
    project.file("blocked", "a file where a folder should be");
    let ran = project.expect(3, &["record", "scenarios/flows", "--output", "blocked"]);
    ran.says("cannot write blocked/flows/ticket");
    assert_eq!(project.read("blocked"), "a file where a folder should be");
}

#[test]
fn a_read_only_folder_is_reported() {
    let project = Project::shipped();
    let folder = project.path("readonly");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        // Root may write anywhere; a folder that cannot be written to is tested above by a file in its place.
        return;
    }
    project
        .expect(3, &["compare", "--output", "readonly/report"])
        .says("cannot write")
        .says("Permission denied");
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let project = Project::shipped();
    // Writing to /dev/full fails as writing to a full disk does.
    let link = project.path("full");
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    let ran = project.expect(3, &["compare", "--output", "full/report"]);
    ran.says("error:").says("full/report");
}

#[test]
fn nothing_secret_is_stored_or_shown() {
    let project = Project::new();
    let github = format!("ghp_{}", "A1b2C3d4".repeat(5));
    let server = crate::common::faulty_server();
    let scenario = json!({
        "name": "s",
        "servers": { "s": { "type": "stdio", "command": server, "args": [format!("text=your token is {github} and hunter2-canary")],
            "env": { "MY_PASSWORD": "${CANARY}" } } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "echo", "args": { "api_key": "plain-canary-value", "note": "hunter2-canary" } }] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    let ran = crate::common::ran(
        project
            .command()
            .args(["record", "-v"])
            .env("CANARY", "hunter2-canary"),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.says_not("hunter2-canary")
        .says_not(&github)
        .says_not("plain-canary-value");
    let ran = crate::common::ran(
        project
            .command()
            .args(["compare", "-v"])
            .env("CANARY", "hunter2-canary"),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    for entry in walkdir::WalkDir::new(project.path("")) {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(project.path("")).unwrap();
        if entry.file_type().is_file() && !path.starts_with("scenarios") {
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            for secret in ["hunter2-canary", &github, "plain-canary-value"] {
                assert!(!text.contains(secret), "{secret} in {}", path.display());
            }
        }
    }
    let baseline = project.read("baselines/s/baseline.json");
    assert!(
        baseline.contains("<secret:github-token>") && baseline.contains("<secret:env.MY_PASSWORD>"),
        "{baseline}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_varies_by_nature_is_learned_and_forgiven() {
    let project = Project::new();
    project.faulty("s", &["random"], &[("count", json!({}))]);
    project
        .expect(0, &["record", "--takes", "1"])
        .says_not("learned");
    project.expect(1, &["compare"]);
    project
        .expect(0, &["record", "-v"])
        .says("learned from 2 takes: the answer to call 1 varies at /content/0/json/ticket");
    project.expect(0, &["compare"]);
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    let learned = &baseline["learned"][0];
    assert_eq!(
        (&learned["call"], &learned["takes"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(learned["varies"][0]["path"], "/content/0/json/ticket");
    let page = fs::read_to_string(project.path("reports/latest/s.html")).unwrap();
    assert!(
        page.contains("/content/0/json/ticket"),
        "the report shows what was learned"
    );
}

#[test]
fn a_call_without_an_answer_is_not_kept_unseen() {
    let project = Project::new();
    let calls = [("count", json!({})), ("echo", json!({}))];
    project.faulty_with("s", &["no-content"], &calls, &json!({}));
    project
        .expect(1, &["record"])
        .says("not kept")
        .says("`content` is missing");
}

#[test]
fn a_token_in_a_header_is_hidden_with_and_without_its_scheme() {
    let project = Project::new();
    let server = crate::common::faulty_server();
    let scenario = json!({
        "name": "s",
        "servers": { "s": { "type": "stdio", "command": server, "args": ["text=you are sekrit-bearer-0001"], "env": { "PGPASSWORD": "Bearer sekrit-bearer-0001" } } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "echo" }] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    assert!(
        !project
            .read("baselines/s/baseline.json")
            .contains("sekrit-bearer")
    );
}
