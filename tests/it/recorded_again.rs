//! Recording again what has not changed leaves the files byte for byte as they were, and of what has changed, only that is new.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_eval::model::Trajectory;
use mcp_eval::model::rules::Rules;
use mcp_eval::published::trajectory;
use mcp_eval::redact::Redactor;
use mcp_eval::score;
use serde_json::{Value, json};

use crate::common::{Project, commit_all};
use crate::score_kit::recorded;

/// All files of a project's baselines, with what they hold.
pub(crate) fn baselines(project: &Project) -> BTreeMap<String, Vec<u8>> {
    fn collect(folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else {
                files.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    collect(&project.path("baselines"), &mut files);
    files
}

/// The paths of a repository's files that differ from the last commit, or are new.
pub(crate) fn changed(project: &Project) -> Vec<String> {
    let repository = git2::Repository::open(project.path("")).unwrap();
    let mut options = git2::StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true);
    let found = repository.statuses(Some(&mut options)).unwrap();
    let paths = found.iter().map(|it| it.path().unwrap().to_owned());
    paths.collect()
}

/// A scenario of a server that says the time and makes up ids, which later calls use, and tells how busy it is.
pub(crate) fn restless(project: &Project) {
    let scenario = json!({
        "name": "Restless",
        "servers": { "desk": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [
            { "tool": "open", "args": { "title": "A leak" } },
            { "tool": "show", "args": { "id": "{{calls.0.json:/id}}" } },
            { "tool": "status", "args": {} },
            { "tool": "size", "args": {} },
        ] },
        "mcp_interactions": { "desk": { "tools": [
            { "name": "open", "responses": [{ "content": [{ "json": { "id": "{{uuid}}", "at": "{{now}}", "state": "open" } }] }] },
            { "name": "show", "annotations": { "read_only_hint": true }, "responses": [
                { "content": [{ "json": { "id": "{{args.id}}", "title": "A leak", "seen": "{{uuid}}" } }] },
            ] },
            { "name": "status", "annotations": { "read_only_hint": true }, "responses": [
                { "content": "request {{uuid}} of {{now}}: all is well" },
            ] },
            { "name": "size", "annotations": { "read_only_hint": true }, "responses": [{ "content": "12 tickets" }] },
        ] } },
    });
    project.file("scenarios/restless.yaml", scenario.to_string());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_suite_recorded_again_leaves_every_file_as_it_was() {
    let project = Project::shipped();
    restless(&project);
    fs::remove_dir_all(project.path("baselines")).unwrap();
    project.file(".gitignore", "/reports\n/.mcp-eval\n");
    project.expect(0, &["record"]);
    commit_all(&project.path(""), "as recorded");
    let before = baselines(&project);
    assert!(before.len() >= 18, "{:?}", before.keys());
    for _ in 0..2 {
        project
            .expect(0, &["record", "-v"])
            .says("nothing has changed, so baselines/restless/baseline.json stays as it is")
            .says_not("kept as");
        assert_eq!(baselines(&project), before);
        assert_eq!(changed(&project), Vec::<String>::new());
    }
    project.expect(0, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn of_what_has_changed_only_that_is_new() {
    let project = Project::new();
    restless(&project);
    let path = "baselines/restless/baseline.json";
    project.expect(0, &["record"]);
    let (before, dialogue) = (
        project.read(path),
        project.read("baselines/restless/trajectory.txt"),
    );
    project.edit("scenarios/restless.yaml", "12 tickets", "13 tickets");
    project.expect(0, &["record", "-v"]).says("kept as");
    let after = project.read(path);
    let new_lines = |before: &str, after: &str| -> Vec<String> {
        let known: Vec<&str> = before.lines().collect();
        let new = after.lines().filter(|it| !known.contains(it));
        new.map(|it| it.trim().to_owned()).collect()
    };
    let new = new_lines(&before, &after);
    assert_eq!(new, ["\"text\": \"13 tickets\""]);
    let new = new_lines(
        &dialogue,
        &project.read("baselines/restless/trajectory.txt"),
    );
    assert_eq!(new, ["ANSWER: 13 tickets"]);
    project.expect(0, &["compare", "--strict"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_id_that_goes_through_old_and_new_calls_is_one() {
    let project = Project::new();
    restless(&project);
    let path = "baselines/restless/baseline.json";
    project.expect(0, &["record"]);
    let before: Value = serde_json::from_str(&project.read(path)).unwrap();
    // The answer that shows the id changes, and the call that makes it does not.
    project.edit(
        "scenarios/restless.yaml",
        "\"title\":\"A leak\",\"seen\"",
        "\"title\":\"A flood\",\"seen\"",
    );
    project.expect(0, &["record", "-v"]).says("kept as");
    let kept: Value = serde_json::from_str(&project.read(path)).unwrap();
    let answer = |at: usize| -> Value {
        let text = kept["steps"][at]["outcome"]["content"][0]["text"].as_str();
        serde_json::from_str(text.unwrap()).unwrap()
    };
    let calls = kept["steps"].as_array().unwrap();
    let first = calls
        .iter()
        .position(|it| it["kind"] == "tool_call")
        .unwrap();
    assert_eq!(answer(first + 1)["title"], "A flood");
    assert_eq!(answer(first)["id"], answer(first + 1)["id"]);
    assert_eq!(answer(first)["id"], calls[first + 1]["arguments"]["id"]);
    assert_eq!(calls[first], before["steps"][first], "the id that it had");
    project.expect(0, &["compare", "--strict"]);
}

#[test]
fn a_call_that_is_added_to_a_script_leaves_the_others_as_they_were() {
    let project = Project::new();
    crate::review::shop(&project);
    let read =
        || -> Value { serde_json::from_str(&project.read(crate::review::BASELINE)).unwrap() };
    let before = read();
    let visit = r#"{"tool":"visit","args":{}}"#;
    let scenario = project.read("scenarios/shop.yaml");
    assert!(scenario.contains(visit), "{scenario}");
    let more = format!("{visit},{}", r#"{"tool":"price","args":{"of":"milk"}}"#);
    project.edit("scenarios/shop.yaml", visit, &more);
    project.expect(0, &["record", "-v"]).says("kept as");
    let after = read();
    let (was, is) = (
        before["steps"].as_array().unwrap(),
        after["steps"].as_array().unwrap(),
    );
    assert_eq!(is.len(), was.len() + 1);
    assert_eq!(is[..was.len()], was[..], "times and ids, too");
    assert_eq!(after["learned"].as_array().unwrap().len(), 4);
    project.expect(0, &["compare", "--strict"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_repeats_an_id_knows_which_call_makes_it_when_calls_move() {
    let project = Project::new();
    restless(&project);
    project.edit(
        "scenarios/restless.yaml",
        r#""title":"A leak","seen""#,
        r#""again":"{{args.id}}","title":"A leak","seen""#,
    );
    let read = || -> Value {
        serde_json::from_str(&project.read("baselines/restless/baseline.json")).unwrap()
    };
    let repeated = |baseline: &Value| -> Vec<Value> {
        let learned = baseline["learned"].as_array().unwrap().iter();
        let repeats = learned.filter_map(|it| it["repeats"].as_array().cloned());
        repeats.flatten().map(|it| it["call"].clone()).collect()
    };
    project.expect(0, &["record"]);
    let before = repeated(&read());
    assert!(
        !before.is_empty() && before.iter().all(|it| it == 1),
        "{before:?}"
    );
    let open = r#"{"tool":"open","#;
    let more = format!("{}{open}", r#"{"tool":"size","args":{}},"#);
    project.edit("scenarios/restless.yaml", open, &more);
    project.edit("scenarios/restless.yaml", "calls.0.json", "calls.1.json");
    project.expect(0, &["record", "-v"]).says("kept as");
    let after = repeated(&read());
    assert_eq!(after.len(), before.len());
    assert!(after.iter().all(|it| it == 2), "{after:?}");
    project.expect(0, &["compare", "--strict"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_known_to_vary_stays_known() {
    let project = Project::new();
    restless(&project);
    let path = "baselines/restless/baseline.json";
    project.expect(0, &["record"]);
    let mut edited: Value = serde_json::from_str(&project.read(path)).unwrap();
    let learned = edited["learned"].as_array_mut().unwrap();
    let size = learned.iter_mut().find(|it| it["call"] == 4).unwrap();
    assert!(size.get("varies").is_none(), "{size}");
    size["varies"] =
        json!([{ "path": "/content/0/text", "parts": [{ "token": 1, "may_be": ["number"] }] }]);
    project.file(path, serde_json::to_string_pretty(&edited).unwrap() + "\n");
    let by_hand = project.read(path);
    project.expect(0, &["record"]);
    assert_eq!(
        project.read(path),
        by_hand,
        "what people wrote is not forgotten"
    );
    // Another thing changes in the same answer.
    project.edit("scenarios/restless.yaml", "12 tickets", "14 open tickets");
    project.expect(0, &["record", "-v"]).says("kept as");
    let kept: Value = serde_json::from_str(&project.read(path)).unwrap();
    let size = (kept["learned"].as_array().unwrap().iter()).find(|it| it["call"] == 4);
    let size = size.unwrap();
    assert_eq!(size["varies"][0]["parts"][0]["token"], 1, "{size}");
    assert_eq!(size["takes"], 2, "{size}");
    project.edit(
        "scenarios/restless.yaml",
        "14 open tickets",
        "15 open tickets",
    );
    project.expect(0, &["compare", "--strict"]);
    project.edit(
        "scenarios/restless.yaml",
        "15 open tickets",
        "15 lost tickets",
    );
    project.expect(1, &["compare"]);
}

#[test]
fn an_answer_that_equals_its_structured_form_is_printed_once() {
    let project = Project::new();
    let scenario = json!({
        "name": "Twice",
        "servers": { "s": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [
            { "tool": "both", "args": {} }, { "tool": "wrapped", "args": {} }, { "tool": "other", "args": {} },
        ] },
        "mcp_interactions": { "s": { "tools": [
            { "name": "both", "responses": [{ "content": [{ "json": { "city": "Lisbon" } }], "structured_content": { "city": "Lisbon" } }] },
            { "name": "wrapped", "responses": [{ "content": "rain", "structured_content": { "result": "rain" } }] },
            { "name": "other", "responses": [{ "content": "see below", "structured_content": { "city": "Porto" } }] },
        ] } },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    let text = project.read("baselines/s/trajectory.txt");
    assert_eq!(text.matches("Lisbon").count(), 1, "{text}");
    assert!(
        text.contains("ANSWER, ALSO STRUCTURED: {\"city\":\"Lisbon\"}"),
        "{text}"
    );
    assert_eq!(text.matches("rain").count(), 1, "{text}");
    assert!(
        text.contains("ANSWER: structured {\"city\":\"Porto\"}"),
        "{text}"
    );
}

#[test]
fn a_changed_catalogue_gets_into_a_baseline_whose_answers_are_the_same() {
    let project = Project::new();
    restless(&project);
    let file = "scenarios/restless.yaml";
    let spare = r#""tools":[{"name":"spare","responses":[{"content":"x"}]},"#;
    project.edit(file, r#""tools":["#, spare);
    project.expect(0, &["record"]);
    project.edit(file, "spare", "other");
    project.expect(0, &["compare"]).says("tool `spare` is gone");
    project.expect(0, &["record", "-v"]).says("kept as");
    let offered = project.read("baselines/_catalogues/desk.json");
    assert!(offered.contains("\"other\"") && !offered.contains("\"spare\""));
    project
        .expect(0, &["compare", "--strict"])
        .says("nothing changed");
}

/// A run that creates an order and reads it: of this id, at this price.
fn ordered(id: &str, price: u32) -> Trajectory {
    let order = json!({"id": id, "total": price, "note": format!("order {id} of today")});
    recorded(&[
        json!({"tool": "mcp__s__create", "args": {}, "json": order}),
        json!({"tool": "mcp__s__get", "args": {"id": id}, "json": order, "reads": true}),
        json!({"tool": "mcp__s__list", "args": {}, "text": format!("1 order: {id}, {price} €"), "reads": true}),
    ])
}

#[test]
fn ids_of_any_number_of_words_and_numbers_stay_what_they_were() {
    let ids = [
        "ord_cfc695920be3",
        "ord_82e57c6eaeec",
        "ord_7c95abcdef01",
        "ord_111111111111",
        "ord_a1b2c3d4e5f6",
        "ord_abcdefabcdef",
        "ord_0e1000000000",
        "ord_9f8e7d6c5b4a",
    ];
    let rules = Rules::default();
    let learned = |first: &str, second: &str, price: u32| {
        let takes = [ordered(first, price), ordered(second, price)];
        let known = score::learn(&takes, &rules);
        let [mut first, _] = takes;
        (first.learned, first.bindings) = (known.answers, known.bindings);
        first
    };
    for (at, id) in ids.iter().enumerate() {
        let other = |by: usize| ids[(at + by) % ids.len()];
        let accepted = learned(id, other(1), 20);
        let now = learned(other(2), other(3), 25);
        let comparison = score::compare(&accepted, &now, &rules);
        assert!(!comparison.verdict.passed);
        let recording = score::Recording {
            kept: &now,
            comparison: &comparison,
            other_takes: &[],
        };
        let kept = score::recorded_again(&accepted, recording, &rules, &|| false);
        let kept = kept.unwrap().expect("the price is another one");
        score::check_tokens(&kept).unwrap_or_else(|why| panic!("{id}: {why}"));
        for (was, is) in accepted.calls().zip(kept.calls()) {
            let was = was.outcome.answer().unwrap().text();
            assert_eq!(
                was.replace("20", "25").replace(&id.replace("20", "25"), id),
                is.outcome.answer().unwrap().text()
            );
        }
        for by in 0..ids.len() {
            let compare = |price| score::compare(&kept, &ordered(other(by), price), &rules);
            assert!(
                compare(25).verdict.passed,
                "{id} {}: {:?}",
                other(by),
                compare(25).verdict
            );
            assert!(!compare(20).verdict.passed, "{id} {}", other(by));
        }
    }
}

/// What becomes of an accepted run that another one is accepted in the place of.
fn accepted_over(accepted: &Trajectory, now: &Trajectory) -> Trajectory {
    let rules = Rules::default();
    let comparison = score::compare(accepted, now, &rules);
    let recording = score::Recording {
        kept: now,
        comparison: &comparison,
        other_takes: &[],
    };
    let kept = score::recorded_again(accepted, recording, &rules, &|| false);
    kept.unwrap().unwrap_or_else(|| accepted.clone())
}

fn learned(takes: [Trajectory; 2]) -> Trajectory {
    let known = score::learn(&takes, &Rules::default());
    let [mut first, _] = takes;
    (first.learned, first.bindings) = (known.answers, known.bindings);
    first
}

#[test]
fn a_number_that_varies_stays_as_it_was_where_its_answer_has_changed() {
    let run = |total: u32, took: f64, shards: u32, structured: bool| {
        let answer =
            json!({"total": total, "took_ms": took, "_shards": {"ok": [shards]}, "state": "done"});
        let mut search =
            json!({"tool": "mcp__s__search", "args": {"q": "tea"}, "json": answer, "reads": true});
        if structured {
            search["structured"] = answer;
        }
        let other = json!({"tool": "mcp__s__status", "args": {}, "json": {"load": took + 1.0}, "reads": true});
        recorded(&[search, other])
    };
    for structured in [false, true] {
        let accepted = learned([run(7, 12.5, 31, structured), run(7, 14.25, 33, structured)]);
        let now = learned([run(8, 9.75, 38, structured), run(8, 11.5, 40, structured)]);
        let kept = accepted_over(&accepted, &now);
        let lines = |of: &Trajectory| -> Vec<String> {
            let text = trajectory::to_json(&Redactor::default().trajectory(of.clone()));
            text.lines().map(str::to_owned).collect()
        };
        let (before, after) = (lines(&accepted), lines(&kept));
        assert_eq!(before.len(), after.len());
        let changed = before.iter().zip(&after).filter(|(was, is)| was != is);
        let changed: Vec<&str> = changed.map(|(_, is)| is.trim()).collect();
        let text = r#"\"total\":8,\"took_ms\":12.5,\"_shards\":{\"ok\":[31]}"#;
        assert!(changed[0].contains(text), "{changed:?}");
        let further: &[&str] = if structured { &["\"total\": 8,"] } else { &[] };
        assert_eq!(changed[1..], *further);
    }
}

#[test]
fn one_value_that_is_accepted_is_one_line_beside_how_long_it_took() {
    let project = Project::new();
    let write = |total: u32| {
        let answer = format!("structured={}", json!({"state": "done", "total": total}));
        project.faulty("s", &[&answer, "took"], &[("count", json!({}))]);
    };
    write(7);
    project.expect(0, &["record"]);
    let before = project.read("baselines/s/baseline.json");
    write(8);
    project.expect(1, &["compare"]);
    project.expect(0, &["review", "--accept", "s"]);
    let after = project.read("baselines/s/baseline.json");
    let known: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().filter(|it| !known.contains(it)).collect();
    // The text of the answer repeats what is structured.
    assert_eq!(new.len(), 2, "{new:?}");
    let took = before.lines().find(|it| it.contains("\"took_ms\": "));
    assert!(took.is_some_and(|it| after.contains(it)), "{after}");
    assert!(
        new[0].contains(r#"\"total\":8"#) && new[1].contains("\"total\": 8"),
        "{new:?}"
    );
}

#[test]
fn an_id_is_never_of_two_recordings() {
    // Too short to be looked for wherever it stands, so that all of a recording or none of it may be kept.
    let counted = |id: u32, state: &str| {
        recorded(&[
            json!({"tool": "mcp__s__create", "args": {}, "json": {"id": id}}),
            json!({"tool": "mcp__s__close", "args": {"id": id}, "json": {"id": id, "url": format!("/orders/{id}"), "state": state}}),
        ])
    };
    let accepted = learned([counted(100, "open"), counted(101, "open")]);
    let now = learned([counted(103, "done"), counted(104, "done")]);
    let kept = accepted_over(&accepted, &now);
    let texts: Vec<String> = kept
        .calls()
        .map(|it| it.outcome.answer().unwrap().text())
        .collect();
    let used = kept.calls().nth(1).unwrap().arguments["id"].to_string();
    assert!(
        texts
            .iter()
            .all(|it| it.contains(&format!("\"id\":{used}"))),
        "{texts:?} {used}"
    );
    assert!(texts[1].contains(&format!("/orders/{used}")), "{texts:?}");
    assert!(
        score::compare(&kept, &counted(105, "done"), &Rules::default())
            .verdict
            .passed
    );

    // The server names an id of the old recording, which it has kept: that one is no other.
    let [old, new] = [
        "74e6b8bc-0d35-4b0c-9b33-1f2e3d4c5b6a",
        "829987c6-4f1e-4c57-8d1b-0a9b8c7d6e5f",
    ];
    let first = |id: &str, first: &str| {
        recorded(&[
            json!({"tool": "mcp__s__create", "args": {}, "json": {"id": id}}),
            json!({"tool": "mcp__s__get", "args": {"id": id}, "reads": true, "json": {"id": id, "first": first}}),
        ])
    };
    let accepted = learned([
        first(old, "none"),
        first("0a1b2c3d-0000-4000-8000-00000000abcd", "none"),
    ]);
    let again = "5d6e7f80-1111-4222-8333-444455556666";
    let kept = accepted_over(&accepted, &learned([first(new, old), first(again, old)]));
    let text = kept
        .calls()
        .nth(1)
        .unwrap()
        .outcome
        .answer()
        .unwrap()
        .text();
    assert!(text.contains(&format!("\"first\":\"{old}\"")), "{text}");
}

#[test]
fn a_new_call_with_an_id_of_its_own_leaves_the_others_as_they_were() {
    let made = |ids: &[&str]| {
        let calls = ids.iter().zip(["a", "b", "c"]).map(
            |(id, of)| json!({"tool": "mcp__s__make", "args": {"of": of}, "json": {"id": id}}),
        );
        recorded(&calls.collect::<Vec<_>>())
    };
    let id = |it: u32| format!("{it:08x}-0d35-4b0c-9b33-1f2e3d4c5b6a");
    let ids: Vec<String> = (1..=10)
        .map(|it| id(it * 123_456_789 % 4_000_000_007))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let accepted = learned([made(&ids[..2]), made(&ids[2..4])]);
    let kept = accepted_over(&accepted, &learned([made(&ids[4..7]), made(&ids[7..10])]));
    let answers = |of: &Trajectory| -> Vec<String> {
        of.calls()
            .map(|it| it.outcome.answer().unwrap().text())
            .collect()
    };
    assert_eq!(answers(&kept)[..2], answers(&accepted)[..]);
    assert!(answers(&kept)[2].contains(ids[6]));
}

#[test]
fn what_varies_in_a_text_of_other_words_is_known_of_the_new_one() {
    let loaded = |text: String| {
        let call = json!({"tool": "mcp__s__load", "args": {}, "reads": true, "text": text});
        recorded(&[
            call,
            json!({"tool": "mcp__s__other", "args": {}, "text": "as before"}),
        ])
    };
    let old = |load: u32| loaded(format!("load {load} of all"));
    let new = |load: u32, of: &str| loaded(format!("now the load is about {load} of {of}"));
    let kept = accepted_over(
        &learned([old(12), old(13)]),
        &learned([new(17, "all"), new(18, "all")]),
    );
    let passes = |run: &Trajectory| score::compare(&kept, run, &Rules::default()).verdict.passed;
    assert!(passes(&new(25, "all")));
    assert!(!passes(&new(25, "none")));
    assert!(!passes(&old(12)));
}

#[test]
fn an_answer_with_new_times_is_of_its_own_moment() {
    let day = |days: i64| 86_400 * days + 1_795_169_420;
    let date = |days: i64| {
        let at = jiff::Timestamp::from_second(day(days)).unwrap();
        at.to_string()[..10].to_owned()
    };
    let run = |days: i64, note: &str, due: &str| {
        let mut run = recorded(&[
            json!({"tool": "mcp__s__due", "args": {}, "reads": true, "json": {"note": note, "due": due}}),
        ]);
        run.stamp.recorded_at = jiff::Timestamp::from_second(day(days)).unwrap();
        run
    };
    let rules = Rules::default();
    let twice = |days: i64, note: &str| {
        let of = || run(days, note, &date(days + 7));
        learned([of(), of()])
    };
    let kept = accepted_over(&twice(0, "a"), &twice(5, "b"));
    let call = kept.calls().next().unwrap();
    assert!(call.outcome.answer().unwrap().text().contains("\"b\""));
    // In a week, from whichever moment.
    for days in [5, 6, 30] {
        let now = score::compare(&kept, &run(days, "b", &date(days + 7)), &rules);
        assert!(now.verdict.passed, "{days}: {:?}", now.verdict);
    }
    let moments = kept.began(call).as_second();
    let said = call.outcome.answer().unwrap().text();
    assert_eq!(moments == day(5), said.contains(&date(12)), "{said}");
}

#[test]
fn an_id_that_has_changed_is_new_where_others_only_vary() {
    let read = |request: &str, owner: &str| {
        recorded(&[
            json!({"tool": "mcp__s__get", "args": {}, "reads": true, "json": {"request": request, "owner": owner}}),
        ])
    };
    let requests: Vec<String> = (1..=4_u32)
        .map(|it| format!("{:08x}-0d35-4b0c-9b33-1f2e3d4c5b6a", it * 123_456_789))
        .collect();
    let was = "usr_82e57c6eaeec";
    let now = "usr_7c95abcdef01";
    let accepted = learned([read(&requests[0], was), read(&requests[1], was)]);
    let kept = accepted_over(
        &accepted,
        &learned([read(&requests[2], now), read(&requests[3], now)]),
    );
    let text = kept
        .calls()
        .next()
        .unwrap()
        .outcome
        .answer()
        .unwrap()
        .text();
    assert!(text.contains(&requests[0]) && text.contains(now), "{text}");
}

#[test]
fn what_was_known_of_a_value_is_past_when_one_that_does_not_fit_is_accepted() {
    let run = |value: &Value| {
        let mut run = recorded(&[
            json!({"tool": "mcp__s__do", "args": {}, "json": {"value": value, "other": "as before"}}),
        ]);
        run.stamp.recorded_at = jiff::Timestamp::from_second(1_795_169_420).unwrap();
        run
    };
    let rules = Rules::default();
    let hex = [
        json!("9f8e7d6c5b4a9f8e7d6c5b4a"),
        json!("0e10000000000e1000000000"),
    ];
    let numbers = [json!(1), json!(3)];
    let moments = [json!(1_795_169_420), json!(1_795_169_421)];
    for (known, accepted, next, seen) in [
        // Of another kind: nothing is known to vary any more.
        (&numbers, json!(null), None, None),
        (&numbers, json!("many"), None, None),
        (&numbers, json!([]), None, None),
        // Otherwise it varies as before, and is held to what it is now.
        (&numbers, json!(-5), Some(json!(-7)), Some(json!([-5]))),
        (
            &moments,
            json!(1_795_428_620),
            Some(json!(1_795_428_630)),
            Some(json!([1_795_428_620])),
        ),
        (
            &hex,
            json!("01HZXKQ3T5V7W9YABCDEFGHJKM"),
            Some(json!("01HZXKQ3T6V7W9ZZBCDEFGHJKN")),
            Some(json!(["01HZXKQ3T5V7W9YABCDEFGHJKM"])),
        ),
    ] {
        let before = learned([run(&known[0]), run(&known[1])]);
        let kept = accepted_over(&before, &run(&accepted));
        let passes = |value: &Value| {
            let compared = score::compare(&kept, &run(value), &rules);
            compared.verdict.passed && compared.changes.is_empty()
        };
        assert!(passes(&accepted), "{accepted}");
        if let Some(next) = &next {
            assert!(passes(next), "{accepted} {next}");
        } else {
            assert!(!passes(&known[1]), "{accepted} {}", known[1]);
        }
        let learned = serde_json::to_value(&kept.learned).unwrap();
        let place = learned.pointer("/0/varies/0");
        let own = place.and_then(|it| it.get("seen").or_else(|| it.pointer("/parts/0/seen")));
        assert_eq!(own, seen.as_ref(), "{learned}");
        assert!(
            place.is_none_or(|it| it.get("offsets").is_none()),
            "{learned}"
        );
    }

    // Of the rows of a list, the others are as they were.
    let list = |rows: &[(&str, Value)]| {
        let rows = rows
            .iter()
            .map(|(name, load)| json!({"name": name, "load": load}));
        run(&rows.collect::<Value>())
    };
    let before = learned([
        list(&[("a", json!(1)), ("b", json!(2)), ("c", json!(3))]),
        list(&[("c", json!(6)), ("a", json!(5)), ("b", json!(4))]),
    ]);
    let kept = accepted_over(
        &before,
        &list(&[("a", json!(null)), ("b", json!(2)), ("c", json!(3))]),
    );
    let now = list(&[("a", json!(null)), ("b", json!(7)), ("c", json!(8))]);
    let compared = score::compare(&kept, &now, &rules);
    assert!(compared.verdict.passed, "{:?}", compared.verdict);
    let place = |of: &Trajectory, path: &str| {
        let mut varies = of.learned.iter().flat_map(|it| &it.varies);
        varies.find(|it| it.path == path).cloned()
    };
    let rows = "/content/0/json/value";
    assert!(place(&before, rows).is_some());
    assert_eq!(place(&kept, rows), place(&before, rows));
    let loads = place(&kept, &format!("{rows}/*/load")).unwrap();
    assert!(
        loads.seen.contains(&json!(null)) && loads.seen.contains(&json!(3)),
        "{loads:?}"
    );
}
