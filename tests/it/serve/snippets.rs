//! The clients that the README shows.

use std::process::Command;

use super::desk::Server;
use crate::common::{Project, manual, ran, skipped};

/// The block of the README in this language.
fn snippet(language: &str) -> String {
    let readme = manual();
    let begin = format!("\n```{language}\n");
    let mut blocks = readme.split(&begin).skip(1);
    let mut found = blocks.find(|it| it.contains(".mcp-eval/serve.json"));
    let block = found.take().unwrap_or_else(|| panic!("no {language}"));
    block.split("\n```").next().unwrap().to_owned()
}

/// Runs a client beside a server, and finds out that it says what is right.
fn says(language: &str, file: &str, command: &mut Command) {
    let project = Project::shipped();
    let _server = Server::start(&project, &[]);
    project.file(file, snippet(language));
    let ran = ran(command.arg(file).current_dir(project.path("")));
    assert_eq!(ran.code, 0, "{language}: {ran:#?}");
    assert!(
        ran.stdout.to_lowercase().contains("true"),
        "{language}: {ran:#?}"
    );
    assert!(
        ran.stdout.contains("without asking a model"),
        "{language}: {ran:#?}"
    );
    // Where the scenario does not pass, or is not there, it does not say so.
    project.edit(
        "scenarios/flows/ticket.yaml",
        "  - closed\n",
        "  - text: opened again\n",
    );
    let failed = ran_again(command);
    assert!(!failed.contains("true"), "{language}: {failed}");
}

fn ran_again(command: &mut Command) -> String {
    let ran = ran(command);
    ran.stdout.to_lowercase().replace("\"testing\":true", "")
}

/// Whether a program is there.
fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|it| it.status.success())
}

#[test]
fn the_client_for_the_shell_works() {
    if !has("curl") {
        return skipped(
            "the client of the README for the shell was not tried",
            "there is no curl",
        );
    }
    let project = Project::shipped();
    let _server = Server::start(&project, &[]);
    project.file("client.sh", snippet("bash"));
    let ask = || {
        let ran = ran(Command::new("bash")
            .arg("client.sh")
            .current_dir(project.path("")));
        assert_eq!(ran.code, 0, "{ran:#?}");
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    assert_eq!(ask()["success"], true);
    project.edit(
        "scenarios/flows/ticket.yaml",
        "  - closed\n",
        "  - text: opened again\n",
    );
    assert_eq!(ask()["success"], false);
    std::fs::remove_file(project.path("scenarios/flows/ticket.yaml")).unwrap();
    let ran = ran(Command::new("bash")
        .arg("client.sh")
        .current_dir(project.path("")));
    assert_ne!(ran.code, 0, "{ran:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_client_in_python_works() {
    if !has("python3") {
        return skipped(
            "the client of the README in Python was not tried",
            "there is no python3",
        );
    }
    says("python", "client.py", &mut Command::new("python3"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_client_in_typescript_works() {
    let node = std::env::var("MCP_EVAL_NODE").unwrap_or_else(|_| "node".to_owned());
    if !has(&node) {
        return skipped(
            "the client of the README in TypeScript was not tried",
            "there is no Node",
        );
    }
    let strips = ["--experimental-strip-types", "--no-warnings"];
    let mut takes = Command::new(&node);
    if !takes
        .args(strips)
        .args(["--eval", ""])
        .output()
        .is_ok_and(|it| it.status.success())
    {
        return skipped(
            "the client of the README in TypeScript was not tried",
            "this Node is too old to read it",
        );
    }
    let mut command = Command::new(node);
    command.args(strips);
    says("typescript", "client.mts", &mut command);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_client_in_go_works() {
    // It is no tool that the gate installs.
    if !Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|it| it.status.success())
    {
        return;
    }
    let mut command = Command::new("go");
    command.env("GOFLAGS", "-mod=mod").arg("run");
    says("go", "client.go", &mut command);
}
