//! Our own forms: v1, of the original tool, and v2, which tells more.

use serde_json::{Value, json};

use super::said::{Detector, Entry, Run, ScanStatus, Verdict};
use crate::discovery::fields::Fields;
use crate::discovery::places::part;
use crate::scenario_file::Finding;

/// Reads v1: `{corpus_version?, detectors, entries: [{id, label, category, verdicts: [{detector, flagged, …}]}]}`.
pub(super) fn first(top: Fields<'_>, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run {
        corpus_version: version(top, findings),
        ..Run::default()
    };
    for name in top
        .get("detectors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(name) = name.as_str().or_else(|| name.get("name")?.as_str()) {
            run.detectors.push(Detector {
                name: name.to_owned(),
                ..Detector::default()
            });
        }
    }
    for (pointer, fields) in entries(top, findings) {
        let Some(mut entry) = entry(&pointer, fields, findings) else {
            continue;
        };
        if let Some(items) = fields.list(&pointer, "verdicts", findings) {
            for (pointer, fields) in items.objects(top.document, "a verdict", findings) {
                let Some(detector) = fields.text(&pointer, "detector", findings) else {
                    continue;
                };
                if let Some(verdict) = verdict(detector, &pointer, fields, findings) {
                    if run.detectors.iter().all(|it| it.name != detector) {
                        run.detectors.push(Detector {
                            name: detector.to_owned(),
                            ..Detector::default()
                        });
                    }
                    entry.verdicts.push(verdict);
                }
            }
        }
        run.entries.push(entry);
    }
    run
}

/// Reads v2: `{format_version: 2, corpus_version?, detector: {name, version?, …}, run?, entries: [{id, status, flagged, score?, …}]}`.
pub(super) fn second(top: Fields<'_>, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run {
        corpus_version: version(top, findings),
        ..Run::default()
    };
    let known = Known::new();
    known.hold(top, findings);
    let empty = Value::Null;
    let detector = Fields::new(top.document, top.get("detector").unwrap_or(&empty));
    let Some(name) = detector.text("/detector", "name", findings) else {
        return run;
    };
    let version = detector.optional_text("/detector", "version", findings);
    let threshold = detector.optional_number("/detector", "threshold", findings);
    run.detectors.push(Detector {
        name: name.to_owned(),
        version: version.map(str::to_owned),
        threshold: threshold.map(|it| it.to_string()),
    });
    for (pointer, fields) in entries(top, findings) {
        let Some(mut entry) = entry(&pointer, fields, findings) else {
            continue;
        };
        entry
            .verdicts
            .extend(verdict(name, &pointer, fields, findings));
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

fn version(top: Fields<'_>, findings: &mut Vec<Finding>) -> Option<String> {
    let version = top.optional_text("", "corpus_version", findings);
    version.map(str::to_owned)
}

fn entries<'a>(top: Fields<'a>, findings: &mut Vec<Finding>) -> Vec<(String, Fields<'a>)> {
    let items = top.list("", "entries", findings);
    let entries = items.map(|it| it.objects(top.document, "an entry", findings));
    entries.unwrap_or_default()
}

fn entry(pointer: &str, fields: Fields<'_>, findings: &mut Vec<Finding>) -> Option<Entry> {
    let id = fields.text(pointer, "id", findings)?;
    Some(Entry {
        id: id.to_owned(),
        malicious: label(pointer, fields, findings),
        category: fields
            .optional_text(pointer, "category", findings)
            .map(str::to_owned),
        ..Entry::default()
    })
}

/// Whether an entry is malicious, where it says so.
pub(in crate::discovery) fn label(
    pointer: &str,
    fields: Fields<'_>,
    findings: &mut Vec<Finding>,
) -> Option<bool> {
    match fields.optional_text(pointer, "label", findings)? {
        "malicious" => Some(true),
        "benign" => Some(false),
        other => {
            let problem = format!("`label` must be `malicious` or `benign`, not `{other}`");
            findings.push(fields.document.error(&format!("{pointer}/label"), problem));
            None
        }
    }
}

fn verdict(
    detector: &str,
    pointer: &str,
    fields: Fields<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Verdict> {
    let status = match fields.optional_text(pointer, "status", findings) {
        None => ScanStatus::Ok,
        Some(name) => {
            let Some(status) = ScanStatus::named(name) else {
                let problem =
                    format!("`status` must be `ok`, `error`, `timeout` or `skipped`, not `{name}`");
                let here = format!("{pointer}/status");
                findings.push(fields.document.error(&here, problem));
                return None;
            };
            status
        }
    };
    let flagged = fields.get("flagged").and_then(Value::as_bool);
    if flagged.is_none() && status == ScanStatus::Ok {
        let problem = "`flagged` must be true or false";
        findings.push(
            fields
                .document
                .error(&format!("{pointer}/flagged"), problem),
        );
        return None;
    }
    let reason = fields.optional_text(pointer, "reason", findings);
    Some(Verdict {
        detector: detector.to_owned(),
        status,
        reason: reason.unwrap_or_default().to_owned(),
        flagged: flagged.unwrap_or(false),
        // -0 is 0.
        score: (fields.optional_number(pointer, "score", findings)).map(|it| it + 0.0),
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

/// The schema, for the keys that it knows.
pub(super) struct Known(Value);

impl Known {
    pub(super) fn new() -> Self {
        Self(json_schema())
    }

    /// Refuses keys that the schema does not know: what a misspelt `status` says would be lost.
    pub(super) fn hold(&self, top: Fields<'_>, findings: &mut Vec<Finding>) {
        let keys = |of: &str| -> Vec<&str> {
            let known = self.0.pointer(of).and_then(Value::as_object);
            let known = known.into_iter().flat_map(|it| it.keys());
            known.map(String::as_str).collect()
        };
        top.refuse_unknown("", &keys("/properties"), findings);
        for part in ["detector", "run"] {
            if let Some(value) = top.get(part) {
                let fields = Fields::new(top.document, value);
                let known = keys(&format!("/properties/{part}/properties"));
                fields.refuse_unknown(&format!("/{part}"), &known, findings);
            }
        }
        let (entry, detection) = (
            keys("/$defs/entry/properties"),
            keys("/$defs/detection/properties"),
        );
        let list = |of: Option<&'_ Value>| of.and_then(Value::as_array).map_or(0, Vec::len);
        let entries = top.get("entries");
        for at in 0..list(entries) {
            let Some(value) = entries.and_then(|it| it.get(at)) else {
                continue;
            };
            let pointer = format!("/entries{}", part(at));
            let fields = Fields::new(top.document, value);
            fields.refuse_unknown(&pointer, &entry, findings);
            let detections = fields.get("detections");
            for at in 0..list(detections) {
                if let Some(value) = detections.and_then(|it| it.get(at)) {
                    let pointer = format!("{pointer}/detections{}", part(at));
                    let fields = Fields::new(top.document, value);
                    fields.refuse_unknown(&pointer, &detection, findings);
                }
            }
        }
    }
}
