//! Our own forms: v1, of the original tool, and v2, which tells more.

use serde_json::{Value, json};

use super::said::{Detector, Entry, Run, ScanStatus, Verdict, is_malicious};
use crate::discovery::fields::Fields;

/// Reads v1: `{corpus_version?, detectors, entries: [{id, label, category, verdicts: [{detector, flagged, …}]}]}`.
pub(super) fn first(top: &Fields<'_>) -> Run {
    let mut run = run(top);
    let detectors = top.get("detectors").and_then(Value::as_array);
    for name in detectors.into_iter().flatten() {
        if let Some(name) = name.as_str().or_else(|| name.get("name")?.as_str()) {
            run.detectors.push(Detector::named(name));
        }
    }
    for fields in entries(top) {
        let Some(mut entry) = entry(&fields) else {
            continue;
        };
        let verdicts = fields.list("verdicts").map(|it| it.objects("a verdict"));
        for fields in verdicts.unwrap_or_default() {
            let Some(detector) = fields.text("detector") else {
                continue;
            };
            if let Some(verdict) = verdict(detector, &fields) {
                run.add_detector(Detector::named(detector));
                entry.verdicts.push(verdict);
            }
        }
        run.entries.push(entry);
    }
    run
}

/// Reads v2: `{format_version: 2, corpus_version?, detector: {name, version?, …}, run?, entries: [{id, status, flagged, score?, …}]}`.
pub(super) fn second(top: &Fields<'_>) -> Run {
    let mut run = run(top);
    refuse_unknown(top);
    let detector = top.member_or_null("detector");
    let Some(name) = detector.text("name") else {
        return run;
    };
    let version = detector.optional_text("version");
    let threshold = detector.optional_number("threshold");
    run.detectors.push(Detector {
        version: version.map(str::to_owned),
        threshold: threshold.map(|it| it.to_string()),
        ..Detector::named(name)
    });
    for fields in entries(top) {
        let Some(mut entry) = entry(&fields) else {
            continue;
        };
        entry.verdicts.extend(verdict(name, &fields));
        run.entries.push(entry);
    }
    run.doubts
        .extend(threshold.and_then(|it| contrary(&run.entries, name, it)));
    run
}

/// That entries are flagged otherwise than their scores and the threshold say: `flagged` counts, and a curve of the scores is of something else.
fn contrary(entries: &[Entry], detector: &str, threshold: f64) -> Option<String> {
    let judged = entries
        .iter()
        .filter_map(|it| Some((it, it.verdicts.first()?)));
    let scored = judged.filter_map(|(entry, it)| Some((entry, it, it.score?)));
    let mut contrary = scored.filter(|(_, it, score)| {
        it.status == ScanStatus::Ok && it.flagged != (*score >= threshold)
    });
    let (entry, verdict, score) = contrary.next()?;
    let (more, id) = (contrary.count(), &entry.id);
    let others = match more {
        0 => String::new(),
        1 => ", as is 1 more".to_owned(),
        more => format!(", as are {more} more"),
    };
    let flagged = if verdict.flagged {
        "flagged"
    } else {
        "not flagged"
    };
    Some(format!(
        "warning: {detector} contradicts itself: `{id}` is {flagged} at a score of {score}, with a threshold of {threshold}{others}; whether it is flagged counts, and its curves are of the scores"
    ))
}

fn run(top: &Fields<'_>) -> Run {
    Run {
        corpus_version: top.optional_text("corpus_version").map(str::to_owned),
        ..Run::default()
    }
}

fn entries<'a>(top: &Fields<'a>) -> Vec<Fields<'a>> {
    let entries = top.list("entries").map(|it| it.objects("an entry"));
    entries.unwrap_or_default()
}

fn entry(fields: &Fields<'_>) -> Option<Entry> {
    let id = fields.text("id")?;
    let label = fields.optional_text("label");
    Some(Entry {
        id: id.to_owned(),
        malicious: label.and_then(|it| is_malicious(fields, it)),
        category: fields.optional_text("category").map(str::to_owned),
        ..Entry::default()
    })
}

fn verdict(detector: &str, fields: &Fields<'_>) -> Option<Verdict> {
    let name = fields.optional_text("status").unwrap_or("ok");
    let Some(status) = ScanStatus::named(name) else {
        let problem =
            format!("`status` must be `ok`, `error`, `timeout` or `skipped`, not `{name}`");
        fields.error("status", problem);
        return None;
    };
    let flagged = fields.get("flagged").and_then(Value::as_bool);
    if flagged.is_none() && status == ScanStatus::Ok {
        fields.error("flagged", "`flagged` must be true or false");
        return None;
    }
    let reason = fields.optional_text("reason").unwrap_or_default();
    Some(Verdict {
        flagged: flagged.unwrap_or(false),
        // -0 is 0.
        score: fields.optional_number("score").map(|it| it + 0.0),
        ..Verdict::none(detector, status, reason)
    })
}

/// The JSON Schema (draft 2020-12) of a file of verdicts, version 2. Members whose names begin with `x-` are free.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-eval verdicts",
        "description": "What one scanner said of the tools of a corpus, in one run.",
        "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": true },
        "required": ["format_version", "detector", "entries"],
        "properties": {
            "format_version": { "const": 2 },
            "corpus_version": { "type": ["string", "null"], "description": "The corpus that was scanned." },
            "detector": {
                "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": true },
                "required": ["name"],
                "properties": {
                    "name": { "type": "string", "minLength": 1 },
                    "version": { "type": ["string", "null"] },
                    "settings": { "description": "Its settings, in any form." },
                    "threshold": { "type": ["number", "null"], "description": "The score from which it flags." }
                }
            },
            "run": {
                "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": true },
                "properties": {
                    "seed": { "type": ["integer", "null"] },
                    "duration_ms": { "type": ["number", "null"], "minimum": 0 },
                    "tokens": { "type": ["integer", "null"], "minimum": 0 },
                    "cost": { "type": ["number", "null"], "minimum": 0 }
                }
            },
            "entries": { "type": "array", "items": { "$ref": "#/$defs/entry" } }
        },
        "$defs": {
            "entry": {
                "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": true },
                "required": ["id"],
                "properties": {
                    "id": { "type": "string", "minLength": 1 },
                    "label": { "enum": ["malicious", "benign"], "description": "Of no matter where there is a corpus." },
                    "category": { "type": ["string", "null"] },
                    "status": { "enum": ["ok", "error", "timeout", "skipped"], "default": "ok" },
                    "reason": { "type": ["string", "null"], "description": "Why it is not ok." },
                    "score": { "type": ["number", "null"], "description": "The higher, the more suspicious." },
                    "flagged": { "type": "boolean" },
                    "latency_ms": { "type": ["number", "null"], "minimum": 0 },
                    "detections": { "type": "array", "items": { "$ref": "#/$defs/detection" } }
                },
                "if": { "properties": { "status": { "const": "ok" } } },
                "then": { "required": ["flagged"] }
            },
            "detection": {
                "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": true },
                "properties": {
                    "type": { "type": "string" },
                    "category": { "type": "string" },
                    "severity": { "type": "string" },
                    "span": {
                        "description": "Where in the description: from this character, up to that one.",
                        "type": "array",
                        "items": { "type": "integer", "minimum": 0 },
                        "minItems": 2,
                        "maxItems": 2
                    }
                }
            }
        }
    })
}

/// Refuses keys that the schema does not have.
fn refuse_unknown(top: &Fields<'_>) {
    let schema = json_schema();
    let refuse = |fields: &Fields<'_>, of: &str| {
        let known = schema.pointer(of).and_then(Value::as_object);
        let known = known.into_iter().flat_map(|it| it.keys());
        fields.refuse_unknown(&known.map(String::as_str).collect::<Vec<_>>());
    };
    refuse(top, "/properties");
    for part in ["detector", "run"] {
        if let Some(fields) = top.member(part) {
            refuse(&fields, &format!("/properties/{part}/properties"));
        }
    }
    for entry in top.items_of("entries") {
        refuse(&entry, "/$defs/entry/properties");
        for detection in entry.items_of("detections") {
            refuse(&detection, "/$defs/detection/properties");
        }
    }
}
