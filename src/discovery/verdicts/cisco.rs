//! The raw output of Cisco's MCP scanner: per tool, prompt or resource, what each analyzer found.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::said::{Run, ScanStatus, Subject, Verdict, add};
use crate::discovery::fields::Fields;

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
pub(super) fn read(top: &Fields<'_>) -> Run {
    let mut run = Run::default();
    let mut at = HashMap::new();
    let results = if top.value.is_array() {
        Some(top.clone())
    } else {
        top.list("scan_results")
    };
    let results = results.map(|it| it.objects("a result"));
    let results = results.unwrap_or_default();
    // An analyzer that was asked is named in every result, whether it has found anything or not.
    let all: BTreeSet<&str> = results
        .iter()
        .filter_map(|result| result.get("findings")?.as_object())
        .flat_map(|it| it.keys().map(String::as_str))
        .collect();
    for result in &results {
        let Some(subject) = subject(result) else {
            continue;
        };
        if at.contains_key(&subject.id) {
            result.refuse(format!("`{}` is judged twice in one run", subject.id));
            continue;
        }
        for verdict in verdicts(result, &all) {
            add(&mut run, &mut at, &subject, verdict);
        }
    }
    run
}

fn subject(result: &Fields<'_>) -> Option<Subject> {
    let server = result.optional_text("server_name");
    let named = NAMES
        .iter()
        .find(|(_, key)| result.get(key).is_some_and(|it| !it.is_null()));
    let kind = result.optional_text("item_type");
    match (named, kind) {
        (Some((kind, key)), _) => Some(Subject::of(server, kind, result.text(key)?)),
        // Such as a server's instructions, of which it has one text.
        (None, Some(kind)) if kind != "tool" => Some(Subject {
            is_beside: true,
            ..Subject::of(server, "tool", kind)
        }),
        (None, _) => {
            result.text("tool_name");
            None
        }
    }
}

/// What each analyzer says in a result.
fn verdicts(result: &Fields<'_>, all: &BTreeSet<&str>) -> Vec<Verdict> {
    let unfinished = unfinished(result);
    let found = match result.member("findings") {
        Some(found) if !found.value.is_object() && !found.value.is_null() => {
            found.refuse("`findings` must be an object with what each analyzer found");
            return Vec::new();
        }
        found => found.map(|it| it.members()).unwrap_or_default(),
    };
    if found.is_empty() {
        let (status, why) =
            unfinished.unwrap_or((ScanStatus::Error, "no analyzer has judged it".to_owned()));
        // That it is safe is said of what nobody has looked at, too.
        let is_found = result.get("is_safe") == Some(&Value::Bool(false));
        if all.is_empty() && is_found {
            return vec![Verdict::of(DETECTOR, true)];
        }
        if all.is_empty() {
            return vec![Verdict::none(DETECTOR, status, why)];
        }
        let each = all.iter();
        return each
            .map(|it| Verdict::none(name(it), status, why.clone()))
            .collect();
    }
    let verdicts = found.iter().map(|(analyzer, analysis)| match &unfinished {
        Some((status, why)) => Verdict::none(name(analyzer), *status, why.clone()),
        None => verdict(name(analyzer), analysis),
    });
    let verdicts: Vec<Verdict> = verdicts.collect();
    let Some(why) = contradiction(result, &verdicts) else {
        return verdicts;
    };
    let names = verdicts.iter().map(|it| &it.detector);
    names
        .map(|it| Verdict::none(it, ScanStatus::Error, why))
        .collect()
}

/// That the result as a whole says something else than its analyzers do: nobody knows which of them is right.
fn contradiction(result: &Fields<'_>, verdicts: &[Verdict]) -> Option<&'static str> {
    let is_safe = result.get("is_safe")?.as_bool()?;
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
fn unfinished(result: &Fields<'_>) -> Option<(ScanStatus, String)> {
    match result.optional_text("status") {
        None | Some("completed") => match result.get("is_safe") {
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
fn verdict(detector: &str, analysis: &Fields<'_>) -> Verdict {
    let severity = analysis.optional_text("severity");
    let severity = severity.map(str::to_ascii_uppercase);
    let number = analysis.optional_number("total_findings");
    let flagged = match (number, severity.as_deref()) {
        (_, Some("UNKNOWN")) | (None, None) => None,
        (Some(number), _) => Some(number > 0.0),
        (None, Some("SAFE")) => Some(false),
        (None, Some(_)) => Some(true),
    };
    let unsaid = "it does not say what it found";
    flagged.map_or_else(
        || Verdict::none(detector, ScanStatus::Error, unsaid),
        |it| Verdict::of(detector, it),
    )
}

fn name(analyzer: &str) -> &str {
    analyzer.trim_end_matches("_analyzer")
}
