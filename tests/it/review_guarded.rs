//! Things that a review never does: write what nobody has seen, take one run for another, stop at a file it cannot read.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;

use serde_json::{Value, json};

use crate::common::{Project, Ran, in_terminal};
use crate::review::{BASELINE, PENDING, changed_shop, shop};

/// Reviews in a terminal, with these answers.
fn reviewed(project: &Project, answers: &[&str]) -> Option<Ran> {
    let what = "what happens during a review";
    let ran = in_terminal(what, project, &["review"], "  > ", answers)?;
    assert_eq!(ran.stderr, "", "the terminal is as it was");
    Some(ran)
}

/// A second scenario that has changed as the first one has.
fn second_shop(project: &Project) {
    let scenario = project.read("scenarios/shop.yaml");
    project.file(
        "scenarios/till.yaml",
        scenario.replace("The shop", "The till"),
    );
    project.edit("scenarios/till.yaml", "\"tea\":4", "\"tea\":3");
    project.expect(0, &["record", "scenarios/till.yaml"]);
    project.edit("scenarios/till.yaml", "\"tea\":3", "\"tea\":4");
    project.expect(1, &["compare", "scenarios/till.yaml"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_has_changed_while_somebody_looked_at_it_stays_as_it_is() {
    let edit = |file: &str, from: &str, to: &str| format!("$ sed -i 's/{from}/{to}/' {file}");
    let meanwhile = [
        "$ $MCP_EVAL compare".to_owned(),
        edit(BASELINE, "\"name\": \"The shop\"", "\"name\": \"Another\""),
        edit("scenarios/shop.yaml", "\"of\":\"tea\"", "\"of\":\"milk\""),
        edit(
            "scenarios/shop.yaml",
            "\"agent\":",
            "\"redact\": [\"two\"], \"agent\":",
        ),
    ];
    for what in &meanwhile {
        for key in ["A", "v", "r"] {
            let project = Project::new();
            changed_shop(&project);
            let before = project.read(BASELINE);
            let shown = project.read(PENDING);
            let Some(ran) = reviewed(&project, &[what, key]) else {
                return;
            };
            assert_eq!(ran.code, 1, "{what} {key}: {ran:#?}");
            ran.says(
                "`shop` has changed while you looked at it; it is shown again by `mcp-eval review`",
            )
            .says("1 still pending");
            let after = project.read(BASELINE);
            assert_eq!(after.replace("Another", "The shop"), before, "{what} {key}");
            let kept = project.read(PENDING);
            assert_eq!(kept != shown, what.contains("compare"), "{what} {key}");
            assert!(!project.path("baselines/shop/variant-2.json").exists());
        }
    }
    // The same of what is to be ignored.
    let project = Project::new();
    changed_shop(&project);
    let before = project.read(BASELINE);
    if let Some(ran) = reviewed(&project, &["$ $MCP_EVAL compare", "i", "q"]) {
        ran.says("has changed while you looked at it");
        assert_eq!(project.read(BASELINE), before);
    }
}

#[test]
fn what_somebody_else_has_decided_is_not_decided_again() {
    let project = Project::new();
    changed_shop(&project);
    let before = project.read(BASELINE);
    let Some(ran) = reviewed(&project, &["$ $MCP_EVAL review --reject shop", "A"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("nothing of `shop` is pending any more");
    assert_eq!(project.read(BASELINE), before);
}

#[test]
fn of_two_who_decide_at_once_one_does() {
    let project = Project::new();
    changed_shop(&project);
    let (baseline, pending) = (project.read(BASELINE), project.read(PENDING));
    for _ in 0..8 {
        project.file(BASELINE, &baseline).file(PENDING, &pending);
        let decided = thread::scope(|scope| {
            let both = ["--accept", "--reject"].map(|what| {
                let project = &project;
                scope.spawn(move || project.run(&["review", what, "shop"]))
            });
            both.map(|it| it.join().unwrap())
        });
        let mut codes = decided.each_ref().map(|it| it.code);
        let was_accepted = codes[0] == 0;
        codes.sort_unstable();
        assert_eq!(codes, [0, 2], "{decided:#?}");
        let other = decided.iter().find(|it| it.code == 2).unwrap();
        other.says("nothing of `shop` is pending");
        assert_eq!(project.read(BASELINE) != baseline, was_accepted);
        assert!(!project.path(PENDING).exists());
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn keys_that_were_typed_ahead_decide_nothing() {
    let project = Project::new();
    changed_shop(&project);
    second_shop(&project);
    let Some(ran) = reviewed(&project, &["early AAAA", "s", "q"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(project.path(PENDING).exists());
    // What comes at once with the answer to one question is none to the next.
    let Some(ran) = reviewed(&project, &["aaaa", "q"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("accepted till").says_not("accepted shop");
    // Nor is it to the next change.
    let project = Project::new();
    changed_shop(&project);
    let Some(ran) = reviewed(&project, &["aaaa", "q"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_signal_leaves_the_terminal_as_it_was() {
    for signal in ["TERM", "HUP", "INT"] {
        let project = Project::new();
        changed_shop(&project);
        let kill = format!("$ kill -{signal} $PID");
        let Some(ran) = reviewed(&project, &[&kill]) else {
            return;
        };
        assert_eq!(ran.code, 130, "{signal}: {ran:#?}");
        assert!(project.path(PENDING).exists());
    }
}

#[test]
fn what_is_a_secret_by_now_is_not_accepted() {
    for from in [false, true] {
        let project = Project::new();
        shop(&project);
        project.edit("scenarios/shop.yaml", "north", "north two");
        project.edit(
            "scenarios/shop.yaml",
            "{{uuid}}",
            "{{uuid}} is two <secret:of> {{uuid}} all",
        );
        project.expect(1, &["compare", "--output", "artifact"]);
        assert!(project.read(PENDING).contains("two"));
        project.edit(
            "scenarios/shop.yaml",
            "\"agent\":",
            "\"redact\": [\"two\"], \"agent\":",
        );
        project.expect(0, &["review", "--list"]).says_not("two");
        let taken = if from {
            &["--from", "artifact"][..]
        } else {
            &[]
        };
        project.expect(0, &[&["review", "--accept", "shop"], taken].concat());
        let accepted = project.read(BASELINE);
        assert!(!accepted.contains("two"), "{accepted}");
        assert!(accepted.contains("north <secret:"), "{accepted}");
        assert!(
            accepted.contains("<secret::of>") && !accepted.contains("<secret:::"),
            "what a server says stays escaped as it was: {accepted}"
        );
        assert!(
            !project
                .read("baselines/shop/trajectory.txt")
                .contains("two")
        );
        // It is what the next comparison hears, ids aside.
        project.expect(0, &["compare", "--strict"]);
    }
}

#[test]
fn a_variant_is_retired_for_later_comparisons_alone() {
    let project = Project::new();
    shop(&project);
    for _ in 0..3 {
        project.expect(0, &["compare"]);
    }
    project.edit("scenarios/shop.yaml", "\"tea\":3", "\"tea\":4");
    project.expect(1, &["compare"]);
    project.expect(0, &["review", "--accept", "shop", "--variant"]);
    for runs in ["1", "3"] {
        project
            .expect(0, &["review", "--retire", runs])
            .says("Nothing is retired");
    }
    project.edit("scenarios/shop.yaml", "\"tea\":4", "\"tea\":3");
    project.expect(0, &["compare"]);
    project
        .expect(0, &["review", "--retire", "2"])
        .says("Nothing is retired");
    project
        .expect(0, &["review", "--retire", "1"])
        .says("retired baselines/shop/variant-2.json");
}

/// Puts something in the place of the pending run of the shop.
type Break = fn(&Project);

const BROKEN: [(&str, Break); 6] = [
    ("is cut off", |it| {
        it.file(PENDING, "");
    }),
    ("is cut off", |it| {
        let whole = it.read(PENDING);
        it.file(PENDING, &whole[..whole.len() / 2]);
    }),
    ("has format version 99", |it| {
        let mut other: Value = serde_json::from_str(&it.read(PENDING)).unwrap();
        other["format_version"] = json!(99);
        it.file(PENDING, other.to_string());
    }),
    ("it is a link", |it| {
        fs::remove_file(it.path(PENDING)).unwrap();
        symlink("nowhere.json", it.path(PENDING)).unwrap();
    }),
    ("it is a link", |it| {
        let elsewhere = it.path("elsewhere.json");
        fs::rename(it.path(PENDING), &elsewhere).unwrap();
        symlink(elsewhere, it.path(PENDING)).unwrap();
    }),
    ("it is a folder", |it| {
        fs::remove_file(it.path(PENDING)).unwrap();
        fs::create_dir(it.path(PENDING)).unwrap();
    }),
];

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn unreadable_runs_are_reported_and_do_not_stop_the_others() {
    let project = Project::new();
    changed_shop(&project);
    second_shop(&project);
    let files = [
        BASELINE,
        PENDING,
        "baselines/till/baseline.json",
        "baselines/till/pending.json",
    ];
    let before = files.map(|it| project.read(it));
    for (why, broken) in BROKEN {
        broken(&project);
        let check = |ran: &Ran| {
            ran.says(PENDING)
                .says(why)
                .says("`mcp-eval review --reject shop` removes it");
        };
        let listed = project.expect(3, &["review", "--list"]);
        check(&listed);
        listed.says("✗ 1 scenario, till: ");
        check(&project.expect(3, &["review", "--check"]));
        check(&project.expect(2, &["review", "--accept", "shop"]));
        check(&project.expect(2, &["review", "--accept", "till", "shop"]));
        assert_eq!(project.read(files[2]), before[2], "nothing is accepted");
        if let Some(ran) = reviewed(&project, &["q"]) {
            assert_eq!(ran.code, 1, "{ran:#?}");
            check(&ran);
            ran.says("scenarios/till.yaml");
        }
        // Of all, what can be accepted is.
        let accepted = project.expect(3, &["review", "--accept-all"]);
        check(&accepted);
        accepted.says("accepted till");
        assert_eq!(project.read(files[0]), before[0], "the other is not");
        project
            .expect(0, &["review", "--reject", "shop"])
            .says("rejected shop")
            .says_not(why);
        assert!(project.path(PENDING).symlink_metadata().is_err(), "{why}");
        for (path, text) in files.iter().zip(&before) {
            project.file(path, text);
        }
    }
    assert!(
        project.path("elsewhere.json").exists(),
        "only the link is removed"
    );
    // The next comparison puts its own there.
    for (why, broken) in BROKEN {
        broken(&project);
        project.expect(1, &["compare", "scenarios/shop.yaml"]);
        assert!(
            project.path(PENDING).symlink_metadata().unwrap().is_file(),
            "{why}"
        );
        project.expect(1, &["review", "--check"]).says_not(why);
    }
}

#[test]
fn deciding_goes_with_no_other_question() {
    let project = Project::new();
    changed_shop(&project);
    for decision in [
        &["--accept", "shop"][..],
        &["--reject", "shop"],
        &["--accept-all"],
        &["--reject-all"],
    ] {
        for question in [&["--list"][..], &["--check"], &["--accept-cause", "x"]] {
            project
                .expect(2, &[&["review"], decision, question].concat())
                .says("cannot be used with");
        }
    }
    assert!(project.path(PENDING).exists());
}

#[test]
fn what_is_ignored_or_opened_is_said() {
    let project = Project::new();
    changed_shop(&project);
    project.file("xdg-open", "#!/bin/sh\n");
    let open = project.path("xdg-open");
    fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Some(ran) = reviewed(&project, &["s", "o", "i", "q"]) else {
        return;
    };
    ran.says(
        "ignored from now on: /content/0/json/left of call 2, in baselines/shop/baseline.json",
    )
    .says("opened reports/")
    .says("/shop.html");
}
