//! Files whose tables are not those of their version, and servers that never answer.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kit::{Place, shop};
use crate::common::{Project, ran};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tables_that_are_not_ours_any_more_are_set_aside_on_request() {
    for (broken, why) in [
        (
            "pragma user_version = 0",
            "a table `runs` already exists there, and nothing says of which version it is",
        ),
        ("drop table scenarios", "it lacks the table `scenarios`"),
        (
            "alter table runs rename column total to totel",
            "its table `runs` lacks the column `total`",
        ),
        (
            "pragma user_version = 1",
            "its schema cannot be brought to version 3",
        ),
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
        let left: Vec<_> = fs::read_dir(place.project.path(".mcp-eval"))
            .unwrap()
            .filter_map(|it| it.unwrap().file_name().into_string().ok())
            .filter(|it| it.contains("before"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        place
            .expect(0, &["db", "rebuild"])
            .says(why)
            .says("it is kept as .mcp-eval/results.db.damaged-");
        place.expect(0, &["db", "info"]).says("2 runs, 2 results");
    }
}

/// Puts other bytes in the place of some.
fn replace(file: &Path, from: &[u8], to: &[u8]) {
    let mut content = fs::read(file).unwrap();
    let places = 0..content.len() - from.len();
    let mut found = 0;
    for at in places {
        // Pages that are not used any more may hold them, too.
        if content[at..].starts_with(from) {
            content[at..at + from.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0);
    fs::write(file, content).unwrap();
}

/// Empties the page that an index begins at.
fn empty_index(file: &Path) {
    let open = rusqlite::Connection::open(file).unwrap();
    let root: u32 = open
        .query_row(
            "select rootpage from sqlite_schema where name = 'sqlite_autoindex_runs_1'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(open);
    let mut content = fs::read(file).unwrap();
    let page = usize::from(u16::from_be_bytes([content[16], content[17]]));
    let at = (usize::try_from(root).unwrap() - 1) * page;
    content[at + 3..at + 5].fill(0);
    fs::write(file, content).unwrap();
}

/// What is done to a file, what is said of it, and whether whoever opens it sees it.
type Damage = (fn(&Path), &'static str, bool);

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn damage_that_can_be_opened_is_found_and_mended() {
    let damages: [Damage; 3] = [
        (
            |file| {
                let mut content = fs::read(file).unwrap();
                content[18] = 3;
                fs::write(file, content).unwrap();
            },
            "its first page names an unknown format",
            true,
        ),
        (empty_index, "sqlite_autoindex_runs_1", false),
        (
            |file| replace(file, b"total BIGINT", b"to\xffal BIGINT"),
            "which is not text",
            true,
        ),
    ];
    for (damage, why, at_once) in damages {
        let place = Place::file();
        shop(&place.project, "tea", "7.50", "");
        let file = place.project.path(".mcp-eval/results.db");
        place.expect(0, &["run"]);
        damage(&file);
        // Found by whoever looks, and mended by whoever writes or is asked to.
        if at_once {
            place
                .expect(0, &["history"])
                .says(why)
                .says("it is kept as");
        } else {
            place.expect(3, &["db", "info"]).says(why);
            place
                .expect(0, &["db", "rebuild"])
                .says(why)
                .says("it is kept as");
        }
        place.expect(0, &["db", "info"]).says("1 run, 1 result");
        if at_once {
            damage(&file);
            place.expect(0, &["run"]).says(why).says("it is kept as");
            place.expect(0, &["db", "info"]).says("2 runs, 2 results");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
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
