//! Reading the verdicts of scanners of tool descriptions, in any of their formats.

mod cisco;
mod mcp_scan;
mod ours;
mod said;
mod sarif;

use serde_json::Value;

use super::fields::{Fields, read_whole};
use super::places::Document;
use crate::scenario_file::Finding;
use crate::scenario_file::measured::VerdictForm as Form;

pub use ours::json_schema;
pub(super) use said::is_malicious;
pub use said::{Detector, Entry, Run, ScanStatus, Unscanned, Verdict};

/// Which form a document has; `None` where it is none that is known.
fn recognised(document: &Document) -> Option<Form> {
    let value = &document.value;
    let is_list = |key: &str| value.get(key).is_some_and(Value::is_array);
    if is_list("entries") {
        let version = value.get("format_version").and_then(Value::as_u64);
        return Some(if version == Some(2) {
            Form::V2
        } else {
            Form::V1
        });
    }
    if is_list("runs") {
        return Some(Form::Sarif);
    }
    if is_list("scan_results") || cisco::is_list(value) {
        return Some(Form::Cisco);
    }
    let members = value.as_object()?;
    let is_scan = |it: &Value| {
        let beside = ["issues", "path", "error"];
        it.get("servers").is_some() && beside.iter().any(|key| it.get(key).is_some())
    };
    (!members.is_empty() && members.values().all(is_scan)).then_some(Form::McpScan)
}

/// Reads what was said, in the form given, else in the one it has.
///
/// # Errors
///
/// Everything that keeps it from being used.
pub fn read(document: &Document, form: Option<Form>) -> Result<Run, Vec<Finding>> {
    let Some(form) = form.or_else(|| recognised(document)) else {
        let problem =
            "this is in no form of verdicts that is known: v1, v2, cisco, mcp-scan, sarif";
        return Err(vec![document.error("", problem)]);
    };
    if let (Form::V1, Some(Form::V2)) = (form, recognised(document)) {
        let problem = "these verdicts are in the form v2, and were to be read as v1";
        return Err(vec![document.error("/format_version", problem)]);
    }
    if let (Form::V1, Some(version)) = (form, document.value.get("format_version"))
        && version.as_u64() != Some(1)
    {
        let problem = "`format_version` must be 2, or be left out for the first form";
        return Err(vec![document.error("/format_version", problem)]);
    }
    let read: fn(&Fields<'_>) -> Run = match form {
        Form::V1 => ours::first,
        Form::V2 => ours::second,
        Form::Cisco => cisco::read,
        Form::McpScan => mcp_scan::read,
        Form::Sarif => sarif::read,
    };
    let run = read_whole(document, |top| Some(read(top)))?;
    let path = document.path.clone();
    Ok(Run { path, ..run })
}
