//! Who asks, and what?
//!
//! - `section`: the section `agent`, with its kinds.
//! - `model`: a model. `command`: a program. `replaying`: a replay of the baseline.
//! - `script`: calls that are played or expected. `arguments`: theirs. `criteria`: the section `success_criteria`. `limits`: the section `limits`.

pub(super) mod arguments;
pub(super) mod command;
pub(super) mod criteria;
pub(super) mod limits;
pub(super) mod model;
pub(super) mod replaying;
pub(super) mod script;
pub(super) mod section;
