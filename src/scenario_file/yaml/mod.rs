//! Parsing files into trees in which each value knows its place, and reporting what is wrong in them.
//!
//! - `source`: the files read so far, what was found in them, places in them, and what variables put into their texts.
//! - `finding`: one thing that is wrong, as people read it.
//! - `parse`: a file becomes a tree; numbers that lose digits.
//! - `node`: the tree, how one is laid over another, and how its texts are visited.
//! - `client_files`: JSON with comments becomes JSON, and TOML becomes a tree.
//!
//! `serde_yaml` gives numbers their meaning, so that what it writes reads back the same.

mod client_files;
mod finding;
mod node;
mod parse;
mod source;

pub(in crate::scenario_file) use self::client_files::{parse_toml, without_comments};
pub(in crate::scenario_file) use self::finding::quoted;
pub use self::finding::{Finding, Severity, sort};
pub(in crate::scenario_file) use self::node::{Content, Entry, Node, Scalar, plain_scalar};
pub(in crate::scenario_file) use self::parse::{
    is_rounded, parse, parse_some, refuse_rounded, refuse_rounded_one,
};
pub(in crate::scenario_file) use self::source::{FilledRow, Findings, Mark, ROW};
