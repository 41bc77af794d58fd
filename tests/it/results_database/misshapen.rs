//! Files whose tables are not those of their version, and servers that never answer.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kit::{Place, shop};
use crate::common::{Project, ran};

#[test]
fn tables_that_are_not_ours_any_more_are_set_aside_on_request() {
    for (broken, why) in [
        (
            "pragma user_version = 0",
            "a table `runs` already exists there, and nothing says of which version it is",
        ),
        ("drop table attempts", "it lacks the table `attempts`"),
    ] {
        let place = Place::file();
        shop(&place.project, "tea", "7.50", "");
        place.expect(0, &["run"]);
        place.execute(broken);
        for command in [&["db", "info"][..], &["history"]] {
            place
                .expect(3, command)
                .says(why)
                .says("`mcp-eval db rebuild` sets the file aside")
                .says_not("CREATE TABLE");
        }
        place
            .expect(0, &["run"])
            .says("1 result is not in the results database")
            .says(why)
            .says_not("CREATE TABLE");
        place
            .expect(0, &["db", "rebuild"])
            .says(why)
            .says("it is kept as .mcp-eval/results.db.damaged-");
        place.expect(0, &["db", "info"]).says("2 runs, 2 results");
    }
}

#[test]
fn a_server_that_never_answers_is_waited_for_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for connection in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            held.push(connection);
        }
    });
    let project = Project::new();
    shop(&project, "tea", "7.50", "");
    let address = format!("postgres://shop:s3cret@127.0.0.1:{port}/r");
    for (command, code) in [
        (&["run"][..], 0),
        (&["history"][..], 3),
        (&["db", "info"][..], 3),
    ] {
        taken.store(0, Ordering::SeqCst);
        let done = ran(project.command().args(command).args(["--db", &address]));
        assert_eq!(done.code, code, "{done:#?}");
        done.says("no connection within 10s");
        assert_eq!(taken.load(Ordering::SeqCst), 1, "{done:#?}");
    }
}
