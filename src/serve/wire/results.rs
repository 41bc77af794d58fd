//! Results that were kept, and the scenarios that are served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Misfit;
use crate::model::Status;
use crate::published::kept::{ResultEntry, RunEntry};

/// Which results are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultQuery {
    /// The name of the test case or scenario, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The run of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The id of the scenario, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// No result that is older (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    /// How many at most; 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// How many of the latest are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub offset: Option<u32>,
}

/// Which runs are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageQuery {
    /// How many at most; 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// How many of the latest are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub offset: Option<u32>,
}

/// Some of the results that were asked for, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultList {
    pub results: Vec<ResultEntry>,
    /// How many there are in all.
    pub total: u64,
    pub limit: u32,
    pub offset: u32,
}

/// Some of the runs, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    pub runs: Vec<RunEntry>,
    /// How many there are in all.
    pub total: u64,
    pub limit: u32,
    pub offset: u32,
}

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
