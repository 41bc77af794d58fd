//! The scenarios that are served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Misfit;

/// What ids of new cases are like: names with `/` between folders.
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._ -]*(/[A-Za-z0-9][A-Za-z0-9._ -]*)*$";

/// The scenarios of the folder that is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseList {
    pub cases: Vec<CaseEntry>,
    /// What is wrong with files that are no valid scenarios.
    pub findings: Vec<Misfit>,
}

/// A scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseEntry {
    /// Also of one row of a data set.
    pub id: String,
    pub name: String,
    /// Its file, below the folder that is served.
    pub path: String,
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// What the user says.
    pub prompt: Option<String>,
    /// A disabled one is not run.
    pub enabled: bool,
    /// The scenario of whose data set it is a row.
    pub row_of: Option<String>,
}

/// A scenario with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseDocument {
    pub id: String,
    pub path: String,
    /// The text of its file.
    pub yaml: String,
}

/// A scenario that is to be written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCase {
    /// The path of its file below the folder that is served, without extension.
    #[schemars(regex(pattern = ID), length(max = 200))]
    pub id: String,
    #[schemars(length(min = 1))]
    pub yaml: String,
}

/// The new text of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WrittenCase {
    #[schemars(length(min = 1))]
    pub yaml: String,
}
