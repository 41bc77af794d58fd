//! Runs that were killed, beside such as go on.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::kit::{Place, shop};
use crate::common::skipped;
use crate::databases::server::Server;

/// A run that hangs in its second scenario, when its first is in the database.
fn hanging(place: &Place, results: usize) -> Child {
    let mut command = place.command();
    let child = command
        .args(["run", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while place
        .try_rows("select id from results")
        .is_none_or(|it| it.len() < results)
    {
        assert!(
            started.elapsed() < Duration::from_secs(50),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn the_next_command_says_that_it_was_interrupted(place: &Place) {
    shop(&place.project, "a", "7.50", "");
    place.project.faulty("b", &["hang"], &[("echo", json!({}))]);
    let elsewhere = place.elsewhere();
    shop(&elsewhere.project, "a", "7.50", "");
    let mut killed = hanging(place, 1);
    let run = place.scalar("select id from runs");
    let run = run.as_str().unwrap();
    let status =
        |view: &str| place.scalar(&format!("select status from {view} where id = '{run}'"));
    let others = || place.expect(0, &["run", "scenarios/a.yaml"]);
    // Others leave a run alone that goes on.
    others();
    assert_eq!(status("runs"), "running");
    // What it has done is counted while it goes on, and when nobody is left to do that.
    let counted = || {
        let runs = place.runs().into_iter();
        let mut own = runs.filter(|it| it.run_id == run);
        let of = own.next().unwrap();
        [of.total, of.passed, of.failed, of.errors]
    };
    assert_eq!(counted(), [2, 1, 0, 0]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    // Who cannot see that it is over leaves it alone, too.
    elsewhere.expect(0, &["run"]);
    assert_eq!(status("test_runs"), "running");
    let mut alive = hanging(place, 5);
    assert_eq!(status("runs"), "interrupted");
    assert_eq!(status("test_runs"), "failed");
    assert_eq!(counted(), [2, 1, 0, 1]);
    assert_eq!(
        place.scalar("select count(*) from runs where status = 'running'"),
        1
    );
    alive.kill().unwrap();
    alive.wait().unwrap();
    others();
    let done = place.rows("select status, count(*) from runs group by status order by status");
    assert_eq!(
        done,
        [
            [json!("completed"), json!(3)],
            [json!("interrupted"), json!(2)]
        ]
    );
}

/// Four good runs of two scenarios, and one that is killed in its second: nobody has written anything since.
fn a_killed_run_is_green_nowhere(place: &Place) {
    shop(&place.project, "a", "7.50", "");
    shop(&place.project, "b", "7.50", "");
    for _ in 0..4 {
        place.expect(0, &["run"]);
    }
    place.project.faulty("b", &["hang"], &[("echo", json!({}))]);
    let mut killed = hanging(place, 9);
    let e2e = ["history", "--format", "e2e"];
    // While it goes on, nobody knows what comes of it.
    place.expect(0, &e2e).says("2 of 2 scenarios passed");
    let run = place.scalar("select id from runs where status = 'running'");
    let run = run.as_str().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let said = place.expect(3, &e2e);
    said.says("[PASSED] a (")
        .says("[INTERRUPTED] b: the run has not ended")
        .says("No verdict")
        .says_not("Test ");
    place
        .expect(3, &["history", "--max-slowdown", "1000"])
        .says("b cannot be measured: the status of its latest run is interrupted");
    place
        .expect(0, &["history", "b"])
        .says("4 of 4 passed (100 %), 1 interrupted");
    let results = format!("select scenario_id, status from results where run_id = '{run}'");
    assert_eq!(
        place.rows(&format!("{results} order by scenario_id")),
        [
            [json!("a"), json!("passed")],
            [json!("b"), json!("interrupted")]
        ]
    );
    let runs = place.runs();
    let of = runs.iter().find(|it| it.run_id == run).unwrap();
    assert_eq!(
        (of.status.as_str(), of.total, of.passed, of.errors),
        ("interrupted", 2, 1, 1)
    );
    // A database that is made anew has the same, out of the files of the runs.
    place.expect(0, &["db", "rebuild", "--db", "new.db"]);
    let anew = ["history", "--db", "new.db", "--format", "csv"];
    let history = place.expect(0, &anew).stdout;
    let counts = [",passed,", ",interrupted,"].map(|it| history.matches(it).count());
    assert_eq!(counts, [9, 1], "{history}");
    // What runs to its end makes up for it.
    shop(&place.project, "b", "7.50", "");
    place.expect(0, &["run"]);
    place.expect(0, &e2e).says("2 of 2 scenarios passed");
    let folder = place.project.last_run();
    assert!(!folder.join("ended").exists(), "its document has it all");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_killed_run_had_not_finished_is_interrupted_at_once() {
    a_killed_run_is_green_nowhere(&Place::file());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_next_command_says_of_a_killed_run_that_it_was_interrupted() {
    let place = Place::file();
    the_next_command_says_that_it_was_interrupted(&place);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_same_with_a_server() {
    let server = match Server::postgres() {
        Ok(server) => server,
        Err(why) => return skipped("killed runs in PostgreSQL", &why),
    };
    server.fill_postgres(&["select 1"]);
    let place = Place::at(server.postgres_address("s3cret"));
    the_next_command_says_that_it_was_interrupted(&place);
    a_killed_run_is_green_nowhere(&place.another());
}
