//! The part of a suite that one of several machines runs, and what a result was put together from.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of a suite a result is of, and what all its parts are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Which one, counted from 1.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// What each of them runs, in their order. It is the same in all their results, so that what is missing of them is known by name.
    pub plan: Vec<ShardPlan>,
}

/// What one part of a suite runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShardPlan {
    /// Its number, counted from 1.
    pub shard: u32,
    /// How long its scenarios took, in milliseconds, when their baselines were recorded; the median of the others for one without a
    /// baseline. `null` where there are no baselines at all.
    pub expected_ms: Option<f64>,
    pub scenarios: Vec<PlannedScenario>,
}

/// A scenario that is to be run somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedScenario {
    /// Path below the scenarios folder, without extension.
    pub id: String,
    /// The scenario file, as it was named where the plan was made.
    pub path: String,
    /// The scenario file whose data set it is a row of, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_of: Option<String>,
    /// Digits that tell it from another version of it, on whichever machine: they are made of its files and of all that it becomes with its
    /// defaults, variables and agent, but for secrets. Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What a result was put together from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merged {
    /// The results that were there, by the numbers of their parts.
    pub shards: Vec<MergedShard>,
    /// The scenarios that all parts together should have run and that are in none of the results, by id.
    pub missing: Vec<String>,
}

/// One of the results that another one was put together from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedShard {
    pub index: u32,
    pub count: u32,
    pub run_id: String,
    /// When its command began (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Wall time in milliseconds.
    pub duration_ms: Option<f64>,
    /// What the command told its shell; `null` when that is not known.
    pub exit_code: Option<u8>,
    /// How many scenarios it brought.
    pub scenarios: usize,
}

impl Shard {
    /// The part that the result is of; `None` in a document that is not in order.
    pub fn own(&self) -> Option<&ShardPlan> {
        self.plan.iter().find(|it| it.shard == self.index)
    }

    /// `2/7`, as the command line spells it.
    pub fn words(&self) -> String {
        format!("{}/{}", self.index, self.count)
    }

    /// Whether two results are parts of one and the same plan. What a file is called where a plan was made makes no difference.
    pub fn is_of_the_plan_of(&self, other: &Self) -> bool {
        let ids = |it: &Self| -> Vec<Vec<String>> {
            let parts = it.plan.iter();
            let ids = parts.map(|it| it.scenarios.iter().map(|it| it.id.clone()).collect());
            ids.collect()
        };
        self.count == other.count && ids(self) == ids(other)
    }

    /// The scenarios of the plan that are not the same in another plan, by id, as far as both tell what they are.
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let fingerprints = |it: &'a Self| {
            let scenarios = it.plan.iter().flat_map(|it| &it.scenarios);
            scenarios.filter_map(|it| Some((it.id.as_str(), it.fingerprint.as_deref()?)))
        };
        let theirs: BTreeMap<&str, &str> = fingerprints(other).collect();
        let differs = |(id, own): &(&str, &str)| theirs.get(id).is_some_and(|it| it != own);
        let differing = fingerprints(self).filter(differs);
        differing.map(|(id, _)| id).collect()
    }

    /// What is wrong with it, where something is.
    ///
    /// # Errors
    ///
    /// A fragment of a sentence, with the document as its subject.
    pub fn check(&self) -> Result<(), String> {
        let numbers = self.plan.iter().map(|it| it.shard);
        if !numbers.eq(1..=self.count) {
            return Err(format!(
                "has a plan that is not of {} parts, counted from 1",
                self.count
            ));
        }
        if self.own().is_none() {
            return Err(format!("is of no part of its plan: {}", self.words()));
        }
        Ok(())
    }
}
