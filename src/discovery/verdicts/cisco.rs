//! The raw output of Cisco's MCP scanner: per tool, what each analyzer found.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Run, ScanStatus, Verdict, add};
use crate::discovery::fields::Fields;
use crate::discovery::finding::Finding;

/// Reads `{scan_results: [{tool_name, status, is_safe, findings: {ANALYZER: {severity, total_findings, …}}}]}`.
pub(super) fn read(top: Fields<'_>, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run::default();
    let mut at = HashMap::new();
    let Some(items) = top.list("", "scan_results", findings) else {
        return run;
    };
    for (pointer, fields) in items.objects(top.document, "a result", findings) {
        let Some(name) = fields.text(&pointer, "tool_name", findings) else {
            continue;
        };
        let server = fields.get("server_name").and_then(Value::as_str);
        let id = server.map_or_else(|| name.to_owned(), |server| format!("{server}:{name}"));
        let status = fields.optional_text(&pointer, "status", findings);
        let is_done = status.is_none_or(|it| it == "completed");
        let analyzers = fields.get("findings").and_then(Value::as_object);
        let analyzers = analyzers.into_iter().flatten();
        let mut known = 0;
        for (analyzer, found) in analyzers {
            known += 1;
            let number = found.get("total_findings").and_then(Value::as_u64);
            let severity = found.get("severity").and_then(Value::as_str);
            let is_unknown = severity.is_some_and(|it| it.eq_ignore_ascii_case("unknown"));
            let (status, reason) = if is_done && !is_unknown {
                (ScanStatus::Ok, String::new())
            } else {
                (ScanStatus::Error, status.unwrap_or("unknown").to_owned())
            };
            let verdict = Verdict {
                detector: analyzer.trim_end_matches("_analyzer").to_owned(),
                status,
                reason,
                flagged: number.unwrap_or(0) > 0,
                score: None,
            };
            add(&mut run, &mut at, &id, verdict);
        }
        if known == 0 {
            let is_safe = fields.get("is_safe").and_then(Value::as_bool);
            let verdict = Verdict {
                detector: "cisco".to_owned(),
                status: if is_done && is_safe.is_some() {
                    ScanStatus::Ok
                } else {
                    ScanStatus::Error
                },
                reason: status.unwrap_or_default().to_owned(),
                flagged: is_safe == Some(false),
                score: None,
            };
            add(&mut run, &mut at, &id, verdict);
        }
    }
    run
}
