//! Our own forms: v1, of the original tool, and v2, which tells more.

use serde_json::Value;

use super::said::{Detector, Entry, Run, ScanStatus, Verdict};
use super::schema::Known;
use crate::discovery::fields::Fields;
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
