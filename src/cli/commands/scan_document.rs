//! What `mcp-eval scan --format json` prints.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a scan for secrets found.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(title = "mcp-eval scan")]
pub(super) struct ScanDocument {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    pub(super) format_version: u32,
    /// Neither secrets nor problems.
    pub(super) clean: bool,
    /// How many files were read.
    pub(super) files: usize,
    /// How many secrets were found, listed or not.
    pub(super) found: usize,
    /// The first 10 000 of them.
    pub(super) findings: Vec<Finding>,
    /// Binary files, which were not read.
    pub(super) skipped: Vec<String>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
}

/// A secret, and where it stands.
#[derive(Serialize, JsonSchema)]
pub(super) struct Finding {
    /// The file, as it was named or found.
    pub(super) path: String,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// The word its placeholder would have, such as `github-token`.
    pub(super) kind: String,
    /// How long it is, in characters.
    pub(super) length: usize,
}

/// The JSON Schema (draft 2020-12) of the document, made from the types.
pub(super) fn json_schema() -> Value {
    schemars::schema_for!(ScanDocument).to_value()
}
