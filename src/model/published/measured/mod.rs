//! The results of measuring searches and scanners: their `report.json`, which a suite's result holds, too.
//!
//! Numbers that are not known are `null`, never 0. Within a version members may be added; a member never changes its meaning and never goes
//! away.

pub mod retrieval;
pub mod security;
mod status;

pub use self::status::{FORMAT_VERSION, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measurement, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "report", rename_all = "lowercase")]
pub enum Measured {
    /// Of a tool search.
    Retrieval(Box<retrieval::Report>),
    /// Of scanners of tool descriptions.
    Security(Box<security::Report>),
}

impl Measured {
    /// A measurement of the same kind that has come to nothing, and why.
    #[must_use]
    pub fn incomplete(&self, why: String) -> Self {
        match self {
            Self::Retrieval(_) => Self::Retrieval(Box::new(retrieval::Report {
                status: Status::Incomplete,
                problems: vec![why],
                ..retrieval::Report::default()
            })),
            Self::Security(_) => Self::Security(Box::new(security::Report {
                status: Status::Incomplete,
                problems: vec![why],
                ..security::Report::default()
            })),
        }
    }

    /// The figure that tells most, with its name; `None` where nothing was measured. Of scanners, it is that of the weakest.
    pub fn main(&self) -> Option<(&'static str, f64)> {
        match self {
            Self::Retrieval(report) => Some(("Recall@5", report.metrics.as_ref()?.recall(5))),
            Self::Security(report) => {
                let all = report.security.per_detector.iter().map(|it| it.f1);
                Some(("F1", all.min_by(f64::total_cmp)?))
            }
        }
    }

    /// How many queries got something else than before; 0 where nothing is known of before.
    pub fn moved(&self) -> usize {
        match self {
            Self::Retrieval(report) => report.compared.as_ref().map_or(0, |it| {
                it.lost.len() + it.won.len() + it.moved.len() + it.reordered.len()
            }),
            Self::Security(_) => 0,
        }
    }

    /// Whether every query got what it got before.
    pub fn is_unchanged(&self) -> bool {
        let Self::Retrieval(report) = self else {
            return false;
        };
        let compared = report.metrics.as_ref().and(report.compared.as_ref());
        compared.is_some_and(|it| {
            let others = it.only_here.len() + it.only_there.len();
            self.moved_words().is_empty() && others + it.changed.len() == 0
        })
    }

    /// What became of its queries, such as `1 query lost, 2 ranked worse`; empty where nothing did.
    pub fn moved_words(&self) -> String {
        let Self::Retrieval(report) = self else {
            return String::new();
        };
        let Some(compared) = &report.compared else {
            return String::new();
        };
        let queries = report.per_query.iter();
        let worse = queries.filter(|it| compared.moved.contains(&it.id) && it.is_worse());
        let worse = worse.count();
        let counts = [
            (compared.lost.len(), "lost"),
            (compared.won.len(), "won"),
            (worse, "ranked worse"),
            (compared.moved.len().saturating_sub(worse), "ranked better"),
            (
                compared.reordered.len(),
                "answered otherwise with the same figures",
            ),
        ];
        let parts = counts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = (parts.enumerate())
            .map(|(at, (count, what))| match (at, count) {
                (0, 1) => format!("1 query {what}"),
                (0, more) => format!("{more} queries {what}"),
                (_, count) => format!("{count} {what}"),
            })
            .collect();
        parts.join(", ")
    }
}
