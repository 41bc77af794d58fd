//! What the rows of a data set came to.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scenario, Status};

/// All rows of one data set together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dataset {
    /// The scenario file, by its id.
    pub scenario: String,
    /// How many rows were to run; those that were skipped do not count.
    pub rows: usize,
    /// How many of them passed, or were recorded.
    pub succeeded: usize,
    pub failed: usize,
    /// How many have no verdict: what could not be judged, was interrupted, or took too long, and what is inconclusive.
    pub without_verdict: usize,
}

impl Dataset {
    /// The sums of all data sets that scenarios are rows of, in the order of the first row.
    pub fn all(scenarios: &[Scenario]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for scenario in scenarios {
            let Some(of) = &scenario.row_of else { continue };
            // Scenarios are sorted by id, so the rows of one file stand together.
            if all.last().is_none_or(|it| it.scenario != *of) {
                all.push(Self {
                    scenario: of.clone(),
                    rows: 0,
                    succeeded: 0,
                    failed: 0,
                    without_verdict: 0,
                });
            }
            if let Some(sum) = all.last_mut() {
                sum.add(scenario.status);
            }
        }
        all
    }

    fn add(&mut self, status: Status) {
        let counted = match status {
            Status::Skipped => return,
            Status::Passed | Status::Recorded => &mut self.succeeded,
            Status::Failed => &mut self.failed,
            Status::Inconclusive | Status::Error | Status::Timeout | Status::Interrupted => {
                &mut self.without_verdict
            }
        };
        *counted += 1;
        self.rows += 1;
    }

    /// `8 of 10 rows passed, 1 failed, 1 without a verdict`; `verb` is what becomes of those that went well.
    pub fn words(&self, verb: &str) -> String {
        let noun = if self.rows == 1 { "row" } else { "rows" };
        let mut words = format!("{} of {} {noun} {verb}", self.succeeded, self.rows);
        for (count, what) in [
            (self.failed, "failed"),
            (self.without_verdict, "without a verdict"),
        ] {
            if count > 0 {
                let _ = write!(words, ", {count} {what}");
            }
        }
        words
    }
}
