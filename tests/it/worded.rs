//! Changes in the same words wherever they are shown: on cards, in the files for CI, and in the review.

use serde_json::{Value, json};

use crate::causes::{reads, shop};
use crate::common::{Project, in_terminal};

/// Three calls of `f`, which gives this answer.
fn weather(project: &Project, answer: &Value) {
    let calls: Vec<(&str, Value)> = (1..=3).map(|it| ("f", json!({"c": it}))).collect();
    let tools = json!([reads("f", "The weather", answer)]);
    shop(project, "d", &tools, &calls, &json!({}));
}

/// What is asked of the pending runs where these keys are typed; `None` without a terminal.
fn reviewed(project: &Project, keys: &[&str]) -> Option<crate::common::Ran> {
    in_terminal(
        "the questions of `review`",
        project,
        &["review"],
        "  > ",
        keys,
    )
}

#[test]
fn every_form_names_all_causes_as_the_cards_do() {
    let project = Project::new();
    weather(&project, &json!({"sky": "rain", "degrees": 14}));
    project.expect(0, &["record"]);
    weather(&project, &json!({"sky": "sun", "degrees": 15}));
    let forms = ["junit", "github", "markdown", "ctrf"];
    let mut arguments = vec!["compare".to_owned()];
    for it in forms {
        arguments.extend(["--report".to_owned(), format!("{it}={it}.out")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let shown = project.expect(1, &arguments).all();
    let mut all = vec![
        ("terminal", shown),
        ("page", project.read("reports/latest/d.html")),
    ];
    all.extend(forms.map(|it| (it, project.read(format!("{it}.out")))));
    for (form, text) in &all {
        assert!(!text.contains("of its contract"), "{form}: {text}");
    }
    for (form, text) in &all[2..] {
        let plain = text
            .replace("&quot;", "\"")
            .replace("\\\"", "\"")
            .replace("&gt;", ">");
        for cause in [
            "`f` returned a different `sky`: \"rain\" → \"sun\"",
            "`f` returned a different `degrees`: 14 → 15",
        ] {
            assert!(plain.contains(cause), "{form}: {plain}");
        }
        assert!(
            !plain.contains("answered the same request differently"),
            "{form}: {plain}"
        );
    }
    // The table has both, as the causes do.
    let markdown = &all.iter().find(|it| it.0 == "markdown").unwrap().1;
    let row = markdown.lines().find(|it| it.starts_with("| ✗ |")).unwrap();
    assert!(row.contains("`sky`") && row.contains("`degrees`"), "{row}");
    assert_eq!(markdown.matches("14 → 15").count(), 2, "{markdown}");
    // Each is of all three calls.
    let junit = &all.iter().find(|it| it.0 == "junit").unwrap().1;
    assert_eq!(
        junit.matches("the server · calls 1, 2, 3").count(),
        2,
        "{junit}"
    );
}

#[test]
fn scenarios_that_passed_with_changes_are_shown_with_them() {
    let project = Project::new();
    weather(&project, &json!({"sky": "rain"}));
    project.expect(0, &["record"]);
    weather(&project, &json!({"sky": "rain", "wind": "north"}));
    let arguments = [
        "compare",
        "--report",
        "junit=j.xml",
        "--report",
        "github=g.txt",
    ];
    project.expect(0, &arguments);
    for file in ["j.xml", "g.txt"] {
        let text = project.read(file);
        assert!(text.contains("`f` returned a new `wind`"), "{text}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_review_asks_by_cause_in_the_words_and_colours_of_the_report() {
    let project = Project::new();
    weather(&project, &json!({"sky": "rain", "degrees": 14}));
    project.expect(0, &["record"]);
    weather(&project, &json!({"sky": "sun", "degrees": 15}));
    project.expect(1, &["compare"]);
    project
        .expect(0, &["review", "--list"])
        .says("✗ 1 scenario, d: `f` returned a different `sky`: \"rain\" → \"sun\"")
        .says("✗ 1 scenario, d: `f` returned a different `degrees`: 14 → 15");
    let Some(ran) = reviewed(&project, &["a", "q"]) else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("change 1 of 2: ✗\u{1b}[0m `f` returned a different `sky`")
        .says("change 2 of 2: ✗\u{1b}[0m `f` returned a different `degrees`")
        .says_not("content/0/json/sky")
        .says("not accepted, because not all of their changes were: d");
    let baseline = project.read("baselines/d/baseline.json");
    assert!(baseline.contains("rain") && !baseline.contains("sun"));
    // One key for each cause accepts the run.
    let Some(ran) = reviewed(&project, &["a", "a"]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("accepted d").says_not("not accepted");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_new_name_is_one_question_and_both_names_are_ignored_together() {
    let project = Project::new();
    let answer = |name: &str| json!({"status": "open", name: "yes"});
    weather(&project, &answer("extra"));
    project.expect(0, &["record"]);
    weather(&project, &answer("extra2"));
    project.run(&["compare"]);
    let Some(ran) = reviewed(&project, &["i"]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says(
        "change 1 of 1: ✗\u{1b}[0m `f` returned `extra` under a different name: extra → extra2",
    )
    .says_not("added key");
    project.expect(0, &["compare", "--strict"]);
    weather(&project, &answer("extra"));
    project.expect(0, &["compare", "--strict"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_new_name_is_asked_about_apart_from_what_else_changed_in_the_answer() {
    let project = Project::new();
    let answer = |name: &str, status: &str| json!({"status": status, name: "north"});
    weather(&project, &answer("zone", "open"));
    project.expect(0, &["record"]);
    weather(&project, &answer("zone2", "closed"));
    project.expect(1, &["compare"]);
    let Some(ran) = reviewed(&project, &["s", "i"]) else {
        return;
    };
    ran.says("change 1 of 2: ✗\u{1b}[0m `f` returned a different `status`")
        .says("change 2 of 2: ✗\u{1b}[0m `f` returned `zone` under a different name: zone → zone2");
    weather(&project, &answer("zone2", "open"));
    project.expect(0, &["compare", "--strict"]);
    weather(&project, &answer("zone", "closed"));
    project.expect(1, &["compare"]);
}

#[test]
fn half_a_new_name_is_a_member_that_is_gone() {
    let project = Project::new();
    let answer = |name: &str| json!({"status": "open", name: "yes"});
    weather(&project, &answer("extra"));
    project.expect(0, &["record"]);
    weather(&project, &answer("extra2"));
    project.edit(
        "scenarios/d.yaml",
        "\"agent\":",
        "\"scoring\":{\"ignore\":[\"$.extra2\"]},\"agent\":",
    );
    let ran = project.run(&["compare"]);
    ran.says("`f` no longer returns `extra` (was \"yes\")")
        .says_not("renamed to");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_removed_tool_is_asked_about_before_what_follows_from_it() {
    let project = Project::new();
    let calls = [("list", json!({}))];
    let tools = |name: &str, about: &str| json!([reads(name, about, &json!({"a": 1}))]);
    let before = tools("list", "All that is in stock");
    shop(&project, "gone", &before, &calls, &json!({}));
    project.expect(0, &["record"]);
    let now = tools("weather", "Tells whether it rains");
    shop(&project, "gone", &now, &calls, &json!({}));
    project.expect(1, &["compare"]);
    let Some(ran) = reviewed(&project, &["s"]) else {
        return;
    };
    ran.says("change 1 of 1: ✗\u{1b}[0m tool `list` is gone")
        .says_not("`weather`");
}

#[test]
fn what_follows_from_a_cause_of_another_scenario_is_accepted_with_it() {
    let project = Project::new();
    let write = |total: u32| {
        let tools = json!([
            reads("make", "Makes it", &json!({ "total": total })),
            reads("look", "Looks at it", &json!({ "sum": total })),
        ]);
        let (make, look) = (("make", json!({})), ("look", json!({})));
        shop(&project, "both", &tools, &[make, look.clone()], &json!({}));
        shop(&project, "one", &tools, &[look], &json!({}));
    };
    write(1_234_567);
    project.expect(0, &["record"]);
    write(7_654_321);
    project.expect(1, &["compare"]).says("2 scenarios, 3 calls");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let [cause] = result["causes"].as_array().unwrap().as_slice() else {
        panic!("{:#}", result["causes"]);
    };
    let id = cause["id"].as_str().unwrap();
    let listed = project.expect(0, &["review", "--list"]).stdout;
    assert_eq!(listed.matches("cause-").count(), 1, "{listed}");
    assert!(listed.contains(id), "{listed}");
    project
        .expect(0, &["review", "--accept-cause", id])
        .says("accepted both")
        .says("accepted one");
    project.expect(0, &["compare"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_renamed_tool_is_one_question_with_the_call_that_fails_for_it() {
    let project = Project::new();
    let calls = [("list", json!({}))];
    let tools = |name: &str| json!([reads(name, "All that is in stock", &json!({"a": 1}))]);
    shop(&project, "named", &tools("list"), &calls, &json!({}));
    project.expect(0, &["record"]);
    shop(&project, "named", &tools("enumerate"), &calls, &json!({}));
    project.expect(1, &["compare"]);
    project
        .expect(0, &["review", "--list"])
        .says("✗ 1 scenario, named: tool `list` was renamed to `enumerate`");
    let Some(ran) = reviewed(&project, &["s"]) else {
        return;
    };
    ran.says("change 1 of 1: ✗\u{1b}[0m tool `list` was renamed to `enumerate`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_change_that_is_left_for_later_accepts_none_of_its_run() {
    let project = Project::new();
    weather(&project, &json!({"sky": "rain", "degrees": 14}));
    project.expect(0, &["record"]);
    weather(&project, &json!({"sky": "sun", "degrees": 15}));
    project.expect(1, &["compare"]);
    for keys in [["a", "s"], ["a", "S"], ["s", "a"]] {
        let Some(ran) = reviewed(&project, &keys) else {
            return;
        };
        assert_eq!(ran.code, 1, "{ran:#?}");
        ran.says("not accepted, because not all of their changes were: d");
    }
    let Some(ran) = reviewed(&project, &["s", "s"]) else {
        return;
    };
    ran.says_not("not accepted");
}

#[test]
fn ids_that_differ_are_marked_as_a_whole() {
    let project = Project::new();
    let ids = [
        "6823de55-e2aa-4f1c-9b0d-0123456789ab",
        "6823de99-e2aa-4f1c-9b0d-0123456789ff",
    ];
    weather(&project, &json!({"id": ids[0]}));
    project.expect(0, &["record"]);
    weather(&project, &json!({"id": ids[1]}));
    project.expect(1, &["compare"]);
    let page = project.read("reports/latest/d.html");
    for id in ids {
        assert!(page.contains(&format!("<mark>{id}</mark>")), "{page}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_an_unchanged_run_fails_for_is_said_with_it() {
    let project = Project::new();
    let answer = json!({"sky": "rain"});
    weather(&project, &answer);
    project.expect(0, &["record"]);
    for (criteria, said) in [
        (
            json!([{"text": "snow"}]),
            "because an expectation is not met.",
        ),
        (
            json!([{"text": "snow"}, {"text": "hail"}]),
            "because expectations are not met.",
        ),
    ] {
        let calls: Vec<(&str, Value)> = (1..=3).map(|it| ("f", json!({"c": it}))).collect();
        let tools = json!([reads("f", "The weather", &answer)]);
        let more = json!({"success_criteria": criteria});
        shop(&project, "d", &tools, &calls, &more);
        project
            .expect(1, &["compare"])
            .says(&format!("The run failed, {said}"))
            .says_not("Unchanged");
    }
}

#[test]
fn what_is_said_of_a_failed_run_does_not_contradict_its_verdict() {
    let project = Project::new();
    let calls = [("list", json!({}))];
    let tools = json!([reads("list_all", "Lists", &json!({"a": 1}))]);
    let expected =
        json!({"agent": {"kind": "scripted"}, "expected_trajectory": [{"tool": "list"}]});
    shop(&project, "gone", &tools, &calls, &expected);
    project.expect(1, &["run"]).says(
        "The script made the calls that were expected. The run failed, because call 1 failed.",
    );
    project.expect(0, &["record", "--allow-failing"]);
    project
        .expect(1, &["record"])
        .says("The run failed, because call 1 failed.")
        .says_not("Unchanged");
    for page in ["reports/latest/gone.html"] {
        let page = project.read(page);
        for word in ["deploy", "monitor", "review", "stop"] {
            let alone = format!("<span class=\"quiet\">{word}</span>");
            assert!(!page.contains(&alone), "{word}");
        }
    }
}

#[test]
fn a_side_whose_version_is_not_known_is_named() {
    let project = Project::new();
    weather(&project, &json!({"sky": "rain"}));
    project.expect(0, &["record"]);
    crate::common::commit_all(&project.path("."), "First");
    project.expect(0, &["compare"]);
    for page in ["index", "d"] {
        let page = project.read(format!("reports/latest/{page}.html"));
        let side =
            "<span class=\"side-name\">baseline</span> <span class=\"quiet\">not known</span>";
        assert!(page.contains(side), "{page}");
    }
}
