//! Files that cannot be used: a run goes on all the same, and nothing of anybody is lost.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::kit::{Place, shop};
use crate::common::skipped;

const FILE: &str = ".mcp-eval/results.db";

/// The files beside the database that begin so.
fn beside(place: &Place, start: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.project.path(".mcp-eval"))
        .unwrap()
        .flatten();
    let names = entries.map(|it| it.file_name().into_string().unwrap());
    let names = names.filter(|it| it.starts_with(start));
    let mut found: Vec<PathBuf> = names
        .map(|it| place.project.path(".mcp-eval").join(it))
        .collect();
    found.sort();
    found
}

/// Overwrites all pages of a file but the first.
fn spoil(file: &Path) {
    let open = rusqlite::Connection::open(file).unwrap();
    // What others have written lies beside it.
    let moved = open.query_row("pragma wal_checkpoint(truncate)", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(moved.unwrap(), 0);
    drop(open);
    let length = fs::metadata(file).unwrap().len();
    let mut open = fs::OpenOptions::new().write(true).open(file).unwrap();
    open.seek(SeekFrom::Start(4096)).unwrap();
    open.write_all(&vec![0x5a; usize::try_from(length).unwrap() - 4096])
        .unwrap();
}

fn overwrite(file: &Path) {
    fs::write(file, "no database").unwrap();
}

#[test]
fn nothing_lies_beside_a_database_that_nobody_uses() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    assert_eq!(beside(&place, "results"), [place.project.path(FILE)]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_damaged_file_is_kept_and_made_anew() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    for (spoiled, damage) in [(0, spoil as fn(&Path)), (1, overwrite as fn(&Path))] {
        place.expect(0, &["run"]);
        let before = place.rows("select id from results order by id");
        damage(&place.project.path(FILE));
        let content = fs::read(place.project.path(FILE)).unwrap();
        let said = place.expect(0, &["run"]);
        said.says("the results database .mcp-eval/results.db was damaged");
        said.says("results from the files of the runs");
        let mut kept = beside(&place, "results.db.damaged");
        // What belongs to a file goes with it.
        kept.retain(|it| {
            !it.to_str().unwrap().ends_with("-wal") && !it.to_str().unwrap().ends_with("-shm")
        });
        assert_eq!(kept.len(), spoiled + 1, "{kept:?}");
        assert_eq!(fs::read(kept.last().unwrap()).unwrap(), content);
        let after = place.rows("select id from results order by id");
        assert_eq!(after.len(), before.len() + 1);
        assert!(
            before.iter().all(|it| after.contains(it)),
            "{before:?} {after:?}"
        );
        assert_eq!(
            place.scalar("select count(*) from runs where status = 'completed'"),
            after.len()
        );
    }
}

/// A run that waits in its second scenario until there is a file `go`, and whose first is in the database.
fn waiting(place: &Place) -> Child {
    shop(&place.project, "a", "7.50", "");
    place.project.file(
        "wait.sh",
        "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\n",
    );
    shop(&place.project, "b", "7.50", "before: [[sh, wait.sh]]");
    let mut command = place.command();
    let command = command
        .args(["run", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let started = Instant::now();
    let is_there = || {
        place.project.path(FILE).exists()
            && place
                .try_rows("select id from results")
                .is_some_and(|it| !it.is_empty())
    };
    while !is_there() {
        assert!(
            started.elapsed() < Duration::from_secs(50),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_run_loses_nothing_when_somebody_else_sets_its_file_aside() {
    let place = Place::file();
    let child = waiting(&place);
    let run = place.scalar("select id from runs");
    spoil(&place.project.path(FILE));
    let other = place.elsewhere();
    shop(&other.project, "other", "7.50", "");
    other.expect(0, &["run"]).says("was damaged");
    place.project.file("go", "");
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let rows = place.rows("select scenario_id, status, run_id from results where scenario_id <> 'other' order by scenario_id");
    assert_eq!(
        rows,
        [
            [json!("a"), json!("passed"), run.clone()],
            [json!("b"), json!("passed"), run]
        ]
    );
    assert_eq!(
        place.scalar("select count(*) from runs where status = 'completed'"),
        2
    );
}

#[test]
fn a_run_loses_nothing_when_its_file_is_removed() {
    let place = Place::file();
    let child = waiting(&place);
    fs::remove_file(place.project.path(FILE)).unwrap();
    place.project.file("go", "");
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let rows = place.rows("select scenario_id, status from results order by scenario_id");
    assert_eq!(
        rows,
        [[json!("a"), json!("passed")], [json!("b"), json!("passed")]]
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn files_of_somebody_else_are_left_alone() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.project.file(
        "notes.txt",
        "Not a database, but some notes that somebody wants to keep.",
    );
    let foreign = rusqlite::Connection::open(place.project.path("app.db")).unwrap();
    foreign
        .execute_batch("create table runs (id); insert into runs values (7)")
        .unwrap();
    drop(foreign);
    fs::create_dir(place.project.path("folder")).unwrap();
    for (file, why) in [
        ("notes.txt", "it is not a results database"),
        ("app.db", "it is a database of something else"),
        ("folder", "it is not a file"),
        ("/dev/null", "it is not a file"),
        ("notes.txt/below.db", "not in the results database"),
    ] {
        let before = fs::read(place.project.path(file)).ok();
        let done = place.expect(0, &["run", "--db", file]);
        done.says("1 result is not in the results database")
            .says(why);
        assert_eq!(fs::read(place.project.path(file)).ok(), before, "{file}");
    }
    assert!(!place.project.path(FILE).exists());
}

/// A small file system of its own below the project, which goes with this; `None`, with a line that says why, where nothing can be mounted.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn mounted(place: &Place, folder: &str, size: &str, what: &str) -> Option<Mounted> {
    let folder = place.project.path(folder);
    fs::create_dir(&folder).unwrap();
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
        .arg(&folder);
    if mount.output().is_ok_and(|it| it.status.success()) {
        return Some(Mounted(folder));
    }
    skipped(what, "nothing can be mounted here");
    None
}

#[test]
fn a_full_disk_costs_a_warning_and_no_run() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    let Some(_small) = mounted(&place, "small", "16k", "a full disk") else {
        return;
    };
    let done = place.expect(0, &["run", "--db", "small/results.db"]);
    done.says("1 result is not in the results database small/results.db: ");
}

#[test]
fn a_file_that_cannot_be_written_is_read_and_costs_a_warning() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    let Some(kept) = mounted(&place, "kept", "4m", "a file that cannot be written") else {
        return;
    };
    place.expect(0, &["run", "--db", "kept/results.db"]);
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&kept.0)
        .status();
    assert!(remounted.unwrap().success());
    let done = place.expect(0, &["run", "--db", "kept/results.db"]);
    done.says("1 result is not in the results database kept/results.db");
    place
        .expect(0, &["db", "info", "--db", "kept/results.db"])
        .says("1 run, 1 result of 1 scenario");
    place
        .expect(0, &["run", "--db", "kept/other.db"])
        .says("not in the results database kept/other.db");
    assert!(!place.project.path("kept/other.db").exists());
}

#[test]
fn quiet_runs_still_report_what_is_lost_and_how_it_comes_back() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    fs::create_dir(place.project.path("a folder")).unwrap();
    for quiet in [&["run"][..], &["run", "-q"]] {
        let said = place.expect(0, &[quiet, &["--db", "a folder"]].concat());
        assert_eq!(
            said.stderr.matches("not in the results").count(),
            1,
            "{said:#?}"
        );
        said.says("1 result is not in the results database a folder")
            .says("`mcp-eval db rebuild --db 'a folder'` adds");
    }
}
