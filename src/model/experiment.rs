//! Ways in which two runs are not the same experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way in which two runs are not the same experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentChange {
    pub what: ExperimentPart,
    /// What of the scenario is another one, in words; absent for all else, and where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The call of the script that is another one, by its number in the script on either side; absent where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<CauseCall>,
    /// What it was: the name of the model, the kind of agent, or that part of the scenario; `null` for none, and where no word tells it.
    pub baseline: Option<String>,
    /// What it is now.
    pub current: Option<String>,
}

/// What makes an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentPart {
    /// The model that is asked.
    Model,
    /// The kind of agent.
    Agent,
    /// What the scenario asks, and what it gives its agent: the calls of a script, or how a model is asked.
    Scenario,
}

/// A call that a cause concerns: its number on either side, where it was made there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CauseCall {
    pub baseline: Option<usize>,
    pub current: Option<usize>,
}

impl CauseCall {
    pub fn new(baseline: Option<usize>, current: Option<usize>) -> Self {
        Self { baseline, current }
    }
}

impl ExperimentChange {
    /// What it was, and what it is.
    pub fn new(what: ExperimentPart, baseline: Option<String>, current: Option<String>) -> Self {
        Self {
            what,
            part: None,
            script: None,
            baseline,
            current,
        }
    }
}
