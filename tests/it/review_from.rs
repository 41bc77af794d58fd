//! The review of an artifact of CI: which run is meant, and what is known of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::{Project, Ran, in_terminal, ran};
use crate::review::{BASELINE, PENDING, changed_shop, shop};

const UNCHANGED: &str = "baselines/till/baseline.json";

/// A second scenario, of which nothing changes but what varies.
fn till(project: &Project) {
    let scenario = project.read("scenarios/shop.yaml");
    let scenario = scenario.replace("The shop", "The till");
    project.file("scenarios/till.yaml", scenario);
    project.expect(0, &["record", "scenarios/till.yaml"]);
}

/// Compares as a job does that sets these variables.
fn in_job(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = project.command();
    ran(command.args(arguments).envs(variables.iter().copied()))
}

fn opens(project: &Project, script: &str) {
    project.file("xdg-open", format!("#!/bin/sh\n{script}\n"));
    let open = project.path("xdg-open");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_accepted_from_ci_is_as_strict_as_what_is_recorded() {
    let project = Project::new();
    shop(&project);
    till(&project);
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"tea\":4");
    let before = project.read(UNCHANGED);
    let report = ["compare", "--output", "artifact"];
    let compared = in_job(&project, &[("CI", "true")], &report);
    assert_eq!(compared.code, 1, "{compared:#?}");
    assert!(!project.path(PENDING).exists());
    fs::remove_dir_all(project.path(".mcp-eval")).unwrap();
    // What passed unchanged is not offered, so nothing of it is written.
    let listed = project.expect(0, &["review", "--list", "--from", "artifact"]);
    listed.says("shop").says_not("till");
    project
        .expect(2, &["review", "--accept", "till", "--from", "artifact"])
        .says("nothing of `till` is pending");
    let accepted = project.expect(0, &["review", "--accept-all", "--from", "artifact"]);
    accepted.says("accepted shop").says_not("till");
    assert_eq!(project.read(UNCHANGED), before);
    let baseline: Value = serde_json::from_str(&project.read(BASELINE)).unwrap();
    let learned = baseline["learned"].as_array().unwrap();
    assert_eq!(learned.len(), 3, "{learned:#?}");
    assert!(learned.iter().all(|it| it["takes"] == 2), "{learned:#?}");
    project.expect(0, &["compare", "--strict"]);
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":5");
    project.expect(1, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_job_is_one_whatever_runs_it() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(0, &["review", "--reject-all"]);
    for variable in ["JENKINS_URL", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"] {
        let job = [(variable, "yes")];
        assert_eq!(in_job(&project, &job, &["compare"]).code, 1);
        assert!(!project.path(PENDING).exists(), "{variable}");
        let refused = in_job(&project, &job, &["record"]);
        assert_eq!(refused.code, 2, "{refused:#?}");
        refused.says(&format!("{variable} is set in the environment"));
    }
    let none = [("JENKINS_URL", "yes"), ("CI", "false")];
    assert_eq!(in_job(&project, &none, &["compare"]).code, 1);
    assert!(project.path(PENDING).exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_page_that_is_opened_is_the_one_of_the_run() {
    let project = Project::new();
    changed_shop(&project);
    project.expect(1, &["compare", "--output", "artifact"]);
    project.expect(1, &["compare"]);
    opens(&project, "echo \"$1\" >> opened");
    let review = |arguments: &[&str], keys: &[&str]| {
        in_terminal("the page of a run", &project, arguments, "  > ", keys)
    };
    let Some(ran) = review(&["review", "--from", "artifact"], &["o", "s", "s"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("opened artifact/shop.html")
        .says("1 not decided: `mcp-eval review --from artifact`");
    assert!(project.read("opened").ends_with("/artifact/shop.html\n"));
    // The pages of the run that waits are elsewhere, and those of another run are none of it.
    let pending: Value = serde_json::from_str(&project.read(PENDING)).unwrap();
    let run = pending["pending"]["run"].as_str().unwrap().to_owned();
    fs::remove_dir_all(project.path("reports").join(&run)).unwrap();
    fs::rename(project.path("artifact"), project.path("reports/other")).unwrap();
    fs::remove_file(project.path("reports/latest")).unwrap();
    std::os::unix::fs::symlink("other", project.path("reports/latest")).unwrap();
    let ran = review(&["review"], &["o", "q"]).unwrap();
    ran.says("there is no page of this run").says(&run);
    assert_eq!(project.read("opened").lines().count(), 1);
    // A browser that cannot show it is reported.
    fs::rename(
        project.path("reports/other"),
        project.path("reports").join(&run),
    )
    .unwrap();
    opens(&project, "exit 3");
    let ran = review(&["review"], &["o", "q"]).unwrap();
    ran.says("`xdg-open` has failed").says_not("opened reports");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_that_did_not_end_takes_what_waited_with_it() {
    let project = Project::new();
    changed_shop(&project);
    let waited: Value = serde_json::from_str(&project.read(PENDING)).unwrap();
    let run = waited["pending"]["run"].as_str().unwrap();
    project.edit(
        "scenarios/shop.yaml",
        "\"agent\":",
        "\"limits\": { \"max_steps\": 1 }, \"agent\":",
    );
    let compared = project.run(&["compare"]);
    assert_ne!(compared.code, 0, "{compared:#?}");
    compared
        .says_not("with `mcp-eval review`")
        .says("does not wait for review any more")
        .says(&format!("mcp-eval review --from .mcp-eval/runs/{run}"));
    assert!(!project.path(PENDING).exists());
    project.edit(
        "scenarios/shop.yaml",
        "\"limits\": { \"max_steps\": 1 }, ",
        "",
    );
    let from = format!(".mcp-eval/runs/{run}");
    project
        .expect(0, &["review", "--list", "--from", &from])
        .says("✗ 1 scenario, shop: `price`");
    // What is recorded anew overtakes it, too.
    project.expect(1, &["compare"]);
    assert!(project.path(PENDING).exists());
    project
        .expect(0, &["record"])
        .says("this recording came after it");
    project.expect(0, &["review", "--check"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_else_is_known_of_a_run_is_said() {
    let project = Project::new();
    changed_shop(&project);
    project.edit("scenarios/shop.yaml", "\"of\":\"tea\"", "\"of\":\"coffee\"");
    project.expect(1, &["compare", "--allow-changed"]);
    project
        .expect(0, &["review", "--list"])
        .says("not the same experiment");
    if let Some(ran) = in_terminal("an aside", &project, &["review"], "  > ", &["q"]) {
        ran.says("not the same experiment");
    }
    let project = Project::new();
    changed_shop(&project);
    project.expect(1, &["compare", "--repeat", "2"]);
    for taken in [&[][..], &["--from", "reports/latest"]] {
        project
            .expect(0, &[&["review", "--list"], taken].concat())
            .says("one of 2 runs, of which 0 passed");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_file_names_its_scenario_however_it_is_written() {
    let project = Project::new();
    changed_shop(&project);
    let before = project.read(BASELINE);
    let pending = project.read(PENDING);
    let absolute = project.path("scenarios/shop.yaml");
    for name in [
        "scenarios/shop.yaml",
        "./scenarios/shop.yaml",
        "shop.yaml",
        absolute.to_str().unwrap(),
    ] {
        project.file(BASELINE, &before).file(PENDING, &pending);
        project
            .expect(0, &["review", "--accept", name])
            .says("accepted shop");
    }
    project.file(BASELINE, &before).file(PENDING, &pending);
    project.expect(2, &["review", "--accept", ""]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fails_its_own_scenario_is_accepted_with_a_note() {
    let project = Project::new();
    changed_shop(&project);
    project.edit(
        "scenarios/shop.yaml",
        "\"agent\":",
        "\"success_criteria\": [\"north\"], \"agent\":",
    );
    project.edit(
        "scenarios/shop.yaml",
        "\"shelf\":\"north\"",
        "\"shelf\":\"south\"",
    );
    project.expect(1, &["compare"]);
    project
        .expect(0, &["review", "--accept", "shop"])
        .says("accepted shop")
        .says("fails what its scenario expects")
        .says("north");
}

#[test]
fn a_trajectory_that_cannot_be_read_is_no_success() {
    let project = Project::new();
    changed_shop(&project);
    let file = "reports/latest/trajectories/current/shop.json";
    project.file(file, "{");
    project
        .expect(3, &["review", "--list", "--from", "reports/latest"])
        .says("shop.json");
}
