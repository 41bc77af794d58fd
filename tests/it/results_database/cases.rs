//! Cases that hold for every kind of database.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_eval::model::Status;
use mcp_eval::model::usage::Tokens;
use mcp_eval::store::database::{Database, Options, Place as Address, ResultFilter, result_id};
use serde_json::{Value, json};

use super::kit::{Place, runtime, shop};
use crate::common::{Project, commit_all, copy, ran, stand_in};

/// What holds of a database, whichever kind it is.
type Case = fn(&Place);

/// All of them, for the kind of database that has to be started first.
pub(super) const ALL: &[(&str, Case)] = &[
    ("every_command_writes", every_command_writes),
    (
        "the_views_are_those_of_dashboards",
        the_views_are_those_of_dashboards,
    ),
    (
        "attempts_and_evaluators_are_kept",
        attempts_and_evaluators_are_kept,
    ),
    ("what_is_not_known_is_null", what_is_not_known_is_null),
    ("options_leave_out", options_leave_out),
    ("no_secret_gets_in", no_secret_gets_in),
    (
        "runs_come_back_from_their_files",
        runs_come_back_from_their_files,
    ),
    (
        "what_was_known_last_of_a_scenario_stays",
        what_was_known_last_of_a_scenario_stays,
    ),
    (
        "merged_results_are_those_of_their_parts",
        merged_results_are_those_of_their_parts,
    ),
    (
        "a_run_that_goes_on_is_not_over",
        a_run_that_goes_on_is_not_over,
    ),
    ("files_fill_another_database", files_fill_another_database),
    ("old_runs_go", old_runs_go),
    ("a_newer_schema_is_refused", a_newer_schema_is_refused),
    (
        "an_older_schema_is_made_anew_from_files",
        an_older_schema_is_made_anew_from_files,
    ),
    (
        "a_document_that_says_nothing_is_named",
        a_document_that_says_nothing_is_named,
    ),
    ("eight_at_once_lose_nothing", eight_at_once_lose_nothing),
    ("whatever_texts_hold_is_kept", whatever_texts_hold_is_kept),
    (
        "runs_of_one_millisecond_stay_two",
        runs_of_one_millisecond_stay_two,
    ),
    ("it_answers_by_filters", it_answers_by_filters),
    (
        "a_killed_run_keeps_what_it_finished",
        a_killed_run_keeps_what_it_finished,
    ),
    ("bisect_writes_too", bisect_writes_too),
    ("history_is_shown", history_is_shown),
    ("reading_makes_nothing", reading_makes_nothing),
];

macro_rules! on_a_file {
    ($($name:ident),+ $(,)?) => {
        mod on_a_file {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::file());
            })+
        }
    };
}

on_a_file!(
    every_command_writes,
    the_views_are_those_of_dashboards,
    attempts_and_evaluators_are_kept,
    what_is_not_known_is_null,
    options_leave_out,
    no_secret_gets_in,
    runs_come_back_from_their_files,
    what_was_known_last_of_a_scenario_stays,
    merged_results_are_those_of_their_parts,
    a_run_that_goes_on_is_not_over,
    files_fill_another_database,
    old_runs_go,
    a_newer_schema_is_refused,
    an_older_schema_is_made_anew_from_files,
    a_document_that_says_nothing_is_named,
    eight_at_once_lose_nothing,
    whatever_texts_hold_is_kept,
    runs_of_one_millisecond_stay_two,
    it_answers_by_filters,
    a_killed_run_keeps_what_it_finished,
    bisect_writes_too,
    history_is_shown,
    reading_makes_nothing,
);

fn every_command_writes(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["record"]);
    place.expect(0, &["compare"]);
    shop(&place.project, "tea", "8.50", "");
    place.expect(1, &["compare"]);
    place.expect(0, &["run"]);
    let runs: Vec<(String, Option<u8>, [u64; 4])> = place
        .runs()
        .into_iter()
        .inspect(|it| assert_eq!(it.status, "completed"))
        .map(|it| {
            let counted = [it.total, it.passed, it.failed, it.recorded];
            (it.command, it.exit_code, counted)
        })
        .collect();
    assert_eq!(
        runs,
        [
            ("record".to_owned(), Some(0), [1, 0, 0, 1]),
            ("compare".to_owned(), Some(0), [1, 1, 0, 0]),
            ("compare".to_owned(), Some(1), [1, 0, 1, 0]),
            ("run".to_owned(), Some(0), [1, 1, 0, 0]),
        ]
    );
    let results = place.results("order by created_at");
    let status: Vec<&str> = results.iter().map(|it| it.result.status.name()).collect();
    assert_eq!(status, ["recorded", "passed", "failed", "passed"]);
    let failed = &results[2];
    assert_eq!((failed.history.changes, failed.history.attempts), (1, 1));
    assert!(failed.result.reason.as_ref().unwrap().contains("8.5"));
    assert_eq!(
        place.scalar("select expected_tools from results where status = 'failed'"),
        r#"["mcp__shop__price","mcp__shop__pay"]"#
    );
    // What only looks at stored runs again writes nothing.
    place.expect(1, &["compare", "--run", "latest"]);
    assert_eq!(place.scalar("select count(*) from runs"), 4);
    let calls: Vec<(u64, &str, Option<&str>, &str)> = results[3]
        .tool_calls
        .iter()
        .map(|it| (it.number, &*it.tool, it.server.as_deref(), &*it.status))
        .collect();
    let shop = Some("shop");
    assert_eq!(calls, [(1, "price", shop, "ok"), (2, "pay", shop, "ok")]);
    let ids = place.rows("select id, run_id, scenario_id from results");
    for row in ids {
        let [id, run, scenario] = [0, 1, 2].map(|at| row[at].as_str().unwrap());
        assert_eq!(id, result_id(run, scenario));
    }
}

fn the_views_are_those_of_dashboards(place: &Place) {
    shop(&place.project, "good", "7.50", "");
    shop(
        &place.project,
        "bad",
        "7.50",
        "success_criteria: [{ text: not said }]",
    );
    shop(&place.project, "off", "7.50", "enabled: false");
    place
        .project
        .faulty("broken", &["exit"], &[("nothing", json!({}))]);
    place.expect(1, &["run"]);
    place.expect(0, &["record", "scenarios/good.yaml"]);
    let found = place.answer("select * from test_results order by test_name");
    assert_eq!(
        found.columns,
        [
            "id",
            "test_name",
            "prompt",
            "expected_tools",
            "actual_tools",
            "judge_verdict",
            "created_at",
            "duration_ms",
            "status"
        ]
    );
    // What was skipped or recorded is no result of a test.
    let results: Vec<[&Value; 3]> = found
        .rows
        .iter()
        .map(|it| [&it[1], &it[2], &it[8]])
        .collect();
    assert_eq!(
        results,
        [
            [&json!("bad"), &json!("Buy the tea"), &json!("failed")],
            [&json!("broken"), &Value::Null, &json!("error")],
            [&json!("good"), &json!("Buy the tea"), &json!("passed")],
        ]
    );
    let verdict: Value = serde_json::from_str(found.rows[0][5].as_str().unwrap()).unwrap();
    assert_eq!(verdict["passed"], false);
    assert!(
        verdict["reasoning"].as_str().unwrap().contains("not said"),
        "{verdict}"
    );
    assert_eq!(verdict["confidence"], Value::Null);
    let runs = place.answer("select * from test_runs order by started_at");
    assert_eq!(
        runs.columns,
        [
            "id",
            "name",
            "configuration_id",
            "total_tests",
            "passed_tests",
            "failed_tests",
            "started_at",
            "completed_at",
            "status"
        ]
    );
    assert_eq!(runs.rows[0][1], "run");
    assert_eq!(runs.rows[0][3..6], [json!(3), json!(1), json!(2)]);
    assert_eq!(runs.rows[0][8], "completed");
    let known = place.answer("select * from test_configurations order by id");
    assert_eq!(
        known.columns,
        [
            "id",
            "name",
            "description",
            "server_configs",
            "judge_config",
            "created_at",
            "updated_at"
        ]
    );
    assert_eq!(known.rows.len(), 4);
    assert_eq!(known.rows[0][3], r#"[{"name":"shop","type":"mock"}]"#);
    // What is quarantined decides nothing, also in a database that is made anew.
    let quarantine = "quarantine: [{ name: bad, reason: r, until: 2999-12-31 }]\n";
    place
        .project
        .file("scenarios/_suites/nightly.yaml", quarantine);
    place.expect(0, &["run", "--suite", "nightly", "--tag", "shop"]);
    let again = place.another();
    copy(
        &place.project.path(".mcp-eval/runs"),
        &again.project.path(".mcp-eval/runs"),
    );
    again.expect(0, &["db", "rebuild"]);
    for place in [place, &again] {
        let latest = "order by started_at desc limit 1";
        let counted = "select total_tests, passed_tests, failed_tests from test_runs";
        assert_eq!(
            place.rows(&format!("{counted} {latest}")),
            [[json!(2), json!(1), json!(0)]]
        );
        let runs = place.runs();
        let of = runs.last().unwrap();
        assert_eq!((of.total, of.passed, of.failed, of.errors), (2, 1, 0, 0));
    }
}

fn attempts_and_evaluators_are_kept(place: &Place) {
    shop(
        &place.project,
        "tea",
        "7.50",
        "evaluators: [{ type: trace-no-errors }]",
    );
    place.expect(0, &["run", "--repeat", "3"]);
    let [kept] = &place.results("")[..] else {
        panic!("one result");
    };
    let course = &kept.history;
    assert_eq!(
        [
            course.attempts,
            course.attempts_passed,
            course.attempts_judged
        ],
        [3, 3, 3]
    );
    assert!(!course.flaky);
    // The calls of the attempt that is shown, and how many there were in all.
    assert_eq!(kept.tool_calls.len(), 2);
    assert_eq!(place.scalar("select tool_calls from results"), 6);
    let [found] = &kept.evaluators[..] else {
        panic!("{kept:?}");
    };
    assert_eq!(
        (&*found.kind, found.gates(), found.status.name()),
        ("trace-no-errors", true, "passed")
    );
}

fn what_is_not_known_is_null(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.project.file(
        "llm.yaml",
        "llm_interactions:\n  - text: Done\n    usage: { input: 120, output: 30 }\n",
    );
    let (_model, url) = stand_in(&place.project, "llm.yaml");
    let agent = format!("agent: {{ kind: openai, model: m, base_url: \"{url}\" }}\n");
    shop(&place.project, "asked", "7.50", &agent);
    place.expect(1, &["run"]);
    let [asked, tea] = &place.results("order by test_name")[..] else {
        panic!("two results");
    };
    // A model was asked, and nobody knows what that costs.
    let tokens = asked.history.tokens.each;
    assert_eq!((tokens.input, tokens.output), (Some(120), Some(30)));
    assert_eq!(asked.result.model.as_deref(), Some("m"));
    assert_eq!(asked.result.cost, None);
    assert_eq!(tea.history.tokens, Tokens::default());
    assert_eq!((tea.result.cost, &tea.result.model), (None, &None));
    assert_eq!(tea.history.source, None);
    let columns = "select cost, model from results where test_name = 'tea'";
    assert_eq!(place.rows(columns), [[Value::Null, Value::Null]]);
}

fn options_leave_out(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    place.expect(0, &["run", "--no-identity"]);
    let rows = place.rows("select document from runs order by started_at");
    let who = rows.iter().map(|row| {
        let document: Value = serde_json::from_str(row[0].as_str().unwrap()).unwrap();
        document["identity"].clone()
    });
    let who: Vec<Value> = who.collect();
    assert_eq!(who[0]["who"], "somebody");
    assert!(who[0]["host"].is_string(), "{who:?}");
    assert_eq!(who[1], json!({ "host": null, "who": null }));
    place.expect(0, &["run", "--no-db"]);
    assert_eq!(place.scalar("select count(*) from runs"), 2);
    let elsewhere = Project::new();
    shop(&elsewhere, "tea", "7.50", "");
    elsewhere.expect(0, &["run", "--no-db"]);
    assert!(!elsewhere.path(".mcp-eval/results.db").exists());
    elsewhere.expect(0, &["run"]);
    assert!(elsewhere.path(".mcp-eval/results.db").is_file());
}

fn no_secret_gets_in(place: &Place) {
    place.project.file(
        "scenarios/tea.yaml",
        r#"
name: Tea
user_intent: Pay with {{token}}
variables:
  token: { value: "${TOKEN}", secret: true }
servers: { shop: { type: mock }, far: { type: stdio, command: none, args: ["--key", "sk-ant-api03-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"], env: { API_KEY: "${TOKEN}" } } }
mcp_interactions:
  shop:
    tools:
      - { name: pay, responses: [{ content: "paid with {{token}}" }] }
agent: { kind: scripted, calls: [{ tool: mcp__shop__pay, args: { with: "{{token}}" } }] }
expected_trajectory: [{ tool: mcp__shop__pay, args: { with: "{{token}}" } }]
"#,
    );
    let ran = ran(place.command().arg("run").env("TOKEN", "Xy77-of-mine-9q"));
    assert!(!ran.all().contains("Xy77-of-mine"), "{ran:#?}");
    assert_eq!(place.scalar("select count(*) from results"), 1);
    let tables = ["runs", "scenarios", "results"];
    let all = tables.map(|it| place.rows(&format!("select * from {it}")));
    assert!(all.iter().all(|it| !it.is_empty()), "{all:?}");
    let all = format!("{all:?}");
    for secret in ["Xy77-of-mine", "zzzzzzzzzzzz"] {
        assert!(!all.contains(secret), "{all}");
    }
}

fn runs_come_back_from_their_files(place: &Place) {
    shop(
        &place.project,
        "tea",
        "7.50",
        "evaluators: [{ type: trace-no-errors }]",
    );
    shop(&place.project, "off", "7.50", "enabled: false");
    place.expect(0, &["record"]);
    place.expect(0, &["compare", "--repeat", "2"]);
    place.expect(0, &["compare", "--run", "latest"]);
    let all = |place: &Place| {
        let tables = [
            "select id, run, name, command, status, started_at, total, document from runs order by id",
            "select id, run_id, scenario_id, test_name, prompt, status, duration_ms, expected_tools, actual_tools, verdict, is_final, \
             quarantined, agent, tool_calls from results order by id",
            "select id, name, description, server_configs, judge_config from scenarios order by id",
        ];
        // Files tell of no other moment than that at which a run began.
        let mut results = place.results("order by id");
        for it in &mut results {
            it.result.timestamp.clear();
            it.history.at.clear();
        }
        (tables.map(|it| place.rows(it)), results)
    };
    let before = all(place);
    // One whose files are gone stays.
    let gone = place.scalar("select id from runs where command = 'record'");
    let gone = gone.as_str().unwrap();
    let again = place.another();
    copy(
        &place.project.path(".mcp-eval/runs"),
        &again.project.path(".mcp-eval/runs"),
    );
    fs::remove_dir_all(place.project.path(format!(".mcp-eval/runs/{gone}"))).unwrap();
    place
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 0 results added");
    assert_eq!(all(place), before);
    again
        .expect(0, &["db", "rebuild"])
        .says("3 runs read, 2 runs and 4 results added");
    assert_eq!(all(&again), before);
    again
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 0 results added");
    again.project.file(".mcp-eval/runs/broken/result.json", "{");
    again
        .expect(0, &["db", "rebuild"])
        .says("1 folder holds no result that can be read");
    // A copy that is called otherwise is no run of its own.
    let run = again.scalar("select id from runs where command = 'compare'");
    let run = again
        .project
        .path(format!(".mcp-eval/runs/{}", run.as_str().unwrap()));
    copy(&run, &again.project.path(".mcp-eval/runs/copy"));
    again
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 0 results added; 2 folders hold no result that can be read");
}

fn what_was_known_last_of_a_scenario_stays(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run", "--no-db"]);
    place
        .project
        .edit("scenarios/tea.yaml", "name: tea", "name: Green tea");
    place.expect(0, &["run"]);
    // The older run comes later, and tells nothing new.
    place
        .expect(0, &["db", "rebuild"])
        .says("1 runs and 1 results added");
    assert_eq!(
        place.rows("select test_name from results order by created_at"),
        [[json!("tea")], [json!("Green tea")]]
    );
    assert_eq!(place.scalar("select name from scenarios"), "Green tea");
}

fn merged_results_are_those_of_their_parts(place: &Place) {
    for name in ["milk", "tea"] {
        shop(&place.project, name, "7.50", "");
    }
    for part in ["1", "2"] {
        let (shard, folder) = (format!("{part}/2"), format!("parts/{part}"));
        place.expect(0, &["run", "--shard", &shard, "--output", &folder]);
    }
    place.expect(0, &["merge", "parts"]);
    assert_eq!(place.scalar("select count(*) from runs"), 2);
    place
        .expect(0, &["db", "rebuild"])
        .says("3 runs read, 0 runs and 0 results added");
    assert_eq!(place.scalar("select count(*) from results"), 2);
}

/// Whatever kind it is of, and wherever results were written before.
fn files_fill_another_database(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.project.expect(0, &["run", "--db", "first.db"]);
    place.project.expect(0, &["run", "--db", "first.db"]);
    place
        .expect(0, &["db", "rebuild"])
        .says("2 runs read, 2 runs and 2 results added");
    place
        .expect(0, &["db", "info"])
        .says("2 runs, 2 results of 1 scenario, 4 tool calls");
    place
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 0 results added");
}

fn reading_makes_nothing(place: &Place) {
    if place.is_file() {
        place.project.file(".mcp-eval/results.db", "");
    }
    for command in [&["history"][..], &["history", "--names"], &["db", "info"]] {
        place
            .expect(3, command)
            .says("there is no mcp-eval database there");
    }
    if place.is_file() {
        assert_eq!(place.project.read(".mcp-eval/results.db"), "");
    } else {
        let tables = "select count(*) from information_schema.tables where table_schema = 'public'";
        assert_eq!(place.scalar(tables), 0);
    }
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    place.expect(0, &["history"]).says("tea");
}

fn old_runs_go(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    for _ in 0..3 {
        place.expect(0, &["run"]);
    }
    shop(&place.project, "milk", "1.00", "");
    let kept = place.rows("select id from runs order by started_at desc limit 2");
    place
        .expect(0, &["db", "prune", "--keep", "2", "--dry-run"])
        .says("1 runs with 1 results would go, 2 runs stay");
    assert_eq!(place.scalar("select count(*) from runs"), 3);
    place
        .expect(0, &["db", "prune", "--keep", "2"])
        .says("1 runs with 1 results removed, 2 runs stay");
    assert_eq!(
        place.rows("select id from runs order by started_at desc"),
        kept
    );
    assert_eq!(place.scalar("select count(*) from results"), 2);
    place
        .expect(0, &["db", "prune", "--keep", "2"])
        .says("0 runs with 0 results removed");
    place.expect(2, &["db", "prune", "--keep", "0"]);
    place
        .expect(0, &["db", "info"])
        .says("2 runs, 2 results of 1 scenario, 4 tool calls");
    prune_leaves_what_goes_on(place);
}

/// Of four runs, two go: one of those that stay is not over, and nobody has asked for the milk but one of those that go.
fn prune_leaves_what_goes_on(place: &Place) {
    place.expect(0, &["run"]);
    fs::remove_file(place.project.path("scenarios/milk.yaml")).unwrap();
    place.expect(0, &["run"]);
    place.execute(
        "update runs set status = 'running' where started_at = (select min(started_at) from runs)",
    );
    assert_eq!(place.scalar("select count(*) from scenarios"), 2);
    place
        .expect(0, &["db", "prune", "--keep", "1"])
        .says("2 runs with 3 results removed, 2 runs stay");
    assert_eq!(
        place.rows("select status from runs order by started_at"),
        [[json!("running")], [json!("completed")]]
    );
    assert_eq!(place.scalar("select id from scenarios"), "tea");
    let info = place.expect(0, &["db", "info", "--format", "json"]).stdout;
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(
        (&info["results"], &info["schema"], &info["damage"]),
        (&json!(2), &json!(3), &json!([]))
    );
}

/// Changes what the database says of its version.
fn set_version(place: &Place, version: u32) {
    if place.is_file() {
        let file = rusqlite::Connection::open(place.project.path(".mcp-eval/results.db")).unwrap();
        file.pragma_update(None, "user_version", version).unwrap();
    } else {
        place.execute(&format!("insert into mcp_eval_schema values ({version})"));
    }
}

fn a_newer_schema_is_refused(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    set_version(place, 99);
    let ran = place.expect(0, &["run"]);
    ran.says("1 result is not in the results database");
    ran.says("its schema is version 99, and this mcp-eval knows versions up to 3: a newer mcp-eval can read it");
    assert_eq!(place.scalar("select count(*) from runs"), 1);
    place
        .expect(3, &["db", "rebuild"])
        .says("its schema is version 99");
}

/// What an earlier mcp-eval has made, with the columns that tell it from ours, and two results.
const VERSION_2: &str = "
    create table runs (id text primary key, run text not null, status text not null, started_at text not null, passed bigint,
      unique (run, started_at));
    create index runs_by_time on runs (started_at);
    create table scenarios (id text primary key, name text not null, path text);
    create table results (id text primary key, run_id text not null references runs (id) on delete cascade, scenario_id text not null,
      test_name text not null, status text not null, created_at text not null, flaky bigint);
    create index results_by_run on results (run_id);
    create index results_by_scenario on results (scenario_id, created_at);
    create index results_by_name on results (test_name, created_at);
    create index results_by_time on results (created_at);
    create table attempts (result_id text not null references results (id) on delete cascade, number bigint);
    create table evaluations (result_id text not null references results (id) on delete cascade, number bigint);
    create table tool_calls (result_id text not null references results (id) on delete cascade, number bigint);
    create view test_results as select id, test_name, status from results;
    create view test_configurations as select id, name from scenarios;
    create view test_runs as select id, passed as passed_tests from runs;
    insert into runs values ('r', 'r', 'completed', '2026-01-01T00:00:00.000000Z', 2);
    insert into results values ('1', 'r', 'tea', 'tea', 'passed', '2026-01-01T00:00:00.000000Z', 0);
    insert into results values ('2', 'r', 'milk', 'milk', 'passed', '2026-01-01T00:00:00.000000Z', 0);
    insert into tool_calls values ('1', 1);
";

fn an_older_schema_is_made_anew_from_files(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.project.expect(0, &["run", "--no-db"]);
    // As it was made before there were views, too.
    let without_views =
        "drop view test_results; drop view test_configurations; drop view test_runs;";
    for (version, more, place) in [(2, "", place), (1, without_views, &place.another())] {
        let own = place.project.path(".mcp-eval/runs");
        if !own.exists() {
            shop(&place.project, "tea", "7.50", "");
            place.project.expect(0, &["run", "--no-db"]);
        }
        place.execute(&format!("{VERSION_2}{more}"));
        if place.is_file() {
            place.execute("pragma application_id = 1835233381");
        } else {
            place.execute("create table mcp_eval_schema (version bigint primary key)");
        }
        set_version(place, version);
        let note = "was of an earlier version, and was rebuilt with 1 result from the files of the runs: what it held before, 2 results, is \
                    kept in its tables `results_before_3` and so on";
        let ran = place.expect(0, &["history"]);
        ran.says(note).says("tea");
        assert_eq!(ran.all().matches("earlier version").count(), 1, "{ran:#?}");
        assert_eq!(place.scalar("select status from test_results"), "passed");
        assert_eq!(place.scalar("select passed_tests from test_runs"), 1);
        for (table, count) in [("results", 2), ("tool_calls", 1), ("attempts", 0)] {
            let kept = place.scalar(&format!("select count(*) from {table}_before_3"));
            assert_eq!(kept, count, "{table}");
        }
        // It is done once, and is a database as any other from then on.
        place.expect(0, &["run"]).says_not("earlier version");
        let info = place.expect(0, &["db", "info"]);
        info.says("schema 3")
            .says("2 runs, 2 results of 1 scenario");
        place.expect(0, &["db", "prune", "--keep", "1"]);
        assert_eq!(place.scalar("select count(*) from results"), 1);
        assert_eq!(place.scalar("select count(*) from results_before_3"), 2);
    }
}

fn a_document_that_says_nothing_is_named(place: &Place) {
    for name in ["milk", "tea"] {
        shop(&place.project, name, "7.50", "");
    }
    place.expect(0, &["run"]);
    let id = place.scalar("select id from results where scenario_id = 'tea'");
    let id = id.as_str().unwrap();
    place.execute(&format!(
        "update results set document = '{{\"result\": {{}}}}' where id = '{id}'"
    ));
    place
        .expect(3, &["history"])
        .says(&format!("the document of `{id}` cannot be read"));
    place.expect(0, &["history", "milk"]).says("1 result");
    // What is said to be done about it helps.
    place.execute(&format!("delete from results where id = '{id}'"));
    place
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 1 results added");
    place.expect(0, &["history"]).says("tea");
    place.execute("update runs set document = ''");
    let address = Address::parse(&place.absolute()).unwrap();
    let database = Database::new(address, Options::default());
    let error = runtime().block_on(database.runs(10, 0)).unwrap_err();
    let run = place.scalar("select id from runs");
    let named = format!("the document of `{}` cannot be read", run.as_str().unwrap());
    assert!(error.to_string().contains(&named), "{error}");
}

fn eight_at_once_lose_nothing(place: &Place) {
    let scenarios = 5;
    let places: Vec<Place> = (0..8).map(|_| place.elsewhere()).collect();
    let started: Vec<Child> = places
        .iter()
        .map(|it| {
            for scenario in 0..scenarios {
                shop(&it.project, &format!("s{scenario}"), "7.50", "");
            }
            let mut command = it.command();
            command
                .args(["run", "-q"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in started {
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        assert_eq!(said, "", "nothing went wrong");
    }
    assert_eq!(
        place.scalar("select count(*) from runs where status = 'completed'"),
        8
    );
    assert_eq!(
        place.scalar("select count(*) from results where status = 'passed'"),
        8 * scenarios
    );
    assert_eq!(
        place.scalar("select cast(sum(tool_calls) as bigint) from results"),
        8 * scenarios * 2
    );
}

fn whatever_texts_hold_is_kept(place: &Place) {
    let name = "it's \"a\" name; DROP TABLE results; -- \u{202e} 茶 🫖 %_\\";
    let scenario = json!({
        "name": name,
        "user_intent": "x".repeat(100_000),
        "tags": ["it's", "a\"b"],
        "servers": { "shop": { "type": "mock" } },
        "mcp_interactions": { "shop": { "tools": [{ "name": "pay", "responses": [{ "content": "a\u{0}b\u{1b}[2J\u{7}" }] }] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "mcp__shop__pay", "args": { "n": 1e308, "a\u{0}b": "\u{0}", "i": u64::MAX } }] },
        "expected_trajectory": [{ "tool": "mcp__shop__pay", "args": { "n": 1e308, "a\u{0}b": "\u{0}", "i": u64::MAX } }],
    });
    place
        .project
        .file("scenarios/odd name's.yaml", scenario.to_string());
    let said = place.expect(0, &["run", "-q"]).stderr;
    assert_eq!(said, "");
    let rows = place.rows("select test_name, scenario_id from results");
    assert_eq!(rows[0][0], name);
    assert_eq!(rows[0][1], "odd name's");
    let kept = place.results("").remove(0).result;
    assert_eq!(
        (&*kept.name, &kept.tags[..]),
        (name, &["it's".to_owned(), "a\"b".to_owned()][..])
    );
    let prompt = place.scalar("select length(prompt) from results");
    assert_eq!(prompt, 100_000);
}

fn runs_of_one_millisecond_stay_two(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    place.expect(0, &["run"]);
    let run = place.scalar("select id from runs");
    let run = run.as_str().unwrap();
    // Somebody else's run of the same name, which began a little later.
    let other = place.elsewhere();
    copy(
        &place.project.path(".mcp-eval/runs"),
        &other.project.path(".mcp-eval/runs"),
    );
    let file = format!(".mcp-eval/runs/{run}/result.json");
    let mut result: Value = serde_json::from_str(&other.project.read(&file)).unwrap();
    result["started_at"] = json!("2031-01-02T03:04:05.678901Z");
    other.project.file(&file, result.to_string());
    other
        .expect(0, &["db", "rebuild"])
        .says("1 runs and 1 results added");
    other
        .expect(0, &["db", "rebuild"])
        .says("0 runs and 0 results added");
    let runs = place.rows("select id, run, started_at from runs order by started_at");
    assert_eq!(runs.len(), 2);
    assert_eq!((&runs[0][1], &runs[1][1]), (&json!(run), &json!(run)));
    assert!(
        runs[1][0].as_str().unwrap().starts_with(&format!("{run}~")),
        "{runs:?}"
    );
    let results = place.results("order by run_id");
    let ids = [0, 1].map(|at| runs[at][0].as_str().unwrap());
    for (it, run) in results.iter().zip(ids) {
        let id = result_id(run, "tea");
        assert_eq!((&*it.result.run_id, &it.result.result_id), (run, &id));
        assert_eq!((&*it.history.run, &it.history.id), (run, &id));
    }
    assert_eq!(
        place.scalar("select count(distinct run_id) from results"),
        2
    );
}

fn it_answers_by_filters(place: &Place) {
    shop(&place.project, "tea", "7.50", "");
    shop(
        &place.project,
        "bad",
        "7.50",
        "success_criteria: [{ text: not said }]",
    );
    place.expect(1, &["run"]);
    place.expect(0, &["run", "scenarios/tea.yaml"]);
    let database = Database::new(
        Address::parse(&place.absolute()).unwrap(),
        Options::default(),
    );
    runtime().block_on(async {
        let runs = database.runs(10, 0).await.unwrap();
        assert_eq!(runs.total, 2);
        let [latest, first] = &runs.rows[..] else {
            panic!("{runs:?}");
        };
        assert_eq!(
            (latest.total, latest.passed, latest.exit_code),
            (1, 1, Some(0))
        );
        assert_eq!(
            (first.total, first.passed, first.failed, first.exit_code),
            (2, 1, 1, Some(1))
        );
        assert_eq!(
            database.run(&first.run_id).await.unwrap().as_ref(),
            Some(first)
        );
        assert_eq!(database.run("none").await.unwrap(), None);
        let of = |filter: ResultFilter| {
            let database = database.clone();
            async move {
                let page = database.results(&filter).await.unwrap();
                let names = page.rows.iter().map(|it| it.name.clone());
                (names.collect::<Vec<_>>(), page.total)
            }
        };
        let all = ResultFilter::default();
        assert_eq!(of(all.clone()).await.1, 3);
        assert_eq!(
            of(ResultFilter {
                limit: 1,
                ..all.clone()
            })
            .await,
            (vec!["tea".to_owned()], 3)
        );
        assert_eq!(
            of(ResultFilter {
                offset: 3,
                ..all.clone()
            })
            .await,
            (vec![], 3)
        );
        let failed = ResultFilter {
            status: Some(Status::Failed),
            ..all.clone()
        };
        assert_eq!(of(failed).await, (vec!["bad".to_owned()], 1));
        let name = Some("tea".to_owned());
        assert_eq!(
            of(ResultFilter {
                name: name.clone(),
                ..all.clone()
            })
            .await
            .1,
            2
        );
        assert_eq!(
            of(ResultFilter {
                scenario: name,
                run: Some(first.run_id.clone()),
                ..all.clone()
            })
            .await
            .1,
            1
        );
        let since = Some("2100-01-01T00:00:00Z".parse().unwrap());
        assert_eq!(
            of(ResultFilter {
                since,
                ..all.clone()
            })
            .await
            .1,
            0
        );
        let page = database.results(&all).await.unwrap();
        let since = page.rows[0].timestamp.parse().ok();
        assert_eq!(
            of(ResultFilter {
                since,
                ..all.clone()
            })
            .await,
            (vec!["tea".to_owned()], 1),
            "the moment itself is in it"
        );
        let id = result_id(&first.run_id, "bad");
        let detail = database.result_of(&id).await.unwrap().unwrap();
        assert_eq!(detail.result.status, Status::Failed);
        assert_eq!(detail.result.tags, ["shop", "nightly"]);
        assert_eq!(detail.tool_calls.len(), 2);
        assert_eq!(database.result_of("none").await.unwrap(), None);
        let stats = database.stats().await.unwrap();
        assert_eq!(
            (
                stats.runs,
                stats.results,
                stats.scenarios,
                stats.passed,
                stats.failed
            ),
            (2, 3, 2, 2, 1)
        );
        assert!(
            (stats.pass_rate.unwrap() - 2.0 / 3.0).abs() < 1e-9,
            "{stats:?}"
        );
        assert_eq!(stats.known_cost, None);
        let health = database.health().await.unwrap();
        assert_eq!(
            health.kind,
            if place.is_file() {
                "sqlite"
            } else {
                "postgresql"
            }
        );
        assert_eq!(database.flush().await, [""; 0]);
    });
    // What did not end in time is an error, and has no part in the share.
    place.execute("update results set status = 'timeout' where test_name = 'bad'");
    let stats = runtime().block_on(database.stats()).unwrap();
    assert_eq!((stats.failed, stats.errors), (0, 1));
    assert_eq!(stats.pass_rate, Some(1.0));
}

/// A run whose first scenario is done, and whose second one never ends.
fn stuck(place: &Place) -> Child {
    shop(&place.project, "a", "7.50", "");
    place.project.faulty("b", &["hang"], &[("echo", json!({}))]);
    let child = place
        .command()
        .args(["run", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let finished = || {
        let is_there = !place.is_file() || place.project.path(".mcp-eval/results.db").exists();
        is_there
            && place
                .try_rows("select status from results")
                .is_some_and(|it| !it.is_empty())
    };
    while !finished() {
        assert!(
            started.elapsed() < Duration::from_secs(50),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn a_run_that_goes_on_is_not_over(place: &Place) {
    let mut child = stuck(place);
    place.expect(0, &["db", "rebuild"]);
    let status = place.scalar("select status from runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status, "running");
}

fn a_killed_run_keeps_what_it_finished(place: &Place) {
    let mut child = stuck(place);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        place.rows("select scenario_id, status from results"),
        [[json!("a"), json!("passed")]]
    );
    assert_eq!(place.scalar("select status from runs"), "running");
    // The files of the run tell less, and take nothing away.
    place.expect(0, &["db", "rebuild"]);
    assert_eq!(
        place.rows("select scenario_id, status from results order by scenario_id"),
        [
            [json!("a"), json!("passed")],
            [json!("b"), json!("interrupted")]
        ]
    );
    let of = &place.runs()[0];
    assert_eq!(
        (of.status.as_str(), of.total, of.passed, of.errors),
        ("interrupted", 2, 1, 1)
    );
    shop(&place.project, "b", "7.50", "");
    place.expect(0, &["run"]);
    assert_eq!(
        place.scalar("select count(*) from results where status = 'passed'"),
        3
    );
}

fn bisect_writes_too(place: &Place) {
    let server = "#!/bin/sh\nexec mcp-eval mock \"$(dirname \"$0\")/mock.yaml\"\n";
    place.project.file("server/run.sh", server);
    Command::new("chmod")
        .arg("+x")
        .arg(place.project.path("server/run.sh"))
        .status()
        .unwrap();
    let mut commits = Vec::new();
    for price in ["7.50", "7.50", "8.50", "8.50"] {
        let text = format!(
            "mcp_interactions:\n  shop:\n    tools:\n      - {{ name: price, annotations: {{ read_only_hint: true }}, responses: [{{ content: \"{price}\" }}] }}\n"
        );
        place.project.file("server/mock.yaml", text);
        place
            .project
            .file("server/note", format!("{}", commits.len()));
        commits.push(commit_all(&place.project.path("server"), "Change"));
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mcp-eval"))
        .parent()
        .unwrap();
    place.project.file(
        "scenarios/tea.yaml",
        "name: tea\nsource: { repo: ../server }\nservers: { shop: { type: stdio, command: \"${source.dir}/run.sh\" } }\n\
         agent: { kind: scripted, calls: [{ tool: mcp__shop__price, args: {} }] }\n",
    );
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let done = ran(place
        .command()
        .args(["bisect", "--good", &commits[0]])
        .env("PATH", path));
    assert_eq!(done.code, 0, "{done:#?}");
    done.says(&format!("first bad commit: {}", commits[2]));
    let runs = place.rows("select command from runs");
    assert!(
        runs.len() > 2 && runs.iter().all(|it| it[0] == "bisect"),
        "{runs:?}"
    );
    // What it came by on its way is no result of the suite as it is.
    let found = |place: &Place| {
        let [last] = &place.results("where is_final = 1")[..] else {
            panic!("one is final");
        };
        assert_eq!(last.history.source.as_ref().unwrap().commit, commits[2]);
        assert_eq!(last.result.status, Status::Failed);
    };
    found(place);
    assert_eq!(place.scalar("select count(*) from test_results"), 1);
    let database = Database::new(
        Address::parse(&place.absolute()).unwrap(),
        Options::default(),
    );
    let listed = runtime().block_on(database.results(&ResultFilter::default()));
    assert_eq!(listed.unwrap().total, 1);
    // A search is no course of things: it went back and forth.
    place
        .expect(3, &["history", "tea"])
        .says("there are no results of `tea`");
    let again = place.another();
    copy(
        &place.project.path(".mcp-eval/runs"),
        &again.project.path(".mcp-eval/runs"),
    );
    again.expect(0, &["db", "rebuild"]);
    found(&again);
}

fn history_is_shown(place: &Place) {
    shop(&place.project, "it's tea", "7.50", "");
    shop(&place.project, "milk", "7.50", "");
    for _ in 0..3 {
        place.expect(0, &["run"]);
    }
    let history = place
        .expect(
            0,
            &[
                "history", "--format", "json", "--last", "2", "--since", "1h", "--tag", "shop",
            ],
        )
        .stdout;
    let history: Value = serde_json::from_str(&history).unwrap();
    let scenarios = history["scenarios"].as_array().unwrap();
    let counts: Vec<(&Value, usize)> = scenarios
        .iter()
        .map(|it| (&it["id"], it["results"].as_array().unwrap().len()))
        .collect();
    assert_eq!(counts, [(&json!("it's tea"), 2), (&json!("milk"), 2)]);
    place
        .expect(0, &["history", "it's tea"])
        .says("3 results, 3 of 3 passed (100 %)");
    place
        .expect(3, &["history", "no tea"])
        .says("there are no results of `no tea`");
}
