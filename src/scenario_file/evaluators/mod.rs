//! The `evaluators`: what a run should be.
//!
//! - `section`: an evaluator, with its types and the keys that all have.
//! - `text`: which answers are meant. `schema_validate`: a JSON Schema, inline or in a file.

mod exact_match;
pub(in crate::scenario_file) mod llm_judge;
mod schema_validate;
mod section;
mod sql_validate;
mod text;
mod tool_calls;

pub(in crate::scenario_file) use self::section::EvaluatorSection;
