//! The kinds of evaluators, and their looks at a run.
//!
//! `answers` finds what several of them look at.

pub(super) mod answers;
pub(super) mod combined;
pub(super) mod command;
pub(super) mod exact_match;
pub(super) mod file;
mod pattern;
pub(super) mod schema_validate;
pub(super) mod sql_validate;
pub(super) mod text;
pub(super) mod tool_calls;
pub(super) mod within;
