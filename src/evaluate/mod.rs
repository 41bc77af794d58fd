//! Checks on a run besides the comparison with its baseline.

mod criteria;
mod outcomes;
mod said;
mod tools;

pub use criteria::{Basis, Checked, check_criteria};
pub use outcomes::{WrongOutcome, no_call, wrong_outcomes};
