//! The gate distinguishes regressions from noise: a labelled set, made by changing recorded trajectories the way servers and
//! agents change them.
//!
//! The shipped baselines and `recordings.json`, small trajectories of several kinds of servers, are what is changed. Each kind of change is applied to each call
//! it can be applied to; what must pass and what must fail is the kind's own matter.

use mcp_eval::model::Outcome;
use mcp_eval::model::rules::Rules;
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{assert_losses_add_up, cases, trajectory};

/// Of either label, no more than this share may be judged wrongly.
const BAR: f64 = 0.02;

/// One kind of change to one call: `None` where it does not apply.
type Change = fn(&Value) -> Option<Value>;

const NOISE: &[(&str, Change)] = &[
    ("same", |call| Some(call.clone())),
    ("volatile", volatile),
    ("key order", |call| {
        Some(with_json(call, &reversed(call.get("json")?)))
    }),
    ("numeric text", numeric_text),
    ("reworded read", reworded),
    ("optional argument", optional_argument),
    ("added field", |call| {
        let mut json = call.get("json")?.clone();
        json.as_object_mut()?
            .insert("api_version".to_owned(), json!("1.4.0"));
        Some(with_json(call, &json))
    }),
];

const REGRESSIONS: &[(&str, Change)] = &[
    ("error", |call| with_text(call, "Connection failed", true)),
    ("error in text", |call| {
        with_text(call, "Error: upstream server not found", false)
    }),
    ("renamed tool", |call| {
        let mut call = call.clone();
        call["tool"] = json!(format!("{}_v2", call["tool"].as_str()?));
        Some(call)
    }),
    ("renamed keys", renamed_keys),
    ("lost field", lost_field),
    ("bool flipped", |call| {
        change_first(call, &|it| it.as_bool().map(|it| json!(!it)))
    }),
    ("type changed", |call| {
        change_first(call, &|it| it.is_number().then(|| json!(it.to_string())))
    }),
    ("emptied list", |call| {
        change_first(call, &|it| (!it.as_array()?.is_empty()).then(|| json!([])))
    }),
    ("wrong operation", |call| {
        let mut call = call.clone();
        call["args"]["operation"].as_str()?;
        call["args"]["operation"] = json!("purge");
        call["reads"] = json!(false);
        call["is_error"] = json!(false);
        Some(with_json(
            &call,
            &json!({"success": true, "message": "purged"}),
        ))
    }),
];

/// A baseline, a run, and whether it must pass.
struct Labelled {
    name: String,
    baseline: Vec<Value>,
    current: Vec<Value>,
    must_pass: bool,
}

/// The shipped baselines, in the notation of the cases.
pub(crate) fn shipped() -> Vec<Value> {
    let mut recordings = Vec::new();
    for entry in walkdir::WalkDir::new(crate::common::root().join("baselines")).sort_by_file_name()
    {
        let entry = entry.unwrap();
        if entry.file_name() != "baseline.json" {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let kept: Value = serde_json::from_str(&text).unwrap();
        if kept.get("kind").is_some() {
            // Of a search that is measured, figures are kept, and no calls.
            continue;
        }
        let baseline = mcp_eval::store::load(entry.path()).unwrap();
        let calls: Vec<Value> = baseline
            .calls()
            .map(|call| {
                let server = call.server.as_deref().unwrap();
                let tool = baseline.catalogue.tool(server, &call.tool).unwrap();
                let Outcome::Answer(answer) = &call.outcome else {
                    panic!("a shipped baseline has a call without an answer")
                };
                let mut case = json!({
                    "tool": call.full_name(), "args": call.arguments, "is_error": answer.is_error,
                    "reads": tool.read_only_hint() == Some(true),
                });
                match serde_json::from_str::<Value>(&answer.text()) {
                    Ok(json) => case["json"] = json,
                    Err(_) => case["text"] = json!(answer.text()),
                }
                case
            })
            .collect();
        recordings.push(json!({ "name": baseline.scenario, "calls": calls }));
    }
    recordings
}

fn labelled() -> Vec<Labelled> {
    let mut set = Vec::new();
    for recording in cases("recordings.json").into_iter().chain(shipped()) {
        let baseline = recording["calls"].as_array().unwrap().clone();
        let name = recording["name"].as_str().unwrap();
        let mut add = |kind: &str, current: Vec<Value>, must_pass: bool| {
            set.push(Labelled {
                name: format!("{name}: {kind}"),
                baseline: baseline.clone(),
                current,
                must_pass,
            });
        };
        // Noise comes everywhere at once, a regression in one place.
        for (kind, change) in NOISE {
            let changed: Vec<Option<Value>> = baseline.iter().map(change).collect();
            if changed.iter().any(Option::is_some) {
                let pairs = changed.into_iter().zip(&baseline);
                add(
                    kind,
                    pairs
                        .map(|(it, call)| it.unwrap_or_else(|| call.clone()))
                        .collect(),
                    true,
                );
            }
        }
        for (kind, change) in REGRESSIONS {
            for at in 0..baseline.len() {
                if let Some(changed) = change(&baseline[at]) {
                    let mut current = baseline.clone();
                    current[at] = changed;
                    add(&format!("{kind} at call {}", at + 1), current, false);
                }
            }
        }
        add("no calls", Vec::new(), false);
        if let Some(first) = with_text(&baseline[0], "blocked", true) {
            add("blocked", vec![first], false);
        }
        if baseline.len() > 1 {
            add(
                "truncated",
                baseline[..baseline.len() * 2 / 3].to_vec(),
                false,
            );
        }
        if baseline.len() > 3 && baseline[0]["reads"] == true {
            let mut current = baseline.clone();
            current.insert(0, baseline[0].clone());
            add("repeated read", current, true);
        }
    }
    set
}

#[test]
fn the_gate_tells_regressions_from_noise() {
    let (mut wrong, mut total) = ([Vec::new(), Vec::new()], [0, 0]);
    for case in labelled() {
        let all: Vec<Value> = case.baseline.iter().chain(&case.current).cloned().collect();
        // A tool reads if all its calls do; both sides list the same tools, but for one that was renamed.
        let side = |calls: &[Value], listed: &[Value]| {
            let mut side = trajectory(calls);
            side.catalogue = trajectory(listed).catalogue;
            for server in &mut side.catalogue.servers {
                for tool in &mut server.tools {
                    let name = format!("mcp__{}__{}", server.server, tool.name());
                    let mut its_calls = all.iter().filter(|it| it["tool"] == name.as_str());
                    let reads = its_calls.all(|it| it["reads"] == true);
                    tool.served["annotations"] = json!({"readOnlyHint": reads});
                }
            }
            side
        };
        let renamed = case.name.contains("renamed tool");
        let (baseline, current) = if renamed {
            (
                side(&case.baseline, &case.baseline),
                side(&case.current, &case.current),
            )
        } else {
            (side(&case.baseline, &all), side(&case.current, &all))
        };
        let comparison = score::compare(&baseline, &current, &Rules::default());
        assert_losses_add_up(&comparison, &case.name);
        let label = usize::from(case.must_pass);
        total[label] += 1;
        if comparison.verdict.passed != case.must_pass {
            wrong[label].push(format!("{} {:?}", case.name, comparison.verdict.reasons));
        }
    }
    for label in [0, 1] {
        assert!(total[label] > 30, "too few cases to tell: {total:?}");
        let share = f64::from(u32::try_from(wrong[label].len()).unwrap()) / f64::from(total[label]);
        assert!(
            share <= BAR,
            "{share:.3} of {} judged wrongly:\n{}",
            total[label],
            wrong[label].join("\n")
        );
    }
}

fn with_json(call: &Value, json: &Value) -> Value {
    let mut call = call.clone();
    call["json"] = json.clone();
    call
}

fn with_text(call: &Value, text: &str, is_error: bool) -> Option<Value> {
    if call["is_error"] == true {
        return None;
    }
    let mut call = call.clone();
    call.as_object_mut()?.remove("json");
    call["text"] = json!(text);
    call["is_error"] = json!(is_error);
    Some(call)
}

/// Every object's keys the other way round.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(it) => it
            .iter()
            .rev()
            .map(|(key, it)| (key.clone(), reversed(it)))
            .collect(),
        Value::Array(it) => it.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

/// Every time and id another one, as in the next run; where there is none, nothing changes.
fn volatile(call: &Value) -> Option<Value> {
    let text = call.to_string();
    let next = text
        .replace("2026-01-02T03:04", "2026-05-06T17:18")
        .replace("6f1c9b7e-3c1d-4a52", "0b7dd1f2-9a0e-4f5e")
        .replace("17672", "17780");
    (next != text).then(|| serde_json::from_str(&next).unwrap())
}

fn numeric_text(call: &Value) -> Option<Value> {
    let mut changed = call.clone();
    for it in changed["args"].as_object_mut()?.values_mut() {
        if it.is_number() {
            *it = json!(it.to_string());
        }
    }
    (&changed != call).then_some(changed)
}

/// A read asked in other words, with the answer as it was but for an echo of the words.
fn reworded(call: &Value) -> Option<Value> {
    let query = call["args"]["query"]
        .as_str()
        .filter(|_| call["reads"] == true)?;
    let mut words: Vec<&str> = query.split(' ').collect();
    words.rotate_left(1);
    words[0] = "some";
    let other = words.join(" ");
    let mut changed = call.clone();
    changed["args"]["query"] = json!(other);
    if changed["json"]["query"] == json!(query) {
        changed["json"]["query"] = json!(other);
    }
    Some(changed)
}

fn optional_argument(call: &Value) -> Option<Value> {
    if call["reads"] != true {
        return None;
    }
    let mut changed = call.clone();
    changed["args"]["verbose"] = json!(false);
    Some(changed)
}

fn renamed_keys(call: &Value) -> Option<Value> {
    let renamed = |(key, it): (&String, &Value)| (format!("{key}_value"), it.clone());
    let json: Value = call["json"].as_object()?.iter().map(renamed).collect();
    Some(with_json(call, &json))
}

/// The largest field gone.
fn lost_field(call: &Value) -> Option<Value> {
    let mut json = call["json"].as_object()?.clone();
    let key = json
        .iter()
        .max_by_key(|(_, it)| it.to_string().len())?
        .0
        .clone();
    json.remove(&key);
    Some(with_json(call, &Value::Object(json)))
}

/// The first value, looked for depth first, that the change applies to.
fn change_first(call: &Value, change: &dyn Fn(&Value) -> Option<Value>) -> Option<Value> {
    fn walk(value: &mut Value, change: &dyn Fn(&Value) -> Option<Value>) -> bool {
        if let Some(changed) = change(value) {
            *value = changed;
            return true;
        }
        match value {
            Value::Object(it) => it.values_mut().any(|it| walk(it, change)),
            Value::Array(it) => it.iter_mut().any(|it| walk(it, change)),
            _ => false,
        }
    }
    let mut json = call.get("json")?.clone();
    walk(&mut json, change).then(|| with_json(call, &json))
}
