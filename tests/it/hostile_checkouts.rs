//! Checkouts whose author means no good: links that lead elsewhere, what git tracks of the program's own, and a git that runs programs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use git2::Repository;
use serde_json::json;
use tempfile::TempDir;

use crate::common::{Project, commit_all, copy};
use crate::looking_again::sky;

/// All that lies in a folder, with what it holds.
fn held(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name();
    let all = all.into_iter().map(Result::unwrap);
    all.map(|it| {
        let content = fs::read(it.path()).unwrap_or_default();
        (it.path().display().to_string(), content)
    })
    .collect()
}

/// A recorded scenario, and a folder elsewhere that holds a copy of its baseline.
fn recorded() -> (Project, TempDir) {
    let project = Project::new();
    project.file("scenarios/s.yaml", sky("S"));
    project.expect(0, &["record"]);
    let elsewhere = tempfile::tempdir().unwrap();
    copy(&project.path("baselines"), elsewhere.path());
    (project, elsewhere)
}

/// Puts a link in the place of what is there.
fn lead(project: &Project, path: &str, to: &Path) {
    let path = project.path(path);
    let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(to, path).unwrap();
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let cases: [(&str, &str, &[&str]); 14] = [
        ("baselines", "", &["record"]),
        ("baselines", "", &["compare"]),
        ("baselines/s", "s", &["record"]),
        ("baselines/s", "s", &["compare"]),
        ("baselines/s/baseline.json", "s/baseline.json", &["record"]),
        (
            "baselines/s/trajectory.txt",
            "s/trajectory.txt",
            &["record"],
        ),
        (".mcp-eval", "", &["run"]),
        (".mcp-eval/runs", "", &["run"]),
        (".mcp-eval/runs", "", &["compare"]),
        ("reports", "", &["run"]),
        ("scenarios/new", "", &["init", "--name", "new/s"]),
        ("scenarios", "", &["init", "--name", "first"]),
        (".gitignore", "s/trajectory.txt", &["init"]),
        (
            "baselines/t",
            "gone/beyond",
            &["record", "scenarios/t.yaml"],
        ),
    ];
    for (link, to, command) in cases {
        let (project, elsewhere) = recorded();
        project.file("scenarios/t.yaml", sky("T"));
        project.edit("scenarios/s.yaml", "sun", "rain");
        let target = elsewhere.path().join(to);
        lead(&project, link, &target);
        let before = held(elsewhere.path());
        let ran = project.run(command);
        assert_eq!(ran.code, 3, "{link} {command:?}: {ran:#?}");
        ran.says(&format!("{link} is a link out of its folder, to "));
        ran.says(elsewhere.path().to_str().unwrap());
        assert_eq!(held(elsewhere.path()), before, "{link} {command:?}");
        assert!(project.path(link).is_symlink(), "{link}");
    }
}

#[test]
fn reviews_databases_and_reports_know_whose_folder_it_is() {
    let (project, elsewhere) = recorded();
    project.edit("scenarios/s.yaml", "sun", "rain");
    project.expect(1, &["compare"]);
    copy(&project.path("baselines"), elsewhere.path());
    lead(&project, "baselines/s", &elsewhere.path().join("s"));
    let before = held(elsewhere.path());
    for decision in ["--accept", "--reject"] {
        let ran = project.run(&["review", decision, "s"]);
        assert!([2, 3].contains(&ran.code), "{ran:#?}");
        ran.says("baselines/s is a link out of its folder");
    }
    // A database that nobody has made yet is not made there either.
    lead(
        &project,
        ".mcp-eval/results.db",
        &elsewhere.path().join("new.db"),
    );
    project
        .run(&["run"])
        .says("results.db is a link out of its folder");
    assert_eq!(held(elsewhere.path()), before);
    // Within the folder, links lead where they like; and a report goes where the user wants it.
    let (project, elsewhere) = recorded();
    fs::rename(project.path("baselines/s"), project.path("baselines/.of-s")).unwrap();
    symlink(".of-s", project.path("baselines/s")).unwrap();
    symlink(elsewhere.path(), project.path("out")).unwrap();
    let reports = ["--output", "out/pages", "--report", "junit=out/junit.xml"];
    project.expect(0, &[&["compare"], &reports[..]].concat());
    project.expect(0, &["record"]);
    assert!(project.path("baselines/s").is_symlink());
    assert!(elsewhere.path().join("pages/index.html").exists());
    assert!(elsewhere.path().join("junit.xml").exists());
}

#[test]
fn what_git_tracks_of_our_own_is_not_read() {
    let (project, _) = recorded();
    project.expect(0, &["compare"]);
    project.expect(0, &["report"]);
    // Git leaves the folder alone unless somebody wants it.
    fs::remove_file(project.path(".mcp-eval/.gitignore")).unwrap();
    commit_all(&project.path(""), "All");
    let warning = "warning: git tracks .mcp-eval/, so nothing in it is read";
    let ran = project.expect(3, &["report"]);
    ran.says(warning).says("`git rm -r --cached .mcp-eval`");
    ran.says("no result is stored in .mcp-eval/untracked-1/runs/");
    assert_eq!(ran.all().matches("git tracks").count(), 1, "{ran:#?}");
    project.expect(3, &["history"]).says(warning);
    // What is made now is kept, and read again.
    project.expect(0, &["compare", "--quiet"]).says(warning);
    project.expect(0, &["report"]);
    project.expect(0, &["history"]).says(warning);
    project.expect(0, &["help"]).says_not(warning);
    // Nor is what git tracks in the place of that.
    let ours = held(&project.path(".mcp-eval/untracked-1"));
    commit_all(&project.path(""), "That, too");
    project
        .expect(0, &["run"])
        .says(".mcp-eval/untracked-2/ is used");
    assert_eq!(held(&project.path(".mcp-eval/untracked-1")), ours);

    let repository = Repository::open(project.path("")).unwrap();
    let mut index = repository.index().unwrap();
    index.remove_all([".mcp-eval"], None).unwrap();
    index.write().unwrap();
    project.expect(0, &["report"]).says_not(warning);

    // A folder that is a link as a whole has no place that is ours, wherever it leads.
    fs::rename(project.path(".mcp-eval"), project.path("theirs")).unwrap();
    symlink("theirs", project.path(".mcp-eval")).unwrap();
    commit_all(&project.path(""), "A link");
    project.expect(3, &["run"]).says("git tracks .mcp-eval, so");
}

#[test]
fn a_hostile_repository_runs_and_changes_nothing() {
    let (project, elsewhere) = recorded();
    // A repository of somebody else, with programs in the places where git runs some.
    let program = project.path("touched");
    let program = format!("touch {}", program.display());
    fs::write(elsewhere.path().join("file"), "1").unwrap();
    commit_all(elsewhere.path(), "Theirs");
    let git = elsewhere.path().join(".git");
    let mut config = Repository::open(elsewhere.path())
        .unwrap()
        .config()
        .unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
    ] {
        config.set_str(key, &program).unwrap();
    }
    for hook in ["pre-commit", "post-checkout", "post-index-change"] {
        fs::write(
            git.join("hooks").join(hook),
            format!("#!/bin/sh\n{program}\n"),
        )
        .unwrap();
    }
    project.file(".git", format!("gitdir: {}\n", git.display()));
    project.file(".gitattributes", "* filter=x diff=x\n");
    let long = "l".repeat(250);
    for name in [
        "a\nb",
        "\u{1b}[2J\u{1b}]0;owned\u{7}",
        "\u{202e}lmay",
        "-rf",
        &long,
    ] {
        project.file(&format!("scenarios/{name}.yaml"), sky("Odd"));
    }
    let poisoned =
        json!({ "format_version": 1, "scenarios": [{ "id": "s", "path": "/etc/passwd" }] });
    project.file(".mcp-eval/runs/0/result.json", poisoned.to_string());
    symlink("/etc", project.path(".mcp-eval/runs/99")).unwrap();
    let before = held(elsewhere.path());
    for (code, command) in [
        (0, &["validate"][..]),
        (0, &["list"]),
        (0, &["run"]),
        (3, &["compare"]),
        (0, &["compare", "scenarios/s.yaml"]),
        (2, &["compare", "--changed=nothing"]),
        (0, &["scan", "--staged"]),
        (0, &["report"]),
    ] {
        let ran = project.expect(code, command);
        assert!(!ran.all().contains('\u{1b}'), "{ran:#?}");
    }
    assert!(!project.path("touched").exists(), "a program was run");
    assert_eq!(held(elsewhere.path()), before);
}
