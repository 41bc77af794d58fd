//! The verdicts on the tools of a corpus, in one form for all scanners.

use std::collections::HashMap;

use crate::discovery::fields::Fields;

/// What was said in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The file, for naming it.
    pub path: String,
    pub corpus_version: Option<String>,
    pub detectors: Vec<Detector>,
    pub entries: Vec<Entry>,
    /// Only what was found is listed: an entry of the corpus that is not here was looked at, and is clean.
    pub lists_findings_only: bool,
    /// What could not be scanned, so that nobody knows of all that is in it.
    pub unscanned: Vec<Unscanned>,
    /// What is odd about what was said, in sentences.
    pub doubts: Vec<String>,
}

/// A server that could not be scanned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unscanned {
    /// `None` where it is not even known which.
    pub server: Option<String>,
    /// What that is a verdict on: none.
    pub verdict: Verdict,
}

impl Unscanned {
    /// Whether an entry without a verdict may be one of these.
    pub fn concerns(&self, id: &str) -> bool {
        self.server.as_ref().is_none_or(|server| {
            id.strip_prefix(server.as_str())
                .is_some_and(|it| it.starts_with(':'))
        })
    }
}

/// Who said it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detector {
    pub name: String,
    pub version: Option<String>,
    /// The score from which it flags, as it is written, where it says so.
    pub threshold: Option<String>,
}

/// What was said of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    pub id: String,
    /// Where the file says so itself.
    pub malicious: Option<bool>,
    pub category: Option<String>,
    /// It is a prompt, a resource or the like, and no tool: a corpus of tools need not have it.
    pub is_beside: bool,
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

impl Detector {
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

impl Run {
    /// Adds a detector, unless it is known by its name.
    pub(super) fn add_detector(&mut self, detector: Detector) {
        if self.detectors.iter().all(|it| it.name != detector.name) {
            self.detectors.push(detector);
        }
    }
}

impl Verdict {
    /// What a detector says that has judged.
    pub(super) fn of(detector: &str, flagged: bool) -> Self {
        Self {
            detector: detector.to_owned(),
            flagged,
            ..Self::default()
        }
    }

    /// That a detector came to no verdict.
    pub(super) fn none(detector: &str, status: ScanStatus, reason: impl Into<String>) -> Self {
        Self {
            detector: detector.to_owned(),
            status,
            reason: reason.into(),
            ..Self::default()
        }
    }
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

/// What a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) id: String,
    pub(super) is_beside: bool,
}

impl Subject {
    pub(super) fn tool(id: String) -> Self {
        Self {
            id,
            is_beside: false,
        }
    }

    /// Something of a server, where that is known. What is no tool has its kind in its id: it may be called as a tool is.
    pub(super) fn of(server: Option<&str>, kind: &str, name: &str) -> Self {
        let is_beside = kind != "tool";
        let parts = [server, is_beside.then_some(kind), Some(name)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Self {
            id: parts.join(":"),
            is_beside,
        }
    }
}

/// Adds a verdict to the entry of its subject.
pub(super) fn add(
    run: &mut Run,
    at: &mut HashMap<String, usize>,
    subject: &Subject,
    verdict: Verdict,
) {
    let index = *at.entry(subject.id.clone()).or_insert_with(|| {
        run.entries.push(Entry {
            id: subject.id.clone(),
            is_beside: subject.is_beside,
            ..Entry::default()
        });
        run.entries.len() - 1
    });
    run.add_detector(Detector::named(&verdict.detector));
    let verdicts = &mut run.entries[index].verdicts;
    // Several findings about one subject are one verdict.
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

/// Whether a label says that an entry is malicious; a label that nobody knows is a finding.
pub(in crate::discovery) fn is_malicious(entry: &Fields<'_>, label: &str) -> Option<bool> {
    match label {
        "malicious" => Some(true),
        "benign" => Some(false),
        other => {
            let problem = format!("`label` must be `malicious` or `benign`, not `{other}`");
            entry.error("label", problem);
            None
        }
    }
}
