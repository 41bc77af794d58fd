//! How should a run be? The `evaluators`, each type in a file of its own.
//!
//! - `section`: an evaluator, with its types and the keys that all have.
//! - `selection`: which answers are meant. `schema`: a JSON Schema, inline or in a file.

mod command;
mod exact_match;
mod file;
pub(in crate::scenario_file) mod llm_judge;
mod schema;
mod schema_validate;
mod section;
mod selection;
mod sql_validate;
mod text;
mod tool_calls;
mod trace_no_errors;
mod within;

pub(in crate::scenario_file) use self::section::EvaluatorSection;
