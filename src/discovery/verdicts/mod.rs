//! What scanners of tool descriptions said, in whatever form they say it.

mod cisco;
mod mcp_scan;
mod ours;
mod sarif;
mod schema;

pub use schema::json_schema;

use super::fields::Fields;
use super::finding::Finding;
use super::places::Document;

/// What was said in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    pub corpus_version: Option<String>,
    pub detectors: Vec<Detector>,
    pub entries: Vec<Entry>,
    /// Only what was found is listed: an entry of the corpus that is not here was looked at, and is clean.
    pub lists_findings_only: bool,
}

/// Who said it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detector {
    pub name: String,
    pub version: Option<String>,
}

/// What was said of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    pub id: String,
    /// Where the file says so itself.
    pub malicious: Option<bool>,
    pub category: Option<String>,
    pub verdicts: Vec<Verdict>,
}

/// What one detector said of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    pub detector: String,
    pub status: ScanStatus,
    pub reason: String,
    pub flagged: bool,
    pub score: Option<f64>,
}

/// Whether a scan came to its end. One that did not is not a clean one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScanStatus {
    #[default]
    Ok,
    Error,
    Timeout,
    Skipped,
}

impl ScanStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Ok, Self::Error, Self::Timeout, Self::Skipped]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// The forms that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    V1,
    V2,
    Cisco,
    McpScan,
    Sarif,
}

/// Which form a document has; `None` where it is none that is known.
fn recognised(document: &Document) -> Option<Form> {
    let value = &document.value;
    if value
        .get("entries")
        .is_some_and(serde_json::Value::is_array)
    {
        let version = value
            .get("format_version")
            .and_then(serde_json::Value::as_u64);
        return Some(if version == Some(2) {
            Form::V2
        } else {
            Form::V1
        });
    }
    if value.get("runs").is_some_and(serde_json::Value::is_array) {
        return Some(Form::Sarif);
    }
    if value
        .get("scan_results")
        .is_some_and(serde_json::Value::is_array)
    {
        return Some(Form::Cisco);
    }
    let members = value.as_object()?;
    let is_scan =
        |it: &serde_json::Value| it.get("issues").is_some() && it.get("servers").is_some();
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
    let mut findings = Vec::new();
    let top = Fields::new(document, &document.value);
    let run = match form {
        Form::V1 => ours::first(top, &mut findings),
        Form::V2 => ours::second(top, &mut findings),
        Form::Cisco => cisco::read(top, &mut findings),
        Form::McpScan => mcp_scan::read(document, &mut findings),
        Form::Sarif => sarif::read(top, &mut findings),
    };
    if findings.is_empty() {
        Ok(run)
    } else {
        Err(findings)
    }
}

/// Adds a verdict to the entry of its tool.
fn add(
    run: &mut Run,
    at: &mut std::collections::HashMap<String, usize>,
    id: &str,
    verdict: Verdict,
) {
    let index = *at.entry(id.to_owned()).or_insert_with(|| {
        run.entries.push(Entry {
            id: id.to_owned(),
            ..Entry::default()
        });
        run.entries.len() - 1
    });
    let known = run.detectors.iter().any(|it| it.name == verdict.detector);
    if !known {
        run.detectors.push(Detector {
            name: verdict.detector.clone(),
            version: None,
        });
    }
    let verdicts = &mut run.entries[index].verdicts;
    // Several findings about one tool are one verdict.
    match verdicts
        .iter_mut()
        .find(|it| it.detector == verdict.detector)
    {
        Some(before) => {
            before.flagged |= verdict.flagged;
            if verdict.status != ScanStatus::Ok {
                before.status = verdict.status;
                before.reason = verdict.reason;
            }
        }
        None => verdicts.push(verdict),
    }
}
