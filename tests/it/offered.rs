//! The commands that reports offer: each does what it says, typed as it is printed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Project, Ran, commit_all, copy, ran};
use crate::review::{BASELINE, changed_shop, shop};

/// The commands that a Markdown report offers, those that contain a text.
fn offered(project: &Project, report: &str, text: &str) -> Vec<String> {
    let report = project.read(report);
    let lines = report.lines().filter(|it| !it.starts_with('#'));
    let lines = lines.filter(|it| it.contains("mcp-eval ") && it.contains(text));
    lines.map(str::to_owned).collect()
}

/// Types a line in a shell, in a folder of the project.
fn typed(project: &Project, folder: &str, line: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-eval"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(project.path(folder))
        .env_clear()
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .env("HOME", project.path(""));
    ran(&mut command)
}

/// Whether a baseline holds the new price of tea.
fn tea(project: &Project, baseline: &str) -> Value {
    let baseline: Value = serde_json::from_str(&project.read(baseline)).unwrap();
    let step = baseline["steps"].as_array().unwrap().iter();
    let mut answers = step
        .map(|it| it.to_string().replace('\\', ""))
        .filter(|it| it.contains("euro"));
    json!(answers.next().unwrap().contains("\"tea\":4"))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_decided_about_a_run_is_part_of_the_command_that_runs_it_again() {
    let project = Project::new();
    shop(&project);
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"milk\":1,\"tea\":3");
    let declared = "\"name\":\"The shop\",\"variables\":{\"day\":\"Sunday\",\"token\":\"none\"}";
    project.edit("scenarios/shop.yaml", "\"name\":\"The shop\"", declared);
    project.file("my servers.json", "{\"mcpServers\": {}}");
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let result = project.result(
        1,
        &[
            "compare",
            "--strict",
            "--threshold",
            "0.95",
            "--repeat",
            "2",
            "--pass-threshold",
            "0.5",
            "--mcp-config",
            "my servers.json",
            "--preset",
            "standard",
            "--var",
            "day=Monday",
            "--var",
            &format!("token={secret}"),
            "--jobs",
            "1",
            "--report",
            "markdown=m.md",
        ],
    );
    let again = offered(&project, "m.md", "mcp-eval compare");
    let (shown, rest) = again[0].split_once(" --var 'token=").unwrap();
    assert_eq!(
        shown,
        "mcp-eval compare -k shop.yaml --threshold 0.95 --pass-threshold 0.5 --strict --preset standard \
         --mcp-config 'my servers.json' --repeat 2 --var day=Monday"
    );
    assert!(!rest.contains(secret));
    assert!(!result.to_string().contains(secret));
    let page = fs::read_to_string(project.path("reports/latest/shop.html")).unwrap();
    assert!(page.contains("--threshold 0.95 --pass-threshold 0.5 --strict"));
    let again = shown.replace(" --var day=Monday", "");
    assert_eq!(typed(&project, "", &again).code, 1);
    // Without `--strict` it passes, so the options do decide.
    project.expect(0, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_command_works_anywhere_in_the_repository() {
    let project = Project::new();
    changed_shop(&project);
    let suite = project.path("my suite");
    for folder in ["scenarios", "baselines"] {
        copy(&project.path(folder), &suite.join(folder));
        fs::remove_dir_all(project.path(folder)).unwrap();
    }
    fs::create_dir_all(project.path("elsewhere/deep")).unwrap();
    commit_all(&project.path(""), "All");
    let compared = typed(
        &project,
        "my suite",
        "mcp-eval compare --report markdown=m.md",
    );
    assert_eq!(compared.code, 1, "{compared:#?}");
    let lead = "cd \"$(git rev-parse --show-toplevel)\"/'my suite' && mcp-eval ";
    for (verb, code) in [("compare", 1), ("explain", 0), ("review", 0)] {
        let commands = offered(&project, "my suite/m.md", &format!("mcp-eval {verb}"));
        assert!(commands[0].starts_with(lead), "{commands:?}");
        let done = typed(&project, "elsewhere/deep", &commands[0]);
        assert_eq!(done.code, code, "{}: {done:#?}", commands[0]);
    }
    assert_eq!(tea(&project, &format!("my suite/{BASELINE}")), true);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_compared_without_a_run_is_accepted_from_its_report() {
    let project = Project::new();
    changed_shop(&project);
    let run = fs::read_link(project.path("reports/latest")).unwrap();
    project.expect(0, &["review", "--reject", "shop"]);
    let run = run.to_str().unwrap();
    for more in [&[][..], &["--no-report"]] {
        let compare = ["compare", "--run", run, "--report", "markdown=m.md"];
        project.expect(1, &[&compare, more].concat());
        let accept = offered(&project, "m.md", " --accept ");
        assert_eq!(accept.len(), 1, "{accept:?}");
        assert_eq!(tea(&project, BASELINE), false);
        let before = project.read(BASELINE);
        let accepted = typed(&project, "", &accept[0]);
        assert_eq!(accepted.code, 0, "{}: {accepted:#?}", accept[0]);
        assert_eq!(tea(&project, BASELINE), true);
        project.file(BASELINE, before);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_waits_in_another_folder_is_accepted_there() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(0, &["review", "--reject", "shop"]);
    fs::rename(project.path("baselines"), project.path("kept")).unwrap();
    for option in [["--against", "baseline:kept"], ["--baseline", "kept"]] {
        let compare = ["compare", "--report", "markdown=m.md"];
        let before = project.read("kept/shop/baseline.json");
        let compared = project.expect(1, &[&compare[..], &option].concat());
        compared.says(
            "or accept the change with `mcp-eval review scenarios/shop.yaml --baseline kept`.",
        );
        assert_eq!(
            offered(&project, "m.md", "mcp-eval compare")[0],
            format!("mcp-eval compare scenarios/shop.yaml {}", option.join(" "))
        );
        let accept = offered(&project, "m.md", " --accept ");
        let accepted = typed(&project, "", &accept[0]);
        assert_eq!(accepted.code, 0, "{}: {accepted:#?}", accept[0]);
        assert_eq!(tea(&project, "kept/shop/baseline.json"), true);
        project.file("kept/shop/baseline.json", before);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_page_of_ci_offers_what_works_where_it_is_read() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(0, &["review", "--reject", "shop"]);
    let mut job = project.command();
    let compare = [
        "compare",
        "--output",
        "artifact",
        "--report",
        "markdown=m.md",
    ];
    assert_eq!(ran(job.env("CI", "true").args(compare)).code, 1);
    let accept = offered(&project, "m.md", " --accept ");
    assert_eq!(
        accept,
        ["mcp-eval review --accept shop --from REPORT_FOLDER"]
    );
    let page = project.read("artifact/shop.html");
    assert_eq!(page.matches("mcp-eval review --accept").count(), 1);
    assert!(page.contains("mcp-eval review --accept shop --from REPORT_FOLDER"));
    let accept = accept[0].replace("REPORT_FOLDER", "artifact");
    assert_eq!(typed(&project, "", &accept).code, 0);
    // At a desk, both are: the page may be handed on.
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":5");
    project.expect(1, &["compare", "--output", "artifact"]);
    let page = project.read("artifact/shop.html");
    assert_eq!(page.matches("mcp-eval review --accept").count(), 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_lies_elsewhere_is_found_again() {
    let project = Project::new();
    shop(&project);
    project.file("suites/a/shop.yaml", project.read("scenarios/shop.yaml"));
    fs::remove_dir_all(project.path("scenarios")).unwrap();
    project.expect(0, &["record", "suites"]);
    project.edit("suites/a/shop.yaml", "\"tea\":3", "\"tea\":4");
    project.expect(1, &["compare", "suites", "--report", "markdown=m.md"]);
    for (verb, code) in [("compare", 1), ("review", 0)] {
        let commands = offered(&project, "m.md", &format!("mcp-eval {verb}"));
        let done = typed(&project, "", &commands[0]);
        assert_eq!(done.code, code, "{}: {done:#?}", commands[0]);
    }
    assert_eq!(tea(&project, "baselines/a/shop/baseline.json"), true);
}
