//! The JSON of mcp-scan: per client configuration, its servers with their tools, and issues that refer to them by number.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Run, ScanStatus, Verdict, add};
use crate::discovery::finding::Finding;
use crate::discovery::places::{Document, part};

const DETECTOR: &str = "mcp-scan";

/// Reads `{PATH: {servers: [{name, signature: {tools: […]}, error}], issues: [{code, message, reference: [SERVER, TOOL]}], error}}`.
pub(super) fn read(document: &Document, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run::default();
    let mut at = HashMap::new();
    let Some(paths) = document.value.as_object() else {
        findings.push(document.error("", "the output of mcp-scan is an object"));
        return run;
    };
    for (path, scanned) in paths {
        let servers = scanned.get("servers").and_then(Value::as_array);
        let Some(servers) = servers else {
            let pointer = part(path);
            findings.push(document.error(&pointer, "`servers` must be a list"));
            continue;
        };
        let whole_error = error(scanned);
        let ids: Vec<Vec<String>> = servers.iter().map(ids).collect();
        for (server, ids) in servers.iter().zip(&ids) {
            let why = whole_error.clone().or_else(|| error(server));
            for id in ids {
                let verdict = Verdict {
                    detector: DETECTOR.to_owned(),
                    status: if why.is_some() {
                        ScanStatus::Error
                    } else {
                        ScanStatus::Ok
                    },
                    reason: why.clone().unwrap_or_default(),
                    ..Verdict::default()
                };
                add(&mut run, &mut at, id, verdict);
            }
        }
        for issue in scanned
            .get("issues")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let code = issue
                .get("code")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let message = issue
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let place = |index: usize| {
                let number = issue.get("reference")?.as_array()?.get(index)?.as_u64()?;
                usize::try_from(number).ok()
            };
            let Some(server) = place(0).and_then(|it| ids.get(it)) else {
                continue;
            };
            let hit: Vec<&String> = match place(1) {
                Some(tool) => server.get(tool).into_iter().collect(),
                None => server.iter().collect(),
            };
            for id in hit {
                // Codes with an X tell that something could not be scanned.
                let is_failure = code.starts_with('X');
                let verdict = Verdict {
                    detector: DETECTOR.to_owned(),
                    status: if is_failure {
                        ScanStatus::Error
                    } else {
                        ScanStatus::Ok
                    },
                    reason: if is_failure {
                        message.to_owned()
                    } else {
                        String::new()
                    },
                    flagged: !is_failure,
                    score: None,
                };
                add(&mut run, &mut at, id, verdict);
            }
        }
    }
    run
}

fn error(of: &Value) -> Option<String> {
    match of.get("error") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            let message = other.get("message").and_then(Value::as_str);
            Some(message.map_or_else(|| other.to_string(), str::to_owned))
        }
    }
}

/// The ids of what a server offers, in the order in which issues count it: prompts, resources, then tools.
fn ids(server: &Value) -> Vec<String> {
    let name = server
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let lists = ["prompts", "resources", "resource_templates", "tools"];
    let offered = lists.iter().flat_map(|list| {
        let pointer = format!("/signature/{list}");
        let items = server.pointer(&pointer).and_then(Value::as_array);
        items.into_iter().flatten()
    });
    offered
        .map(|it| {
            let tool = it.get("name").and_then(Value::as_str).unwrap_or_default();
            format!("{name}:{tool}")
        })
        .collect()
}
