//! The JSON Schema of verdicts, version 2, and the keys that it knows.

use serde_json::{Value, json};

use crate::discovery::fields::Fields;
use crate::discovery::places::part;
use crate::scenario_file::Finding;

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
