//! The root causes of failures and changes, each once, as results show them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::Project;

/// A scenario whose mock server `shop` has these tools, and whose script makes these calls.
pub(crate) fn shop(
    project: &Project,
    name: &str,
    tools: &Value,
    calls: &[(&str, Value)],
    more: &Value,
) {
    let calls: Vec<Value> = (calls.iter())
        .map(|(tool, args)| json!({"tool": format!("mcp__shop__{tool}"), "args": args}))
        .collect();
    let mut scenario = json!({
        "name": name,
        "servers": {"shop": {"type": "mock"}},
        "agent": {"kind": "scripted", "calls": calls},
        "mcp_interactions": {"shop": {"tools": tools}},
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

pub(crate) fn reads(name: &str, about: &str, answer: &Value) -> Value {
    json!({
        "name": name, "description": about, "annotations": {"read_only_hint": true},
        "responses": [{"content": [{"type": "text", "json": answer}]}],
    })
}

/// What is shown of each cause, in order: its sentence, and all else that is short.
pub(crate) fn shown_causes(project: &Project) -> Vec<(String, Value)> {
    let result = project.read("reports/latest/result.json");
    let result: Value = serde_json::from_str(&result).unwrap();
    let causes = result["causes"].as_array().unwrap().iter();
    causes
        .map(|it| {
            let rest = json!([
                it["kind"],
                it["whose"],
                it["fails"],
                it["scenarios"],
                it["calls"]
            ]);
            (it["text"].as_str().unwrap().to_owned(), rest)
        })
        .collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_cause_is_shown_once_with_place_values_and_whose_doing_it_is() {
    let project = Project::new();
    let write = |price: f64, note: &Value, tool: &str, about: &str, broken: bool| {
        let lamp = json!({"item": "lamp"});
        let price_of = json!([reads("get_price", "p", &json!({"price": price}))]);
        let calls = [("get_price", lamp.clone())];
        shop(&project, "a", &price_of, &calls, &json!({}));
        let twice = [("get_price", lamp.clone()), ("get_price", json!({}))];
        shop(&project, "b", &price_of, &twice, &json!({}));
        let listed = json!([reads("list", about, note)]);
        shop(&project, "c", &listed, &[("list", json!({}))], &json!({}));
        let mut order = reads(tool, "Orders a thing", &json!({"ok": true}));
        order["annotations"] = json!({});
        let orders = [("create_order", json!({"n": 1}))];
        shop(&project, "d", &json!([order]), &orders, &json!({}));
        let more = if broken {
            json!({"servers": {"shop": {"type": "stdio", "command": "no-such-program"}}, "mcp_interactions": {}})
        } else {
            json!({})
        };
        shop(&project, "e", &price_of, &calls, &more);
    };
    let row = |n: usize, name: &str| json!({"id": n, "name": name});
    let rows = |name: &str| json!({"rows": [row(1, name), row(2, "x"), row(3, name)]});
    write(
        19.99,
        &rows("lamp"),
        "create_order",
        "Lists what there is",
        false,
    );
    project.expect(0, &["record"]);
    let mut more = rows("lamp");
    more["page"] = json!(1);
    write(21.5, &more, "place_order", "Lists everything", true);
    project.expect(1, &["compare"]);
    let causes = shown_causes(&project);
    let expected = [
        (
            "`get_price` returned a different `price`: 19.99 → 21.5",
            json!(["answer", "server", true, ["a", "b"], 3]),
        ),
        (
            "tool `create_order` was renamed to `place_order`",
            json!(["drift", "catalogue", true, ["d"], 1]),
        ),
        (
            "server `shop` cannot be started: `no-such-program`: No such file or directory (os error 2)",
            json!(["problem", null, true, ["e"], 0]),
        ),
        (
            "`list` returned a new `page`: 1",
            json!(["addition", "server", false, ["c"], 1]),
        ),
        (
            "description of `list` changed: \"Lists what there is\" → \"Lists everything\"",
            json!(["drift", "catalogue", false, ["c"], 0]),
        ),
    ];
    let expected = expected.map(|(text, rest)| (text.to_owned(), rest));
    assert_eq!(causes, expected, "{causes:#?}");
    let result = project.read("reports/latest/result.json");
    let first: Value = serde_json::from_str(&result).unwrap();
    let first = &first["causes"][0];
    assert_eq!(
        (&first["tool"], &first["path"], &first["was"], &first["now"]),
        (
            &json!("mcp__shop__get_price"),
            &json!("response/content/0/json/price"),
            &json!("19.99"),
            &json!("21.5")
        )
    );
    assert_eq!(
        first["places"][1]["calls"],
        json!([{"baseline": 1, "current": 1}, {"baseline": 2, "current": 2}])
    );
    // The same cause is known by the same id in the next run.
    let id = first["id"].as_str().unwrap().to_owned();
    project.expect(1, &["compare"]);
    assert!(
        project
            .read("reports/latest/result.json")
            .contains(&format!("{id:?}"))
    );
}

#[test]
fn a_score_that_is_too_low_is_explained_by_what_cost_it() {
    let project = Project::new();
    let write = |query: &str| {
        let found = json!([reads("search", "s", &json!({"found": 1}))]);
        let calls = [(
            "search",
            json!({"query": query, "all": query == "red wine"}),
        )];
        shop(&project, "s", &found, &calls, &json!({}));
    };
    write("red wine");
    project.expect(0, &["record"]);
    write("a bicycle");
    project.expect(1, &["compare", "--allow-changed", "--threshold", "0.99"]);
    let causes = shown_causes(&project);
    // The script says what costs it, and both places are named beneath.
    assert_eq!(causes.len(), 1, "{causes:#?}");
    assert!(causes[0].1[2] == json!(true) && causes[0].1[1] == json!("experiment"));
    let written = project.read("reports/latest/result.json");
    let causes: Value = serde_json::from_str(&written).unwrap();
    let follows = causes["causes"][0]["follows"].as_array().unwrap();
    for said in [
        "`search` is asked with a different `query`: \"red wine\" → \"a bicycle\"",
        "`search` is asked with a different `all`: true → false",
    ] {
        assert!(follows.contains(&json!(said)), "{follows:#?}");
    }
    let causes = causes["causes"].to_string();
    assert!(!causes.contains("most was lost"), "{causes}");
    // The score is where the scenario is, and follows from no cause.
    assert!(!causes.contains("the score is"), "{causes}");
}

#[test]
fn causes_of_results_of_earlier_programs_are_found_again() {
    let project = Project::new();
    let write = |price: f64| {
        let tools = json!([reads("get_price", "p", &json!({"price": price}))]);
        shop(
            &project,
            "s",
            &tools,
            &[("get_price", json!({}))],
            &json!({}),
        );
    };
    write(1.5);
    project.expect(0, &["record"]);
    write(2.5);
    project.expect(1, &["compare"]);
    let mut result: Value =
        serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    result["causes"] = json!([{"text": "`get_price` answers otherwise", "scenarios": ["s"]}]);
    let path = Path::new("earlier/result.json");
    fs::create_dir_all(project.path("earlier")).unwrap();
    project.file(path.to_str().unwrap(), result.to_string());
    let ran = project.expect(0, &["report", "earlier", "--format", "json"]);
    let read: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        read["causes"][0]["text"],
        "`get_price` returned a different `price`: 1.5 → 2.5"
    );
    assert_eq!(read["causes"].as_array().unwrap().len(), 1);
}

#[test]
fn a_place_that_fails_is_never_left_out() {
    let project = Project::new();
    let write = |city: &str, total: f64, state: &str, more: i32| {
        let order = json!({"city": city, "total": total, "state": state});
        let wide: serde_json::Map<String, Value> = ('a'..='l')
            .map(|it| (format!("key-{it}"), json!(more)))
            .collect();
        let ask = [("get", json!({}))];
        for (name, answer) in [
            ("a", order),
            ("b", json!({ "total": total })),
            ("wide", Value::Object(wide)),
        ] {
            shop(
                &project,
                name,
                &json!([reads("get", "g", &answer)]),
                &ask,
                &json!({}),
            );
        }
    };
    write("Köln", 99.5, "shipped", 1);
    project.expect(0, &["record"]);
    write("Bonn", 119.5, "lost", 2);
    project.expect(1, &["compare"]);
    let causes = shown_causes(&project);
    let of = |start: &str| {
        let of = causes.iter().find(|(text, _)| text.starts_with(start));
        of.unwrap_or_else(|| panic!("{start}: {causes:#?}"))
            .1
            .clone()
    };
    let cause = |scenarios: &[&str]| json!(["answer", "server", true, scenarios, scenarios.len()]);
    assert_eq!(
        of("`get` returned a different `total`: "),
        cause(&["a", "b"])
    );
    assert_eq!(of("`get` returned a different `city`: "), cause(&["a"]));
    assert_eq!(of("`get` returned a different `state`: "), cause(&["a"]));
    // Many places of one answer: a few on their own, the others beneath the first.
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let of_wide = result["causes"].as_array().unwrap().iter();
    let of_wide: Vec<_> = of_wide
        .filter(|it| it["scenarios"] == json!(["wide"]))
        .collect();
    assert_eq!(of_wide.len(), 5, "{of_wide:#?}");
    let beneath = of_wide[0]["follows"].as_array().unwrap().iter();
    let beneath = beneath.filter(|it| it.as_str().unwrap().contains("different `key-"));
    assert_eq!(beneath.count(), 7, "{of_wide:#?}");
}

#[test]
fn what_is_expected_of_each_scenario_is_its_own() {
    let project = Project::new();
    for (name, number) in [("a", 1000), ("b", 2000)] {
        let wanted =
            json!({ "success_criteria": [{ "text": format!("order {number} was shipped") }] });
        let tools = json!([reads("get", "g", &json!({ "ok": true }))]);
        shop(&project, name, &tools, &[("get", json!({}))], &wanted);
    }
    project.expect(1, &["run"]);
    let causes = shown_causes(&project);
    assert!(
        causes[0].0.contains("order 1000") && causes[1].0.contains("order 2000"),
        "{causes:#?}"
    );
}

#[test]
fn a_tool_that_is_gone_is_one_cause_whether_it_was_called_or_not() {
    let project = Project::new();
    let write = |old: &str| {
        let tools = json!([
            reads("get", "g", &json!({ "ok": true })),
            reads(old, "o", &json!({ "ok": 1 }))
        ]);
        shop(
            &project,
            "uses",
            &tools,
            &[("get", json!({})), ("legacy", json!({}))],
            &json!({}),
        );
        shop(&project, "other", &tools, &[("get", json!({}))], &json!({}));
    };
    write("legacy");
    project.expect(0, &["record"]);
    write("legacy_v2");
    project.run(&["compare"]);
    let gone = shown_causes(&project);
    let gone: Vec<_> = gone
        .iter()
        .filter(|(text, _)| text.contains("`legacy`"))
        .collect();
    assert_eq!(gone.len(), 1, "{gone:#?}");
    assert_eq!(gone[0].1[3], json!(["uses"]), "{gone:#?}");
}
