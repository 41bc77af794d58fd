//! What was said of the tools of a corpus, whatever form it was said in.

use std::collections::HashMap;

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

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Ok, Self::Error, Self::Timeout, Self::Skipped]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// Adds a verdict to the entry of its tool.
pub(super) fn add(run: &mut Run, at: &mut HashMap<String, usize>, id: &str, verdict: Verdict) {
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
