//! The published document: its schema, its way to a file and back.

use std::sync::Arc;

use mcp_eval::model::{Band, Status, Step};
use mcp_eval::published::result::{self as document};
use mcp_eval::report::causes;
use mcp_eval::report::explain::explain;
use mcp_eval::report::html;
use mcp_eval::report::terminal::terminal;
use serde_json::{Value, json};

use super::{PLAIN, sample};

#[test]
fn a_stored_result_is_rendered_as_it_was() {
    for suite in sample::all() {
        let document = sample::document(&suite);
        let loaded = document::parse(&document::json(&document)).unwrap();
        assert_eq!(loaded, document);
        assert_eq!(html::index(&loaded), html::index(&document));
        assert_eq!(terminal(&loaded, PLAIN), terminal(&document, PLAIN));
        for scenario in &loaded.scenarios {
            let page = html::scenario(&loaded, scenario, None, None).html;
            assert_eq!(
                page.contains("A stored trajectory was not at hand"),
                scenario.current.is_some(),
                "{}",
                scenario.id
            );
        }
    }
}

#[test]
fn the_document_fits_its_own_schema() {
    let schema = document::json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for suite in sample::all() {
        let text = document::json(&sample::document(&suite));
        assert!(text.ends_with("}\n"));
        let mut value: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|it| it.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");

        value["scenarios"][0]["status"] = json!("fine");
        assert!(!validator.is_valid(&value), "an unknown status fits");
        value["scenarios"][0]["status"] = json!("passed");
        value["format_version"] = json!(2);
        assert!(!validator.is_valid(&value), "another version fits");
    }
}

#[test]
fn unknown_numbers_are_null() {
    let mut suite = sample::compared();
    suite.duration_ms = f64::NAN;
    let value: Value = serde_json::from_str(&document::json(&sample::document(&suite))).unwrap();
    assert_eq!(value["duration_ms"], Value::Null);
    let skipped = &value["scenarios"][5];
    assert_eq!(skipped["status"], "skipped");
    assert_eq!(skipped["duration_ms"], Value::Null);
    let untimed = &value["scenarios"][0]["comparison"]["rows"][1]["baseline"];
    assert_eq!(untimed["duration_ms"], Value::Null);
    assert_eq!(untimed["outcome"], "ok");
}

#[test]
fn an_argument_that_is_null_is_not_one_that_is_missing() {
    let document = sample::document(&sample::compared());
    let loaded = document::parse(&document::json(&document)).unwrap();
    let comparison = loaded
        .scenario("servers/add")
        .unwrap()
        .comparison
        .as_ref()
        .unwrap();
    let request = comparison.rows[1].request.as_ref().unwrap();
    let verbose = request
        .parameters
        .iter()
        .find(|it| it.name == "verbose")
        .unwrap();
    assert_eq!(verbose.expected, None);
    assert_eq!(verbose.got, Some(Value::Null));
}

#[test]
fn a_failed_verdict_is_never_advised_to_deploy() {
    let mut suite = sample::compared();
    let comparison = suite.scenarios[1].comparison.as_mut().unwrap();
    comparison.band = Band::Good.of_failed(true);
    let document = sample::published(&suite);
    let advice = |id: &str| {
        document
            .scenario(id)
            .unwrap()
            .comparison
            .clone()
            .unwrap()
            .advice
    };
    assert_eq!(advice("servers/add"), "review");
    assert_eq!(advice("tools/search"), "deploy");
}

#[test]
fn a_deeply_nested_argument_leaves_the_document_readable() {
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    let mut suite = sample::compared();
    let current = suite.scenarios[0].current.as_mut().unwrap();
    Arc::make_mut(current).refine(|it| {
        let mut calls = it.steps.iter_mut().filter_map(|it| match it {
            Step::ToolCall(call) => Some(call),
            _ => None,
        });
        let arguments = &mut calls.next().unwrap().arguments;
        *arguments.values_mut().next().unwrap() = deep;
    });
    let text = document::json(&sample::published(&suite));
    document::parse(&text).unwrap();
    assert!(text.contains("(nested too deep to show)"));
}

#[test]
fn what_cannot_be_read_is_said_clearly() {
    let text = document::json(&sample::document(&sample::recorded()));
    let cut = document::parse(&text[..text.len() / 2])
        .unwrap_err()
        .to_string();
    assert!(cut.contains("the file was cut off"), "{cut}");
    let error = |text: &str| document::parse(text).unwrap_err().to_string();
    assert!(error("").contains("cut off"));
    assert!(error("<html>").contains("not JSON"));
    assert!(error("[]").contains("no `format_version`"));
    assert!(error("{}").contains("no `format_version`"));
    assert_eq!(
        error(r#"{"format_version": 7, "mcp_eval": "4.2.0"}"#),
        "format version 7 is not known here: this mcp-eval reads versions 1 to 3; mcp-eval 4.2.0 wrote it and can read it"
    );
    assert!(error(r#"{"format_version": 7}"#).ends_with("a newer mcp-eval may read it"));
    assert!(error(r#"{"format_version": 1}"#).contains("missing field"));
}

/// A result as the program wrote it before format version 2: a gentle change that passed, and a failure.
const OLD: &str = include_str!("../../fixtures/result/version-1.json");

#[test]
fn a_result_of_version_1_is_still_read_and_shown() {
    let mut old = document::parse(OLD).unwrap();
    assert_eq!(old.format_version, 1);
    causes::complete(&mut old);
    let text = terminal(&old, PLAIN);
    assert!(!text.contains("A gentle change"), "{text}");
    assert!(
        text.contains("Suite Results: 1/2 tests passed, 1 failed"),
        "{text}"
    );
    assert!(
        text.contains("parameter `amount` of `place_order` became a string"),
        "{text}"
    );
    assert!(html::index(&old).contains("A gentle change"));
    for scenario in &old.scenarios {
        // What was said then still stands, and nothing is said of it that was not known then.
        let page = html::scenario(&old, scenario, None, None).html;
        assert!(
            page.contains(scenario.in_words.as_deref().unwrap()),
            "{page}"
        );
        for unknown in ["Unchanged", "same answer", "Heard once", "not looked at"] {
            assert!(!page.contains(unknown), "{unknown}: {page}");
        }
        assert!(explain(scenario, None).contains("call 1: get_price of shop (read)"));
    }
    let failed = old.scenario("shop").unwrap();
    assert!(explain(failed, None).contains("expected true, got false"));
    assert_eq!(document::parse(&document::json(&old)).unwrap(), old);
}

#[test]
fn changes_are_published_with_what_was_and_what_is() {
    let document = sample::document(&sample::compared());
    let value: Value = serde_json::from_str(&document::json(&document)).unwrap();
    assert_eq!(value["summary"]["changed"], 1);
    let changes = value["scenarios"][6]["comparison"]["changes"]
        .as_array()
        .unwrap();
    assert_eq!(changes.len(), 15);
    assert_eq!(
        changes[0],
        json!({
            "kind": "answer", "baseline": 2, "current": 2, "tool": "mcp__shop__get_price",
            "path": "response/content/0/json/rows/1/price", "what": "changed",
            "code": {"answer": "changed"}, "was": "1.99", "now": "1.95", "fails": false,
        })
    );
    assert_eq!(changes[14]["kind"], "drift");
    assert_eq!(changes[14]["baseline"], Value::Null);
}

#[test]
fn upstream_calls_are_published_with_the_calls_that_caused_them() {
    let document = sample::document(&sample::behind());
    let value: Value = serde_json::from_str(&document::json(&document)).unwrap();
    let comparison = &value["scenarios"][0]["comparison"];
    let rows = &comparison["upstream"]["rows"];
    let behind = |at: usize| comparison["rows"][at]["behind"].clone();
    // The first was received before the agent's first call.
    assert_eq!((behind(0), behind(1)), (json!([2, 3]), json!([4, 5])));
    assert_eq!(
        rows[2],
        json!({
            "kind": "extra", "server": "files", "tool": "write", "effect": true, "baseline": null,
            "current": { "number": 3, "cause": 1, "outcome": "ok", "error": null, "duration_ms": null },
            "arguments": { "path": "/list.txt", "text": "lamps" }, "answered_otherwise": false, "fails": true,
        })
    );
    assert_eq!(
        rows[3]["differences"][1],
        json!({ "path": "/title", "was": "Shopping list", "now": "List", "worded": true })
    );
    assert_eq!(rows[3]["arguments"], Value::Null);
    assert_eq!(rows[4]["kind"], "missing");
    assert_eq!(rows[4]["baseline"]["cause"], 2);
    assert_eq!(
        rows[1]["headers"],
        json!([{ "server": "files", "name": "authorization", "was": null, "now": "Bearer <secret:token>" }])
    );
    assert_eq!(comparison["upstream"]["headers"][0]["now"], "acme-2");
    assert_eq!(comparison["changes"][0]["kind"], "upstream");
    assert_eq!(comparison["changes"][0]["label"], "files:write");
    // Where nobody listened, nothing is said of it.
    let other = document::json(&sample::document(&sample::repeated()));
    assert!(!other.contains("\"upstream\"") && !other.contains("\"behind\""));
}

#[test]
fn what_a_try_of_a_poll_caused_stands_behind_the_one_that_counts() {
    let document = sample::document(&sample::behind());
    let rows = &document.scenarios[0].comparison.as_ref().unwrap().rows;
    let row = |number: usize| {
        let mut row = rows[0].clone();
        row.current.as_mut().unwrap().number = number;
        row
    };
    // A call that stands elsewhere, one without a partner, and a poll of three tries.
    let lost = document::Row {
        current: None,
        ..row(1)
    };
    let rows = [row(2), lost, row(1), row(5)];
    let causes = document::Causes::new(&rows, |it| it.current.as_ref().map(|it| it.number));
    let found: Vec<_> = (1..=6).map(|it| causes.row(it)).collect();
    assert_eq!(found, [2, 0, 3, 3, 3, 3].map(Some));
    let nothing = document::Causes::new(&[], |_| None);
    assert_eq!(nothing.row(1), None);
}

#[test]
fn a_failed_scenario_is_never_called_good() {
    // The verdict is fine and a criterion is not.
    let mut suite = sample::compared();
    suite.scenarios.truncate(1);
    suite.scenarios[0].status = Status::Failed;
    let document = sample::document(&suite);
    let scenario = &document.scenarios[0];
    assert_eq!(scenario.band(), Some(Band::Acceptable));
    assert_eq!(scenario.advice(), Some("review"));
    for text in [
        terminal(&document, PLAIN),
        html::index(&document),
        html::scenario(&document, scenario, None, None).html,
        document::json(&document),
    ] {
        let style = text.find("</style>").unwrap_or(0);
        for word in ["\"good\"", " good ", "deploy"] {
            assert!(!text[style..].contains(word), "{word}: {text}");
        }
    }
}
