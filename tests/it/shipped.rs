//! What is shipped belongs together.

use std::fs;

use serde_json::Value;
use walkdir::WalkDir;

use crate::common::{Project, root};

fn schema(kind: &str) -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&Project::new().expect(0, &["schema", kind]).stdout).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn fits(schema: &jsonschema::Validator, what: &str, value: &Value) {
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

#[test]
fn every_scenario_is_valid_and_fits_the_schema() {
    let project = Project::all_shipped();
    project
        .expect(0, &["validate"])
        .says("31 valid scenarios, 0 errors, 0 warnings");
    let schema = schema("scenario");
    let mut seen = 0;
    for entry in WalkDir::new(root().join("scenarios")) {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap();
        if name.contains(".yaml") && name != "_defaults.yaml" {
            seen += 1;
            let text = fs::read_to_string(entry.path()).unwrap();
            fits(&schema, name, &serde_yaml::from_str(&text).unwrap());
        }
    }
    assert_eq!(seen, 31);
}

#[test]
fn every_scenario_has_its_baseline_and_every_baseline_its_scenario() {
    let project = Project::offline();
    let listed = project.result(0, &["list"]);
    let mut ids: Vec<String> = Vec::new();
    for scenario in listed["scenarios"].as_array().unwrap() {
        // What scanners say is held against gates alone.
        let state = match scenario["agent"].as_str() {
            Some("security") => "not needed",
            _ => "accepted",
        };
        assert_eq!(scenario["baseline"], state, "{scenario}");
        ids.push(scenario["id"].as_str().unwrap().to_owned());
    }
    let schema = schema("trajectory");
    project
        .expect(0, &["record", "--upgrade"])
        .says("0 baselines rewritten");
    let files = WalkDir::new(root().join("baselines")).into_iter();
    for entry in files.filter_entry(|it| it.file_name() != "_catalogues") {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let folder = entry
                .path()
                .parent()
                .unwrap()
                .strip_prefix(root().join("baselines"))
                .unwrap();
            assert!(
                ids.contains(&folder.to_str().unwrap().to_owned()),
                "{}",
                entry.path().display()
            );
            let name = entry.file_name().to_str().unwrap();
            assert!(
                ["baseline.json", "trajectory.txt"].contains(&name),
                "{}",
                entry.path().display()
            );
            // What is accepted of a search are figures.
            if name == "baseline.json" && !folder.starts_with("discovery") {
                fits(
                    &schema,
                    name,
                    &serde_json::from_str(&fs::read_to_string(entry.path()).unwrap()).unwrap(),
                );
            }
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn results_and_runs_fit_their_schemas() {
    let project = Project::shipped();
    project.edit(
        "scenarios/flows/ticket.yaml",
        "state: closed",
        "state: [closed]",
    );
    project.faulty(
        "gone",
        &["exit"],
        &[("echo", Value::Null)].map(|(tool, _)| (tool, serde_json::json!({}))),
    );
    project.file(
        "scenarios/off.yaml",
        "name: off\nenabled: false\nexpected_trajectory: [{ tool: t }]\n",
    );
    let result = project.result(1, &["compare"]);
    fits(&schema("result"), "result", &result);
    project.file(
        "reports/note.txt",
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)),
    );
    fits(&schema("scan"), "scan", &project.result(1, &["scan"]));
    let trajectories = schema("trajectory");
    let mut seen = 0;
    for entry in WalkDir::new(project.path(".mcp-eval/runs")) {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|it| it == "json")
            && !["result.json", "database.json"]
                .iter()
                .any(|it| path.ends_with(it))
        {
            seen += 1;
            fits(
                &trajectories,
                &path.display().to_string(),
                &serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap(),
            );
        }
    }
    assert!(seen >= 18, "{seen}");
}

#[test]
fn the_help_teaches_every_command() {
    let project = Project::new();
    let help = project.expect(0, &["--help"]);
    for command in [
        "record", "compare", "run", "report", "explain", "validate", "list", "mock", "import",
        "schema", "scan", "clean", "help",
    ] {
        help.says(command);
        let own = project.expect(0, &[command, "--help"]);
        own.says("Usage: mcp-eval");
        for line in own
            .stdout
            .lines()
            .filter(|it| it.trim_start().starts_with("--"))
        {
            assert!(
                line.trim().contains(' ') || own.stdout.contains(&format!("{line}\n          ")),
                "{command}: {line} is not explained"
            );
        }
    }
    help.says("Exit codes: 0 all passed");
    assert_eq!(
        project.expect(0, &["--version"]).stdout,
        format!("mcp-eval {}\n", env!("CARGO_PKG_VERSION"))
    );
    project
        .expect(2, &["compare", "--no-such-option"])
        .says("unexpected argument");
    project.expect(2, &[]).says("Usage: mcp-eval");
}

#[test]
fn every_form_of_a_mock_file_fits_its_schema_and_a_misspelt_key_does_not() {
    let schema = schema("mock");
    let project = Project::new();
    let tool = "[{ name: a, responses: [{ content: x }] }]";
    let right = [
        format!("tools: {tool}"),
        "resources: [{ uri: 'file:///a', text: x }]".to_owned(),
        format!("mcp_interactions: {{ one: {{ tools: {tool} }} }}"),
        format!("one: {{ tools: {tool} }}\ntwo: {{ prompts: [] }}"),
        // A server that is called as a list is.
        format!("tools: {{ tools: {tool} }}"),
        "llm_interactions: [{ text: x }]".to_owned(),
    ];
    for text in &right {
        fits(&schema, text, &serde_yaml::from_str(text).unwrap());
        if !text.starts_with("llm") {
            project.file("m.yaml", text);
            let name = if text.contains("one:") { "one" } else { "" };
            let mut asked = vec!["mock", "m.yaml"];
            if !name.is_empty() {
                asked.extend(["--server", name]);
            }
            project.expect(0, &asked);
        }
    }
    let wrong = [
        format!("tool: {tool}"),
        format!("mcp_interactions: {{ one: {{ tolls: {tool} }} }}"),
        format!("mcp_interactions: {{ one: {{ tools: {tool} }} }}\nservrs: {{}}"),
        "tools: [{ nam: a }]".to_owned(),
        "{}".to_owned(),
    ];
    for text in &wrong {
        let value = serde_yaml::from_str(text).unwrap();
        assert!(!schema.is_valid(&value), "{text}");
        project.file("m.yaml", text);
        project.expect(2, &["mock", "m.yaml"]);
    }
}
