//! Which values of a run stand for which of its baseline?
//!
//! Servers make up ids anew on every run, and what is asked with them later differs as they do.
//!
//! - `binding`: which arguments come from earlier answers, and the same place in another answer.
//! - `swap`: values changed for those they stand for, and back.
//! - `translate`: a run put into its baseline's terms. `terms`: what came of that, and the way back.

pub(super) mod binding;
pub(super) mod swap;
pub(super) mod terms;
pub(super) mod translate;
