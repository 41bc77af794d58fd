//! Did the run pass, and why not?
//!
//! - `reasons`: one reason for each condition that failed. `evidence`: what they are drawn from.
//! - `causes`: what failed, grouped by what caused it. `generalise`: many places that changed in one way, as one sentence.
//! - `changes`: everything that differs, whether it fails the gate or not. `follows`: which of that follows from what.

mod causes;
pub(super) mod changes;
pub(super) mod evidence;
pub(super) mod follows;
mod generalise;
pub(super) mod reasons;
