//! SARIF, as many scanners write it: what was found, by rule and place.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Detector, Run, ScanStatus, Verdict, add};
use crate::discovery::fields::Fields;
use crate::discovery::finding::Finding;

/// Reads `{runs: [{tool: {driver: {name, version}}, invocations, results: [{kind, level, locations}]}]}`. An entry is named by the logical name
/// of a place, else by its file.
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
        run.detectors.push(Detector {
            name: name.to_owned(),
            version: version.map(str::to_owned),
        });
        let invocations = fields.get("invocations").and_then(Value::as_array);
        let has_failed = invocations
            .into_iter()
            .flatten()
            .any(|it| it.get("executionSuccessful").and_then(Value::as_bool) == Some(false));
        if has_failed {
            let here = format!("{pointer}/invocations");
            let problem =
                "the scan did not come to its end, so that what is not listed may be anything";
            findings.push(top.document.error(&here, problem));
        }
        let Some(results) = fields.list(&pointer, "results", findings) else {
            continue;
        };
        for (pointer, result) in results.objects(top.document, "a result", findings) {
            let Some(id) = result.get("locations").and_then(id) else {
                let problem = "nothing says which tool this is about: a logical location or a file";
                findings.push(top.document.error(&pointer, problem));
                continue;
            };
            let kind = result.get("kind").and_then(Value::as_str).unwrap_or("fail");
            let level = result.get("level").and_then(Value::as_str);
            let verdict = Verdict {
                detector: name.to_owned(),
                status: ScanStatus::Ok,
                reason: String::new(),
                flagged: kind == "fail" && level != Some("none"),
                score: None,
            };
            add(&mut run, &mut at, &id, verdict);
        }
    }
    run
}

fn id(locations: &Value) -> Option<String> {
    let first = locations.as_array()?.first()?;
    let logical = first.pointer("/logicalLocations/0");
    let logical = logical.and_then(|it| it.get("fullyQualifiedName").or_else(|| it.get("name")));
    let file = || first.pointer("/physicalLocation/artifactLocation/uri");
    Some(logical.or_else(file)?.as_str()?.to_owned())
}
