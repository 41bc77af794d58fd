//! Parsing files into trees in which each value knows its place, and reporting what is wrong in them.
//!
//! - `source`: the files read so far, what was found in them, places in them, and what variables put into their texts.
//! - `finding`: one thing that is wrong, as people read it.
//! - `parse`: a file becomes a tree; numbers that lose digits.
//! - `node`: the tree, how one is laid over another, and how its texts are visited.
//! - `client_files`: JSON with comments becomes JSON, and TOML becomes a tree.
//!
//! `serde_yaml` gives numbers their meaning, so that what it writes reads back the same.

pub(super) mod client_files;
pub(super) mod finding;
pub(super) mod node;
pub(super) mod parse;
pub(super) mod source;
