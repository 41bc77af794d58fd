//! What `--db` and `db export` are given: addresses that show no password, and places that are no files.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::Command;

use super::kit::{Place, shop};
use crate::common::ran;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_no_address_is_refused_without_what_it_holds() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    for (address, why) in [
        (
            "postgres://u:sec@retPART@db.example/x",
            "write `@` in a password as `%40`",
        ),
        (
            "postgres://u:sec@ret/PART@db.example/x",
            "write `@` in a password as `%40`",
        ),
        (
            "host=db.example password=PART",
            "write postgres://USER:PASSWORD@HOST:PORT/NAME",
        ),
        (
            "u:PART@db.example/x",
            "write postgres://USER:PASSWORD@HOST:PORT/NAME",
        ),
    ] {
        for command in [&["db", "path"][..], &["run"], &["history"]] {
            let done = ran(place.command().args(command).args(["--db", address]));
            assert_eq!(done.code, 2, "{done:#?}");
            done.says(why).says_not("PART").says_not("db.example");
        }
        shop(
            &place.project,
            "asked",
            "7.50",
            &format!(
                "evaluators: [{{ type: sql-validate, database: '{address}', query: select 1, equals: 1 }}]"
            ),
        );
        place.expect(2, &["validate"]).says(why).says_not("PART");
        shop(
            &place.project,
            "asked",
            "7.50",
            "evaluators: [{ type: sql-validate, database: '${WHERE}', query: select 1, equals: 1 }]",
        );
        let done = ran(place.command().env("WHERE", address).args([
            "run",
            "scenarios/asked.yaml",
            "--no-report",
        ]));
        assert_eq!(done.code, 3, "{done:#?}");
        done.says(why).says_not("PART");
        fs::remove_file(place.project.path("scenarios/asked.yaml")).unwrap();
    }
    assert!(!place.project.path("host=db.example password=PART").exists());
}

#[test]
fn an_export_replaces_files_alone() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    let at = |name: &str| place.project.path(name);
    let printed = place.expect(0, &["db", "export"]).stdout;
    assert!(printed.lines().count() > 3, "{printed}");
    assert_eq!(place.expect(0, &["db", "export", "-"]).stdout, printed);
    assert!(!at("-").exists());

    fs::write(at("rows.jsonl"), "old").unwrap();
    symlink("rows.jsonl", at("link")).unwrap();
    place.expect(0, &["db", "export", "link"]);
    assert!(at("link").is_symlink());
    assert_eq!(fs::read_to_string(at("rows.jsonl")).unwrap(), printed);

    let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    symlink("/dev/full", at("device")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    for (name, why) in [
        ("pipe", "what is in its place is no file"),
        ("device", "what is in its place is no file"),
        ("dangling", "it is a link that leads nowhere"),
    ] {
        place.expect(3, &["db", "export", name]).says(why);
    }
    let is_pipe = fs::symlink_metadata(at("pipe")).unwrap().file_type();
    assert!(is_pipe.is_fifo() && at("device").is_symlink() && at("dangling").is_symlink());
    assert!(
        fs::metadata("/dev/full")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}
