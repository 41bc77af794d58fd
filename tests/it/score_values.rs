//! Wrong values in answers and effects that recording has received twice: each value of each recording is made another, one at a time, and
//! each time the gate must see it, in JSON and in prose. What recording showed to vary, what is new, and another notation must pass.

use mcp_eval::model::Trajectory;
use mcp_eval::model::rules::Rules;
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_gate::shipped;
use crate::score_kit::{cases, trajectory};

/// One way to make one value another; `None` where it does not apply.
type Change = fn(&Value) -> Option<Value>;

const WRONG: &[(&str, Change)] = &[
    ("another number", |it| match it {
        // A time a second later has moved with the clock.
        Value::Number(it) if it.as_i64().is_some_and(|it| it > 1_000_000_000) => {
            Some(json!(it.as_i64()? + 100_000))
        }
        Value::Number(it) if it.is_i64() => Some(json!(it.as_i64()? + 1)),
        Value::Number(it) => Some(json!(it.as_f64()? * 100.0 + 1.0)),
        _ => None,
    }),
    ("another sign", |it| {
        let it = it.as_i64().filter(|it| *it != 0)?;
        Some(json!(-it))
    }),
    ("another word", |it| {
        let text = it.as_str().filter(|it| it.len() > 3)?;
        let word = text.split_whitespace().last()?;
        Some(json!(format!("{}wrong", text.strip_suffix(word)?)))
    }),
    ("cut off", |it| {
        let text = it.as_str().filter(|it| it.chars().count() > 3)?;
        Some(json!(
            text.chars()
                .take(text.chars().count() / 2)
                .collect::<String>()
        ))
    }),
    ("a flag", |it| Some(json!(!it.as_bool()?))),
    ("null", |it| {
        (!it.is_null() && !it.is_object()).then_some(Value::Null)
    }),
    ("a row lost", |it| {
        let mut rows = it.as_array().filter(|it| !it.is_empty())?.clone();
        rows.remove(rows.len() / 2);
        Some(json!(rows))
    }),
    ("two rows in another order", |it| {
        let mut rows = it.as_array()?.clone();
        let last = rows.len().checked_sub(1)?;
        (rows[0] != rows[last]).then(|| rows.swap(0, last))?;
        Some(json!(rows))
    }),
    ("another record", |it| {
        let rows = it.as_array()?;
        let (first, last) = (rows.first()?, rows.last()?);
        (first != last && first.is_object()).then(|| json!(vec![last; rows.len()]))
    }),
    ("a field lost", |it| {
        let mut fields = it.as_object().filter(|it| !it.is_empty())?.clone();
        let key = fields.keys().next()?.clone();
        fields.remove(&key);
        Some(Value::Object(fields))
    }),
];

const HARMLESS: &[(&str, Change)] = &[
    ("one more field", |it| {
        let mut fields = it.as_object()?.clone();
        fields.insert("api_version".to_owned(), json!("1.4.0"));
        Some(Value::Object(fields))
    }),
    ("one more row", |it| {
        let mut rows = it.as_array().filter(|it| !it.is_empty())?.clone();
        rows.insert(rows.len() / 2, json!({"entirely": "new"}));
        Some(json!(rows))
    }),
    ("keys in another order", |it| {
        let fields = it.as_object().filter(|it| it.len() > 1)?;
        Some(
            fields
                .iter()
                .rev()
                .map(|(key, it)| (key.clone(), it.clone()))
                .collect(),
        )
    }),
];

/// The recordings, answers as JSON and once more as prose.
fn recordings() -> Vec<(String, Vec<Value>)> {
    let all = cases("recordings.json").into_iter().chain(shipped());
    let named = all.map(|it| {
        (
            it["name"].as_str().unwrap().to_owned(),
            it["calls"].as_array().unwrap().clone(),
        )
    });
    named.collect()
}

/// Every value of a document, each changed where the change applies.
fn changed(value: &Value, change: Change) -> Vec<Value> {
    let mut found: Vec<Value> = change(value).into_iter().collect();
    match value {
        Value::Object(fields) => {
            for (key, it) in fields {
                found.extend(changed(it, change).into_iter().map(|it| {
                    let mut fields = fields.clone();
                    fields.insert(key.clone(), it);
                    Value::Object(fields)
                }));
            }
        }
        Value::Array(rows) => {
            for (at, it) in rows.iter().enumerate() {
                found.extend(changed(it, change).into_iter().map(|it| {
                    let mut rows = rows.clone();
                    rows[at] = it;
                    json!(rows)
                }));
            }
        }
        _ => {}
    }
    found
}

/// A document as prose: a line for each of its values.
fn prose(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let lines = fields
                .iter()
                .map(|(key, it)| format!("The {} is {}.", key.replace('_', " "), prose(it)));
            lines.collect::<Vec<_>>().join("\n")
        }
        Value::Array(rows) => rows.iter().map(prose).collect::<Vec<_>>().join("; "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn with_answer(call: &Value, json: &Value, as_prose: bool) -> Value {
    let mut call = call.clone();
    if as_prose {
        call.as_object_mut().unwrap().remove("json");
        call["text"] = json!(format!(
            "Here is what was found.\n{}\nThat is all there is to say.",
            prose(json)
        ));
    } else {
        call["json"] = json.clone();
    }
    call
}

/// The first of several takes, as it is kept.
fn kept(takes: &[Trajectory]) -> Trajectory {
    let learned = score::learn(takes, &Rules::default());
    let mut baseline = takes[0].clone();
    baseline.learned = learned.answers;
    baseline.bindings = learned.bindings;
    baseline
}

/// Compares each of some answers to each call in turn, and fails with those that are judged wrongly.
fn judged(changes: &[(&str, Change)], as_prose: bool, must_pass: bool) {
    let (mut wrong, mut total) = (Vec::new(), 0);
    for (name, calls) in recordings() {
        for (at, call) in calls.iter().enumerate() {
            let Some(json) = call.get("json").filter(|_| call["is_error"] != true) else {
                continue;
            };
            let side = |json: &Value| {
                let mut calls = calls.clone();
                calls[at] = with_answer(call, json, as_prose);
                trajectory(&calls)
            };
            let baseline = kept(&[side(json), side(json)]);
            // What later calls take from the answer follows it, whatever it is.
            if baseline.bindings.iter().any(|it| it.from.call == at + 1) {
                continue;
            }
            for (kind, change) in changes {
                for other in changed(json, *change) {
                    if as_prose && prose(&other) == prose(json) {
                        continue;
                    }
                    total += 1;
                    let comparison = score::compare(&baseline, &side(&other), &Rules::default());
                    if comparison.verdict.passed != must_pass
                        || (!must_pass && comparison.changes.is_empty())
                    {
                        wrong.push(format!(
                            "{name}, call {}, {kind}: {json} → {other}: {:?}",
                            at + 1,
                            comparison.verdict
                        ));
                    }
                }
            }
        }
    }
    assert!(total > 50, "too few to tell: {total}");
    assert!(
        wrong.is_empty(),
        "{} of {total} judged wrongly:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_wrong_value_in_an_answer_fails() {
    judged(WRONG, false, false);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_wrong_value_in_prose_fails() {
    // In prose, what is flagged, null or in another order is a text like any other; a lost field is fewer words.
    judged(WRONG, true, false);
}

#[test]
fn additions_and_other_notations_pass() {
    judged(HARMLESS, false, true);
}

#[test]
fn an_effect_with_another_value_fails() {
    let another = |it: &Value| match it {
        Value::String(text) if !text.is_empty() && text.split_whitespace().count() < 3 => {
            Some(json!(format!("{text}2")))
        }
        Value::Number(it) => Some(json!(it.as_i64()? + 1)),
        Value::Bool(it) => Some(json!(!it)),
        _ => None,
    };
    let mut total = 0;
    for (name, calls) in recordings() {
        for (at, call) in calls
            .iter()
            .enumerate()
            .filter(|(_, it)| it["reads"] != true)
        {
            let baseline = kept(&[trajectory(&calls), trajectory(&calls)]);
            if baseline.bindings.iter().any(|it| it.call == at + 1) {
                continue;
            }
            for args in changed(&call["args"], another) {
                let mut current = calls.clone();
                current[at]["args"] = args.clone();
                let verdict =
                    score::compare(&baseline, &trajectory(&current), &Rules::default()).verdict;
                assert!(
                    !verdict.passed,
                    "{name}, call {}: {} → {args}",
                    at + 1,
                    call["args"]
                );
                total += 1;
            }
        }
    }
    assert!(total > 5, "too few to tell: {total}");
}

#[test]
fn what_varied_in_the_takes_may_be_another_again_and_nothing_beside_it() {
    let answer = |load: f64, id: &str, note: &str, total: u32| {
        let json = json!({"id": id, "load": load, "total": total, "rows": [{"name": "a", "load": load}, {"name": "b", "load": load + 1.0}]});
        trajectory(&[
            json!({"tool": "mcp__p__status", "reads": true, "json": json}),
            json!({"tool": "mcp__p__log", "reads": true, "text": format!("Request {id} took {load} ms: {note}, {total} rows")}),
        ])
    };
    let takes = [
        answer(
            1.5,
            "6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b1a11",
            "all is well",
            3,
        ),
        answer(
            2.5,
            "0b7dd1f2-9a0e-4f5e-8f66-5a8f5c1b2d22",
            "all is well",
            3,
        ),
    ];
    let baseline = kept(&takes);
    let passes = |run: &Trajectory| {
        let comparison = score::compare(&baseline, run, &Rules::default());
        (comparison.verdict.passed, comparison.changes.len())
    };
    let id = "11111111-2222-4333-8444-555555555555";
    assert_eq!(passes(&answer(77.0, id, "all is well", 3)), (true, 0));
    assert!(!passes(&answer(77.0, id, "nothing is well", 3)).0);
    assert!(!passes(&answer(77.0, id, "all is well", 4)).0);
    assert!(!passes(&answer(77.0, "undefined", "all is well", 3)).0);
}
