//! The same image scores 1.0, whatever a run leaves behind; a worse one is found out, regression by regression.

use serde_json::{Value, json};

use crate::common::{Project, takes_its_time};
use crate::docker::kit::{A, B, engine, scenario, search};
use crate::prepare::Sourced;

/// Eight scenarios, one for each tool that version B changes, and one that leaves servers behind.
const CALLS: [(&str, &str, &str); 9] = [
    ("emptied", "retrieve_tools", r#"{"query": "environment"}"#),
    (
        "flipped",
        "quarantine_security",
        r#"{"operation": "list_quarantined"}"#,
    ),
    ("renamed-tool", "list_registries", "{}"),
    (
        "renamed-field",
        "search_servers",
        r#"{"registry": "official", "search": "weather"}"#,
    ),
    ("error", "read_cache", r#"{"key": "k1"}"#),
    ("retyped", "tail_log", r#"{"server": "github", "lines": 3}"#),
    ("slower", "describe_tool", r#"{"tool": "printEnv"}"#),
    ("harmless", "server_info", "{}"),
    (
        "state",
        "upstream_servers",
        r#"{"operation": "add", "name": "weather"}"#,
    ),
];

fn project() -> Project {
    let project = Project::new();
    for (name, tool, args) in CALLS {
        let mut calls = vec![(tool, serde_json::from_str(args).unwrap())];
        if name == "state" {
            // Adding again fails: a container that was not reset would say so at the first call.
            calls.push((tool, json!({ "operation": "list" })));
        }
        let more =
            json!({ "scoring": { "slower": { "factor": 3, "floor": "250ms", "gate": "fail" } } });
        scenario(
            &project,
            name,
            &json!({ "image": "${IMAGE}" }),
            &calls,
            &more,
        );
    }
    project
}

fn result(project: &Project, code: i32, image: &str, arguments: &[&str]) -> Value {
    let ran = crate::common::ran(
        project
            .command()
            .env("IMAGE", image)
            .args(arguments)
            .args(["--format", "json"]),
    );
    assert_eq!(ran.code, code, "{ran:#?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_same_image_scores_one_and_a_worse_one_is_found_out() {
    let what = "comparing two versions of an image";
    if !takes_its_time(what) || !engine(what) {
        return;
    }
    let project = project();
    let recorded = result(&project, 0, A, &["record", "--jobs", "4"]);
    assert_eq!(recorded["summary"]["recorded"], 9);
    for jobs in ["1", "4"] {
        let same = result(&project, 0, A, &["compare", "--jobs", jobs]);
        for scenario in same["scenarios"].as_array().unwrap() {
            let score = &scenario["comparison"]["scores"]["overall"];
            assert_eq!(score.as_f64(), Some(1.0), "{scenario:#}");
        }
    }

    let worse = result(&project, 1, B, &["compare", "--jobs", "4"]);
    let reasons = |name: &str| {
        let scenarios = worse["scenarios"].as_array().unwrap();
        let scenario = scenarios.iter().find(|it| it["id"] == name).unwrap();
        let reasons = scenario["comparison"]["reasons"].to_string();
        (scenario["status"].as_str().unwrap().to_owned(), reasons)
    };
    // Each is reported in words that name what has changed.
    for (name, words) in [
        ("emptied", &["retrieve_tools", "tools"][..]),
        ("flipped", &["quarantined", "true", "false"]),
        ("renamed-tool", &["list_registries"]),
        ("renamed-field", &["url"]),
        ("error", &["read_cache", "error"]),
        ("retyped", &["tail_log", "lines", "became a string"]),
        ("slower", &["describe_tool", "slower"]),
    ] {
        let (status, reasons) = reasons(name);
        assert_eq!(status, "failed", "{name}: {reasons}");
        for word in words {
            assert!(reasons.contains(word), "{name}: no {word:?} in {reasons}");
        }
    }
    for name in ["harmless", "state"] {
        let (status, reasons) = reasons(name);
        assert_eq!(status, "passed", "{name}: {reasons}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_image_is_part_of_the_stamp_on_both_sides() {
    if !engine("the stamp of an image") {
        return;
    }
    let project = project();
    result(&project, 0, A, &["record", "scenarios/harmless.yaml"]);
    let result = result(&project, 0, B, &["compare", "scenarios/harmless.yaml"]);
    let scenario = &result["scenarios"][0];
    let image = |side: &str| scenario[side]["stamp"]["image"].clone();
    assert_eq!(image("baseline")["revision"], "aaaa111");
    assert_eq!(image("baseline")["version"], "1.0.0");
    let current = image("current");
    assert_eq!(current["name"], B);
    assert_eq!(current["revision"], "bbbb222");
    assert_eq!(current["version"], "2.0.0");
    assert_eq!(current["source"], "docker/demo");
    assert!(current["id"].as_str().unwrap().starts_with("sha256:"));
    assert_ne!(current["id"], image("baseline")["id"]);

    let page = project.read("reports/latest/harmless.html");
    for text in ["aaaa111", "bbbb222", A, B] {
        assert!(page.contains(text), "no {text} in the page");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_source_that_stands_elsewhere_than_its_image_was_made_from_is_said() {
    if !engine("an image of an older source") {
        return;
    }
    let sourced = Sourced::new(&json!({}));
    let commit = sourced.says("x").commit("Say x");
    let project = &sourced.project;
    let source = json!({ "source": { "repo": "../server" } });
    scenario(project, "s", &json!({}), &search(), &source);
    let run = project.expect(0, &["run", "scenarios/s.yaml", "--format", "json"]);
    let said = format!(
        "the image {A} was made from revision aaaa111, and the source is at {}",
        &commit[..7]
    );
    assert!(run.stdout.contains(&said), "{run:#?}");
}
