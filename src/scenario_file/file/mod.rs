//! The sections of a scenario file.
//!
//! - `document`: all of them.
//! - `scoring`: the section `scoring`. `document`: the file as a whole, with its small sections.
//! - `document`: the document once more, as JSON Schema.

pub(super) mod document;
pub(super) mod scoring;
