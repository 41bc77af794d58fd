//! A measurement that has come to something, with or without secrets.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::redacted::Redacted;
use crate::published::measured::retrieval::Report;
use crate::published::measured::{Status, security};
use crate::redact::Redactor;

/// A measurement that has come to something.
#[derive(Debug, Clone)]
pub(super) enum Judged {
    Search(Box<Report>),
    Scanners(Box<security::Report>),
}

impl Judged {
    /// The same, which says what commits all of it comes from.
    pub(super) fn stamped(mut self, of: BTreeMap<String, String>) -> Self {
        match &mut self {
            Self::Search(report) => report.stamps = of,
            Self::Scanners(report) => report.stamps = of,
        }
        self
    }

    /// The same without secrets.
    pub(super) fn clean(&self, redactor: &Redactor) -> Redacted<Self> {
        match self {
            Self::Search(report) => {
                let unknown = |why| Report {
                    status: Status::Incomplete,
                    problems: vec![why],
                    ..Report::default()
                };
                let clean = clean(&**report, redactor, unknown);
                clean.derive(|it| Self::Search(Box::new(it.clone())))
            }
            Self::Scanners(report) => {
                let unknown = |why| security::Report {
                    status: Status::Incomplete,
                    problems: vec![why],
                    ..security::Report::default()
                };
                let clean = clean(&**report, redactor, unknown);
                clean.derive(|it| Self::Scanners(Box::new(it.clone())))
            }
        }
    }
}

/// A report without secrets: of every text in it, what is known for sure to be one is taken out. Where a secret is one of the report's own
/// words, nobody could read the rest: then it says so, and nothing else.
fn clean<T: Serialize + DeserializeOwned>(
    report: &T,
    redactor: &Redactor,
    unknown: impl Fn(String) -> T,
) -> Redacted<T> {
    let document = serde_json::to_value(report).unwrap_or_default();
    redactor.measured(document).derive(|it| {
        T::deserialize(it).unwrap_or_else(|_| {
            unknown(
                "what was measured cannot be written without a secret: one that is declared is a word of every report, and has to be another"
                    .to_owned(),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::redaction::Redaction;
    use crate::redact::Secrets;

    fn cleaned(secret: &str) -> Report {
        let mut secrets = Secrets::default();
        secrets.declare("KEY", "", secret);
        let report = Report {
            status: Status::Failed,
            notes: vec![format!("asked with {secret}")],
            ..Report::default()
        };
        let judged = Judged::Search(Box::new(report));
        match judged
            .clean(&Redactor::new(&secrets, &Redaction::default()))
            .into_inner()
        {
            Judged::Search(report) => *report,
            Judged::Scanners(_) => unreachable!("it was a search"),
        }
    }

    #[test]
    fn a_secret_that_is_a_word_of_ours_makes_no_report_green() {
        let report = cleaned("blue-lagoon-7");
        assert_eq!(report.status, Status::Failed);
        assert!(!report.notes.concat().contains("lagoon"));
        for word in ["failed", "problems", "runs_averaged"] {
            let report = cleaned(word);
            assert_ne!(report.status, Status::Passed, "{word}");
        }
    }
}
