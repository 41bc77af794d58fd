//! Kept files can be read again, survive a kill, and are never half-written.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcp_eval::model::{Redacted, Step, Trajectory};
use mcp_eval::store::{self, Baselines};
use serde_json::{Value, json};

use crate::common::{Project, Ran, at_a_desk, ran, stands_alone};

/// A list in a list in a list.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// Names of temporary files in the baseline's folder.
fn left_beside(project: &Project, id: &str) -> Vec<String> {
    let entries = fs::read_dir(project.path(format!("baselines/{id}"))).into_iter();
    let names = entries
        .flatten()
        .map(|it| it.unwrap().file_name().into_string().unwrap());
    names
        .filter(|it| {
            !["baseline.json", "trajectory.txt"].contains(&it.as_str())
                && !it.starts_with("variant-")
        })
        .collect()
}

/// The baseline can be read, its dialogue is its own, and nothing else lies beside.
#[track_caller]
fn assert_whole(project: &Project, id: &str) {
    let path = project.path(format!("baselines/{id}/baseline.json"));
    let kept = store::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let kept_dialogue = project.read(format!("baselines/{id}/trajectory.txt"));
    assert!(
        store::dialogue(&kept) == kept_dialogue,
        "the dialogue is of another recording: {kept_dialogue}"
    );
    assert_eq!(left_beside(project, id), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_answer_is_read_as_deep_as_it_was_recorded() {
    let project = Project::new();
    // An answer may have 128 levels, its own object among them: what is read when it comes in, is read from every file.
    let depths = [119, 123, 124, 125];
    for depth in depths {
        let structured = format!(r#"structured={{"a":{}}}"#, nested(depth));
        project.faulty(
            &format!("deep-{depth}"),
            &[&structured],
            &[("echo", json!({}))],
        );
    }
    for depth in [119, 122] {
        let schema = format!(r#"output-schema={{"x-deep":{}}}"#, nested(depth));
        project.faulty(
            &format!("schema-{depth}"),
            &["structured={}", &schema],
            &[("echo", json!({}))],
        );
    }
    let all = "6/6 tests passed";
    project.expect(0, &["record"]).says("6/6 tests recorded");
    for depth in depths {
        let baseline = project.read(format!("baselines/deep-{depth}/baseline.json"));
        let flat: String = baseline.split_whitespace().collect();
        assert!(flat.contains(&format!(r#""a":{}"#, nested(depth))));
    }
    project.expect(0, &["list"]).says_not("unreadable");
    project.expect(0, &["compare"]).says(all);
    project
        .expect(0, &["compare", "--servers", "recorded"])
        .says(all);
    project
        .expect(0, &["compare", "--run", "baselines"])
        .says(all);
    // A result holds what changed.
    for depth in depths {
        let path = format!("scenarios/deep-{depth}.yaml");
        project.edit(&path, &nested(depth), &nested(depth - 1));
    }
    let changed = project.expect(1, &["compare"]);
    assert_eq!(project.expect(0, &["report"]).stdout, changed.stdout);
    project
        .expect(0, &["report", "--format", "html", "--output", "pages"])
        .says_not("not shown");
    project.expect(0, &["explain", "latest"]);
}

#[test]
fn a_file_that_is_nested_for_ever_is_reported_and_ends_nothing() {
    let project = Project::new();
    project.faulty("s", &["structured={}"], &[("echo", json!({}))]);
    project.expect(0, &["record"]);
    let path = "baselines/s/baseline.json";
    for (open, close) in [("[", "]"), (r#"{"a":["#, "]}")] {
        let deep = format!(
            r#""structured_content": {}{}"#,
            open.repeat(200_000),
            close.repeat(200_000)
        );
        let sound = project.read(path);
        project.edit(path, r#""structured_content": {}"#, &deep);
        let too_deep = "nested more than 512 levels deep";
        project.expect(3, &["compare"]).says(too_deep);
        project
            .expect(2, &["compare", "--run", path])
            .says(too_deep);
        project.expect(0, &["list"]).says("unreadable");
        project.file(path, sound);
    }
    let result = format!(r#"{{"format_version":1,"x":{}}}"#, nested(200_000));
    project.file("result.json", result);
    project
        .expect(2, &["report", "result.json"])
        .says("nested more than 512 levels deep");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_file_name_that_is_recorded_is_read_again() {
    let project = Project::new();
    let names = [
        format!("{}.yaml", "n".repeat(195)),
        format!("{}.yaml", "n".repeat(200)),
        // As long as a name may be.
        format!("{}.yaml", "n".repeat(250)),
        format!("{}.yml", "n".repeat(251)),
        format!("{}ü.yml", "ü".repeat(124)),
        r"with\backslash.yaml".to_owned(),
        "with \"quotes\" and\nlines.yaml".to_owned(),
        "a.b.c.yaml".to_owned(),
        "-x.yaml".to_owned(),
    ];
    for (number, name) in names.iter().enumerate() {
        project.faulty("s", &[], &[("echo", json!({ "number": number }))]);
        fs::rename(
            project.path("scenarios/s.yaml"),
            project.path("scenarios").join(name),
        )
        .unwrap();
    }
    let all = format!("{0}/{0} tests passed", names.len());
    let said = project.expect(0, &["record", "-v"]);
    let recorded = format!("{0}/{0} tests recorded", names.len());
    said.says(&recorded).says_not("could not be kept");
    let listed = project.result_list();
    assert_eq!(listed, vec!["accepted"; names.len()]);
    project
        .expect(0, &["compare", "-v"])
        .says(&all)
        .says_not("could not be kept");
    project
        .expect(0, &["compare", "--run", &project.latest_run()])
        .says(&all);
    project
        .expect(0, &["report", "--format", "html", "--output", "pages"])
        .says_not("not shown");
    let pages = fs::read_dir(project.path("pages")).unwrap().count();
    assert_eq!(
        pages,
        names.len() + 4,
        "a page each, the index, their style and script, the result"
    );
}

#[test]
fn a_name_that_leads_elsewhere_is_not_recorded() {
    let project = Project::new();
    for name in ["...yaml", "..yaml"] {
        project.faulty("s", &[], &[("echo", json!({}))]);
        let path = format!("scenarios/{name}");
        fs::rename(project.path("scenarios/s.yaml"), project.path(&path)).unwrap();
        let ran = project.run(&["record", &path]);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(!project.path("baseline.json").exists());
        assert!(!project.path("baselines/baseline.json").exists());
    }
}

impl Project {
    /// The states of the baselines, as `list` shows them.
    fn result_list(&self) -> Vec<String> {
        let listed = self.result(0, &["list"]);
        let scenarios = listed["scenarios"].as_array().unwrap();
        let state = |it: &Value| it["baseline"].as_str().unwrap().to_owned();
        scenarios.iter().map(state).collect()
    }

    fn latest_run(&self) -> String {
        let result = self.result(0, &["report"]);
        format!(".mcp-eval/runs/{}", result["run_id"].as_str().unwrap())
    }
}

/// A trajectory as it was recorded.
fn recorded() -> Redacted<Trajectory> {
    let path = crate::common::root().join("baselines/flows/ticket/baseline.json");
    store::load(&path).unwrap()
}

#[test]
fn a_baseline_is_read_again_before_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let baselines = Baselines::new(folder.path());
    let good = recorded();
    baselines.save("s", &good).unwrap();
    let files = || {
        let entries = fs::read_dir(folder.path().join("s")).unwrap();
        let mut files: Vec<(String, Vec<u8>)> = entries
            .map(|it| it.unwrap().path())
            .map(|it| (it.display().to_string(), fs::read(it).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    assert_eq!(before.len(), 2);

    // No JSON can say how long that took.
    let mut endless = good.clone();
    endless.refine(|it| it.duration_ms = Some(f64::INFINITY));
    let mut deep = good.clone();
    deep.refine(|deep| {
        let calls = deep.steps.iter_mut().filter_map(|it| match it {
            Step::ToolCall(call) => Some(call),
            _ => None,
        });
        let inner: Value = serde_json::from_str(&nested(120)).unwrap();
        let levels = (0..400).fold(inner, |it, _| json!([it]));
        for call in calls.take(1) {
            call.arguments.insert("deep".to_owned(), levels.clone());
        }
    });
    let mut elsewhere = good.clone();
    elsewhere.refine(|it| it.scenario = "../s".to_owned());
    let cases = [
        (endless, "reads otherwise"),
        (deep, "nested more than 512 levels deep"),
        (elsewhere, "is not a relative path"),
    ];
    for (bad, why) in cases {
        let error = baselines.save("s", &bad).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("not kept as"), "{error}");
        assert_eq!(files(), before);
    }
    assert!(baselines.save("../s", &good).is_err());
    assert_eq!(baselines.load("s").unwrap(), [good]);
}

/// A scenario whose every recording is another, and takes its time to write.
fn changing(project: &Project) {
    let big = "x".repeat(300_000);
    project.faulty(
        "s",
        &["random"],
        &[("count", json!({})), ("echo", json!({ "blob": big }))],
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn whoever_is_killed_while_recording_leaves_nothing_wrong_for_long() {
    let project = Project::new();
    changing(&project);
    project.expect(0, &["record"]);
    let commands: [&[&str]; 4] = [
        &["list"],
        &["compare"],
        &["compare", "--run", "baselines"],
        &["record"],
    ];
    let mut left = 0;
    // Milliseconds after the first file appeared beside the old ones.
    for (moment, command) in [0, 2, 5, 10, 15, 20, 30, 50]
        .into_iter()
        .zip(commands.iter().cycle())
    {
        // What has not changed is not written again.
        project.edit("scenarios/s.yaml", "\"name\":\"s", "\"name\":\"so");
        let mut child = project
            .command()
            .args(["record", "-q"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while left_beside(&project, "s").is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        store::load(&project.path("baselines/s/baseline.json")).unwrap();
        left += usize::from(!left_beside(&project, "s").is_empty());
        project.expect(0, command);
        assert_whole(&project, "s");
    }
    assert!(left > 0, "nobody was killed while writing");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_kill_can_leave_is_put_right_by_the_next_command() {
    let project = Project::new();
    project.faulty("s", &[], &[("count", json!({}))]);
    project.expect(0, &["record"]);
    let right = project.read("baselines/s/trajectory.txt");
    let run = "baselines/s/baseline.json";
    let commands: [&[&str]; 5] = [
        &["list"],
        &["compare"],
        &["compare", "--agent", "replay"],
        &["compare", "--run", run],
        &["record"],
    ];
    let other = right.replace("calls", "other");
    assert_ne!(right, other);
    for command in commands {
        // Before the first of the two files is in its place, and between the two.
        for dialogue in [&right, &other] {
            project.file("baselines/s/.mcp-eval-Ab12xY", "{\"format_version\"");
            project.file("baselines/s/.mcp-eval-000000", "# s");
            project.file("baselines/s/trajectory.txt", dialogue);
            project.expect(0, command);
            assert_whole(&project, "s");
        }
        // Without a sign of a kill, it is still none of this recording.
        project.file("baselines/s/trajectory.txt", &other);
        project.expect(0, command);
        assert_whole(&project, "s");
    }
    // The first recording, which was killed before anything was in its place.
    project.faulty("t", &[], &[("count", json!({}))]);
    project.file("baselines/t/.mcp-eval-Ab12xY", "{");
    project.expect(0, &["list"]);
    assert_eq!(left_beside(&project, "t"), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_somebody_writes_or_wrote_otherwise_is_let_alone() {
    let project = Project::new();
    project.faulty("s", &[], &[("count", json!({}))]);
    project.expect(0, &["record"]);
    let right = project.read("baselines/s/trajectory.txt");
    let beside = "baselines/s/.mcp-eval-Ab12xY";

    // A living process has the folder, and is about to put this in its place.
    let lock = File::open(project.path("baselines/s")).unwrap();
    lock.lock().unwrap();
    project.file(beside, "{");
    for command in [["list"], ["compare"]] {
        project.expect(0, &command);
        assert_eq!(project.read(beside), "{");
    }
    drop(lock);
    project.expect(0, &["list"]);
    assert!(!project.path(beside).exists());

    // CI looks, and changes nothing. It compares nothing with a baseline of which people have read something else.
    project.file(beside, "{");
    for (dialogue, code) in [("as committed", 2), (&right.replace('\n', " \r\n"), 0)] {
        project.file("baselines/s/trajectory.txt", dialogue);
        for (command, code) in [("list", 0), ("compare", code), ("validate", code)] {
            let ran = ran(project.command().arg(command).env("CI", "true"));
            assert_eq!(ran.code, code, "{command} {ran:?}");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(
                said.contains("of the baseline beside it"),
                code > 0,
                "{ran:?}"
            );
            assert_eq!(project.read(beside), "{");
            assert_eq!(project.read("baselines/s/trajectory.txt"), dialogue);
        }
    }
    project.file("baselines/s/trajectory.txt", "as committed");
    project.expect(0, &["list"]);
    assert_eq!(project.read("baselines/s/trajectory.txt"), right);
    // Nor with one that leads elsewhere.
    let dialogue = project.path("baselines/s/trajectory.txt");
    fs::remove_file(&dialogue).unwrap();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    symlink(elsewhere.path(), &dialogue).unwrap();
    for command in ["compare", "validate"] {
        let ran = ran(project.command().arg(command).env("CI", "true"));
        assert_eq!(ran.code, 2, "{command} {ran:?}");
    }
    fs::remove_file(&dialogue).unwrap();
    project.file("baselines/s/trajectory.txt", "as committed");
    project
        .expect(0, &["validate"])
        .says("baselines/s/trajectory.txt: warning: it is not of the baseline beside it");
    project
        .expect(0, &["compare"])
        .says("note: baselines/s/trajectory.txt is not of the baseline beside it")
        .says("a plain file is written again now");
    assert_eq!(project.read("baselines/s/trajectory.txt"), right);

    // Files of the user, and a folder that somebody named so.
    project.file("baselines/s/.mcp-eval-notes", "mine");
    project.file("baselines/s/.mcp-eval-notes.txt", "mine");
    project.file("baselines/s/.mcp-eval-folder/x", "mine");
    project.expect(0, &["record"]);
    for name in ["notes", "notes.txt", "folder/x"] {
        assert_eq!(
            project.read(format!("baselines/s/.mcp-eval-{name}")),
            "mine"
        );
    }

    // Git checks out the line ends of Windows where somebody asks for them.
    let files = ["trajectory.txt", "baseline.json"].map(|it| format!("baselines/s/{it}"));
    let crlf = files
        .each_ref()
        .map(|it| project.read(it).replace('\n', "\r\n"));
    for (file, text) in files.iter().zip(&crlf) {
        project.file(file, text);
    }
    for command in ["list", "compare", "record"] {
        project.expect(0, &[command]);
        assert_eq!(files.each_ref().map(|it| project.read(it)), crlf);
    }

    // One that another version worded is right in its own way.
    let this = format!(r#""mcp_eval": "{}""#, env!("CARGO_PKG_VERSION"));
    project.edit("baselines/s/baseline.json", &this, r#""mcp_eval": "0.0.1""#);
    project.file("baselines/s/trajectory.txt", "worded otherwise");
    project.expect(0, &["compare"]);
    assert_eq!(
        project.read("baselines/s/trajectory.txt"),
        "worded otherwise"
    );
}

/// Runs the program with a bound on how long a file may become, which is what a full disk comes to.
fn with_a_full_disk(project: &Project, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let script = format!("trap '' XFSZ; ulimit -f 64; exec {program} {arguments}");
    ran(at_a_desk(
        Command::new("bash")
            .args(["-c", &script])
            .current_dir(project.path("")),
    ))
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_baseline_and_nothing_else() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({ "q": 1 }))]);
    project.expect(0, &["record"]);
    let before = project.read("baselines/s/baseline.json");
    project.faulty("s", &["big=200000"], &[("echo", json!({ "q": 1 }))]);
    let output = with_a_full_disk(&project, "record");
    assert_eq!(output.code, 3, "{output:?}");
    output.says("cannot write baselines/s/baseline.json: File too large");
    assert_eq!(before, project.read("baselines/s/baseline.json"));
    assert_whole(&project, "s");
}

#[test]
fn whatever_is_in_the_way_is_named_and_stays() {
    let project = Project::new();
    project.faulty("s", &[], &[("count", json!({}))]);
    project.file("baselines/s", "a file");
    project
        .expect(3, &["record"])
        .says("cannot write baselines/s: baselines/s is not a folder");
    assert_eq!(project.read("baselines/s"), "a file");
    project.expect(3, &["compare"]).says("baselines/s");
    fs::remove_file(project.path("baselines/s")).unwrap();

    for name in ["baseline.json", "trajectory.txt"] {
        project.file(&format!("baselines/s/{name}/mine"), "mine");
        project.expect(3, &["record"]).says(&format!(
            "cannot write baselines/s/{name}: a folder is in its place"
        ));
        assert_eq!(project.read(format!("baselines/s/{name}/mine")), "mine");
        let beside: Vec<_> = fs::read_dir(project.path("baselines/s")).unwrap().collect();
        assert_eq!(beside.len(), 1, "nothing is kept by halves: {beside:?}");
        fs::remove_dir_all(project.path("baselines/s")).unwrap();
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn links_to_baselines_stay_links() {
    let project = Project::new();
    project.faulty("s", &["text=old"], &[("count", json!({}))]);
    project.expect(0, &["record"]);
    fs::rename(
        project.path("baselines/s"),
        project.path("baselines/elsewhere"),
    )
    .unwrap();
    symlink("elsewhere", project.path("baselines/s")).unwrap();
    project.faulty("s", &["text=new"], &[("count", json!({}))]);
    project.expect(0, &["record"]);
    assert!(project.path("baselines/s").is_symlink());
    assert!(
        project
            .read("baselines/elsewhere/baseline.json")
            .contains("new")
    );
    assert_whole(&project, "s");

    fs::rename(
        project.path("baselines/elsewhere/baseline.json"),
        project.path("baselines/shared.json"),
    )
    .unwrap();
    let link = project.path("baselines/elsewhere/baseline.json");
    symlink("../shared.json", &link).unwrap();
    project.faulty("s", &["text=newer"], &[("count", json!({}))]);
    project.expect(0, &["record"]);
    assert!(link.is_symlink() && project.read("baselines/shared.json").contains("newer"));
    project.expect(0, &["compare"]);

    for (target, why) in [
        ("nowhere.json", "it is a link that leads nowhere"),
        ("/dev/full", "is a link out of its folder, to /dev/full"),
    ] {
        fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
        project.expect(3, &["record"]).says(why);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_latest_run_is_the_latest_also_of_many_in_one_second() {
    let project = Project::new();
    project.faulty("s", &[], &[("count", json!({}))]);
    let result = project.result(0, &["run"]);
    let id = result["run_id"].as_str().unwrap();
    let text = project.read(format!(".mcp-eval/runs/{id}/result.json"));
    // As earlier versions named them.
    let second = "2031-05-05T05-05-05Z";
    for number in ["", "-2", "-9", "-10", "-38"] {
        let old = format!("{second}{number}");
        let text = text.replace(id, &old);
        project.file(&format!(".mcp-eval/runs/{old}/result.json"), text);
    }
    let latest = || project.result(0, &["report"])["run_id"].clone();
    assert_eq!(latest(), format!("{second}-38"));
    fs::remove_dir_all(project.path(".mcp-eval/runs")).unwrap();
    let mut ids = Vec::new();
    for _ in 0..12 {
        let result = project.result(0, &["run"]);
        ids.push(result["run_id"].as_str().unwrap().to_owned());
        assert_eq!(latest(), *ids.last().unwrap());
    }
    assert!(ids.is_sorted(), "{ids:?}");
}

#[test]
fn what_was_kept_before_an_error_was_marked_as_one_is_marked_when_it_is_scored() {
    let project = Project::new();
    let schema =
        r#"output-schema={"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    project.faulty(
        "s",
        &[r#"structured={"n":1}"#, schema],
        &[("echo", json!({}))],
    );
    project.expect(0, &["record"]);
    let run = stands_alone(&project, "baselines/s/baseline.json");
    let broken = run.replace(r#""n": 1"#, r#""m": 1"#);
    assert_ne!(run, broken);
    project.file("run.json", broken);
    let result = project.result(1, &["compare", "--run", "run.json"]);
    let call = &result["scenarios"][0]["comparison"]["rows"][0]["current"];
    assert_eq!(call["outcome"], "invalid_structured_content", "{call:#}");
    assert!(
        call["error"].as_str().unwrap().contains("\"n\""),
        "{call:#}"
    );
}

/// Comparing stored trajectories again shows no secret that the scenario still holds.
#[test]
fn a_secret_criterion_is_not_shown_when_a_stored_run_is_scored() {
    const CANARY: &str = "canary-7c1f5be2";
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        format!(
            "name: S
description: It says {{{{token}}}}
variables: {{ token: {{ value: {CANARY}, secret: true }} }}
servers: {{ m: {{ type: mock }} }}
mcp_interactions: {{ m: {{ tools: [{{ name: a, annotations: {{ read_only_hint: true }}, responses: [{{ content: 'It is {{{{token}}}}' }}] }}] }} }}
expected_trajectory: [{{ tool: a }}]
success_criteria: [{{ text: '{{{{token}}}}' }}, {{ text: 'never {{{{token}}}}' }}]
"
        ),
    );
    project
        .expect(0, &["record", "--allow-failing"])
        .says_not(CANARY);
    for arguments in [
        &["compare", "--run", "baselines", "-v"][..],
        &["compare", "--run", "baselines", "--format", "json"],
        &["compare", "-v"],
    ] {
        let output = project.run(arguments);
        assert!(!output.stdout.contains(CANARY), "{}", output.stdout);
        assert!(!output.stderr.contains(CANARY), "{}", output.stderr);
        assert!(
            output.stdout.contains("never <secret:var."),
            "{}",
            output.stdout
        );
    }
}

/// How long a run may take to end that was asked to.
const STOPPED: Duration = Duration::from_secs(10);

#[test]
fn what_an_interruption_has_left_undone_is_in_the_result() {
    let project = Project::new();
    project.faulty("a", &[], &[("echo", json!({}))]);
    project.faulty("b", &["hang"], &[("echo", json!({}))]);
    project.faulty("c", &[], &[("echo", json!({}))]);
    project.faulty("d", &[], &[("echo", json!({}))]);
    project.faulty_with(
        "e",
        &[],
        &[("echo", json!({}))],
        &json!({ "enabled": false }),
    );
    let mut child = project
        .command()
        .args(["run", "-v", "--color", "never", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let first = || {
        let runs = walkdir::WalkDir::new(project.path(".mcp-eval")).into_iter();
        runs.flatten().any(|it| it.file_name() == "a.json")
    };
    while !first() {
        assert!(started.elapsed() < STOPPED, "nothing runs");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    assert!(
        said.contains("Interrupted: 3 scenarios had not finished."),
        "{said}"
    );
    assert!(
        said.contains("1/4 tests passed, 3 interrupted, 1 skipped"),
        "{said}"
    );

    let result = project.result(0, &["report"]);
    assert_eq!(result["summary"]["interrupted"], 3);
    assert_eq!(result["summary"]["selected"], 4);
    let shown: Vec<[&str; 3]> = result["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let texts = [&it["status"], &it["not_run"], &it["problem"]["message"]];
            texts.map(|it| it.as_str().unwrap_or_default())
        })
        .collect();
    let not_started = [
        "interrupted",
        "interrupted",
        "not started: interrupted before",
    ];
    let disabled = "the scenario is disabled (`enabled: false`)";
    assert_eq!(
        shown,
        [
            ["passed", "", ""],
            ["interrupted", "", "interrupted"],
            not_started,
            not_started,
            ["skipped", "disabled", disabled]
        ]
    );
    // What it had done so far can be looked at, and each can be asked for.
    assert_eq!(result["scenarios"][1]["current"]["ending"], "interrupted");
    for (name, why) in [("b", "no score: interrupted"), ("c", "not started")] {
        project
            .expect(0, &["explain", "latest", "--scenario", name])
            .says(why);
    }
    project
        .expect(2, &["explain", "latest", "--scenario", "nobody"])
        .says("it has a, b, c, d, e");
    let index = project.read("reports/latest/index.html");
    assert!(index.contains("state-interrupted"), "{index}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn trajectories_that_an_interruption_left_unscored_are_in_the_result() {
    let project = Project::shipped();
    let stored = project.read("baselines/flows/ticket/baseline.json");
    let count = 600;
    for number in 0..count {
        project.file(&format!("stored/{number:03}.json"), &stored);
    }
    let mut child = project
        .command()
        .args(["compare", "--run", "stored", "--no-report", "-q"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    // It has begun when it listens to interruptions.
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
        caught.is_some_and(|it| it & 0b10 != 0)
    };
    let begun = Instant::now();
    while !listens() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    let asked = Command::new("kill").args(["-INT", &id]).status();
    assert!(asked.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result = project.result(0, &["report"]);
    let scenarios = result["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), count, "nothing vanishes");
    let left_out = scenarios.iter().find(|it| it["id"] == "599").unwrap();
    assert_eq!(left_out["status"], "interrupted", "{left_out:#}");
    assert_eq!(
        left_out["problem"]["message"],
        "not scored: interrupted before"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_baseline_of_version_1_is_read_and_says_what_recording_again_would_add() {
    let project = Project::shipped();
    let old = include_str!("../fixtures/trajectory/version-1.json");
    assert!(old.contains("\"format_version\": 1"));
    project.file("baselines/proxy/find_tools/baseline.json", old);
    let compare = [
        "compare",
        "scenarios/proxy/find_tools.yaml",
        "--allow-changed",
    ];
    project
        .expect(0, &compare)
        .says("1 baseline has answers that were recorded only once");
    project
        .expect(0, &[&compare[..], &["-v"]].concat())
        .says("2 reads of the baseline were recorded once")
        .says("makes each read twice");
    project.expect(0, &["record", "scenarios/proxy/find_tools.yaml"]);
    assert!(
        project
            .read("baselines/proxy/find_tools/baseline.json")
            .contains("\"format_version\": 3")
    );
    project.expect(0, &compare).says_not("recorded once");
}
