//! Loading scenarios from paths.
//!
//! - `find`: paths, folders and patterns become files with ids, and files that may be no scenarios, but a part of some.
//! - `loader`: defaults are laid beneath, sections read, scenarios made. `variables`: `{{…}}` is filled in,
//!   `filling`: text by text, and in what servers and programs are given.
//! - `dataset`: the rows of a data set, each of which makes a scenario.
//! - `config`: the configuration file that a scenario names, and the servers of scenarios that name none.
//! - `dialogue`: how dialogues of the original tool are written here.
//! - `would_read`: what a scenario would have of ours that its author may not see.
//! - `mocks`: the mock servers of a file alone, and the script of a stand-in for a model.
//! - `first`: a scenario file made from what a server offers.
//! - `session`: a scenario file made from a session that somebody had. `rebase`: relative paths that lead to the same places from there.

pub(super) mod config;
pub(super) mod dataset;
mod dialogue;
mod filling;
pub(super) mod find;
pub(super) mod first;
pub(super) mod loader;
pub(super) mod mocks;
pub(super) mod rebase;
pub(super) mod session;
pub(super) mod variables;
pub(super) mod would_read;
