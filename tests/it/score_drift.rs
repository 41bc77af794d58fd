//! Changes of the tool catalogue, in words, and what they mean for the verdict.

use mcp_eval::model::reason::{self, ReasonKind};
use mcp_eval::model::rules::{Gate, Rules};
use mcp_eval::model::{Catalogue, Comparison, ServerCatalogue, Tool};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{cases, document, object, recorded};

pub(crate) fn catalogue(tools: &Value) -> Catalogue {
    let tools = tools.as_array().unwrap().iter();
    Catalogue {
        servers: vec![ServerCatalogue {
            server: "p".to_owned(),
            tools: tools.map(|it| Tool { served: object(it) }).collect(),
            ..ServerCatalogue::default()
        }],
        ..Catalogue::default()
    }
}

/// Compares equal calls of `tool` over two catalogues.
fn drifted(before: &Value, after: &Value, tool: &str, rules: &Rules) -> Comparison {
    let calls = [json!({"tool": format!("mcp__p__{tool}"), "args": {"limit": 1}, "text": "ok"})];
    let side = |tools: &Value| model::Trajectory {
        catalogue: catalogue(tools),
        ..recorded(&calls)
    };
    score::compare(&side(before), &side(after), rules)
}

#[test]
fn a_second_tool_of_one_name_is_held_to_the_first() {
    let asks_for =
        |key: &str| json!({"name": "t", "inputSchema": {"type": "object", "required": [key]}});
    let (first, second) = (asks_for("limit"), asks_for("page"));
    let compare =
        |before: Value, now: Value| drifted(&before, &now, "t", &Rules::default()).verdict;
    for now in [json!([first, second]), json!([first, first, second])] {
        let verdict = compare(json!([first]), now);
        assert!(!verdict.passed, "{verdict:?}");
    }
    for before in [json!([first, second]), json!([second, first])] {
        assert!(compare(before, json!([first, second, first])).passed);
    }
    assert!(compare(json!([first]), json!([first, first])).passed);
}

#[test]
fn what_breaks_no_call_is_shown_all_the_same() {
    let tools = json!([{"name": "t", "_meta": {"ui": "list", "at": "2026-05-01T10:00:00Z"}}]);
    let now = json!([
        {"name": "t", "_meta": {"ui": "table", "at": "2026-05-02T10:00:00Z"}, "annotations": {"idempotentHint": true}},
        {"name": "t"},
    ]);
    let whats = |comparison: &Comparison| -> Vec<String> {
        assert!(comparison.verdict.passed, "{:?}", comparison.verdict);
        let changes = comparison.changes.iter();
        changes.map(|it| it.what.to_string()).collect()
    };
    let comparison = drifted(&tools, &now, "t", &Rules::default());
    let found = whats(&comparison).join("; ");
    for what in [
        "listed 2 times",
        "`_meta` of `t`",
        "`idempotentHint` of `t`",
    ] {
        assert!(found.contains(what), "{found}");
    }
    // Listed twice before, too.
    let twice = |hints: Value| {
        let tool = json!({"name": "t", "annotations": hints});
        json!([tool, tool])
    };
    let hinted = twice(json!({"idempotentHint": true}));
    let comparison = drifted(&twice(json!({})), &hinted, "t", &Rules::default());
    let found = whats(&comparison).join("; ");
    assert!(
        found.contains("`idempotentHint`") && !found.contains("listed"),
        "{found}"
    );
    let later = json!([{"name": "t", "_meta": {"ui": "list", "at": "2026-05-02T10:00:00Z"}}]);
    assert_eq!(
        whats(&drifted(&tools, &later, "t", &Rules::default())),
        [""; 0]
    );

    let able = |capabilities: Value| {
        let mut run = recorded(&[json!({"tool": "mcp__p__t", "args": {}, "text": "ok"})]);
        run.catalogue = catalogue(&tools);
        let server = &mut run.catalogue.servers[0];
        server.info = Some(json!({"name": "p"}));
        server.capabilities = Some(capabilities).filter(|it| !it.is_null());
        run
    };
    let full = able(
        json!({"tools": {}, "logging": {}, "resources": {"subscribe": true, "listChanged": false}}),
    );
    for (now, lost) in [
        (
            json!({"tools": {}, "resources": {}}),
            &["logging", "resources/subscribe"][..],
        ),
        (
            json!({"tools": {}, "logging": {}, "resources": {"subscribe": true}, "prompts": {}}),
            &[],
        ),
        // Whoever recorded it did not know.
        (Value::Null, &[]),
    ] {
        let comparison = score::compare(&full, &able(now), &Rules::default());
        let expected = lost
            .iter()
            .map(|it| format!("server `p` has lost the capability `{it}`"));
        assert_eq!(whats(&comparison), expected.collect::<Vec<_>>());
    }
}

/// Each change in words, and whether it accepts less than before.
#[test]
fn changes_in_words() {
    for case in cases("drift.json") {
        let tool = |schema: &Value| json!([{"name": "retrieve_tools", "inputSchema": schema}]);
        let comparison = drifted(
            &tool(&case["before"]),
            &tool(&case["after"]),
            "retrieve_tools",
            &Rules::default(),
        );
        let verdict = &comparison.verdict;
        let narrower = |what: &str| {
            let mut named = verdict.reasons.iter().chain(&verdict.warnings);
            named.any(|it| it.sentence() == what)
        };
        let found: Vec<Value> = (comparison.drift.iter())
            .map(|it| {
                json!([
                    it.of_tool().to_string(),
                    narrower(&it.of_tool().to_string())
                ])
            })
            .collect();
        assert_eq!(&json!(found), &case["found"], "{}", case["name"]);
    }
}

/// A comparison of one call with itself, its tool's input schema being another.
fn asked(case: &Value) -> Comparison {
    let side = |schema: &Value| {
        let calls = [json!({"tool": "mcp__p__t", "args": case["arguments"], "text": "ok"})];
        model::Trajectory {
            catalogue: catalogue(&json!([{"name": "t", "inputSchema": schema}])),
            ..recorded(&calls)
        }
    };
    score::compare(
        &side(&case["schema_then"]),
        &side(&case["schema_now"]),
        &Rules::default(),
    )
}

#[test]
fn drift_fails_only_where_a_recorded_call_would_be_refused() {
    let truth = document("gate-truth.json");
    let cases = cases("refused.json")
        .into_iter()
        .chain(truth["drift"].as_array().unwrap().clone());
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let comparison = asked(&case);
        let passes = case["passes"].as_bool().unwrap();
        let refused: Vec<&[usize]> = (comparison.drift.iter())
            .filter(|it| it.breaking)
            .map(|it| it.refused.as_slice())
            .collect();
        let as_expected = if passes {
            refused.is_empty()
        } else {
            refused.contains(&[1].as_slice())
        };
        if comparison.verdict.passed != passes || !as_expected {
            wrong.push(format!(
                "{name}: {:?} {:?}",
                comparison.verdict, comparison.drift
            ));
        }
        for reason in &comparison.verdict.reasons {
            let cause = case.get("cause").and_then(Value::as_str);
            let sentence = reason.sentence().replace(" of `t`", "").replace('`', "\"");
            if cause.is_some_and(|it| it.replace('`', "\"") != sentence) {
                wrong.push(format!("{name}: {}", reason.sentence()));
            }
        }
        for it in &comparison.drift {
            assert!(
                !it.of_tool().to_string().ends_with(": changed") && !it.path.is_empty(),
                "{name}: {it:?}"
            );
            assert!(it.was.is_some() || it.now.is_some(), "{name}: {it:?}");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn tools_come_and_go() {
    let schema = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    let before = json!([
        {"name": "add_server", "inputSchema": schema("a")},
        {"name": "list_all", "inputSchema": schema("b")},
        {"name": "read", "description": "Reads.", "annotations": {"readOnlyHint": true}},
        {"name": "stats", "outputSchema": {"type": "object"}},
    ]);
    let after = json!([
        {"name": "upstream_add", "inputSchema": schema("c")},
        {"name": "list_everything", "inputSchema": schema("b")},
        {"name": "read", "description": "Reads slowly."},
        {"name": "stats", "outputSchema": {"type": "object", "required": ["n"]}},
    ]);
    let comparison = drifted(&before, &after, "add_server", &Rules::default());
    let said: Vec<String> = (comparison.drift.iter())
        .map(|it| it.of_tool().to_string())
        .collect();
    let found: Vec<(&str, bool, bool)> = comparison
        .drift
        .iter()
        .zip(&said)
        .map(|(it, said)| (said.as_str(), it.breaking, it.used))
        .collect();
    assert_eq!(
        found,
        [
            (
                "tool `add_server` is gone; nearest: `upstream_add`",
                true,
                true
            ),
            (
                "tool `list_all` was renamed to `list_everything`",
                false,
                false
            ),
            ("description of `read` changed", false, false),
            (
                "`read` is no longer said to only read or to change things",
                false,
                false
            ),
            (
                "output schema of `stats` changed: `n` became required",
                false,
                false
            ),
            ("tool `upstream_add` is new", false, false),
        ]
    );
}

#[test]
fn a_call_of_a_renamed_tool_is_refused_for_its_name_alone() {
    let tool = |name: &str, of_limit: &str| json!([{"name": name, "description": "Finds things by their names", "inputSchema": {"type": "object", "properties": {"limit": {"type": of_limit}, "q": {"type": "string"}, "deep": {"type": "boolean"}}}}]);
    let before = tool("find_things", "integer");
    let after = tool("things_find", "string");
    let comparison = drifted(&before, &after, "find_things", &Rules::default());
    let refusing: Vec<String> = (comparison.drift.iter())
        .filter(|it| it.breaking)
        .map(|it| it.of_tool().to_string())
        .collect();
    assert_eq!(
        refusing,
        ["tool `find_things` was renamed to `things_find`"]
    );
    assert!(
        comparison
            .drift
            .iter()
            .any(|it| it.path.starts_with("inputSchema"))
    );
}

#[test]
fn whatever_drift_fails_the_gate_is_marked() {
    let before = json!([{"name": "find", "description": "Finds."}, {"name": "add"}]);
    let after = json!([{"name": "find", "description": "Searches."}]);
    let failing = |gate: Gate| -> Vec<String> {
        let rules = Rules {
            drift: gate,
            ..Rules::default()
        };
        let changes = drifted(&before, &after, "find", &rules).changes;
        // A tool that nobody calls is no change of the scenario, unless that fails.
        assert_eq!(changes.len(), if gate == Gate::Fail { 2 } else { 1 });
        let failing = changes.into_iter().filter(|it| it.fails);
        failing.map(|it| it.what.to_string()).collect()
    };
    assert_eq!(failing(Gate::Fail), ["tool `add` is gone"]);
    assert!(failing(Gate::Warn).is_empty());
}

#[test]
fn a_breaking_change_of_a_called_tool_is_a_reason_and_of_another_a_warning() {
    let before = json!([{"name": "a"}, {"name": "b"}]);
    let after = json!([{"name": "a"}]);
    let check = |called: &str, gate: Gate, passes: bool, warnings: usize| {
        let rules = Rules {
            drift: gate,
            ..Rules::default()
        };
        let comparison = drifted(&before, &after, called, &rules);
        let verdict = comparison.verdict;
        assert_eq!(
            comparison.changes.iter().any(|it| it.fails),
            !verdict.passed,
            "{called} {gate:?}: a change fails where the verdict does"
        );
        assert_eq!(
            (verdict.passed, verdict.warnings.len()),
            (passes, warnings),
            "{called} {gate:?}: {verdict:?}"
        );
    };
    check("a", Gate::Warn, true, 1);
    check("b", Gate::Warn, false, 0);
    check("a", Gate::Fail, false, 0);
    check("a", Gate::Ignore, true, 0);
    check("b", Gate::Ignore, true, 0);
}

#[test]
fn a_recording_without_a_catalogue_has_no_drift() {
    let tools = json!([{"name": "a"}]);
    let none = Catalogue::default();
    let calls = [json!({"tool": "mcp__p__a"})];
    let with = |catalogue: Catalogue| model::Trajectory {
        catalogue,
        ..recorded(&calls)
    };
    let (none, known) = (with(none), with(catalogue(&tools)));
    for (then, now) in [(&none, &known), (&known, &none)] {
        let comparison = score::compare(then, now, &Rules::default());
        assert!(comparison.drift.is_empty(), "{:?}", comparison.drift);
    }
}

#[test]
fn drift_explains_what_it_caused() {
    let tool = |of_limit: &str| json!([{"name": "find", "inputSchema": {"type": "object", "properties": {"limit": {"type": of_limit}}}}]);
    let calls = |text: &str, is_error: bool| {
        [json!({"tool": "mcp__p__find", "args": {"limit": 1}, "text": text, "is_error": is_error})]
    };
    let side = |tools: &Value, calls: &[Value]| model::Trajectory {
        catalogue: catalogue(tools),
        ..recorded(calls)
    };
    let comparison = score::compare(
        &side(&tool("integer"), &calls("ok", false)),
        &side(&tool("string"), &calls("limit must be a string", true)),
        &Rules::default(),
    );
    let [root, regression, _] = comparison.verdict.reasons.as_slice() else {
        panic!("{:?}", comparison.verdict)
    };
    assert_eq!(
        root.sentence(),
        "parameter `limit` of `find` became a string"
    );
    let groups = reason::grouped(&comparison.verdict.reasons, &comparison.changes);
    assert_eq!(groups[0].follows[0], regression);
    assert_eq!(regression.kind, ReasonKind::ServerRegression);
    assert_eq!(
        regression.sentence(),
        "call 1, mcp__p__find, failed: limit must be a string"
    );
    assert_eq!(
        regression.cause.as_deref(),
        Some("parameter `limit` of `find` became a string")
    );

    let gone = score::compare(
        &side(
            &json!([{"name": "add_server"}]),
            &[json!({"tool": "mcp__p__add_server"})],
        ),
        &side(&json!([{"name": "upstream_add"}]), &[]),
        &Rules::default(),
    );
    let [root, missing, _] = gone.verdict.reasons.as_slice() else {
        panic!("{:?}", gone.verdict)
    };
    assert_eq!(
        root.sentence(),
        "tool `add_server` is gone; nearest: `upstream_add`"
    );
    assert_eq!(missing.kind, ReasonKind::EffectChange);
    assert_eq!(
        missing.cause.as_deref(),
        Some("tool `add_server` is gone; nearest: `upstream_add`")
    );
}
