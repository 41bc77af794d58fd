//! Every command of the README does what it says.

use std::fs;
use std::process::Command;

use crate::common::{Project, copy, ran, root, stand_in};
use crate::docker::kit as docker;

/// The fenced blocks of a language, without their fences.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    for part in text.split("\n```").collect::<Vec<_>>() {
        if let Some(block) = part.strip_prefix(&format!("{language}\n")) {
            blocks.push(block.to_owned());
        }
    }
    blocks
}

/// The scenario with a model.
fn umbrella(readme: &str) -> String {
    let mut blocks = blocks(readme, "yaml").into_iter();
    blocks.find(|it| it.starts_with("name: Umbrella")).unwrap()
}

#[test]
fn the_stand_in_plays_the_model_of_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let project = Project::new();
    project.file("umbrella.yaml", umbrella(&readme));
    let (_stand_in, url) = stand_in(&project, "umbrella.yaml");
    let ran = ran(project
        .command()
        .args(["run", "umbrella.yaml"])
        .env("LLM_URL", url));
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("Models: 2 requests, 290 tokens in, 40 out, cost 0.0015");
}

#[test]
fn every_command_of_the_readme_runs() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let project = Project::shipped();
    let mut written = blocks(&readme, "yaml");
    project.file("scenarios/weather.yaml", written.remove(0));
    let engine = docker::engine("the README's commands with containers");
    if engine {
        copy(&root().join("docker"), &project.path("docker"));
    }
    let notes = written.iter().find(|it| it.contains("name: create"));
    project.file("notes.yaml", notes.unwrap());
    project.file("umbrella.yaml", umbrella(&readme));
    let assistant = written.iter().find(|it| it.contains("kind: command"));
    project.file("assistant.yaml", assistant.unwrap());
    let demo = written.into_iter().find(|it| it.starts_with("name: Demo"));
    let demo = demo.unwrap();

    let log = fs::read(root().join("tests/fixtures/import/greeting/detailed_log.json")).unwrap();
    project.file("recordings/greeting/detailed_log.json", log);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_mcp-eval"))
        .parent()
        .unwrap();
    let path = std::env::join_paths(
        std::iter::once(bin.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let mut commands = 0;
    for command in blocks(&readme, "console")
        .iter()
        .flat_map(|it| it.lines())
        .filter_map(|it| it.strip_prefix("$ "))
    {
        commands += 1;
        // Building again inside the tests would take minutes; this is what they come to. The second is what runs this test.
        let command = command.replace("cargo run -- ", "mcp-eval ");
        if command == "cargo test" {
            continue;
        }
        // A server would go on for ever; a port of its own would be taken on a busy machine.
        let command = match command.strip_suffix(" --port 3030") {
            Some(server) => format!("timeout --preserve-status --signal=INT 2 {server}"),
            None => command,
        };
        // Nobody has a session here, so nothing comes of it.
        let command = if command.contains("--listen") {
            format!("timeout --preserve-status --signal=INT 2 {command}; test $? = 3")
        } else {
            command
        };
        if command == "mcp-eval compare" && commands == 1 {
            // The first command of a newcomer knows nothing of the scenario written further down.
            fs::rename(
                project.path("scenarios/weather.yaml"),
                project.path("weather.yaml"),
            )
            .unwrap();
        }
        if ["docker", "demo", "clean"]
            .iter()
            .any(|it| command.contains(it))
        {
            if !engine {
                continue;
            }
            project.file("scenarios/demo.yaml", &demo);
        }
        let _alone = command.contains("clean").then(docker::alone);
        let ran = ran(Command::new("bash")
            .args(["-c", &command])
            .current_dir(project.path(""))
            .env_remove("CI")
            .env("PATH", &path));
        assert_eq!(ran.code, 0, "{command}: {ran:#?}");
        if commands == 1 {
            ran.says("Suite Results: 9/9 tests passed");
            fs::rename(
                project.path("weather.yaml"),
                project.path("scenarios/weather.yaml"),
            )
            .unwrap();
        }
    }
    assert!(commands > 10, "only {commands} commands found");
}

#[test]
fn the_sections_of_the_readme_are_valid() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let section = |name: &str| {
        let blocks = blocks(&readme, "yaml").into_iter();
        let mut found = blocks.filter(|it| it.starts_with(&format!("{name}:")));
        found.next().unwrap()
    };
    let project = Project::new();
    let head = "name: s\nservers: { s: { type: stdio, command: x } }\nexpected_trajectory: [{ tool: t }]\n";
    let sections = format!("{head}{}\n{}", section("scoring"), section("agent"));
    project.file("scenarios/s.yaml", sections);
    let proxy = head.replace(
        "servers: {",
        "servers: { proxy: { type: http, url: http://x/ },",
    );
    let ready = format!("{proxy}{}", section("ready"));
    project.file("scenarios/ready.yaml", ready);
    project
        .expect(0, &["validate"])
        .says("2 valid scenarios, 0 errors");
}

#[test]
fn the_docker_section_of_the_readme_is_valid() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let section = blocks(&readme, "yaml")
        .into_iter()
        .find(|it| it.starts_with("docker:"))
        .unwrap();
    let project = Project::new();
    let rest = "name: s\nconfig_file: s.json\nservers: { s: { type: http, url: \"${docker.url}/mcp\" } }\nexpected_trajectory: [{ tool: t }]\n";
    project.file("scenarios/s.json", "{}");
    project.file("scenarios/s.yaml", format!("{rest}{section}"));
    project
        .expect(0, &["validate"])
        .says("1 valid scenario, 0 errors, 0 warnings");
}

#[test]
fn the_gate_runs_the_test_command_of_the_readme() {
    let gate = fs::read_to_string(root().join(".ci/run")).unwrap();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("\n$ cargo test\n") && gate.contains("\ncargo test"));
}
