//! Nothing older is taken for the result of a command that could not begin, or was killed; and nothing else is overwritten by one.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Project, ran};
use crate::review::{BASELINE, changed_shop, shop};

const REPORTS: [&str; 4] = ["--report", "junit=o/j.xml", "--report", "json=o/r.json"];

fn compare(project: &Project, code: i32, more: &[&str]) {
    project.expect(code, &[&["compare"], &REPORTS[..], more].concat());
}

fn is_green(project: &Project) -> bool {
    let junit = project.read("o/j.xml");
    junit.contains("failures=\"0\" errors=\"0\"")
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_command_that_cannot_begin_says_so_in_all_files_that_can_be_written() {
    let project = Project::new();
    shop(&project);
    let green = || {
        compare(&project, 0, &[]);
        assert!(is_green(&project));
    };
    let scenario = project.read("scenarios/shop.yaml");
    for wrong in [
        &["compare", "--report", "junit=o/j.xml", "--format", "html"][..],
        &[
            "compare",
            "--report",
            "junit=o/j.xml",
            "--output",
            "result.json",
        ],
        &[
            "compare",
            "--report",
            "junit=o/j.xml",
            "--report",
            "json=scenarios/shop.yaml",
        ],
        &[
            "compare",
            "--report",
            "junit=o/j.xml",
            "--report",
            "junit=o/j.xml",
        ],
        &[
            "compare",
            "--report",
            "junit=o/j.xml",
            "--report",
            "json=new/folder/",
        ],
        &[
            "compare",
            "-s",
            "scenarios/shop.yaml",
            "--report",
            "junit=o/j.xml",
        ],
        &["test", "--report", "junit=o/j.xml"],
        &["report", "nosuchrun", "--report", "junit=o/j.xml"],
    ] {
        green();
        project.expect(2, wrong);
        assert!(!is_green(&project), "{wrong:?}");
    }
    assert_eq!(project.read("scenarios/shop.yaml"), scenario);
    assert!(!project.path("new").exists());
}

#[test]
fn a_run_that_is_killed_leaves_no_older_result_and_has_not_passed() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({ "q": 1 }))]);
    project.expect(0, &["record"]);
    compare(&project, 0, &[]);
    let before: Value = serde_json::from_str(&project.read("o/r.json")).unwrap();
    // The next one hangs until it is killed.
    let hangs = json!({ "before": [["sh", "-c", "touch begun; sleep 60"]] });
    project.faulty_with("s", &[], &[("echo", json!({ "q": 1 }))], &hangs);
    let mut command = project.command();
    command.args(["compare"]).args(REPORTS);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while !project.path("begun").exists() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!is_green(&project));
    let begun: Value = serde_json::from_str(&project.read("o/r.json")).unwrap();
    assert!(
        begun["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("not ended"),
        "{begun:#}"
    );
    let latest = ran(project.command().args(["report", "--format", "json"]));
    let latest: Value = serde_json::from_str(&latest.stdout).unwrap();
    assert_ne!(latest["run_id"], before["run_id"]);
    assert_eq!(latest["interrupted"], true);
    assert_eq!(latest["scenarios"][0]["status"], "interrupted");
    project.faulty("s", &[], &[("echo", json!({ "q": 1 }))]);
    project
        .expect(0, &["compare", "--last-failed"])
        .says("1 of 1 did not pass");
    // Nor has one passed whose result nobody can read.
    let run = latest["run_id"].as_str().unwrap();
    let newest = project.last_run();
    assert!(!newest.ends_with(run));
    fs::write(newest.join("result.json"), "{").unwrap();
    project
        .expect(0, &["compare", "--last-failed"])
        .says("1 of 1 did not pass");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn pages_overwrite_nothing_else() {
    let project = Project::new();
    shop(&project);
    project.expect(0, &["compare"]);
    project
        .file("srv.py", "print()")
        .file("keep/index.html", "precious");
    let kept = ["scenarios/shop.yaml", BASELINE, "srv.py", "keep/index.html"];
    let before = kept.map(|it| project.read(it));
    for file in ["scenarios/shop.yaml", BASELINE, "srv.py", ".git/config"] {
        project
            .expect(2, &["report", "--single-file", file])
            .says("--single-file");
    }
    for folder in ["scenarios", "baselines", ".", "keep"] {
        project
            .expect(2, &["compare", "--output", folder])
            .says("--output");
        let pages = format!("html={folder}");
        project
            .expect(2, &["compare", "--report", &pages])
            .says(&pages);
    }
    assert_eq!(kept.map(|it| project.read(it)), before);
    project.expect(0, &["report", "--single-file", "one.html"]);
    project.expect(0, &["report", "--single-file", "one.html"]);
    project.expect(0, &["compare", "--output", "out"]);
    project.expect(0, &["compare", "--output", "out"]);
}

#[test]
fn of_an_artifact_nothing_is_missing_unsaid_and_nothing_leads_out() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(1, &["compare", "--output", "artifact"]);
    let before = project.read(BASELINE);
    let current = "artifact/trajectories/current/shop.json";
    let run = project.read(current);
    // Its pages can be made again where only the artifact is.
    fs::remove_dir_all(project.path(".mcp-eval")).unwrap();
    fs::remove_dir_all(project.path("reports")).unwrap();
    let again = project.expect(0, &["report", "artifact", "--report", "html=again"]);
    again.says_not("a conversation is not shown");
    assert!(project.read("again/shop.html").contains("tea"));
    fs::remove_file(project.path(current)).unwrap();
    let from = ["--from", "artifact"];
    for which in [&["review", "--list"][..], &["review", "--accept-all"]] {
        let ran = project.expect(3, &[which, &from].concat());
        ran.says("the result tells of a run of `shop`")
            .says("current/shop.json is not there");
    }
    project.file("elsewhere.json", run);
    symlink(project.path("elsewhere.json"), project.path(current)).unwrap();
    project
        .expect(2, &["review", "--accept", "shop", "--from", "artifact"])
        .says("is not a file of this folder");
    assert_eq!(project.read(BASELINE), before);
}

#[test]
fn what_waits_of_a_scenario_that_is_gone_is_found_and_removed() {
    let project = Project::new();
    changed_shop(&project);
    fs::rename(
        project.path("scenarios/shop.yaml"),
        project.path("scenarios/store.yaml"),
    )
    .unwrap();
    project
        .expect(1, &["review", "--check"])
        .says("is of no scenario any more")
        .says("mcp-eval review --reject shop")
        .says_not("Nothing is pending");
    project
        .expect(0, &["review", "--reject", "shop"])
        .says("removed baselines/shop/pending.json");
    project
        .expect(0, &["review", "--check"])
        .says("Nothing is pending");
    project.expect(2, &["review", "--reject", "shop"]);
}

#[test]
fn parts_that_cannot_be_put_together_leave_no_older_green_result() {
    let project = Project::new();
    shop(&project);
    project.expect(
        0,
        &["compare", "--shard", "1/1", "--report", "json=part.json"],
    );
    let merge = ["merge", "part.json", "--report", "junit=o/j.xml"];
    for (code, wrong) in [
        (2, &["--allow-nothing"][..]),
        (2, &["gone.json"]),
        (2, &["--report", "junit=o/j.xml"]),
    ] {
        project.expect(0, &merge);
        assert!(is_green(&project));
        project.expect(code, &[&merge[..], wrong].concat());
        assert!(!is_green(&project), "{wrong:?}");
    }
}
