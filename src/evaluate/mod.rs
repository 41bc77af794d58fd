//! Checks on a run besides the comparison with its baseline.

mod criteria;
mod judged;
mod outcomes;
mod said;
mod tools;
mod upstream;

pub use criteria::{Accepted, Basis, Checked, Impossible, check_criteria};
pub use outcomes::{WrongOutcome, lists_tools, no_call, wrong_outcomes};
