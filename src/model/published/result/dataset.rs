//! The results of a data set's rows, counted.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scenario;
use crate::text::{counts, plural};
use crate::{NotRun, Status};

/// All rows of one data set together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dataset {
    /// The scenario file, by its id.
    pub scenario: String,
    /// How many rows were to run; those that are disabled do not count.
    pub rows: usize,
    /// With a matrix, how many cells these rows were to run in, all together: what is counted below are cells then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<usize>,
    /// How many of them passed, or were recorded.
    pub succeeded: usize,
    pub failed: usize,
    /// How many have no verdict: what could not be judged, was interrupted, was not reached, is missing, or took too long, and what is
    /// inconclusive.
    pub without_verdict: usize,
}

impl Dataset {
    /// The sums of all data sets that scenarios are rows of, in the order of the first row.
    pub fn all(scenarios: &[Scenario]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut last_row: Option<&str> = None;
        for scenario in scenarios {
            let Some(of) = &scenario.row_of else { continue };
            // The rows of one file stand together, but for a scenario in a folder of its name.
            let known = all.iter().rposition(|it| it.scenario == *of);
            let at = known.unwrap_or_else(|| {
                all.push(Self {
                    scenario: of.clone(),
                    ..Self::default()
                });
                all.len() - 1
            });
            let is_missing = scenario.not_run == Some(NotRun::MissingPart);
            if !(scenario.was_to_run() || is_missing) {
                continue;
            }
            let sum = &mut all[at];
            sum.add(scenario.status);
            // The cells of one row stand together, too.
            let cell = scenario.cell.as_ref();
            let row = cell.map_or(scenario.id.as_str(), |it| &it.scenario);
            sum.rows += usize::from(last_row.replace(row) != Some(row));
            if cell.is_some() {
                *sum.cells.get_or_insert_default() += 1;
            }
        }
        all
    }

    fn add(&mut self, status: Status) {
        let counted = match status {
            Status::Passed | Status::Recorded => &mut self.succeeded,
            Status::Failed => &mut self.failed,
            Status::Inconclusive
            | Status::Error
            | Status::Timeout
            | Status::Interrupted
            | Status::Skipped => &mut self.without_verdict,
        };
        *counted += 1;
    }

    /// `8 of 10 rows passed, 1 failed, 1 without a verdict`, or with a matrix `3 of 4 cells of 2 rows passed`; `verb` is what becomes of
    /// those that went well.
    pub fn words(&self, verb: &str) -> String {
        let rows = plural(self.rows, "row");
        let mut words = match self.cells {
            None => format!("{} of {rows} {verb}", self.succeeded),
            Some(cells) => format!(
                "{} of {} of {rows} {verb}",
                self.succeeded,
                plural(cells, "cell")
            ),
        };
        for it in counts(&[
            (self.failed, "failed"),
            (self.without_verdict, "without a verdict"),
        ]) {
            let _ = write!(words, ", {it}");
        }
        words
    }
}
