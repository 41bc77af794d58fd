//! The agent of a scenario, and what it asks.
//!
//! - `section`: the section `agent`, with its kinds.
//! - `model`: a model. `section`, too: a program, and a replay of the baseline.
//! - `script`: calls that are played or expected, with their arguments. `criteria`: the sections `success_criteria` and `limits`.

pub(super) mod criteria;
pub(super) mod model;
pub(super) mod script;
pub(super) mod section;
