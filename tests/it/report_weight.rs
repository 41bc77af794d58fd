//! How much the folder of a report weighs: most scenarios of most reports are unchanged.

use std::fs;

use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::causes::{reads, shop};
use crate::common::Project;

/// Two hundred unchanged scenarios of four calls weigh three megabytes at most.
const EACH: u64 = 3_000_000 / 200;

/// So many scenarios of four calls, recorded.
fn recorded(count: usize) -> Project {
    let project = Project::new();
    let order = json!({
        "id": "T-1042", "title": "Login page is broken", "state": "open", "team": "web", "priority": 2,
        "comments": [{ "by": "ann", "text": "It is the \"remember me\" box" }],
    });
    let tools = json!([
        reads("get_ticket", "Shows a ticket.", &order),
        reads(
            "list_tickets",
            "Lists tickets.",
            &json!({ "tickets": ["T-1042", "T-1043"], "more": false })
        ),
    ]);
    let calls = [
        ("get_ticket", json!({ "id": "T-1042" })),
        ("list_tickets", json!({ "team": "web", "state": "open" })),
        ("get_ticket", json!({ "id": "T-1043", "verbose": true })),
        ("list_tickets", json!({})),
    ];
    // However busy the machine is, no call counts as slower.
    let more = json!({ "scoring": { "slower": { "floor": "10m" } } });
    for number in 0..count {
        shop(&project, &format!("s{number}"), &tools, &calls, &more);
    }
    project.expect(0, &["record"]);
    project
}

/// How many bytes the files of a report take.
fn weight(project: &Project) -> u64 {
    let folder = fs::canonicalize(project.path("reports/latest")).unwrap();
    let files = WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = files.filter(|it| it.file_type().is_file());
    files.map(|it| it.metadata().unwrap().len()).sum()
}

#[test]
fn an_unchanged_scenario_takes_little_room_in_a_report() {
    let project = recorded(6);
    project.expect(0, &["compare", "scenarios/s0.yaml"]);
    let one = weight(&project);
    project
        .expect(0, &["compare"])
        .says("everything passed, and nothing changed");
    let each = (weight(&project) - one) / 5;
    assert!(each <= EACH, "{each} bytes for an unchanged scenario");
    assert!(!project.path("reports/latest/trajectories").exists());
}

#[test]
fn what_changed_and_what_is_to_be_merged_has_copies_beside_its_pages() {
    let project = recorded(2);
    let copies = |folder: &str| {
        let there = |side: &str, name: &str| {
            project
                .path(format!("{folder}/trajectories/{side}/{name}.json"))
                .is_file()
        };
        ["s0", "s1"].map(|name| there("current", name) && there("baseline", name))
    };
    project.edit("scenarios/s1.yaml", "\"more\":false", "\"more\":true");
    project.expect(1, &["compare"]);
    assert_eq!(copies("reports/latest"), [false, true]);
    project.expect(1, &["compare", "--shard", "1/1", "--output", "part"]);
    assert_eq!(copies("part"), [true, true]);

    // A page that is made again has the whole conversation, for as long as the run is there.
    project.expect(0, &["report", "--output", "again"]);
    let page = |folder: &str| project.read(format!("{folder}/s0.html"));
    assert_eq!(page("again").matches("Login page is broken").count(), 2);
    let stored: Value = serde_json::from_str(&project.read("part/result.json")).unwrap();
    assert_eq!(stored["scenarios"][0]["unchanged"], true);
}
