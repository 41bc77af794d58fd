//! A measurement that has come to something, with or without secrets.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::redacted::Redacted;
use crate::published::measured::retrieval::Report;
use crate::published::measured::security;
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
                clean(&**report, redactor).derive(|it| Self::Search(Box::new(it.clone())))
            }
            Self::Scanners(report) => {
                clean(&**report, redactor).derive(|it| Self::Scanners(Box::new(it.clone())))
            }
        }
    }
}

/// A report without secrets: of every text in it, what is known for sure to be one is taken out.
fn clean<T: Serialize + DeserializeOwned + Default>(
    report: &T,
    redactor: &Redactor,
) -> Redacted<T> {
    let document = serde_json::to_value(report).unwrap_or_default();
    let document = redactor.measured(document);
    // What was written by these types is read by them.
    document.derive(|it| T::deserialize(it).unwrap_or_default())
}
