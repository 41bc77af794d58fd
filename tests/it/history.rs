//! `mcp-eval history`: results over time, at the program.

use std::fmt::Write as _;
use std::process::Command;

use mcp_eval::published::history;
use serde_json::{Value, json};

use crate::common::{Project, commit_all, ran, skipped};
use crate::results_database::kit::{Place, shop};

/// A shop whose tea has been dearer since the third of four runs, shown without identity.
fn dearer() -> Place {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["record"]);
    place.expect(0, &["compare"]);
    shop(&place.project, "tea", "8.50", "");
    place.expect(1, &["compare"]);
    place.expect(1, &["compare"]);
    place
}

fn document(place: &Place, arguments: &[&str]) -> Value {
    let out = place
        .expect(0, &[&["history", "--format", "json"], arguments].concat())
        .stdout;
    serde_json::from_str(&out).unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_scenario_that_fails_is_shown_with_its_first_bad_run() {
    let place = dearer();
    let runs = place
        .rows("select run_id, document ->> '$.history.reason' from results order by created_at");
    let [_, good, bad, _] = &runs[..] else {
        panic!("{runs:?}");
    };
    let history = document(&place, &["tea"]);
    let tea = &history["scenarios"][0];
    assert_eq!(history["scenarios"].as_array().unwrap().len(), 1);
    let statuses: Vec<&Value> = tea["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["status"])
        .collect();
    assert_eq!(statuses, ["recorded", "passed", "failed", "failed"]);
    assert_eq!((&tea["judged"], &tea["passed"]), (&json!(3), &json!(1)));
    let first = &tea["first_bad"];
    assert_eq!(
        (&first["run"], &first["last_good"], &first["reason"]),
        (&bad[0], &good[0], &bad[1])
    );
    // Without a repository there is nothing to search.
    assert_eq!(
        (&first["range"], &first["bisect"]),
        (&Value::Null, &Value::Null)
    );
    let validator = jsonschema::validator_for(&history::json_schema()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&history)
        .map(|it| it.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let schema = place.expect(0, &["schema", "history"]).stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&schema).unwrap(),
        history::json_schema()
    );

    let shown = place.expect(0, &["history", "tea"]);
    shown
        .says("4 results, 1 of 3 passed (33 %)")
        .says(&format!("first bad run: {}", bad[0].as_str().unwrap()))
        .says(&format!("last good run: {}", good[0].as_str().unwrap()));
    // What fails now, then the latest first, and the course from the oldest.
    assert!(
        shown
            .stdout
            .starts_with("✗ 1 of 1 scenario fails now\n\ntea")
    );
    let (_, results) = shown
        .stdout
        .split_once("\n\n")
        .unwrap()
        .1
        .split_once("\n\n")
        .unwrap();
    let lines: Vec<&str> = results.lines().collect();
    assert!(
        lines[1].contains("✗  failed") && lines[4].contains("●  recorded"),
        "{lines:#?}"
    );
    let course = lines
        .iter()
        .find_map(|it| it.trim().strip_prefix("score"))
        .unwrap()
        .trim();
    assert!(
        course.starts_with('█') && course.chars().count() == 3 && !course.ends_with('█'),
        "{course}"
    );

    let overview = place.expect(0, &["history"]);
    assert!(overview.stdout.starts_with("✗ 1 of 1 scenario fails now\n"));
    let (failing, table) = overview.stdout.split_once("  scenario").unwrap();
    assert!(failing.contains("first bad run: ") && !table.contains("first bad run"));
    let page = ["history", "--format", "html", "--output", "history.html"];
    place.expect(0, &page);
    let page = place.project.read("history.html");
    let begins = page.find("1 of 1 fails now").unwrap();
    assert!(begins < page.find("class=\"charts\"").unwrap(), "{page}");
    overview
        .says("tea")
        .says("1/3")
        .says("Slowest:")
        .says_not("Most expensive");
    let csv = place.expect(0, &["history", "--format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(
        csv.starts_with("scenario,name,agent,model,at,run,"),
        "{csv}"
    );
    let end = place.expect(1, &["history", "--format", "e2e"]).stdout;
    let end: Vec<&str> = end.lines().rev().take(2).collect();
    assert_eq!(end[1], "Test FAILED");
    assert_eq!(end[0], format!("Verdict: {}", bad[1].as_str().unwrap()));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_looked_at_can_be_chosen() {
    let place = dearer();
    shop(&place.project, "milk", "1.00", "");
    place.project.edit(
        "scenarios/milk.yaml",
        "tags: [shop, nightly]",
        "tags: [dairy]",
    );
    place.expect(0, &["run", "scenarios/milk.yaml"]);
    let ids = |arguments: &[&str]| -> Vec<String> {
        let history = document(&place, arguments);
        let scenarios = history["scenarios"].as_array().unwrap().iter();
        scenarios
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&[]), ["milk", "tea"]);
    assert_eq!(ids(&["--tag", "dairy"]), ["milk"]);
    assert_eq!(ids(&["--tag", "dairy", "--tag", "shop"]), ["milk", "tea"]);
    assert_eq!(ids(&["--since", "1h"]), ["milk", "tea"]);
    let history = document(&place, &["tea", "--last", "2"]);
    assert_eq!(
        history["scenarios"][0]["results"].as_array().unwrap().len(),
        2
    );
    // Each model has a course, and as many results, of its own.
    let counts = |arguments: &[&str]| -> Vec<usize> {
        let history = document(&place, arguments);
        let scenarios = history["scenarios"].as_array().unwrap().iter();
        scenarios
            .map(|it| it["results"].as_array().unwrap().len())
            .collect()
    };
    place.alter("update results set model = 'other' where status = 'failed'");
    assert_eq!(counts(&["tea", "--last", "2"]), [2, 2]);
    place.alter("update results set model = null");
    // The slowest comes first.
    place.alter("update results set duration_ms = case scenario_id when 'tea' then 2 else 1 end");
    let slowest = document(&place, &[])["slowest"].clone();
    assert_eq!(
        (&slowest[0]["id"], &slowest[1]["id"]),
        (&json!("tea"), &json!("milk"))
    );
    // What was interrupted is shown, and what was skipped is not.
    place.alter("update results set status = 'interrupted' where status = 'recorded'");
    assert_eq!(counts(&["tea"]), [4]);
    place.alter("update results set status = 'skipped' where status = 'interrupted'");
    assert_eq!(counts(&["tea"]), [3]);
    place.alter(
        "update results set created_at = '2020-01-01T00:00:00.000000Z' where scenario_id = 'milk'",
    );
    assert_eq!(ids(&["--since", "2020-01-02"]), ["tea"]);
    place
        .expect(3, &["history", "milk", "--since", "2020-01-02"])
        .says("there are results of `milk`, and --since 2020-01-02T00:00:00Z leaves none of them")
        .says("the latest is of 2020-01-01");
    place
        .expect(3, &["history", "--tag", "nosuchtag"])
        .says("there are results, and --tag nosuchtag leaves none of them")
        .says("their tags are dairy, nightly, shop");
    place
        .expect(3, &["history", "--since", "2027-01-01"])
        .says("there are results, and --since 2027-01-01T00:00:00Z leaves none of them");
    place
        .expect(3, &["history", "miln"])
        .says("did you mean `milk`?");
    place
        .expect(2, &["history", "--since", "soon"])
        .says("write a day");
    place.expect(0, &["history", "--names"]).says("milk tea");
    let nothing = Project::new();
    nothing
        .expect(3, &["history"])
        .says("there are no results yet: there is no .mcp-eval/results.db");
    assert!(!nothing.path(".mcp-eval").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_commit_is_found_where_the_source_is_known() {
    let place = Place::file();
    let mut commits = Vec::new();
    let mut change = |price: &str| {
        let text = format!(
            "mcp_interactions:\n  shop:\n    tools:\n      - {{ name: price, annotations: {{ read_only_hint: true }}, responses: [{{ content: \"{price}\" }}] }}\n"
        );
        place.project.file("server/mock.yaml", text);
        place.project.file("server/note", commits.len().to_string());
        commits.push(commit_all(
            &place.project.path("server"),
            "Change the price",
        ));
        commits.len()
    };
    place.project.file(
        "scenarios/tea.yaml",
        "name: tea\nsource: { repo: ../server }\nservers: { shop: { type: stdio, command: mcp-eval, args: [mock, \"${source.dir}/mock.yaml\"] } }\n\
         agent: { kind: scripted, calls: [{ tool: mcp__shop__price, args: {} }] }\n",
    );
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mcp-eval"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let expect = |code: i32, arguments: &[&str]| {
        let done = ran(place.command().args(arguments).env("PATH", &path));
        assert_eq!(done.code, code, "{arguments:?}: {done:#?}");
        done
    };
    change("7.50");
    expect(0, &["record"]);
    expect(0, &["compare"]);
    change("7.50");
    change("8.50");
    change("8.50");
    expect(1, &["compare"]);
    let history = document(&place, &["tea"]);
    let first = &history["scenarios"][0]["first_bad"];
    assert_eq!(first["range"]["good"]["commit"], commits[0]);
    assert_eq!(first["range"]["bad"]["commit"], commits[3]);
    assert_eq!(first["range"]["of_source"], true);
    let bisect = first["bisect"].as_str().unwrap();
    expect(0, &["history", "tea"])
        .says(bisect)
        .says("Change the price");
    // What is offered can be run as it stands.
    let offered: Vec<&str> = bisect.split(' ').skip(1).collect();
    expect(0, &offered).says(&format!("first bad commit: {}", commits[2]));
    // What that came by is no result over time.
    let after = document(&place, &["tea"]);
    assert_eq!(
        after["scenarios"][0]["results"],
        history["scenarios"][0]["results"]
    );
}

/// A commit, as documents have it.
fn at_commit(id: &str) -> Value {
    json!({ "commit": id, "short": id, "branch": null, "subject": "", "dirty": false })
}

/// Results of one scenario with these durations, each with its status.
fn lasting(durations: &[(f64, &str)]) -> Place {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    for (at, (duration, status)) in durations.iter().enumerate() {
        place.expect(0, &["run"]);
        place.alter(&format!(
            "update results set duration_ms = {duration}, status = '{status}', created_at = '2026-01-01T00:00:{at:02}.000000Z' \
             where created_at > '2026-01-02'"
        ));
    }
    place
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_has_become_slow_fails_a_gate() {
    let place = lasting(&[
        (100.0, "passed"),
        (90.0, "passed"),
        (110.0, "passed"),
        (5000.0, "failed"),
        (250.0, "passed"),
    ]);
    // Only what passed tells how long it takes: the median is 100.
    place
        .expect(1, &["history", "--max-slowdown", "2.4"])
        .says("tea took 250 ms, 2.50 × the median 100 ms of the 3 before (at most 2.4)")
        .says("1 of 1 measured scenarios took more than 2.4 × as long as usual");
    place
        .expect(0, &["history", "--max-slowdown", "2.5"])
        .says("0 of 1 measured");
    place.expect(1, &["history", "tea", "--max-slowdown", "149%"]);
    place.expect(2, &["history", "--max-slowdown", "0.5"]);
    // Runs that were made several times take longer, whatever they are of.
    place.alter("update results set document = json_set(document, '$.history.attempts', 3) where duration_ms = 250");
    place
        .expect(3, &["history", "--max-slowdown", "1"])
        .says("nothing could be measured");
    place.alter("update results set document = json_set(document, '$.history.attempts', 1)");
    // Those of another model are none of those before.
    place.alter("update results set model = 'other' where duration_ms < 105");
    let unmeasured = "nothing could be measured: it takes 3 results of one scenario that passed before its latest, with the same agent and model, and there are 1 at most";
    let gated = ["history", "--max-slowdown", "1"];
    place.expect(3, &gated).says(unmeasured);
    let ran = place.expect(3, &[&gated[..], &["--format", "json"]].concat());
    ran.says(unmeasured);
    let history: Value = serde_json::from_str(&ran.stdout).unwrap();
    let gate = json!({ "max_factor": 1.0, "passed": null, "measured": 0, "needed": 3, "most": 1, "too_slow": [], "unmeasured": [], "disabled": [] });
    assert_eq!(history["gate"], gate);
    let end = place.expect(3, &[&gated[..], &["--format", "e2e"]].concat());
    end.says("No verdict").says_not("Test ");
    let history = document(&place, &["tea"]);
    assert_eq!(history["scenarios"].as_array().unwrap().len(), 2);
    let end = place.expect(0, &["history", "--format", "e2e"]).stdout;
    assert!(
        end.ends_with("Test PASSED\nVerdict: 2 of 2 scenarios passed when they were run last\n"),
        "{end}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_latest_duration_counts_however_that_result_came_out() {
    for status in ["failed", "timeout", "error", "recorded"] {
        let place = lasting(&[
            (400.0, "passed"),
            (433.0, "passed"),
            (450.0, "passed"),
            (2200.0, status),
        ]);
        place
            .expect(1, &["history", "--max-slowdown", "2"])
            .says("tea took 2.2 s, 5.08 × the median 433 ms of the 3 before (at most 2)");
    }
}

#[test]
fn an_error_and_a_timeout_are_bad_runs() {
    let place = lasting(&[
        (1.0, "passed"),
        (1.0, "error"),
        (1.0, "timeout"),
        (1.0, "error"),
    ]);
    for (at, commit) in [(0, "aaaa"), (1, "bbbb"), (2, "bbbb"), (3, "bbbb")] {
        place.alter(&format!(
            "update results set document = json_set(document, '$.history.source', json('{}')) where created_at like '%:0{at}.%'",
            at_commit(commit)
        ));
    }
    let runs = place.rows("select run_id from results order by created_at");
    let history = document(&place, &["tea"]);
    let tea = &history["scenarios"][0];
    assert_eq!(
        (
            &tea["judged"],
            &tea["passed"],
            &tea["errors"],
            &tea["timeouts"]
        ),
        (&json!(1), &json!(1), &json!(2), &json!(1))
    );
    let first = &tea["first_bad"];
    assert_eq!(
        (&first["last_good"], &first["run"]),
        (&runs[0][0], &runs[1][0])
    );
    place
        .expect(0, &["history", "tea"])
        .says("4 results, 1 of 1 passed (100 %), 2 errors, 1 timeout")
        .says(&format!("first bad run: {}", runs[1][0].as_str().unwrap()))
        .says("between them, in the source: aaaa..bbbb")
        .says("mcp-eval bisect scenarios/tea.yaml --good aaaa --bad bbbb");
    place
        .expect(0, &["history"])
        .says("1/1, 2 errors, 1 timeout");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_recorded_alone_is_no_verdict() {
    let recorded = (1.0, "recorded");
    for (results, code, end) in [
        (
            &[recorded][..],
            3,
            "No verdict\nVerdict: it was recorded only, and not judged since\n",
        ),
        (
            &[(1.0, "passed"), recorded],
            0,
            "Test PASSED\nVerdict: passed\n",
        ),
        (
            &[(1.0, "failed"), recorded],
            1,
            "Test FAILED\nVerdict: failed\n",
        ),
        (
            &[(1.0, "passed"), (1.0, "error")],
            1,
            "Test FAILED\nVerdict: error\n",
        ),
    ] {
        let place = lasting(results);
        let out = place.expect(code, &["history", "--format", "e2e"]).stdout;
        assert!(out.ends_with(end), "{results:?}: {out}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn verdicts_that_flip_by_themselves_are_flaky() {
    let steady = lasting(&[
        (1.0, "passed"),
        (1.0, "passed"),
        (1.0, "failed"),
        (1.0, "failed"),
    ]);
    let flips = |place: &Place| document(place, &["tea"])["scenarios"][0]["flakiness"].clone();
    assert_eq!(flips(&steady), json!(1.0 / 3.0));
    // Other servers or changes that are in no commit may be why, too.
    steady.alter(
        "update results set servers = 'recorded' where created_at > '2026-01-01T00:00:01.5'",
    );
    assert_eq!(flips(&steady), json!(0.0));
    steady.alter(&format!(
        "update results set servers = 'live', document = json_set(document, '$.history.scenarios', json('{}'))",
        at_commit("a")
    ));
    assert_eq!(flips(&steady), json!(1.0 / 3.0));
    steady.alter(
        "update results set document = json_set(document, '$.history.scenarios.dirty', json('true')) where created_at like '%:02.%'",
    );
    assert_eq!(flips(&steady), json!(0.0));
    // Where the code changed in between, that may be why.
    for (at, commit) in [(0, "a"), (1, "a"), (2, "b"), (3, "b")] {
        steady.alter(&format!(
            "update results set document = json_set(document, '$.history.scenarios', json('{}')) where created_at like '%:0{at}.%'",
            at_commit(commit)
        ));
    }
    assert_eq!(flips(&steady), json!(0.0));
    assert_eq!(document(&steady, &[])["flakiest"], json!([]));
    // Results whose own runs disagree are flaky whatever comes before.
    steady.alter(
        "update results set document = json_set(document, '$.history.flaky', json('true')) where created_at like '%:01.%'",
    );
    assert_eq!(flips(&steady), json!(1.0 / 3.0));
    assert_eq!(document(&steady, &[])["flakiest"][0]["id"], "tea");
}

#[test]
fn the_first_bad_run_is_behind_the_last_good_one() {
    let statuses = ["passed", "failed", "passed", "failed", "failed"];
    let place = lasting(&statuses.map(|it| (1.0, it)));
    let runs = place.rows("select run_id from results order by created_at");
    let first = &document(&place, &["tea"])["scenarios"][0]["first_bad"];
    assert_eq!(
        (&first["run"], &first["last_good"]),
        (&runs[3][0], &runs[2][0])
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_page_has_charts_and_runs_nothing() {
    let place = dearer();
    let mut name =
        String::from("<script>alert(1)</script> \"><img src=x onerror=alert(2)> =cmd|'/c calc'!A0");
    let _ = write!(name, "\u{202e}");
    place.alter(&format!(
        "update results set test_name = '{}', document = json_set(document, '$.history.reason', '{}')",
        name.replace('\'', "''"),
        name.replace('\'', "''")
    ));
    place
        .expect(
            0,
            &[
                "history",
                "--format",
                "html",
                "--output",
                "out/history.html",
            ],
        )
        .says("History: out/history.html");
    let page = place.project.read("out/history.html");
    assert_eq!(page.matches("<svg ").count(), 2, "{page}");
    assert_eq!(page.matches("<circle ").count(), 3 + 4, "{page}");
    assert!(
        !page.contains("<script") && !page.contains("<img") && !page.contains('\u{202e}'),
        "{page}"
    );
    assert!(page.contains("default-src 'none'"), "{page}");
    for format in ["terminal", "csv", "e2e"] {
        let shown = ran(place.command().args(["history", "tea", "--format", format]));
        assert!(!shown.stdout.contains('\u{202e}'), "{shown:#?}");
    }
    place.alter("update results set test_name = '=1+2'");
    let csv = place.expect(0, &["history", "--format", "csv"]).stdout;
    assert!(csv.contains(",'=1+2,"), "{csv}");
}

#[test]
fn end_to_end_tests_read_how_a_run_ended() {
    let place = Place::file();
    shop(&place.project, "good", "7.50", "");
    let out = place.expect(0, &["run", "--format", "e2e"]).stdout;
    assert!(out.starts_with("[PASSED] good ("), "{out}");
    assert!(
        out.ends_with("Test PASSED\nVerdict: everything passed\n"),
        "{out}"
    );
    place.expect(0, &["record"]);
    let out = place.expect(0, &["compare", "--format", "e2e"]).stdout;
    assert!(
        out.lines().next().unwrap().ends_with(", score 1.00)"),
        "{out}"
    );
    shop(
        &place.project,
        "bad",
        "7.50",
        "success_criteria: [{ text: not said }]",
    );
    let out = place.expect(1, &["run", "--format", "e2e"]).stdout;
    assert!(out.contains("[FAILED] bad ("), "{out}");
    assert!(
        out.ends_with("Test FAILED\nVerdict: 1 scenario failed\n"),
        "{out}"
    );
    let only = place.expect(1, &["run", "scenarios/bad.yaml", "--report", "e2e=out.txt"]);
    assert!(only.stdout.contains("bad"), "{only:#?}");
    let out = place.project.read("out.txt");
    assert!(out.lines().last().unwrap().contains("not said"), "{out}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_bash_completes_names_and_runs_none_of_them() {
    if Command::new("bash").arg("--version").output().is_err() {
        skipped("what bash completes", "there is no bash");
        return;
    }
    let place = dearer();
    place.execute("insert into scenarios (id, name, created_at, updated_at) values ('t $(touch ran)', '`touch ran`', 'x', 'x')");
    let script = place.expect(0, &["completions", "bash"]).stdout;
    place.project.file("completions.bash", script);
    let asked = r#"source completions.bash
        COMP_WORDS=("$PROGRAM" "$@"); COMP_CWORD=$#
        registered=$(complete -p mcp-eval); registered=${registered##*-F }
        "${registered%% *}" "$PROGRAM" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        echo "${COMPREPLY[*]}""#;
    for (words, offered) in [
        (&["history", "te"][..], "tea"),
        (&["history", "t"], "t\\ \\$\\(touch\\ ran\\) tea"),
        (&["history", "--form"], "--format"),
        (&["his"], "history"),
    ] {
        let mut bash = Command::new("bash");
        let bash = bash.args(["--norc", "-c", asked, "bash"]).args(words);
        let bash = bash
            .env("PROGRAM", env!("CARGO_BIN_EXE_mcp-eval"))
            .env_remove("MCP_EVAL_DB");
        let completed = ran(bash.current_dir(place.project.path("")));
        assert_eq!(
            completed.stdout.trim(),
            offered,
            "{words:?}: {completed:#?}"
        );
    }
    assert!(!place.project.path("ran").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_fish_and_a_zsh_complete_names_and_run_none_of_them() {
    let place = dearer();
    place.execute("insert into scenarios (id, name, created_at, updated_at) values ('t $(touch ran)', '`touch ran`', 'x', 'x')");
    let of_fish = r#"source completions.fish; complete -C "mcp-eval history t""#;
    // The completion is printed in the place of what zsh would make of it.
    let of_zsh = r#"compdef() { : }; source ./completions.zsh
        compadd() { print -rl -- "${(@P)2}" }; _mcp_eval_names"#;
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mcp-eval"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::split_paths(&paths);
    let paths = std::iter::once(program.parent().unwrap().to_owned()).chain(paths);
    let paths = std::env::join_paths(paths).unwrap();
    for (shell, quiet, asked) in [("fish", "--no-config", of_fish), ("zsh", "-f", of_zsh)] {
        if Command::new(shell).arg("--version").output().is_err() {
            skipped(
                &format!("what {shell} completes"),
                &format!("there is no {shell}"),
            );
            continue;
        }
        let script = place.expect(0, &["completions", shell]).stdout;
        let file = format!("completions.{shell}");
        place.project.file(&file, &script);
        let mut completing = Command::new(shell);
        let completing = completing.args([quiet, "-c", asked]).env("PATH", &paths);
        let completing = completing.env_remove("MCP_EVAL_DB");
        let completed = ran(completing.current_dir(place.project.path("")));
        let mut offered: Vec<&str> = completed.stdout.lines().map(str::trim).collect();
        offered.retain(|it| it.starts_with('t'));
        assert_eq!(
            offered,
            ["t $(touch ran)", "tea"],
            "{shell}: {completed:#?}"
        );
        if shell == "zsh" {
            assert!(script.starts_with("#compdef mcp-eval\n"), "{script}");
            assert!(script.contains(":_mcp_eval_names' \\\n"), "{script}");
        }
    }
    assert!(!place.project.path("ran").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_did_not_run_to_its_end_is_green_nowhere() {
    let place = lasting(&[
        (100.0, "passed"),
        (90.0, "passed"),
        (110.0, "passed"),
        (5.0, "passed"),
    ]);
    let gated = ["history", "--max-slowdown", "2"];
    let e2e = ["history", "--format", "e2e"];
    place.expect(0, &gated);
    let latest = "where duration_ms = 5 or duration_ms is null";
    place.alter(&format!(
        "update results set status = 'interrupted' {latest}"
    ));
    place
        .expect(3, &gated)
        .says("? tea cannot be measured: the status of its latest run is interrupted")
        .says("0 of 0 measured scenarios took more than 2 × as long as usual; the latest run of 1 more tells no duration");
    let said = place.expect(3, &e2e);
    said.says("[INTERRUPTED] tea").says_not("Test PASSED");
    place
        .expect(0, &["history", "tea"])
        .says("interrupted")
        .says("3 of 3 passed (100 %), 1 interrupted, median 100 ms");
    // Of what never began, nobody knows the agent. It is the one that ran before.
    place.alter(&format!(
        "update results set status = 'error', duration_ms = null, agent = null, model = null, \
         document = json_set(document, '$.history.reason', 'no key') {latest}"
    ));
    place.expect(3, &gated).says("its latest run is error");
    let said = place.expect(1, &e2e);
    said.says("[ERROR] tea: no key").says_not("[PASSED]");
    let history = document(&place, &["tea"]);
    let series = history["scenarios"].as_array().unwrap();
    assert_eq!(series.len(), 1, "{history:#}");
    assert_eq!(series[0]["results"].as_array().unwrap().len(), 4);
    // With what came first, nothing stays red once it runs.
    place.alter(&format!(
        "update results set created_at = '2026-01-01T00:00:00.000000Z' {latest}"
    ));
    let said = place.expect(0, &e2e);
    said.says("[PASSED] tea").says_not("[ERROR]");
    let latest = document(&place, &["tea", "--last", "2"]);
    let results = latest["scenarios"][0]["results"].as_array().unwrap();
    assert!(
        results.iter().all(|it| it["status"] == "passed"),
        "{latest:#}"
    );
    assert_eq!(results.len(), 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn recorded_servers_make_up_for_no_failure_of_the_servers() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["record"]);
    shop(&place.project, "tea", "8.50", "");
    place.expect(1, &["compare"]);
    place.expect(0, &["compare", "--servers", "recorded"]);
    let e2e = ["history", "--format", "e2e"];
    let said = place.expect(1, &e2e);
    said.says("[FAILED] tea (")
        .says("[PASSED] tea (recorded servers) (")
        .says("1 of 2 scenarios passed");
    let history = document(&place, &["tea"]);
    let servers: Vec<&Value> = history["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["servers"])
        .collect();
    assert_eq!(servers, ["live", "recorded"], "{history:#}");
    place
        .expect(0, &["history", "tea"])
        .says("tea · scripted, recorded servers");
    // Nor for an error before anything ran, of which nobody knows who would have answered.
    place.alter(
        "update results set status = 'error', agent = null, model = null, servers = null, duration_ms = null where status = 'failed'",
    );
    place.expect(1, &e2e).says("[ERROR] tea: ");
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["compare"]);
    place.expect(0, &e2e).says("2 of 2 scenarios passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_left_out_since_is_measured_by_nothing() {
    let passed = (100.0, "passed");
    let place = lasting(&[passed; 4]);
    let gated = ["history", "--max-slowdown", "9"];
    let of_tea = ["history", "tea", "--max-slowdown", "9"];
    let e2e = ["history", "--format", "e2e"];
    place.expect(0, &gated).says("0 of 1 measured");
    let disabled = "name: tea\nenabled: false";
    place
        .project
        .edit("scenarios/tea.yaml", "name: tea", disabled);
    shop(&place.project, "milk", "7.50", "");
    place.expect(0, &["run"]);
    let nothing = "nothing could be measured; 1 is disabled, and was not measured";
    place.expect(3, &gated).says(nothing);
    place.expect(3, &of_tea).says(nothing);
    let end = place.expect(3, &["history", "tea", "--format", "e2e"]);
    end.says("[SKIPPED] tea: the scenario is disabled")
        .says("No verdict");
    // Somebody has chosen that, so it holds up nothing else.
    for _ in 0..3 {
        place.expect(0, &["run"]);
    }
    place.alter("update results set duration_ms = 100 where scenario_id = 'milk'");
    place
        .expect(0, &gated)
        .says("0 of 1 measured scenarios took more than 9 × as long as usual; 1 is disabled, and was not measured")
        .says("not run in");
    place.expect(0, &e2e).says(
        "1 of 1 scenarios passed when they were run last; 1 more is disabled, and does not count",
    );
    // What a failure of another one kept from running is no choice.
    place
        .project
        .edit("scenarios/tea.yaml", disabled, "name: tea");
    let failing = "success_criteria: [{ text: not said }]";
    shop(&place.project, "bad", "7.50", failing);
    place.expect(1, &["run", "--fail-fast", "--jobs", "1"]);
    place
        .expect(3, &of_tea)
        .says("tea cannot be measured: the status of its latest run is skipped");
    place
        .expect(3, &["history", "tea", "--format", "e2e"])
        .says("[SKIPPED] tea: not started")
        .says("No verdict");
    place.expect(0, &["run", "scenarios/tea.yaml"]);
    place.alter("update results set duration_ms = 100 where scenario_id = 'tea'");
    place.expect(0, &of_tea).says("0 of 1 measured");
}

#[test]
fn results_from_the_future_are_reported() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    let ahead = "is in the future: until then it counts as the latest";
    let asked: [&[&str]; 3] = [
        &["history", "-q"],
        &["report", "-q"],
        &["run", "--last-failed", "-q"],
    ];
    for it in asked {
        place.expect(0, it).says_not(ahead);
    }
    place.alter("update results set created_at = '2999-01-01T00:00:00.000000Z'");
    let (from, to) = (place.project.last_run(), "2999-01-01T00-00-00.000Z");
    std::fs::rename(&from, from.with_file_name(to)).unwrap();
    for it in asked {
        place.expect(0, it).says(ahead);
    }
}
