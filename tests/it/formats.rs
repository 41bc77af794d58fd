//! One run, its result in several forms: what is written where, and what is refused before anything runs.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, commit_all, ran};

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
        (2, &["--report", "junti=x"], "did you mean `junit`?"),
        (2, &["--format", "junti"], "'junit'"),
        (
            2,
            &["--report", "xml=x.xml"],
            "`xml` is none of terminal, json, html, junit",
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
            "folder/file is not a folder",
        ),
        (
            3,
            &["--output", "folder/file"],
            "folder/file is not a folder",
        ),
    ];
    for (code, arguments, message) in cases {
        let ran = project.run(&[&["compare"], *arguments].concat());
        assert_eq!(ran.code, *code, "{arguments:?}: {ran:#?}");
        ran.says(message);
        assert_eq!(ran.stdout, "", "{arguments:?}");
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
    // Where the files are what was refused, no older result stays all the same.
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
    let said = project.read("out/result.json");
    assert!(said.contains("Exit 2"), "{said}");
}

#[test]
fn errors_in_files_are_reported_at_their_place_in_every_form() {
    let project = project();
    project.expect(0, &["compare", "--report", "html=pages"]);
    project.file("scenarios/broken.yaml", "name: Broken\nagent: [");
    let asked = [
        "compare",
        "--report",
        "github",
        "--report",
        "html=pages",
        "--report",
        "markdown=out.md",
    ];
    let ran = project.expect(2, &asked);
    let place = "scenarios/broken.yaml:2:";
    assert!(
        ran.all()
            .contains("::error file=scenarios/broken.yaml,line=2,col="),
        "{ran:#?}"
    );
    let summary = project.read("out.md");
    assert!(summary.lines().any(|it| it.starts_with(place)), "{summary}");
    assert!(!summary.contains("\\n"), "{summary}");
    // Nobody takes the pages of the run before for those of this one.
    let index = project.read("pages/index.html");
    assert!(
        index.contains(place) && !index.contains("1 of 1"),
        "{index}"
    );
    assert!(
        project
            .read("pages/result.json")
            .contains("\"exit_code\": 2")
    );
}

/// A project with one scenario that fails, behind a comment, whose server says what is a command to the runner of GitHub.
fn failing() -> Project {
    let project = Project::new();
    let scenario = |said: &str| {
        format!(
            "# Which sky is it?\ndescription: A look\nname: Look up\nservers: {{ sky: {{ type: mock }} }}\n\
             expected_trajectory:\n  - action: look\n    tool: look\nsuccess_criteria:\n  - blue\n  - text: never said\n\
             mcp_interactions:\n  sky:\n    tools:\n      - name: look\n        annotations: {{ read_only_hint: true }}\n\
             \x20       responses: [{{ content: {said:?} }}]\n"
        )
    };
    project.file("suite/scenarios/look.yaml", scenario("blue, never said"));
    let record = ["record", "suite/scenarios", "--output", "suite/baselines"];
    project.expect(0, &record);
    let said = format!("##[error]so {}::error::taken over", "grey ".repeat(16));
    project.file("suite/scenarios/look.yaml", scenario(&said));
    project
}

const COMPARE: [&str; 4] = [
    "compare",
    "suite/scenarios",
    "--baseline",
    "suite/baselines",
];

#[test]
fn results_say_where_in_its_file_a_scenario_says_what() {
    let project = failing();
    let result = project.result(1, &COMPARE);
    let scenario = &result["scenarios"][0];
    assert_eq!(
        (&scenario["line"], &scenario["column"]),
        (&json!(3), &json!(7))
    );
    let lines: Vec<&Value> = scenario["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["line"])
        .collect();
    assert_eq!(lines, [9, 10]);
    assert_eq!(scenario["comparison"]["reasons"][0]["line"], 7);
    // What defaults say has no line in the scenario's own file.
    project.file(
        "suite/scenarios/_defaults.yaml",
        "success_criteria: [blue]\n",
    );
    project.edit(
        "suite/scenarios/look.yaml",
        "success_criteria:\n  - blue\n  - text: never said\n",
        "",
    );
    let result = project.result(1, &COMPARE);
    assert!(result["scenarios"][0]["checks"][0]["line"].is_null());
    assert_eq!(result["scenarios"][0]["line"], 3);
}

#[test]
fn forms_for_others_name_file_and_line() {
    let project = failing();
    let reports = [
        "junit=j.xml",
        "ctrf=c.json",
        "github=g.txt",
        "markdown=m.md",
    ];
    let reports = reports.map(|it| ["--report", it]).concat();
    project.expect(1, &[&COMPARE[..], &reports[..]].concat());
    assert!(
        project
            .read("j.xml")
            .contains(">suite/scenarios/look.yaml:3:7: failed\n")
    );
    let annotation = "::error file=suite/scenarios/look.yaml,line=7,title=Look up::";
    assert!(project.read("g.txt").starts_with(annotation));
    assert!(
        project
            .read("m.md")
            .contains("`suite/scenarios/look.yaml:3`")
    );
    let ctrf: Value = serde_json::from_str(&project.read("c.json")).unwrap();
    let test = &ctrf["results"]["tests"][0];
    assert_eq!(test["filePath"], "suite/scenarios/look.yaml");
    assert_eq!(test["line"], 3);
    // The same, from what was stored.
    for (format, file) in [
        ("junit", "j.xml"),
        ("ctrf", "c.json"),
        ("markdown", "m.md"),
        ("github", "g.txt"),
    ] {
        let again = project.expect(0, &["report", "--format", format]);
        assert_eq!(again.stdout, project.read(file), "{format}");
    }
    // Nothing to say is nothing.
    let quiet = project.expect(
        0,
        &[
            "record",
            "suite/scenarios",
            "--format",
            "github",
            "--allow-failing",
        ],
    );
    assert!(!quiet.stdout.starts_with('\n'), "{quiet:#?}");
}

#[test]
fn files_are_named_as_seen_from_the_root_of_the_repository() {
    let project = failing();
    commit_all(&project.path(""), "All");
    let compare = |variables: &[(&str, &str)]| {
        let mut command = project.command();
        command
            .args([
                "compare",
                "--report",
                "junit=j.xml",
                "--report",
                "ctrf=c.json",
            ])
            .current_dir(project.path("suite"))
            .envs(variables.iter().copied());
        assert_eq!(ran(&mut command).code, 1);
        let ctrf: Value = serde_json::from_str(&project.read("suite/c.json")).unwrap();
        let file = &ctrf["results"]["tests"][0]["filePath"];
        assert_eq!(file, "suite/scenarios/look.yaml");
        project.read("suite/j.xml")
    };
    let strict = compare(&[]);
    assert!(
        strict.contains(">suite/scenarios/look.yaml:3:7: failed\n"),
        "{strict}"
    );
    let case = |xml: &str| {
        let case = xml.lines().find(|it| it.contains("<testcase"));
        case.unwrap().to_owned()
    };
    // The schema of Jenkins does not take it.
    assert!(!case(&strict).contains("file="), "{strict}");
    let of_gitlab = compare(&[("GITLAB_CI", "true")]);
    assert!(
        case(&of_gitlab).contains("file=\"suite/scenarios/look.yaml\""),
        "{of_gitlab}"
    );
}

#[test]
fn a_scenario_that_fails_its_criteria_is_not_explained_as_passed() {
    let project = failing();
    project.expect(1, &[&COMPARE[..], &["--threshold", "0"]].concat());
    let said = "grey ".repeat(16);
    project.edit("suite/scenarios/look.yaml", "  - blue\n", "");
    project.edit(
        "suite/scenarios/look.yaml",
        &format!("##[error]so {said}::error::taken over"),
        "blue, never",
    );
    project.file("suite/baselines/x", "");
    project.expect(
        0,
        &[
            "record",
            "suite/scenarios",
            "--output",
            "suite/baselines",
            "--allow-failing",
        ],
    );
    project.expect(1, &COMPARE);
    let explained = project.expect(0, &["explain", "look"]);
    explained
        .says("the comparison passed at a threshold of 0.80, and the scenario failed, because an expectation is not met; ")
        .says("text: never said: appears nowhere");
}

#[test]
fn a_step_of_a_workflow_gets_a_summary_and_annotations_that_nobody_else_can_make() {
    let project = failing();
    project.file("summary.md", "What another command said.\n");
    let mut command = project.command();
    command
        .args([
            "compare",
            "scenarios",
            "--baseline",
            "baselines",
            "--report",
            "github",
            "-v",
        ])
        .current_dir(project.path("suite"))
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", project.path(""))
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    let step = ran(&mut command);
    assert_eq!(step.code, 1, "{step:#?}");
    let summary = project.read("summary.md");
    let ours = summary
        .strip_prefix("What another command said.\n")
        .unwrap();
    assert!(
        ours.starts_with("## ✗ mcp-eval compare: 1 scenario failed\n"),
        "{ours}"
    );
    let log = step.all();
    let commands: Vec<&str> = log
        .lines()
        .filter(|it| it.trim_start().starts_with("::"))
        .collect();
    assert_eq!(commands.len(), 1, "{commands:#?}");
    // Seen from the checkout, and not from where the step runs.
    assert!(
        commands[0].starts_with("::error file=suite/scenarios/look.yaml,line=7,"),
        "{commands:#?}"
    );
    let others = log.lines().filter(|it| !commands.contains(it));
    assert!(!others.clone().any(|it| it.contains("##[")), "{log}");
    assert!(others.clone().any(|it| it.contains("## [error]")), "{log}");

    // Outside of a workflow, the summary is nobody's business.
    project.file("summary.md", "");
    let mut command = project.command();
    command
        .args(COMPARE)
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    assert_eq!(ran(&mut command).code, 1);
    assert_eq!(project.read("summary.md"), "");

    // A command that could not begin says so there, too.
    let mut command = project.command();
    command
        .args(["compare", "nowhere", "--report", "junit=j.xml"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    assert_eq!(ran(&mut command).code, 2);
    assert!(
        project
            .read("summary.md")
            .contains("no scenario files match")
    );
    assert!(project.read("j.xml").contains("errors=\"1\""));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_report_takes_the_place_of_nothing_else() {
    let project = Project::shipped();
    let scenario = "scenarios/flows/ticket.yaml";
    let baseline = "baselines/flows/ticket/baseline.json";
    let before = [scenario, baseline].map(|it| project.read(it));
    for asked in [
        format!("junit={baseline}"),
        format!("junit={scenario}"),
        "json=.mcp-eval/runs/index.jsonl".to_owned(),
        "html=baselines".to_owned(),
        "html=scenarios".to_owned(),
        "html=.".to_owned(),
    ] {
        project
            .expect(2, &["compare", scenario, "--report", &asked])
            .says("name another file");
    }
    assert_eq!([scenario, baseline].map(|it| project.read(it)), before);
    // A report may be written again where it is.
    for _ in 0..2 {
        project.expect(
            0,
            &[
                "compare",
                scenario,
                "--report",
                "html=pages",
                "--report",
                "json=pages.json",
            ],
        );
    }
}

#[test]
fn a_wrong_command_line_leaves_no_older_result_behind() {
    let project = Project::shipped();
    for (wrong, says) in [
        (&["-k", "("][..], "-k"),
        (&["--threshold", "7"], "7"),
        (&["--keep", "0"], "--keep"),
        (&["--no-such-option"], "--no-such-option"),
    ] {
        for report in [&["--report", "junit=o.xml"][..], &["--report=junit=o.xml"]] {
            project.file("o.xml", "<old/>");
            let arguments = [&["compare"], wrong, report].concat();
            project.expect(2, &arguments);
            let said = project.read("o.xml");
            assert!(said.contains("<error ") && said.contains(says), "{said}");
        }
    }
    // What is no report is none that is written.
    let scenario = "scenarios/flows/ticket.yaml";
    let before = project.read(scenario);
    project.expect(
        2,
        &[
            "compare",
            "-k",
            "(",
            "--report",
            &format!("junit={scenario}"),
        ],
    );
    assert_eq!(project.read(scenario), before);
}
