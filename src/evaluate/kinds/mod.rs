//! How each kind of evaluator looks at a run, one file per kind.
//!
//! `answers` and `final_text` find what several of them look at.

pub(super) mod answers;
pub(super) mod combined;
pub(super) mod command;
pub(super) mod exact_match;
pub(super) mod file;
pub(super) mod final_text;
pub(super) mod llm_judge;
pub(super) mod pattern;
pub(super) mod schema_validate;
pub(super) mod sql_validate;
pub(super) mod text;
pub(super) mod tool_calls;
pub(super) mod trace_no_errors;
pub(super) mod within;
