//! The `evaluators`: what a run should be.
//!
//! - `section`: an evaluator, with its types and the keys that all have.
//! - `text`: also the answers that are meant. `schema`: a JSON Schema, inline or in a file.

mod exact_match;
mod file;
pub(in crate::scenario_file) mod llm_judge;
mod schema;
mod schema_validate;
mod section;
mod sql_validate;
mod text;
pub(in crate::scenario_file) mod tool_calls;
pub(in crate::scenario_file) mod within;

pub(in crate::scenario_file) use self::section::EvaluatorSection;
