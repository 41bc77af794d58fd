//! Data sets: a scenario for each row, with a baseline of its own, and what all rows came to.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::Project;

const SERVERS: &str = r#"
agent: { kind: scripted }
servers: { desk: { type: mock } }
mcp_interactions:
  desk:
    tools:
      - name: echo
        input_schema: { type: object, properties: { message: {}, count: {} } }
        responses: [{ content: "you said {{args.message}}" }]
expected_trajectory:
  - { tool: echo, args: { message: "{{row.word}}", count: "{{row.count}}" } }
success_criteria: [{ text: "you said {{row.word}}" }]
"#;

fn project(dataset: &str) -> Project {
    let project = Project::new();
    let text = format!(
        "name: Says {{{{row.count}}}}\nuser_intent: Say {{{{row.word}}}}\ndataset: {dataset}\n{SERVERS}"
    );
    project.file("scenarios/say.yaml", text);
    project
}

const INLINE: &str = "[{ id: a, word: tea, count: 1 }, { id: b, word: milk, count: 2 }]";

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_row_is_a_scenario_with_a_baseline_of_its_own() {
    let project = project(INLINE);
    project.expect(0, &["validate"]);
    let ran = project.expect(0, &["run"]);
    ran.says("say: 2 of 2 rows passed");
    project
        .expect(0, &["record"])
        .says("say: 2 of 2 rows recorded");
    let of_a = project.read("baselines/say/a/baseline.json");
    assert!(of_a.contains("you said tea"));
    assert!(
        project
            .read("baselines/say/b/baseline.json")
            .contains("you said milk")
    );
    let result = project.result(0, &["compare"]);
    assert_eq!(ids(&result), ["say/a", "say/b"]);
    assert_eq!(result["scenarios"][1]["row_of"], "say");
    assert_eq!(result["scenarios"][1]["name"], "Says 2 [b]");
    assert_eq!(
        result["datasets"],
        json!([{ "scenario": "say", "rows": 2, "succeeded": 2, "failed": 0, "without_verdict": 0 }])
    );
    // What one row asks for says nothing of the others.
    let answers = "responses: [{ content:";
    let otherwise =
        "responses: [{ match: { message: milk }, content: you said milk twice }, { content:";
    project.edit("scenarios/say.yaml", answers, otherwise);
    let failed = project.expect(1, &["compare"]);
    failed
        .says("say: 1 of 2 rows passed, 1 failed")
        .says("Says 2 [b]");
    project.expect(0, &["compare", "-k", "say/a"]).says("1/1");
    project
        .expect(1, &["compare", "--last-failed"])
        .says("Says 2 [b]")
        .says("0/1");
    let markdown = project.expect(1, &["compare", "--format", "markdown"]);
    markdown.says("`say`: 1 of 2 rows passed, 1 failed");
    project.expect(1, &["compare", "--output", "out"]);
    assert!(
        project
            .read("out/index.html")
            .contains("1 of 2 rows passed, 1 failed")
    );
    project.expect(0, &["review", "--accept", "say/b"]);
    project
        .expect(0, &["compare"])
        .says_not("have no scenario any more");
    project
        .expect(0, &["list"])
        .says("Says 1 [a]")
        .says("say/a")
        .says("say/b");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn rows_are_read_from_files() {
    for (name, text) in [
        ("rows.csv", "id,word,count\na,tea,1\nb,\"milk, cold\",2\n"),
        (
            "ROWS.CSV",
            "\u{feff}id,word,count\r\na,tea,1\r\nb,\"milk, cold\",2\r\n",
        ),
        (
            "rows.jsonl",
            "{\"id\":\"a\",\"word\":\"tea\",\"count\":1}\n\n{\"id\":\"b\",\"word\":\"milk, cold\",\"count\":2}\n",
        ),
        (
            "../data/rows.yaml",
            "- { id: a, word: tea, count: 1 }\n- { id: b, word: 'milk, cold', count: 2 }\n",
        ),
    ] {
        let project = project(name);
        project.file(&format!("scenarios/{name}"), text);
        let ran = project.expect(0, &["record"]);
        ran.says("2 of 2 rows");
        let of_b = project.read("baselines/say/b/baseline.json");
        let of_b: Value = serde_json::from_str(&of_b).unwrap();
        let call = of_b["steps"].as_array().unwrap().iter();
        let call = call.clone().find(|it| it["kind"] == "tool_call").unwrap();
        assert_eq!(
            call["arguments"],
            json!({ "message": "milk, cold", "count": 2 }),
            "{name}"
        );
    }
}

#[test]
fn cells_are_numbers_only_where_json_has_them() {
    let project = project("{ file: rows.csv, id: word }");
    project.file(
        "scenarios/rows.csv",
        "word,count\nzip,007\nhalf,0.5\nyes,true\nnothing,\n",
    );
    let result = project.result(0, &["run"]);
    let counts: Vec<Value> = (result["scenarios"].as_array().unwrap().iter())
        .map(|it| {
            let file = it["current"]["file"].as_str().unwrap();
            let run = result["run_id"].as_str().unwrap();
            let at = project.path(format!("reports/{run}/{file}"));
            let at = if at.exists() {
                at
            } else {
                project.path(format!(".mcp-eval/runs/{run}/{file}"))
            };
            let run: Value = serde_json::from_str(&project.read(at)).unwrap();
            let steps = run["steps"].as_array().unwrap().iter();
            let call = steps.clone().find(|it| it["kind"] == "tool_call").unwrap();
            call["arguments"]["count"].clone()
        })
        .collect();
    assert_eq!(counts, [json!("007"), json!(0.5), json!(true), json!("")]);
    assert_eq!(
        ids(&result),
        ["say/zip", "say/half", "say/yes", "say/nothing"]
    );
}

#[test]
fn rows_without_ids_are_numbered() {
    let project = project("[{ word: tea, count: 1 }, { word: milk, count: 2 }]");
    assert_eq!(ids(&project.result(0, &["run"])), ["say/1", "say/2"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_wrong_is_said_at_its_place() {
    let row = |id: &str| format!("[{{ id: {id}, word: a, count: 1 }}]");
    for (dataset, said) in [
        ("[]".to_owned(), "the data set has no rows"),
        (
            "rows.txt".to_owned(),
            "does not have the name of a data set",
        ),
        (
            "gone.csv".to_owned(),
            "the data set `gone.csv` is not there",
        ),
        ("{ id: word }".to_owned(), "the data set has no rows"),
        (
            "{ file: a.csv, rows: [{ word: a }] }".to_owned(),
            "exclude each other",
        ),
        (
            "{ rows: [{ word: a, count: 1 }], id: wrod }".to_owned(),
            "did you mean `word`",
        ),
        (row("../a"), "is not an id for row 1"),
        (row("'..'"), "is not an id for row 1"),
        (row("''"), "is not an id for row 1"),
        (row("[a]"), "row 1 has no id in `id`"),
        (
            "[{ id: a, word: a, count: 1 }, { id: A, word: a, count: 1 }]".to_owned(),
            "row 2 has the id `A`, and an earlier row `a`: some file systems take both for one folder",
        ),
        (
            "[{ id: Cafe\u{301}, word: a, count: 1 }, { id: CAF\u{c9}, word: a, count: 1 }]"
                .to_owned(),
            "some file systems take both for one folder",
        ),
        (
            "[{ id: 'a.', word: a, count: 1 }, { id: a, word: a, count: 1 }]".to_owned(),
            "some file systems take both for one folder",
        ),
        (
            "[{ id: a, word: a, count: 1 }, { id: a, word: b, count: 1 }]".to_owned(),
            "row 2 has the id `a` of an earlier row",
        ),
        (
            "[{ id: a, count: 1 }]".to_owned(),
            "`row.word` is not declared",
        ),
        ("[7]".to_owned(), "say.yaml:3"),
    ] {
        let project = project(&dataset);
        project
            .expect(2, &["validate"])
            .says(said)
            .says("say.yaml:");
        project.expect(2, &["run"]).says(said);
    }
    for (name, text, said) in [
        (
            "rows.csv",
            "id,word,count\na,tea,1\nb,milk\n",
            "rows.csv:3:1: error: has 2 cells, and the first line names 3 columns",
        ),
        (
            "rows.csv",
            "id,word,count\na,tea,1\nb\n",
            "rows.csv:3:1: error: has 1 cell, and the first line names 3 columns",
        ),
        (
            "rows.csv",
            "id,word,word\na,tea,1\n",
            "two columns are called `word`",
        ),
        (
            "rows.csv",
            "id,word,count\na\n",
            "rows.csv:2:1: error: has 1 cell, and the first line names 3 columns",
        ),
        ("rows.csv", "id,word,count\n", "the data set has no rows"),
        ("rows.csv", "", "the data set has no rows"),
        (
            "rows.jsonl",
            "{\"id\":\"a\"}\n{\"id\":\n",
            "rows.jsonl:2:6: error: is not JSON",
        ),
        (
            "rows.jsonl",
            "7\n",
            "rows.jsonl:1:1: error: a row must be an object",
        ),
        ("../data/rows.yaml", "a: 7\n", "rows.yaml:1:1"),
    ] {
        let project = project(name);
        project.file(&format!("scenarios/{name}"), text);
        project.expect(2, &["validate"]).says(said);
    }
    // A file of the same id would have the same baseline.
    let project = project(INLINE);
    project.file(
        "scenarios/say/b.yaml",
        format!(
            "name: other\n{}",
            SERVERS
                .replace("{{row.word}}", "x")
                .replace("{{row.count}}", "1")
        ),
    );
    project
        .expect(2, &["validate"])
        .says("has the id `say/b`, which is that of");
    fs::rename(
        project.path("scenarios/say/b.yaml"),
        project.path("scenarios/say/B.yaml"),
    )
    .unwrap();
    project
        .expect(2, &["validate"])
        .says("has the id `say/b`, which is that of scenarios/say/B.yaml");
}

#[test]
fn ids_that_windows_has_no_folders_for_are_reported() {
    let row = |id: &str| format!("{{ id: '{id}', word: a, count: 1 }}");
    let rows = ["a:b", "plain", "nul", "so?"].map(row).join(", ");
    let project = project(&format!("[{rows}]"));
    project
        .expect(0, &["validate"])
        .says("warning: Windows has no folder for the baseline of row `a:b`: a `:` is in it, nor of 2 other rows");
    let run = project.expect(0, &["run"]);
    assert!(!run.stderr.contains("Windows"), "{run:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn many_rows_run() {
    let project = project("rows.csv");
    let mut rows = String::from("id,word,count\n");
    for number in 0..300 {
        let _ = writeln!(rows, "r{number},word {number},{number}");
    }
    project.file("scenarios/rows.csv", rows);
    project
        .expect(0, &["run"])
        .says("say: 300 of 300 rows passed");
}

/// The most memory that the program held in KiB, while it runs a data set of so many rows, each of which is answered at length.
fn most_memory(rows: usize, answer: &str) -> u64 {
    let project = project("rows.csv");
    let mut table = String::from("id,word,count\n");
    for number in 0..rows {
        let _ = writeln!(table, "r{number},word {number},{number}");
    }
    project.file("scenarios/rows.csv", table);
    let said = format!("you said {{{{args.message}}}} {answer}");
    project.edit("scenarios/say.yaml", "you said {{args.message}}", &said);
    let mut running = project
        .command()
        .args(["run", "--jobs", "1", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The result is more than a pipe holds, so the program has done all it does, and waits.
    let mut stdout = running.stdout.take().unwrap();
    let mut result = vec![0];
    stdout.read_exact(&mut result).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    stdout.read_to_end(&mut result).unwrap();
    assert!(running.wait().unwrap().success());
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["summary"]["passed"], rows);
    let most = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let most = most.unwrap().trim().trim_end_matches(" kB");
    most.parse().unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn answers_of_rows_that_have_finished_are_not_kept_in_memory() {
    let answer = "word ".repeat(80_000);
    // What an allocator keeps for itself is another amount each time, up to some 20 MB.
    let (few, many) = (most_memory(20, &answer), most_memory(160, &answer));
    let answers = 140 * answer.len() as u64 / 1024;
    assert!(
        many < few + answers / 2,
        "{many} KiB for 160 rows, {few} KiB for 20, whose answers are {answers} KiB less"
    );
}

#[test]
fn a_file_with_another_sign_between_its_columns_says_so() {
    let project = project("rows.csv");
    for (sign, problem) in [(";", "separated by `;`"), ("\t", "separated by tabs")] {
        let text = "id;word;count\na;tea;1\n".replace(';', sign);
        project.file("scenarios/rows.csv", text);
        project
            .expect(2, &["validate"])
            .says("the variable `row.word` is not declared")
            .says(problem);
    }
}
