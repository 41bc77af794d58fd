//! `i` in a review: places that are marked to vary in a baseline, and vary from then on.

use serde_json::{Value, json};

use crate::common::{Project, Ran, in_terminal};
use crate::review::{BASELINE, PENDING};

/// A scenario whose only call gets this answer, and its baseline.
fn answered(project: &Project, answer: &Value) {
    answers(project, answer);
    project.expect(0, &["record"]);
}

/// From now on the call gets this answer: JSON, a plain text, or `{"error": TEXT}`.
fn answers(project: &Project, answer: &Value) {
    let response = match (answer, answer.get("error")) {
        (_, Some(text)) => json!({ "is_error": true, "content": text }),
        (Value::String(text), _) => json!({ "content": text }),
        (json, _) => json!({ "content": [{ "json": json }] }),
    };
    let tool = json!({ "name": "look", "annotations": { "read_only_hint": true }, "responses": [response] });
    let scenario = json!({
        "name": "A look",
        "servers": { "s": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [
            { "tool": "look", "args": {}, "is_error": answer.get("error").is_some() }
        ] },
        "mcp_interactions": { "s": { "tools": [tool] } },
    });
    project.file("scenarios/shop.yaml", scenario.to_string());
}

/// Compares, and types these keys into the review.
fn reviewed(project: &Project, keys: &str) -> Option<Ran> {
    project.run(&["compare"]);
    assert!(
        project.path(PENDING).exists(),
        "something is to be reviewed"
    );
    let keys: Vec<String> = keys.chars().map(String::from).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    in_terminal("what is ignored", project, &["review"], "  > ", &keys)
}

/// Whether nothing of this answer is a change any more.
fn passes(project: &Project, answer: &Value) -> bool {
    answers(project, answer);
    project.run(&["compare", "--strict"]).code == 0
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_element_that_is_new_in_a_list_may_come_and_go() {
    let row = |id: u8| json!({ "id": id, "name": format!("row {id}") });
    for (was, now, also, never) in [
        (
            json!([1, 2, 3]),
            json!([1, 2, 3, 9]),
            json!([1, 2, 3, 7]),
            json!([1, 2, 3, 7, 8]),
        ),
        (
            json!([1, 2, 3]),
            json!([1, 9, 2, 3]),
            json!([7, 1, 2, 3]),
            json!([1, 2, 4]),
        ),
        (
            json!([row(1)]),
            json!([row(1), row(2)]),
            json!([row(1)]),
            json!([row(2)]),
        ),
        (
            json!({ "a": [row(1), row(2)] }),
            json!({ "a": [row(3), row(1), row(2)] }),
            json!({ "a": [row(1), row(2), row(7)] }),
            json!({ "a": [row(2), row(1)] }),
        ),
    ] {
        let project = Project::new();
        answered(&project, &was);
        answers(&project, &now);
        let Some(ran) = reviewed(&project, "i") else {
            return;
        };
        assert_eq!(ran.code, 0, "{now}: {ran:#?}");
        ran.says("ignored from now on").says("done with shop");
        assert!(!project.path(PENDING).exists(), "{now}");
        for answer in [&now, &was, &also] {
            assert!(passes(&project, answer), "{now}, then {answer}");
        }
        assert!(!passes(&project, &never), "{now}, then {never}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn several_new_elements_are_let_go_of_together() {
    let project = Project::new();
    answered(&project, &json!([1, 2, 3]));
    answers(&project, &json!([1, 8, 2, 9, 3]));
    assert!(!passes(&project, &json!([1, 8, 2, 9, 3])));
    let Some(ran) = reviewed(&project, "i") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("change 1 of 1");
    assert!(passes(&project, &json!([1, 8, 2, 9, 3])));
    // A capital does that for all at once.
    let project = Project::new();
    answered(&project, &json!({ "a": 1, "b": "x", "c": true }));
    answers(&project, &json!({ "a": 2, "b": "y", "c": true }));
    let Some(ran) = reviewed(&project, "I") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(passes(&project, &json!({ "a": null, "b": 7, "c": true })));
    assert!(!passes(&project, &json!({ "a": 1, "b": "x", "c": false })));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_follows_from_a_change_is_not_let_go_of_with_it() {
    let prices = |price: f64, cost: f64| json!({ "price": price, "order": { "cost": cost } });
    let reviewed_with = |keys: &str| {
        let project = Project::new();
        answered(&project, &prices(19.99, 19.99));
        answers(&project, &prices(24.99, 24.99));
        let ran = reviewed(&project, keys)?;
        ran.says("(the same value)");
        Some(project)
    };
    // One price is ignored, and the same value elsewhere is asked by itself.
    let Some(project) = reviewed_with("iq") else {
        return;
    };
    assert!(passes(&project, &prices(7.5, 19.99)));
    assert!(!passes(&project, &prices(7.5, 24.99)));
    let Some(project) = reviewed_with("I") else {
        return;
    };
    assert!(passes(&project, &prices(7.5, 8.5)));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_order_that_is_ignored_is_any_order() {
    let project = Project::new();
    answered(&project, &json!(["north", "east", "south"]));
    answers(&project, &json!(["south", "north", "east"]));
    let Some(ran) = reviewed(&project, "i") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("its elements in any order");
    assert!(passes(&project, &json!(["east", "south", "north"])));
    assert!(!passes(&project, &json!(["east", "south", "west"])));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn whatever_stands_in_a_place_that_is_ignored_is_fine() {
    let project = Project::new();
    answered(&project, &json!({ "left": 40, "unit": "euro" }));
    answers(&project, &json!({ "left": 39, "unit": "euro" }));
    let Some(ran) = reviewed(&project, "i") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    for left in [json!(7), json!("none"), json!(null), json!([1])] {
        let answer = json!({ "left": left, "unit": "euro" });
        assert!(passes(&project, &answer), "{left}");
    }
    assert!(passes(&project, &json!({ "unit": "euro" })));
    assert!(!passes(&project, &json!({ "left": 40, "unit": "dollar" })));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn of_a_text_the_words_that_differ_are_let_go_of_and_then_all_of_it() {
    let project = Project::new();
    answered(&project, &json!("build 17 of the shop is ok"));
    answers(&project, &json!("build 18 of the shop is ok"));
    let Some(ran) = reviewed(&project, "i") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("any number for 17, 18");
    assert!(passes(&project, &json!("build 19 of the shop is ok")));
    assert!(!passes(&project, &json!("build 19 of the shop is broken")));
    answers(&project, &json!("build none of the shop is ok"));
    let Some(ran) = reviewed(&project, "i") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("ignored from now on: /content/0/text of call 1");
    assert!(passes(&project, &json!("all is well")));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_varies_in_the_text_of_an_error_is_learned_or_ignored() {
    let project = Project::new();
    let refused = |what: &str| json!({ "error": format!("{what}, request {{{{uuid}}}}") });
    answered(&project, &refused("not found"));
    let recorded = project.read(BASELINE);
    let baseline: Value = serde_json::from_str(&recorded).unwrap();
    assert_eq!(
        baseline["learned"][0]["varies"][0]["path"],
        "/content/0/text"
    );
    project.expect(0, &["record"]);
    assert_eq!(project.read(BASELINE), recorded, "recorded again as it was");
    project.expect(0, &["compare", "--strict"]);
    assert!(!project.path(PENDING).exists());
    // What did not vary is shown where it differs, and may be ignored.
    answers(&project, &refused("not there"));
    let Some(ran) = reviewed(&project, "di") else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("any word for found, there")
        .says_not("recorded with one answer only");
    assert!(passes(&project, &refused("not here")));
    assert!(!passes(&project, &json!("found")), "an answer is no error");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_cannot_be_ignored_leaves_the_baseline_as_it_is() {
    let project = Project::new();
    answered(&project, &json!({ "left": 40 }));
    answers(&project, &json!({ "error": "gone" }));
    let before = project.read(BASELINE);
    let Some(ran) = reviewed(&project, "iq") else {
        return;
    };
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("the answer as a whole differs");
    assert_eq!(project.read(BASELINE), before);
}
