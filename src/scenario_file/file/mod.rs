//! What sections has a scenario file?
//!
//! - `document`: all of them.
//! - `scoring`: the section `scoring`. `label`: the section `label`.
//! - `schema`: the document once more, as JSON Schema.

pub(super) mod dataset;
pub(super) mod document;
pub(super) mod label;
pub(super) mod schema;
pub(super) mod scoring;
