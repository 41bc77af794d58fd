//! How does a file become a tree in which each value knows its place, and how is said what is wrong there?
//!
//! - `source`: the files read so far, and what was found in them. `finding`: one thing that is wrong, as people read it. `mark`: a place.
//! - `parse`, `scalar`: a file becomes a tree. `node`: the tree, how one is laid over another, and how its texts are visited.
//! - `filled`: what variables put into its texts. `rounded`: numbers that lose digits.
//! - `jsonc`: JSON with comments becomes JSON. `toml`: so does TOML become a tree.
//!
//! `serde_yaml` gives numbers their meaning, so that what it writes reads back the same.

pub(super) mod filled;
pub(super) mod finding;
pub(super) mod jsonc;
mod mark;
pub(super) mod node;
pub(super) mod parse;
pub(super) mod rounded;
pub(super) mod scalar;
pub(super) mod source;
pub(super) mod toml;
