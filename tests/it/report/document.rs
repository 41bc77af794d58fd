//! The published document: its schema, its way to a file and back.

use std::sync::Arc;

use mcp_eval::model::comparison::Band;
use mcp_eval::model::trajectory::Step;
use mcp_eval::report::document::{self, ResultV1};
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
            let page = html::scenario(&loaded, scenario, None, None);
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
    assert_eq!(untimed["outcome"], "answer");
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
    let document = ResultV1::from(&suite);
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
    let calls = Arc::make_mut(current).steps.iter_mut();
    let mut calls = calls.filter_map(|it| match it {
        Step::ToolCall(call) => Some(call),
        _ => None,
    });
    let arguments = &mut calls.next().unwrap().arguments;
    *arguments.values_mut().next().unwrap() = deep;
    let text = document::json(&ResultV1::from(&suite));
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
        "format version 7 is not known here: this mcp-eval reads version 1; mcp-eval 4.2.0 wrote it and can read it"
    );
    assert!(error(r#"{"format_version": 7}"#).ends_with("a newer mcp-eval may read it"));
    assert!(error(r#"{"format_version": 1}"#).contains("missing field"));
}
