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
        place.rows(&format!(
            "select total, passed, failed, errors, interrupted from runs where id = '{run}'"
        ))
    };
    let one_of_two = [[json!(2), json!(1), json!(0), json!(0), json!(0)]];
    assert_eq!(counted(), one_of_two);
    killed.kill().unwrap();
    killed.wait().unwrap();
    // Who cannot see that it is over leaves it alone, too.
    elsewhere.expect(0, &["run"]);
    assert_eq!(status("test_runs"), "running");
    let mut alive = hanging(place, 4);
    assert_eq!(status("runs"), "interrupted");
    assert_eq!(status("test_runs"), "failed");
    assert_eq!(counted(), one_of_two);
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

#[test]
fn the_next_command_says_of_a_killed_run_that_it_was_interrupted() {
    let place = Place::file();
    the_next_command_says_that_it_was_interrupted(&place);
}

#[test]
fn the_same_with_a_server() {
    let server = match Server::postgres() {
        Ok(server) => server,
        Err(why) => return skipped("killed runs in PostgreSQL", &why),
    };
    server.fill_postgres(&["select 1"]);
    the_next_command_says_that_it_was_interrupted(&Place::at(server.postgres_address("s3cret")));
}
