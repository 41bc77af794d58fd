//! What users of the original tool type and have on disk.

use std::fs;

use serde_json::json;

use crate::common::Project;

#[test]
fn old_commands_and_options_are_answered_with_what_to_type() {
    let project = Project::new();
    for (typed, answer) in [
        (
            &["test", "-s", "scenarios/a b.yaml"][..],
            "type: mcp-eval compare --scenario 'scenarios/a b.yaml'",
        ),
        (
            &["batch", "--scenarios-dir", "scenarios", "-t", "search"],
            "type: mcp-eval compare scenarios --tag search",
        ),
        (
            &["record", "-s", "a.yaml"],
            "type: mcp-eval record --scenario a.yaml",
        ),
        (
            &["batch", "--scenarios", "scenarios/", "--output", "r", "-p"],
            "type: mcp-eval compare scenarios/ --output r",
        ),
    ] {
        let ran = project.expect(2, typed);
        ran.says("error: ").says(answer);
        assert_eq!(ran.stdout, "", "{typed:?}");
    }
    // A name is none of a file: what is offered finds the scenario.
    project.faulty("weather", &[], &[("echo", json!({ "a": 1 }))]);
    project
        .expect(2, &["record", "-s", "weather"])
        .says("type: mcp-eval record --scenario scenarios/weather.yaml");
    project.faulty("below/wind", &[], &[("echo", json!({ "a": 1 }))]);
    project
        .expect(2, &["record", "-s", "wind"])
        .says("type: mcp-eval record -k wind");
    project.expect(0, &["record", "-k", "wind"]);
    // What is nobody's is answered as ever.
    project.expect(2, &["tset"]).says("unrecognized subcommand");
    project
        .expect(2, &["compare", "-s"])
        .says("type: mcp-eval compare --scenario FILE");
    for command in ["import", "mock", "scan", "report"] {
        project.expect(2, &[command, "-s", "x"]).says_not("type:");
    }
}

#[test]
fn a_baseline_under_an_old_name_is_read_and_said() {
    for old in ["s/s", "s_baseline"] {
        let project = Project::new();
        project.faulty("s", &[], &[("echo", json!({ "a": 1 }))]);
        project.expect(0, &["record"]);
        fs::rename(project.path("baselines/s"), project.path("moved")).unwrap();
        let place = project.path("baselines").join(old);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::rename(project.path("moved"), &place).unwrap();
        project
            .expect(0, &["compare"])
            .says("1/1 tests passed")
            .says(&format!(
                "the baseline of `s` is read from baselines/{old}; move it to baselines/s, which is its place"
            ))
            .says_not("has no scenario");
    }
}

#[test]
fn a_baseline_is_found_in_the_folder_that_it_was_recorded_in() {
    for folder in ["s/s", "baselines/s_baseline/s_baseline", "kept/s/s"] {
        let project = Project::new();
        project.faulty("s", &[], &[("echo", json!({ "a": 1 }))]);
        let scenario = ["--scenario", "scenarios/s.yaml"];
        project.expect(
            0,
            &[&["record", "--output", folder], &scenario[..]].concat(),
        );
        project
            .expect(
                0,
                &[&["compare", "--baseline", folder], &scenario[..]].concat(),
            )
            .says("1/1 tests passed");
    }
}
