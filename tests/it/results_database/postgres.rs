//! The same with a server, and what only a server can do.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::cases;
use super::kit::{Place, shop};
use crate::common::{ran, skipped};
use crate::databases::server::Server;

/// A server that is ready; `None`, with a line that says why, where it is not installed.
fn server(what: &str) -> Option<Server> {
    match Server::postgres() {
        Ok(server) => {
            server.fill_postgres(&["select 1"]);
            Some(server)
        }
        Err(why) => {
            skipped(what, &why);
            None
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn all_of_it_holds_of_a_server() {
    let Some(server) = server("a results database on a server") else {
        return;
    };
    let address = server.postgres_address("s3cret");
    let (base, _) = address.rsplit_once('/').unwrap();
    for (name, case) in cases::ALL {
        server.fill_postgres(&[&format!("create database {name}")]);
        case(&Place::at(format!("{base}/{name}")));
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_dies_costs_a_warning_and_no_run() {
    let Some(server) = server("a database server that dies") else {
        return;
    };
    let place = Place::at(server.postgres_address("s3cret"));
    shop(&place.project, "a", "7.50", "");
    place.project.file(
        "wait.sh",
        "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\n",
    );
    shop(&place.project, "b", "7.50", "before: [[sh, wait.sh]]");
    let mut command = place.command();
    command
        .args(["run", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let started = Instant::now();
    while place
        .try_rows("select id from results")
        .is_none_or(|it| it.is_empty())
    {
        assert!(
            started.elapsed() < Duration::from_secs(50),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(server);
    place.project.file("go", "");
    let done = child.wait_with_output().unwrap();
    let (out, said) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{out}{said}");
    assert!(out.contains("2/2 tests passed"), "{out}{said}");
    assert!(
        said.contains("not in the results database postgres://127.0.0.1:"),
        "{said}"
    );
    assert_eq!(
        said.matches("not in the results database").count(),
        1,
        "{said}"
    );
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_cannot_be_asked_costs_a_warning_and_no_run() {
    let Some(server) = server("a database server that refuses") else {
        return;
    };
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    let address = server.postgres_address("wrong-s3cret");
    for (address, why) in [
        (address.as_str(), "password authentication failed"),
        (
            "postgres://shop:wrong-s3cret@127.0.0.1:1/r",
            "no connection to the database",
        ),
    ] {
        let done = ran(place.command().arg("run").env("MCP_EVAL_DB", address));
        assert_eq!(done.code, 0, "{done:#?}");
        done.says("1 result is not in the results database postgres://127.0.0.1:")
            .says(why);
        assert!(!done.all().contains("s3cret"), "{done:#?}");
    }
    let path = ran(place.command().args(["db", "path", "--db", &address]));
    assert!(
        path.stdout.starts_with("postgres://127.0.0.1:") && !path.all().contains("s3cret"),
        "{path:#?}"
    );
    let wrong = ran(place
        .command()
        .args(["run", "--db", "mysql://a:s3cret@h/x"]));
    assert_eq!(wrong.code, 2, "{wrong:#?}");
    wrong.says("`mysql://` is not a results database");
    assert!(!wrong.all().contains("s3cret"), "{wrong:#?}");
    let help = ran(place
        .command()
        .args(["run", "--help"])
        .env("MCP_EVAL_DB", &address));
    assert!(help.says("MCP_EVAL_DB").stdout.len() > 100 && !help.all().contains("s3cret"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tables_of_somebody_else_are_left_alone() {
    let Some(server) = server("a database of somebody else") else {
        return;
    };
    server.fill_postgres(&["create table runs (id int)", "insert into runs values (7)"]);
    let place = Place::at(server.postgres_address("s3cret"));
    shop(&place.project, "tea", "7.50", "");
    place
        .expect(0, &["run"])
        .says("1 result is not in the results database")
        .says("already exists");
    assert_eq!(place.rows("select id from runs"), [[json!(7)]]);
}
