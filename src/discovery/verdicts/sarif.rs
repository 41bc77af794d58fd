//! SARIF, as many scanners write it: what was found, by rule and place.
//!
//! What is not listed is clean only where the scan came to its end. A run says that it did not by `executionSuccessful`, by how its process
//! ended, by a notification of the level `error`, and by `results` that are `null`.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Detector, Run, ScanStatus, Subject, Verdict, add};
use crate::discovery::fields::Fields;

/// Reads `{runs: [{tool: {driver: {name, version}}, invocations, results: [{kind, level, locations, baselineState}]}]}`. An entry is named by the
/// logical name of a place, else by its file.
pub(super) fn read(top: &Fields<'_>) -> Run {
    let mut run = Run {
        lists_findings_only: true,
        ..Run::default()
    };
    let mut at = HashMap::new();
    let runs = top.list("runs").map(|it| it.objects("a run"));
    for fields in runs.unwrap_or_default() {
        let driver = fields.get("tool").and_then(|it| it.get("driver"));
        let Some(name) = driver.and_then(|it| it.get("name")?.as_str()) else {
            fields.error("tool", "`tool.driver.name` is missing");
            continue;
        };
        let version = driver.and_then(|it| it.get("version")?.as_str());
        // Its runs over several servers are one run over all of them.
        run.add_detector(Detector {
            version: version.map(str::to_owned),
            ..Detector::named(name)
        });
        let elsewhere = fields.member("externalPropertyFileReferences");
        let elsewhere = elsewhere.and_then(|it| it.member("results"));
        if let Some(results) = elsewhere.filter(|it| !it.items().is_empty()) {
            results.refuse(
                "further results are in other files, which are not read: put them into this one",
            );
            continue;
        }
        let quiet = QuietRules::of(driver);
        if fields.get("results").is_some_and(Value::is_null) {
            fields.error("results", "`results` is null: the scan did not run");
            continue;
        }
        let Some(results) = fields.list("results") else {
            continue;
        };
        let (mut found, mut suppressed) = (0, 0);
        let mut undecided = Vec::new();
        for result in results.objects("a result") {
            check_kind(&result);
            let mut verdict = verdict(name, &result, &quiet);
            found += usize::from(verdict.flagged);
            if verdict.flagged && is_suppressed(&result) {
                suppressed += 1;
                verdict.flagged = false;
            }
            for subject in subjects(&result) {
                match open(&result) {
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
        for (subject, verdict) in ended(&fields, name, found) {
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
    fn have(&self, result: &Fields<'_>) -> bool {
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
fn check_kind(result: &Fields<'_>) {
    let kind = result.optional_text("kind");
    if let Some(kind) = kind.filter(|it| !KINDS.contains(it)) {
        let known = KINDS.join(", ");
        result.error(
            "kind",
            format!("`kind` is one of {known}, and not `{kind}`"),
        );
    }
}

fn verdict(detector: &str, result: &Fields<'_>, quiet: &QuietRules<'_>) -> Verdict {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    // Something that was found before, and is gone.
    let is_gone = text("baselineState") == Some("absent");
    let is_fail = text("kind").is_none_or(|it| it == "fail");
    let is_quiet = match text("level") {
        Some(level) => level == "none",
        None => quiet.have(result),
    };
    Verdict::of(detector, is_fail && !is_quiet && !is_gone)
}

/// The kind of a result that is no decision: too little was known (`open`), or a person has to look at it (`review`).
fn open<'a>(result: &Fields<'a>) -> Option<&'a str> {
    let kind = result.get("kind").and_then(Value::as_str);
    kind.filter(|it| matches!(*it, "open" | "review"))
}

/// Whether somebody has said that a result is none, and nobody still has to agree.
fn is_suppressed(result: &Fields<'_>) -> bool {
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
fn subjects(result: &Fields<'_>) -> Vec<Subject> {
    let mut subjects = Vec::new();
    let locations = result.items_of("locations");
    let problem = "nothing says which tool this is about: a logical location or a file";
    if locations.is_empty() {
        result.refuse(problem);
    }
    for location in locations {
        match id(location.value) {
            Some(id) => subjects.push(Subject::tool(id)),
            None => location.refuse(problem),
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
fn ended(run: &Fields<'_>, detector: &str, found: usize) -> Vec<(Subject, Verdict)> {
    let mut failed = Vec::new();
    let invocations = run.items_of("invocations");
    if invocations.is_empty() && run.items_of("results").is_empty() {
        run.refuse(
            "nothing is listed, and nothing says that the scan has run: `invocations` with `executionSuccessful` would",
        );
    }
    for invocation in invocations {
        if let Some((key, why)) = cut_short(invocation.value, found) {
            let problem = format!(
                "the scan did not come to its end, so that what is not listed may be anything: {why}"
            );
            invocation.error(key, problem);
        }
        for key in [
            "toolExecutionNotifications",
            "toolConfigurationNotifications",
        ] {
            for note in invocation.items_of(key) {
                if note.get("level").and_then(Value::as_str) != Some("error") {
                    continue;
                }
                let message = note.value.pointer("/message/text").and_then(Value::as_str);
                let message = message.unwrap_or("it says no more");
                let places = note.get("locations").and_then(Value::as_array);
                let ids = places.into_iter().flatten().filter_map(id);
                let ids: Vec<String> = ids.collect();
                if ids.is_empty() {
                    note.refuse(format!(
                        "something kept the scan from being whole: {message}"
                    ));
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
