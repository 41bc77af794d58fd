//! The sections of a scenario file.
//!
//! - `document`: the file as a whole, with its small sections, and once more as JSON Schema.
//! - `scoring`: the section `scoring`.

pub(super) mod document;
pub(super) mod scoring;
