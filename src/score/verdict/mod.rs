//! Did the run pass, and why not?
//!
//! - `reasons`: one reason for each condition that failed. `evidence`: what they are drawn from.
//! - `generalise`: many places that changed in one way, as one sentence.
//! - `changes`: everything that differs, whether it fails the gate or not. `follows`: which of that follows from what. `linked`: which failure comes from which.

pub(super) mod changes;
pub(super) mod evidence;
pub(super) mod follows;
mod generalise;
pub(super) mod linked;
pub(super) mod reasons;
