//! The JSON Schema of verdicts, version 2.

use serde_json::{Value, json};

/// The JSON Schema (draft 2020-12) of a file of verdicts, version 2. Members that are not named here are of no matter.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-eval verdicts",
        "description": "What one scanner said of the tools of a corpus, in one run.",
        "type": "object",
        "required": ["format_version", "detector", "entries"],
        "properties": {
            "format_version": { "const": 2 },
            "corpus_version": { "type": ["string", "null"], "description": "The corpus that was scanned." },
            "detector": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": { "type": "string", "minLength": 1 },
                    "version": { "type": ["string", "null"] },
                    "settings": { "description": "Whatever it was told." },
                    "threshold": { "type": ["number", "null"], "description": "The score from which it flags." }
                }
            },
            "run": {
                "type": "object",
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
