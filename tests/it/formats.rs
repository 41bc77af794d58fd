//! One run, its result in several forms: what is written where, and what is refused before anything runs.

use std::fs;

use serde_json::{Value, json};

use crate::common::Project;

/// A project with a recorded scenario that leaves a mark when it is run.
fn project() -> Project {
    let project = Project::new();
    let more = json!({ "before": [["sh", "-c", "echo run >> runs.txt"]] });
    project.faulty_with("s", &[], &[("echo", json!({ "text": "a" }))], &more);
    project.expect(0, &["record", "--takes", "1"]);
    fs::remove_file(project.path("runs.txt")).unwrap();
    project
}

#[test]
fn several_forms_of_a_result_cost_one_run() {
    let project = project();
    let ran = project.expect(
        0,
        &[
            "compare",
            "--format",
            "json",
            "--report",
            "terminal=out/table.txt",
            "--report",
            "json=out/deep/result.json",
            "--report",
            "html=pages",
            "--report",
            "terminal",
        ],
    );
    assert_eq!(project.read("runs.txt"), "run\n");
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let table = project.read("out/table.txt");
    assert!(table.contains("Suite Results: 1/1 tests passed"), "{table}");
    assert!(!table.contains('\u{1b}'), "a file has no colours");
    let run = printed["run_id"].as_str().unwrap();
    assert_eq!(project.read(format!("reports/{run}/result.txt")), table);
    // Each document names the files as they are seen from where it lies.
    for folder in [
        "out/deep".to_owned(),
        "pages".to_owned(),
        format!("reports/{run}"),
    ] {
        let document: Value =
            serde_json::from_str(&project.read(format!("{folder}/result.json"))).unwrap();
        assert_eq!(document["run_id"], run);
        let file = document["scenarios"][0]["current"]["file"]
            .as_str()
            .unwrap();
        assert!(
            project.path(&folder).join(file).exists(),
            "{folder}: {file}"
        );
    }
    for folder in ["pages".to_owned(), format!("reports/{run}")] {
        assert!(project.path(&folder).join("index.html").exists());
        assert!(project.path(&folder).join("s.html").exists());
    }
    ran.says("Report (terminal): out/table.txt")
        .says("Report (html): pages/index.html");

    // The same from what was stored, which runs nothing.
    let again = project.expect(
        0,
        &[
            "report",
            "--report",
            "terminal=again.txt",
            "--report",
            "json=more/r.json",
            "--report",
            "html",
        ],
    );
    again.says("Suite Results: 1/1 tests passed");
    assert_eq!(project.read("again.txt"), table);
    let document: Value = serde_json::from_str(&project.read("more/r.json")).unwrap();
    let file = document["scenarios"][0]["current"]["file"]
        .as_str()
        .unwrap();
    assert!(project.path("more").join(file).exists(), "{file}");
    assert_eq!(project.read("runs.txt"), "run\n");
}

#[test]
fn every_command_that_runs_scenarios_writes_reports() {
    let project = project();
    project.expect(0, &["run", "--no-report", "--report", "json=a/run.json"]);
    project.expect(
        0,
        &[
            "record",
            "--report",
            "json=a/record.json",
            "--report",
            "html=a/pages",
        ],
    );
    let stored = "baselines/s/baseline.json";
    project.expect(
        0,
        &[
            "compare",
            "--run",
            stored,
            "--report",
            "json=a/offline.json",
        ],
    );
    for (file, command) in [("run", "run"), ("record", "record"), ("offline", "compare")] {
        let document: Value =
            serde_json::from_str(&project.read(format!("a/{file}.json"))).unwrap();
        assert_eq!(document["command"], command);
    }
    assert!(project.path("a/pages/index.html").exists());
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_runs() {
    let project = project();
    project.file("folder/file", "a file");
    let cases: &[(i32, &[&str], &str)] = &[
        (2, &["--report", "jsno"], "did you mean `json`?"),
        (
            2,
            &["--report", "xml=x.xml"],
            "`xml` is none of terminal, json, html",
        ),
        (2, &["--report", "json=-"], "write `--format json`"),
        (2, &["--report", "json="], "name a file behind `=`"),
        (
            2,
            &["--report", "json=x", "--report", "terminal=x"],
            "would write the same file, x",
        ),
        (
            2,
            &["--report", "json=x", "--report", "terminal=folder/../x"],
            "would write the same file",
        ),
        (
            2,
            &["--report", "html=x", "--report", "json=x/result.json"],
            "would write the same file",
        ),
        (
            2,
            &["--output", "x", "--report", "json=x/result.json"],
            "would write the same file",
        ),
        (
            2,
            &["--report", "terminal", "--report", "terminal"],
            "given twice",
        ),
        (
            2,
            &["--no-report", "--report", "html"],
            "contradict each other",
        ),
        (2, &["--format", "html"], "`--report html=DIR` writes them"),
        (
            2,
            &["--output", "x.json"],
            "`--report json=x.json` writes the result to that file",
        ),
        (2, &["--output", "x.html"], "name a folder, such as `x`"),
        (3, &["--report", "json=folder"], "a folder is in its place"),
        (
            3,
            &["--report", "json=folder/file/x.json"],
            "folder/file is no folder",
        ),
        (3, &["--output", "folder/file"], "folder/file is no folder"),
    ];
    for (code, arguments, message) in cases {
        let ran = project.run(&[&["compare"], *arguments].concat());
        assert_eq!(ran.code, *code, "{arguments:?}: {ran:#?}");
        ran.says(message);
        assert!(
            !project.path("runs.txt").exists(),
            "{arguments:?} ran something"
        );
        assert!(!project.path("x").exists(), "{arguments:?} wrote something");
    }
    // The original tool's users know `--output` of `compare` as a file.
    for command in ["compare", "run"] {
        project
            .expect(2, &[command, "--output", "result.json"])
            .says("--report json=result.json");
    }
}

#[test]
fn a_link_does_not_hide_that_two_reports_go_to_one_file() {
    let project = project();
    fs::create_dir(project.path("real")).unwrap();
    std::os::unix::fs::symlink("real", project.path("link")).unwrap();
    project
        .expect(
            2,
            &[
                "compare",
                "--report",
                "json=real/x",
                "--report",
                "terminal=link/x",
            ],
        )
        .says("would write the same file");
    assert!(!project.path("runs.txt").exists());
}

#[test]
fn a_command_that_could_not_begin_says_so_where_its_result_was_to_be() {
    let project = project();
    project.file("out/result.json", "an older result");
    project.expect(
        2,
        &["compare", "nowhere", "--report", "json=out/result.json"],
    );
    let document: Value = serde_json::from_str(&project.read("out/result.json")).unwrap();
    assert_eq!(document["gate"]["exit_code"], 2);
    assert!(document["problem"]["message"].is_string());
    // Where the files are what was refused, none is touched.
    project.file("out/result.json", "an older result");
    project.expect(
        2,
        &[
            "compare",
            "--report",
            "json=out/result.json",
            "--report",
            "terminal=out/result.json",
        ],
    );
    assert_eq!(project.read("out/result.json"), "an older result");
}
