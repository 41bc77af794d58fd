//! The raw output of Cisco's MCP scanner: per tool, prompt or resource, what each analyzer found.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::said::{Run, ScanStatus, Subject, Verdict, add};
use crate::discovery::fields::{Fields, Items};
use crate::discovery::places::{Document, part};
use crate::scenario_file::Finding;

/// Who is named where no analyzer is.
const DETECTOR: &str = "cisco";

/// What a result is about: its kind, and the key of its name.
const NAMES: [(&str, &str); 4] = [
    ("tool", "tool_name"),
    ("prompt", "prompt_name"),
    ("resource", "resource_name"),
    ("resource", "resource_uri"),
];

/// Whether a document is the bare list of results.
pub(super) fn is_list(value: &Value) -> bool {
    let is_result = |it: &Value| {
        NAMES.iter().any(|(_, key)| it.get(key).is_some())
            && ["findings", "is_safe", "status"]
                .iter()
                .any(|key| it.get(key).is_some())
    };
    let items = value.as_array();
    items.is_some_and(|it| !it.is_empty() && it.iter().all(is_result))
}

/// Reads `{scan_results: [{tool_name, status, is_safe, findings: {ANALYZER: {severity, total_findings, …}}}]}`, or the list alone.
pub(super) fn read(document: &Document, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run::default();
    let mut at = HashMap::new();
    let items = match &document.value {
        Value::Array(items) => Some(Items {
            pointer: String::new(),
            items,
        }),
        whole => Fields::new(document, whole).list("", "scan_results", findings),
    };
    let items = items.map(|it| it.objects(document, "a result", findings));
    let items = items.unwrap_or_default();
    // An analyzer that was asked is named in every result, whether it has found anything or not.
    let all: BTreeSet<&str> = items
        .iter()
        .filter_map(|(_, fields)| fields.get("findings")?.as_object())
        .flat_map(|it| it.keys().map(String::as_str))
        .collect();
    for (pointer, fields) in &items {
        let Some(subject) = subject(pointer, *fields, findings) else {
            continue;
        };
        if at.contains_key(&subject.id) {
            let problem = format!("`{}` is judged twice in one run", subject.id);
            findings.push(document.error(pointer, problem));
            continue;
        }
        for verdict in verdicts(pointer, *fields, &all, findings) {
            add(&mut run, &mut at, &subject, verdict);
        }
    }
    run
}

fn subject(pointer: &str, fields: Fields<'_>, findings: &mut Vec<Finding>) -> Option<Subject> {
    let server = fields.optional_text(pointer, "server_name", findings);
    let named = NAMES
        .iter()
        .find(|(_, key)| fields.get(key).is_some_and(|it| !it.is_null()));
    let kind = fields.optional_text(pointer, "item_type", findings);
    match (named, kind) {
        (Some((kind, key)), _) => {
            let name = fields.text(pointer, key, findings)?;
            Some(Subject::of(server, kind, name))
        }
        // Such as a server's instructions, of which it has one text.
        (None, Some(kind)) if kind != "tool" => Some(Subject {
            is_beside: true,
            ..Subject::of(server, "tool", kind)
        }),
        (None, _) => {
            fields.text(pointer, "tool_name", findings);
            None
        }
    }
}

/// What each analyzer says in a result.
fn verdicts(
    pointer: &str,
    fields: Fields<'_>,
    all: &BTreeSet<&str>,
    findings: &mut Vec<Finding>,
) -> Vec<Verdict> {
    let unfinished = unfinished(pointer, fields, findings);
    let found = match fields.get("findings") {
        None | Some(Value::Null) => None,
        Some(Value::Object(found)) => Some(found),
        Some(_) => {
            let here = format!("{pointer}/findings");
            let problem = "`findings` must be an object with what each analyzer found";
            findings.push(fields.document.error(&here, problem));
            return Vec::new();
        }
    };
    let Some(found) = found.filter(|it| !it.is_empty()) else {
        let (status, why) =
            unfinished.unwrap_or((ScanStatus::Error, "no analyzer has judged it".to_owned()));
        if all.is_empty() {
            // That it is safe is said of what nobody has looked at, too.
            let is_found = fields.get("is_safe") == Some(&Value::Bool(false));
            let verdict = Verdict::none(DETECTOR, status, why);
            return vec![if is_found {
                Verdict {
                    detector: DETECTOR.to_owned(),
                    flagged: true,
                    ..Verdict::default()
                }
            } else {
                verdict
            }];
        }
        let each = all.iter();
        return each
            .map(|it| Verdict::none(name(it), status, why.clone()))
            .collect();
    };
    let mut verdicts = Vec::with_capacity(found.len());
    for (analyzer, analysis) in found {
        let here = format!("{pointer}/findings{}", part(analyzer));
        verdicts.push(match &unfinished {
            Some((status, why)) => Verdict::none(name(analyzer), *status, why.clone()),
            None => verdict(
                name(analyzer),
                &here,
                Fields::new(fields.document, analysis),
                findings,
            ),
        });
    }
    let Some(why) = contradiction(fields, &verdicts) else {
        return verdicts;
    };
    let names = verdicts.iter().map(|it| &it.detector);
    names
        .map(|it| Verdict::none(it, ScanStatus::Error, why))
        .collect()
}

/// That the result as a whole says something else than its analyzers do: nobody knows which of them is right.
fn contradiction(fields: Fields<'_>, verdicts: &[Verdict]) -> Option<&'static str> {
    let is_safe = fields.get("is_safe")?.as_bool()?;
    let is_found = verdicts.iter().any(|it| it.flagged);
    let is_whole = verdicts.iter().all(|it| it.status == ScanStatus::Ok);
    match (is_safe, is_found) {
        (true, true) => Some("`is_safe` is true, although an analyzer has found something"),
        (false, false) if is_whole => {
            Some("`is_safe` is false, although no analyzer has found anything")
        }
        _ => None,
    }
}

/// Why a scan came to no verdict, where it did not.
fn unfinished(
    pointer: &str,
    fields: Fields<'_>,
    findings: &mut Vec<Finding>,
) -> Option<(ScanStatus, String)> {
    let status = fields.optional_text(pointer, "status", findings);
    match status {
        None | Some("completed") => match fields.get("is_safe") {
            None | Some(Value::Bool(_)) => None,
            Some(_) => Some((
                ScanStatus::Error,
                "`is_safe` is neither true nor false".to_owned(),
            )),
        },
        Some(other) => {
            let known = ScanStatus::named(other).filter(|it| *it != ScanStatus::Ok);
            Some((known.unwrap_or(ScanStatus::Error), other.to_owned()))
        }
    }
}

/// What one analyzer says.
fn verdict(
    detector: &str,
    pointer: &str,
    fields: Fields<'_>,
    findings: &mut Vec<Finding>,
) -> Verdict {
    let severity = fields.optional_text(pointer, "severity", findings);
    let severity = severity.map(str::to_ascii_uppercase);
    let number = fields.optional_number(pointer, "total_findings", findings);
    let flagged = match (number, severity.as_deref()) {
        (_, Some("UNKNOWN")) | (None, None) => None,
        (Some(number), _) => Some(number > 0.0),
        (None, Some("SAFE")) => Some(false),
        (None, Some(_)) => Some(true),
    };
    match flagged {
        Some(flagged) => Verdict {
            detector: detector.to_owned(),
            flagged,
            ..Verdict::default()
        },
        None => Verdict::none(detector, ScanStatus::Error, "it does not say what it found"),
    }
}

fn name(analyzer: &str) -> &str {
    analyzer.trim_end_matches("_analyzer")
}
