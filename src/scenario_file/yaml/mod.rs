//! Parsing files into trees in which each value knows its place, and reporting what is wrong in them.
//!
//! - `source`: the files read so far, and what was found in them. `finding`: one thing that is wrong, as people read it. `source`: a place.
//! - `parse`, `node`: a file becomes a tree. `node`: the tree, how one is laid over another, and how its texts are visited.
//! - `source`: what variables put into its texts. `parse`: numbers that lose digits.
//! - `client_files`: JSON with comments becomes JSON, and TOML becomes a tree.
//!
//! `serde_yaml` gives numbers their meaning, so that what it writes reads back the same.

pub(super) mod client_files;
pub(super) mod finding;
pub(super) mod node;
pub(super) mod parse;
pub(super) mod source;
