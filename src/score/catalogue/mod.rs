//! Changes in the tools that the servers offer.
//!
//! - `drift`: the changes, and which recorded calls would be refused for them.
//! - `renamed`: tools under another name. `likeness`: how alike two tools or names are, for "did you mean".
//! - `schema`: what changed between two schemas, in words.
//! - `refusal`: whether a tool would refuse a call, as a validator judges it.
//! - `guess`: arguments for a call that nobody has made yet.

pub(super) mod drift;
pub(super) mod guess;
pub(super) mod likeness;
mod refusal;
mod renamed;
mod schema;
