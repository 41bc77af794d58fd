//! Comparing whole runs.
//!
//! - `compare`: the comparison as a whole, from two trajectories to a verdict.
//! - `expectation`: a run compared with what its scenario expects of it.
//! - `experiment`: whether two runs are the same experiment.
//! - `mix`: two recordings of one scenario as one trajectory.
//! - `old_terms`: a new recording with the ids and times of the one before it.
//! - `recorded_again`: what of an accepted trajectory stays when it is recorded again.
//! - `repeated`: several attempts at one scenario, summed up. `statistics`: the formulas for that.
//! - `unsteady`: whether two runs against one accepted trajectory fail for the same.
//!   `sign_test`: which of two ways to run the same scenarios is better.

pub(super) mod compare;
pub(super) mod expectation;
pub(super) mod experiment;
pub(super) mod mix;
mod old_terms;
pub(super) mod recorded_again;
pub(super) mod repeated;
pub mod sign_test;
pub mod statistics;
pub(super) mod unsteady;
