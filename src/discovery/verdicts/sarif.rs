//! SARIF, as many scanners write it: what was found, by rule and place.
//!
//! What is not listed is clean only where the scan came to its end. A run says that it did not by `executionSuccessful`, by how its process
//! ended, by a notification of the level `error`, and by `results` that are `null`.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Detector, Run, ScanStatus, Subject, Verdict, add};
use crate::discovery::fields::Fields;
use crate::discovery::places::part;
use crate::scenario_file::Finding;

/// Reads `{runs: [{tool: {driver: {name, version}}, invocations, results: [{kind, level, locations, baselineState}]}]}`. An entry is named by the
/// logical name of a place, else by its file.
pub(super) fn read(top: Fields<'_>, findings: &mut Vec<Finding>) -> Run {
    let mut run = Run {
        lists_findings_only: true,
        ..Run::default()
    };
    let mut at = HashMap::new();
    let Some(items) = top.list("", "runs", findings) else {
        return run;
    };
    for (pointer, fields) in items.objects(top.document, "a run", findings) {
        let driver = fields.get("tool").and_then(|it| it.get("driver"));
        let name = driver.and_then(|it| it.get("name")?.as_str());
        let Some(name) = name else {
            let here = format!("{pointer}/tool");
            findings.push(top.document.error(&here, "`tool.driver.name` is missing"));
            continue;
        };
        let version = driver.and_then(|it| it.get("version")?.as_str());
        // Its runs over several servers are one run over all of them.
        if run.detectors.iter().all(|it| it.name != name) {
            run.detectors.push(Detector {
                name: name.to_owned(),
                version: version.map(str::to_owned),
                threshold: None,
            });
        }
        let elsewhere = fields.get("externalPropertyFileReferences");
        let elsewhere = elsewhere.and_then(|it| it.get("results")?.as_array());
        if elsewhere.is_some_and(|it| !it.is_empty()) {
            let problem =
                "further results are in other files, which are not read: put them into this one";
            let here = format!("{pointer}/externalPropertyFileReferences/results");
            findings.push(top.document.error(&here, problem));
            continue;
        }
        let quiet = QuietRules::of(driver);
        if fields.get("results").is_some_and(Value::is_null) {
            let problem = "`results` is null: the scan did not run";
            findings.push(top.document.error(&format!("{pointer}/results"), problem));
            continue;
        }
        let Some(results) = fields.list(&pointer, "results", findings) else {
            continue;
        };
        let (mut found, mut suppressed) = (0, 0);
        let mut undecided = Vec::new();
        for (pointer, result) in results.objects(top.document, "a result", findings) {
            check_kind(&pointer, result, findings);
            let mut verdict = verdict(name, result, &quiet);
            found += usize::from(verdict.flagged);
            if verdict.flagged && is_suppressed(result) {
                suppressed += 1;
                verdict.flagged = false;
            }
            for subject in subjects(&pointer, result, findings) {
                match open(result) {
                    None => add(&mut run, &mut at, &subject, verdict.clone()),
                    Some(kind) => undecided.push((subject, kind)),
                }
            }
        }
        for (subject, kind) in undecided {
            // What is found otherwise is found.
            let is_flagged = at.get(&subject.id).is_some_and(|it| {
                let mut verdicts = run.entries[*it].verdicts.iter();
                verdicts.any(|it| it.detector == name && it.flagged)
            });
            if !is_flagged {
                let why = format!("it could not decide (`{kind}`)");
                let verdict = Verdict::none(name, ScanStatus::Error, why);
                add(&mut run, &mut at, &subject, verdict);
            }
        }
        if suppressed > 0 {
            run.doubts.push(format!(
                "{name}: suppressed results do not count as alarms: {suppressed} of {found}"
            ));
        }
        for (subject, verdict) in ended(&pointer, fields, name, found, findings) {
            add(&mut run, &mut at, &subject, verdict);
        }
    }
    run
}

/// The rules of which nothing is an alarm unless a result says otherwise.
struct QuietRules<'a> {
    /// By their place in the list.
    all: Vec<bool>,
    ids: HashMap<&'a str, bool>,
}

impl<'a> QuietRules<'a> {
    fn of(driver: Option<&'a Value>) -> Self {
        let rules = driver.and_then(|it| it.get("rules")?.as_array());
        let rules = || rules.into_iter().flatten();
        let is_quiet = |rule: &Value| {
            let level = rule.pointer("/defaultConfiguration/level");
            level.and_then(Value::as_str) == Some("none")
        };
        let named = |rule: &'a Value| Some((rule.get("id")?.as_str()?, is_quiet(rule)));
        Self {
            all: rules().map(is_quiet).collect(),
            ids: rules().filter_map(named).collect(),
        }
    }

    /// Whether a result without a level of its own is of such a rule.
    fn have(&self, result: Fields<'_>) -> bool {
        let rule = result.get("rule");
        let index = result.get("ruleIndex").or_else(|| rule?.get("index"));
        let id = result.get("ruleId").or_else(|| rule?.get("id"));
        let by_index = index.and_then(Value::as_u64).and_then(|it| {
            let at = usize::try_from(it).ok()?;
            self.all.get(at)
        });
        let by_id = || self.ids.get(id?.as_str()?);
        by_index.or_else(by_id).copied().unwrap_or(false)
    }
}

/// The kinds that a result may have.
const KINDS: [&str; 6] = [
    "pass",
    "open",
    "informational",
    "notApplicable",
    "review",
    "fail",
];

/// Refuses a kind that nobody knows: it may be an alarm.
fn check_kind(pointer: &str, result: Fields<'_>, findings: &mut Vec<Finding>) {
    let Some(kind) = result.optional_text(pointer, "kind", findings) else {
        return;
    };
    if !KINDS.contains(&kind) {
        let known = KINDS.join(", ");
        let problem = format!("`kind` is one of {known}, and not `{kind}`");
        findings.push(result.document.error(&format!("{pointer}/kind"), problem));
    }
}

fn verdict(detector: &str, result: Fields<'_>, quiet: &QuietRules<'_>) -> Verdict {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    // Something that was found before, and is gone.
    let is_gone = text("baselineState") == Some("absent");
    let is_fail = text("kind").is_none_or(|it| it == "fail");
    let is_quiet = match text("level") {
        Some(level) => level == "none",
        None => quiet.have(result),
    };
    Verdict {
        detector: detector.to_owned(),
        flagged: is_fail && !is_quiet && !is_gone,
        ..Verdict::default()
    }
}

/// The kind of a result that is no decision: too little was known (`open`), or a person has to look at it (`review`).
fn open(result: Fields<'_>) -> Option<&str> {
    let kind = result.get("kind").and_then(Value::as_str);
    kind.filter(|it| matches!(*it, "open" | "review"))
}

/// Whether somebody has said that a result is none, and nobody still has to agree.
fn is_suppressed(result: Fields<'_>) -> bool {
    let all = result.get("suppressions").and_then(Value::as_array);
    all.is_some_and(|all| {
        let accepted = |it: &Value| match it.get("status") {
            None | Some(Value::Null) => true,
            Some(status) => status == "accepted",
        };
        !all.is_empty() && all.iter().all(accepted)
    })
}

/// What a result is about: it may be about several, a place for each.
fn subjects(pointer: &str, result: Fields<'_>, findings: &mut Vec<Finding>) -> Vec<Subject> {
    let mut subjects = Vec::new();
    let locations = result.get("locations").and_then(Value::as_array);
    let problem = "nothing says which tool this is about: a logical location or a file";
    if locations.is_none_or(Vec::is_empty) {
        findings.push(result.document.error(pointer, problem));
    }
    for (index, location) in locations.into_iter().flatten().enumerate() {
        if let Some(id) = id(location) {
            subjects.push(Subject::tool(id));
        } else {
            let here = format!("{pointer}/locations{}", part(index));
            findings.push(result.document.error(&here, problem));
        }
    }
    subjects
}

fn id(location: &Value) -> Option<String> {
    let logical = location.pointer("/logicalLocations/0");
    let logical = logical.and_then(|it| it.get("fullyQualifiedName").or_else(|| it.get("name")));
    let file = || location.pointer("/physicalLocation/artifactLocation/uri");
    Some(logical.or_else(file)?.as_str()?.to_owned())
}

/// Whether a run came to its end; where it did not as a whole, that is a finding, and where it did not with single tools, these are answered.
fn ended(
    pointer: &str,
    run: Fields<'_>,
    detector: &str,
    found: usize,
    findings: &mut Vec<Finding>,
) -> Vec<(Subject, Verdict)> {
    let mut failed = Vec::new();
    let invocations = run.get("invocations").and_then(Value::as_array);
    let invocations = invocations.map(Vec::as_slice).unwrap_or_default();
    let results = run.get("results").and_then(Value::as_array);
    if invocations.is_empty() && results.is_none_or(Vec::is_empty) {
        let problem = "nothing is listed, and nothing says that the scan has run: `invocations` with `executionSuccessful` would";
        findings.push(run.document.error(pointer, problem));
    }
    for (index, invocation) in invocations.iter().enumerate() {
        let pointer = format!("{pointer}/invocations{}", part(index));
        if let Some((key, why)) = cut_short(invocation, found) {
            let here = format!("{pointer}/{key}");
            let problem = format!(
                "the scan did not come to its end, so that what is not listed may be anything: {why}"
            );
            findings.push(run.document.error(&here, problem));
        }
        for list in [
            "toolExecutionNotifications",
            "toolConfigurationNotifications",
        ] {
            let notes = invocation.get(list).and_then(Value::as_array);
            for (index, note) in notes.into_iter().flatten().enumerate() {
                if note.get("level").and_then(Value::as_str) != Some("error") {
                    continue;
                }
                let message = note.pointer("/message/text").and_then(Value::as_str);
                let message = message.unwrap_or("it says no more");
                let places = note.get("locations").and_then(Value::as_array);
                let ids = places.into_iter().flatten().filter_map(id);
                let ids: Vec<String> = ids.collect();
                if ids.is_empty() {
                    let here = format!("{pointer}/{list}{}", part(index));
                    let problem = format!("something kept the scan from being whole: {message}");
                    findings.push(run.document.error(&here, problem));
                }
                let none = Verdict::none(detector, ScanStatus::Error, message);
                let each = ids.into_iter().map(Subject::tool);
                failed.extend(each.map(|it| (it, none.clone())));
            }
        }
    }
    failed
}

/// By which key an invocation says that it was cut short, and how.
fn cut_short(invocation: &Value, found: usize) -> Option<(&'static str, String)> {
    let text = |key: &str| invocation.get(key).filter(|it| !it.is_null());
    match invocation.get("executionSuccessful") {
        Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => {
            return Some((
                "executionSuccessful",
                "`executionSuccessful` is false".to_owned(),
            ));
        }
        other => {
            let other = other.map_or_else(|| "missing".to_owned(), Value::to_string);
            let why = format!("`executionSuccessful` must be true or false, and is {other}");
            return Some(("executionSuccessful", why));
        }
    }
    for key in [
        "processStartFailureMessage",
        "exitSignalName",
        "exitSignalNumber",
    ] {
        if let Some(value) = text(key) {
            return Some((key, format!("`{key}` is {value}")));
        }
    }
    // Many scanners end with 1 where they have found something.
    let code = text("exitCode")?;
    let is_usual = code.as_i64() == Some(0) || (code.as_i64() == Some(1) && found > 0);
    (!is_usual).then(|| ("exitCode", format!("`exitCode` is {code}")))
}
