//! The folder, paths and options that a command was called with, as far as its result depends on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a command was called, as far as that decides what the result says: enough to call it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Called {
    /// The folder that it was called in, as seen from the root of its repository, and empty there; `null` outside of any repository.
    #[serde(default)]
    pub folder: Option<String>,
    /// The paths of scenarios that it was given; empty for `scenarios/`.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The options that decide what is run, and how it is judged.
    #[serde(default)]
    pub options: Vec<CalledOption>,
    /// The folder of baselines, where it is not `baselines/`.
    #[serde(default)]
    pub baselines: Option<String>,
    /// Whether what failed or changed waits for review beside its baseline.
    #[serde(default)]
    pub keeps_pending: bool,
    /// The folder of the pages where they were first written, with both sides of each comparison; `null` where there were none.
    #[serde(default)]
    pub report: Option<String>,
    /// What part of the scenarios it was about; `None` for all. A document tells it beside.
    #[serde(skip)]
    pub selection: Option<Selection>,
}

impl Called {
    /// Whether nothing was run, and a stored run was judged.
    pub fn is_of_stored(&self) -> bool {
        self.options.iter().any(|it| it.name == "--run")
    }

    /// Whether another version took the part of the baselines, or a stored run did.
    pub fn is_against_another(&self) -> bool {
        self.baselines.is_none() && self.options.iter().any(|it| it.name == "--against")
    }
}

/// An option of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalledOption {
    /// Its name: `--threshold`.
    pub name: String,
    /// Its value; `null` for one that takes none.
    #[serde(default)]
    pub value: Option<String>,
}

/// What part of the scenarios was chosen, by paths, by options, or because `--watch` saw nothing change for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// How many were chosen, without disabled ones.
    pub chosen: usize,
    /// How many there are.
    pub of: usize,
    /// How many of those that were not chosen did not pass when this command ran them last.
    pub not_passed: usize,
}
