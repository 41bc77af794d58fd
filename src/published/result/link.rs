//! A page elsewhere that belongs to a run, in the published result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page elsewhere that belongs to the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// What it leads to: `commit`, `pull request`, `CI job`, or what the user calls it.
    pub name: String,
    pub url: String,
}
