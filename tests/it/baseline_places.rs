//! Every command finds a baseline where `compare` does: in its place, under the names of the original tool, and where one scenario's
//! own folder is named.

use std::fs;

use mcp_eval::store::Baselines;

use crate::common::{Project, commit_all};
use crate::looking_again::sky;

/// Where the baseline of the scenario `s` lies, and what names it on the command line.
const PLACES: [(&str, &[&str]); 4] = [
    ("baselines/s", &[]),
    ("baselines/s/s", &[]),
    ("baselines/s_baseline", &[]),
    ("kept/other", &["--baseline", "kept/other"]),
];

/// A recorded scenario whose baseline lies in a place of its own; all of it is committed.
fn recorded_in(place: &str) -> Project {
    let project = Project::new();
    project.file("scenarios/s.yaml", sky("S"));
    project.file(".gitignore", ".mcp-eval/\nreports/\npending.json\n");
    project.expect(0, &["record"]);
    fs::rename(project.path("baselines/s"), project.path("moved")).unwrap();
    let place = project.path(place);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::rename(project.path("moved"), &place).unwrap();
    if !place.starts_with(project.path("baselines")) {
        let to = place.with_file_name("_catalogues");
        fs::rename(project.path("baselines/_catalogues"), to).unwrap();
    }
    commit_all(&project.path(""), "All");
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_list_and_a_review_know_the_baseline_wherever_it_is_read_from() {
    for (place, named) in PLACES {
        let project = recorded_in(place);
        let run = |code, arguments: &[&str]| project.expect(code, &[arguments, named].concat());
        let listed = project.result(0, &[&["list"], named].concat());
        assert_eq!(listed["scenarios"][0]["baseline"], "accepted", "{place}");
        assert_eq!(listed["scenarios"][0]["pending"], false, "{place}");
        project.edit("scenarios/s.yaml", "sun", "rain");
        run(1, &["compare"]).says("`mcp-eval review");
        let listed = project.result(0, &[&["list"], named].concat());
        assert_eq!(listed["scenarios"][0]["pending"], true, "{place}");
        run(0, &["review", "--list"])
            .says("✗ 1 scenario, s: ")
            .says_not("of no scenario any more");
        run(0, &["review", "--accept", "s"]);
        run(0, &["compare"]).says_not("mcp-eval review");
    }
}

#[test]
fn pending_runs_of_no_scenario_are_reported_and_unpicked_ones_are_not() {
    let project = recorded_in("baselines/s");
    project.edit("scenarios/s.yaml", "sun", "rain");
    project.expect(1, &["compare"]);
    fs::rename(
        project.path("scenarios/s.yaml"),
        project.path("scenarios/t.yaml"),
    )
    .unwrap();
    let said = "baselines/s/pending.json is of no scenario any more: `mcp-eval review --reject s` removes it";
    project.expect(0, &["review", "--list"]).says(said);
    project.edit("scenarios/t.yaml", "\"S\"", "\"T\"");
    project.file(
        "scenarios/s.yaml",
        project.read("scenarios/t.yaml").replace("\"T\"", "\"S\""),
    );
    project
        .expect(0, &["review", "--list", "-k", "t"])
        .says_not("of no scenario");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_baseline_that_has_changed_concerns_its_scenario_wherever_it_lies() {
    for (place, named) in PLACES {
        let project = recorded_in(place);
        let changed = || project.run(&[&["compare", "--changed"], named].concat());
        let before = changed();
        assert_eq!(before.code, 0);
        before.says("Nothing to do");
        let file = format!("{place}/baseline.json");
        project.edit(&file, "sun", "hail");
        let ran = changed();
        assert_eq!(ran.code, 1, "{place}: {ran:#?}");
        // One that is gone has changed, too.
        fs::remove_file(project.path(&file)).unwrap();
        let ran = changed();
        assert_eq!(ran.code, 3, "{place}: {ran:#?}");
        ran.says("no baseline").says_not("Nothing to do");
    }
}

#[test]
fn variants_are_never_numbered_with_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let baselines = Baselines::new(folder.path());
    fs::create_dir(folder.path().join("s")).unwrap();
    for number in 1..=4 {
        fs::write(baselines.variant_path("s", number), number.to_string()).unwrap();
    }
    let held = || -> Vec<String> {
        let paths = (1..).map(|it| baselines.variant_path("s", it));
        paths.map_while(|it| fs::read_to_string(it).ok()).collect()
    };
    baselines.remove_variant("s", 2).unwrap();
    assert_eq!(held(), ["1", "4", "3"]);
    baselines.remove_variant("s", 3).unwrap();
    assert_eq!(held(), ["1", "4"]);
    assert!(baselines.remove_variant("s", 3).is_err());
}
