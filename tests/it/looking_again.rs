//! Stored runs looked at again: listed, shown in a browser, linked, and compared with each other.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;

use crate::common::{Project, Ran, ran};

/// A scenario that asks what the sky is like: sun.
pub(crate) fn sky(name: &str) -> String {
    let scenario = json!({
        "name": name,
        "servers": { "sky": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": { "sky": { "tools": [{
            "name": "look",
            "annotations": { "read_only_hint": true },
            "responses": [{ "content": [{ "json": { "sky": "sun" } }] }],
        }] } },
    });
    scenario.to_string()
}

/// A recorded scenario, compared as it was and after its server says something else; with the ids of the three runs.
fn three_runs() -> (Project, Vec<String>) {
    let project = Project::new();
    project.file("scenarios/weather.yaml", sky("Weather"));
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    project.edit("scenarios/weather.yaml", "sun", "rain");
    project.expect(1, &["compare"]);
    let entries = fs::read_dir(project.path(".mcp-eval/runs")).unwrap();
    let folders = entries.map(Result::unwrap).filter(|it| it.path().is_dir());
    let mut ids: Vec<_> = folders
        .map(|it| it.file_name().into_string().unwrap())
        .collect();
    ids.sort();
    assert_eq!(ids.len(), 3);
    (project, ids)
}

#[test]
fn runs_are_listed_the_latest_first() {
    let (project, ids) = three_runs();
    let ran = project.expect(0, &["report", "--list"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    for (line, (id, says)) in lines.iter().zip([
        (&ids[2], "compare  0 of 1 passed"),
        (&ids[1], "compare  1 of 1 passed"),
        (&ids[0], "record   1 of 1 recorded"),
    ]) {
        assert!(
            line.starts_with(id.as_str()) && line.contains(says),
            "{ran:#?}"
        );
    }
    assert_eq!(lines.len(), 3);
    // The index of runs may be gone, or broken: the folders say the same.
    for broken in [None, Some("no JSON\n")] {
        let _ = fs::remove_file(project.path(".mcp-eval/runs/index.jsonl"));
        if let Some(text) = broken {
            project.file(".mcp-eval/runs/index.jsonl", text);
        }
        let again = project.expect(0, &["report", "--list"]).stdout;
        assert!(ids.iter().all(|it| again.contains(it.as_str())), "{again}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_is_named_in_the_same_ways_everywhere() {
    let (project, ids) = three_runs();
    let shown = |name: &str| project.result(0, &["report", name])["run_id"].clone();
    assert_eq!(shown("latest"), *ids[2]);
    assert_eq!(shown("reports/latest"), *ids[2]);
    // The shortest beginning that only one id has.
    let is_of_one = |it: &&str| ids.iter().filter(|id| id.starts_with(*it)).count() == 1;
    let mut beginnings = (1..ids[1].len()).map(|end| &ids[1][..end]);
    let beginning = beginnings.find(|it| is_of_one(it)).unwrap();
    assert_eq!(shown(beginning), *ids[1]);
    project.expect(0, &["explain", beginning]).says("Weather");
    for command in ["report", "explain"] {
        project
            .expect(2, &[command, "20"])
            .says("the ids of several runs begin with `20`");
    }
    project
        .expect(2, &["report", "nobody"])
        .says("there is no stored result `nobody`");
    // A scenario's name goes before the beginning of an id.
    let document = format!(".mcp-eval/runs/{}/result.json", ids[2]);
    project.edit(&document, "\"Weather\"", "\"20\"");
    project.expect(0, &["explain", "20"]);
    let empty = Project::new();
    for command in [
        &["report"][..],
        &["report", "latest"],
        &["explain", "latest"],
    ] {
        empty.expect(3, command).says("no result is stored");
    }
}

#[test]
fn one_file_has_its_usual_place() {
    let (project, ids) = three_runs();
    for (arguments, id) in [
        (&["report", "--single-file"][..], &ids[2]),
        (&["report", &ids[1], "--single-file"], &ids[1]),
    ] {
        let file = format!("reports/{id}.html");
        let ran = project.expect(0, arguments);
        assert_eq!(ran.stdout.trim_end(), file);
        assert!(project.read(&file).contains(id.as_str()), "{file}");
    }
    for run in [&ids[1], "latest"] {
        project
            .expect(2, &["report", "--single-file", run])
            .says(&format!("mcp-eval report {run} --single-file"));
        assert!(!project.path(run).exists());
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_result_calls_its_run_leads_nowhere_else() {
    let (project, ids) = three_runs();
    let document = project.read(format!(".mcp-eval/runs/{}/result.json", ids[2]));
    let outside = project.path("outside");
    let before = project.read("reports/latest/index.html");
    let absolute = outside.display().to_string();
    let hostile = [
        "../outside",
        "../../outside",
        "a/b",
        "outside/",
        ".",
        "..",
        "",
        "latest",
        &absolute,
    ];
    for id in hostile {
        let document = document.replace(
            &format!("\"run_id\": \"{}\"", ids[2]),
            &format!("\"run_id\": {}", json!(id)),
        );
        assert!(!document.contains(&format!("\"run_id\": \"{}\"", ids[2])));
        project.file("artifact/result.json", document);
        for form in [
            &["--format", "html"][..],
            &["--report", "junit"],
            &["--single-file"],
        ] {
            project
                .expect(2, &[&["report", "artifact"][..], form].concat())
                .says("no usual place");
        }
        // Who says where it goes gets it.
        project.expect(0, &["report", "artifact"]);
        let there = ["--format", "html", "--output", "there"];
        project.expect(0, &[&["report", "artifact"][..], &there].concat());
        for form in [
            &["--report", "junit=there/all.xml"],
            &["--single-file", "there/all.html"],
        ] {
            project.expect(0, &[&["report", "artifact"][..], form].concat());
        }
        fs::remove_dir_all(project.path("there")).unwrap();
    }
    assert!(!outside.exists() && !project.path("reports/a").exists());
    assert!(!project.path("reports/index.html").exists());
    assert_eq!(project.read("reports/latest/index.html"), before);
}

#[test]
fn a_file_that_is_gone_is_named_where_it_was() {
    let (project, ids) = three_runs();
    let named = |folder: &str| {
        let arguments = ["report", "--format", "html", "--output", folder];
        let ran = project.expect(0, &arguments);
        let written: serde_json::Value =
            serde_json::from_str(&project.read(format!("{folder}/result.json"))).unwrap();
        (written["scenarios"][0]["current"]["file"].clone(), ran)
    };
    let file = format!(".mcp-eval/runs/{}/current/weather.json", ids[2]);
    let from_there = json!(format!("../../{file}"));
    assert_eq!(named("deep/one").0, from_there);
    fs::remove_file(project.path(&file)).unwrap();
    let (name, ran) = named("deep/two");
    assert_eq!(name, from_there);
    ran.says("a conversation is not shown");
}

#[test]
fn a_page_is_shown_by_the_program_that_the_system_has_for_it() {
    let (project, ids) = three_runs();
    project.file(
        "bin/xdg-open",
        "#!/bin/sh\necho \"$1\" > opened.part && mv opened.part opened\n",
    );
    let program = project.path("bin/xdg-open");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let shown = |arguments: &[&str]| -> (Ran, Option<String>) {
        let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
        let _ = fs::remove_file(project.path("opened"));
        let ran = ran(project.command().args(arguments).env("PATH", path));
        for _ in 0..100 {
            if ran.code == 3 || project.path("opened").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let opened = fs::read_to_string(project.path("opened"));
        (ran, opened.ok().map(|it| it.trim_end().to_owned()))
    };
    let (_, opened) = shown(&["report", "--open"]);
    let opened = opened.unwrap();
    assert!(
        opened.ends_with(&format!("reports/{}/index.html", ids[2])),
        "{opened}"
    );
    // Pages that were tidied away are made again.
    fs::remove_dir_all(project.path("reports")).unwrap();
    let (_, opened) = shown(&["report", &ids[1], "--open"]);
    let opened = opened.unwrap();
    assert!(
        fs::read_to_string(&opened).unwrap().contains(&ids[1]),
        "{opened}"
    );
    let (_, opened) = shown(&["report", "--open", "--single-file", "all.html"]);
    assert!(opened.is_some_and(|it| it.ends_with("/all.html")));
    // Where nothing can show it, it is said where the page lies.
    fs::remove_file(&program).unwrap();
    let (ran, opened) = if std::path::Path::new("/usr/bin/xdg-open").exists() {
        return;
    } else {
        shown(&["report", "--open"])
    };
    assert_eq!((ran.code, opened), (3, None), "{ran:#?}");
    ran.says("index.html yourself");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn any_run_is_compared_with_any_older_one() {
    let (project, ids) = three_runs();
    let against = format!("run:{}", ids[1]);
    let compare = ["compare", "--run", &ids[2], "--against", &against];
    project
        .expect(1, &compare)
        .says("`sky`: \"sun\" → \"rain\"");
    let page = project.read("reports/latest/weather.html");
    assert!(
        page.contains("<mark>sun</mark>") && page.contains("<mark>rain</mark>"),
        "{page}"
    );
    assert!(
        !page.contains("review --accept"),
        "there is nothing to accept: {page}"
    );
    // Both runs are named: the one by its file.
    assert!(
        page.contains(&against) && page.contains(&format!("runs/{}/current", ids[2])),
        "{page}"
    );
    // A run with itself is the same.
    let itself = format!("run:{}", ids[1]);
    project.expect(0, &["compare", "--run", &ids[0], "--against", &itself]);
    // One that is not there.
    project
        .expect(
            2,
            &[
                "compare",
                "--run",
                &ids[2],
                "--against",
                "run:2020-01-01T00-00-00.000Z",
            ],
        )
        .says("2020-01-01T00-00-00.000Z");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_scenario_that_only_the_other_run_has_is_no_success() {
    let (project, ids) = three_runs();
    let other = project
        .read("scenarios/weather.yaml")
        .replace("Weather", "Other");
    project.file("scenarios/other.yaml", other);
    project.expect(0, &["record"]);
    let last = project.expect(0, &["report", "--list"]).stdout;
    let both = last.split_whitespace().next().unwrap();
    let (alone, both) = (ids[2].as_str(), format!("run:{both}"));
    project
        .expect(3, &["compare", "--run", alone, "--against", &both])
        .says("other")
        .says("has no run of this scenario");
    // One trajectory is compared alone on purpose.
    let file = format!(".mcp-eval/runs/{alone}/current/weather.json");
    project.expect(0, &["compare", "--run", &file, "--against", &both]);
}
