//! Scenarios in every cell of a matrix.

use serde_json::{Value, json};

use crate::common::{Project, ran, small_agent};

/// Scenarios of an agent that says the name of its model and calls a tool once; they pass where the model is called `good`.
fn project(scenarios: usize) -> Project {
    let project = Project::new();
    for number in 1..=scenarios {
        write(&project, number, "sunny");
    }
    project
}

fn write(project: &Project, number: usize, sky: &str) {
    let scenario = json!({
        "name": format!("Scenario {number}"),
        "user_intent": "Say who you are.",
        "servers": { "w": { "type": "mock" } },
        "mcp_interactions": { "w": { "tools": [{
            "name": "sky", "annotations": { "read_only_hint": true }, "responses": [{ "content": sky }],
        }] } },
        "agent": { "kind": "command", "command": [small_agent(), "call w sky {}", "print I am ${model}"] },
        "success_criteria": ["I am good"],
    });
    project.file(&format!("scenarios/s{number}.yaml"), scenario.to_string());
}

#[track_caller]
fn assert_close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found}");
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_cell_wins_where_it_is_better_in_enough_scenarios() {
    let project = project(6);
    let result = project.result(1, &["run", "--matrix", "model=bad,good"]);
    assert_eq!(
        ids(&result)[..4],
        [
            "s1/model=bad",
            "s1/model=good",
            "s2/model=bad",
            "s2/model=good"
        ]
    );
    assert_eq!(result["scenarios"][1]["name"], "Scenario 1 [model=good]");
    let matrix = &result["matrix"];
    let cell = |at: usize| {
        let cell = &matrix["cells"][at];
        (
            cell["settings"][0]["value"].as_str().unwrap(),
            cell["succeeded"].as_u64().unwrap(),
            cell["scenarios"].as_u64().unwrap(),
            cell["pass_rate"].as_f64().unwrap(),
        )
    };
    assert_eq!(cell(0), ("bad", 0, 6, 0.0));
    assert_eq!(cell(1), ("good", 6, 6, 1.0));
    // Wilson's interval of 6 of 6.
    let low = matrix["cells"][1]["interval"]["low"].as_f64().unwrap();
    assert!((low - 0.6097).abs() < 1e-4, "{low}");
    let pair = &matrix["pairs"][0];
    assert_eq!(
        (&pair["better"], &pair["worse"], &pair["equal"]),
        (&json!(6), &json!(0), &json!(0))
    );
    // All of six on one side: 2 of 2^6.
    assert_close(&pair["p_value"], 0.031_25);
    assert_eq!(matrix["winner"], 1);
    let sentence = matrix["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("model=good passes more"), "{sentence}");
    assert!(!sentence.contains("Bonferroni"), "{sentence}");
    let several = project.result(1, &["run", "--matrix", "model=bad,good,worse"]);
    let sentence = several["matrix"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("Bonferroni's correction for 2 comparisons"),
        "{sentence}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn five_scenarios_are_not_enough() {
    let project = project(5);
    let result = project.result(
        1,
        &["run", "--matrix", "model=bad", "--matrix", "model=good"],
    );
    let matrix = &result["matrix"];
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 2, "{matrix:#}");
    assert_close(&matrix["pairs"][0]["p_value"], 0.0625);
    assert_eq!(matrix.get("winner"), None);
    let sentence = matrix["sentence"].as_str().unwrap();
    assert!(sentence.contains("chance may explain it"), "{sentence}");
    let alike = project.result(
        0,
        &["run", "--matrix", "model=good,good one", "--repeat", "2"],
    );
    let matrix = &alike["matrix"];
    assert_eq!(matrix["sentence"], "several cells pass most, equally often");
    assert_eq!(matrix["pairs"], json!([]));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_report_shows_the_cells_side_by_side() {
    let project = project(2);
    let ran = project.expect(
        1,
        &[
            "run",
            "--matrix",
            "model=good,bad",
            "--report",
            "markdown=m.md",
            "--output",
            "pages",
            "--repeat",
            "2",
        ],
    );
    ran.says("model=good").says("2 of 2").says("0 of 2");
    let (before, _) = ran.stdout.split_once("  model=good  2 of 2").unwrap();
    assert!(before.contains("passes most, and chance may"), "{ran:#?}");
    let markdown = project.read("m.md");
    assert!(
        markdown.contains("chance may explain it") && markdown.contains("| Cell | Passed |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| `model=bad` | 0 of 2 | 0 % | 0 % to 66 % |"),
        "{markdown}"
    );
    let page = project.read("pages/index.html");
    assert!(page.contains("Every scenario in each cell"), "{page}");
    assert!(page.contains("</span> 2 of 2</a>"), "{page}");
    assert!(page.contains("href=\"s1-model-good~"), "{page}");
    let response = "<summary>final response</summary><pre>sunny\nI am bad</pre>";
    assert!(page.contains(response), "{page}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn cells_have_baselines_of_their_own() {
    let project = project(1);
    let matrix = ["--matrix", "model=good,maker/good"];
    project.expect(0, &["record", matrix[0], matrix[1]]);
    for cell in ["model=good", "model=maker%2Fgood"] {
        let baseline: Value =
            serde_json::from_str(&project.read(format!("baselines/s1/{cell}/baseline.json")))
                .unwrap();
        assert_eq!(baseline["stamp"]["agent"], "command");
    }
    assert!(!project.path("baselines/s1/baseline.json").exists());
    project.expect(0, &["compare", matrix[0], matrix[1]]);
    // Nobody takes them for what is left of scenarios that are gone.
    let ran = ran(project.command().args(["compare", "--model", "good"]));
    assert!(!ran.stderr.contains("no scenario any more"), "{ran:#?}");

    write(&project, 1, "rainy");
    project.expect(1, &["compare", matrix[0], matrix[1]]);
    let listed = project.expect(0, &["review", "--list"]);
    listed.says("2 scenarios, such as s1/model=good");
    project.expect(1, &["review", "--check"]);
    project.expect(0, &["review", "--accept", "s1/model=maker%2Fgood"]);
    let result = project.result(1, &["compare", matrix[0], matrix[1]]);
    let statuses: Vec<&str> = result["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["failed", "passed"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn parts_of_a_matrix_are_one_when_they_are_merged() {
    let project = project(3);
    for part in ["1/2", "2/2"] {
        let file = format!("json=part{}.json", &part[..1]);
        let mut command = project.command();
        command.args([
            "run",
            "--matrix",
            "model=good,bad",
            "--shard",
            part,
            "--report",
            &file,
        ]);
        // The good ones may all be in one part.
        assert!([0, 1].contains(&ran(&mut command).code));
    }
    let whole = project.result(1, &["merge", "part1.json", "part2.json"]);
    let cells = whole["matrix"]["cells"].as_array().unwrap();
    let sums: Vec<&Value> = cells.iter().map(|it| &it["scenarios"]).collect();
    assert_eq!(sums, [3, 3]);
}

#[test]
fn a_plan_names_the_cells() {
    let project = project(1);
    let planned = project.expect(0, &["run", "--dry-run", "--matrix", "model=good,bad"]);
    planned
        .says("s1/model=good command good")
        .says("s1/model=bad command bad");
    assert!(!project.path(".mcp-eval/runs").exists());
}

#[test]
fn what_cannot_be_a_matrix_is_said() {
    let project = project(1);
    let cases: [(&[&str], &str); 7] = [
        (
            &["--matrix", "color=red"],
            "a matrix varies `agent` or `model`, and not `color`",
        ),
        (&["--matrix", "model"], "write KEY=VALUE,VALUE"),
        (&["--matrix", "model=a,"], "a value is empty"),
        (&["--matrix", "agent=nobody"], "names no kind of agent"),
        (
            &["--matrix", "model=a", "--model", "b"],
            "--model and --matrix model=… exclude each other",
        ),
        (&["--matrix", "model=a", "--watch"], "cannot be used with"),
        (&["--matrix", "agent=anthropic"], "add --model NAME"),
    ];
    for (options, words) in cases {
        let mut arguments = vec!["run"];
        arguments.extend(options);
        project.expect(2, &arguments).says(words);
    }
}

#[test]
fn a_scenario_is_run_again_where_any_of_its_cells_failed() {
    let project = project(2);
    project.expect(
        1,
        &["run", "--matrix", "model=good,bad", "s1"]
            .map(|it| if it == "s1" { "scenarios/s1.yaml" } else { it }),
    );
    let result = project.result(0, &["run", "--last-failed", "--model", "good"]);
    assert!(ids(&result).contains(&"s1"), "{result:#}");
}

#[test]
fn cells_have_folders_that_every_file_system_tells_apart() {
    let project = project(1);
    let problem = "some file systems take both for one folder";
    for matrix in ["model=A,a", "model=Å,\u{212b}"] {
        project
            .expect(2, &["run", "--matrix", matrix])
            .says(problem);
    }
    // Dots at the end are written otherwise in names of folders, and no cell is called as a device is.
    project.expect(0, &["run", "--dry-run", "--matrix", "model=a,a.,con,nul"]);
}

#[test]
fn where_no_cell_passes_none_passes_most() {
    let project = project(1);
    let result = project.result(1, &["run", "--matrix", "model=bad,worse"]);
    assert_eq!(result["matrix"]["sentence"], "no cell has passed anything");
}
