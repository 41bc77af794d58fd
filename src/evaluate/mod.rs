//! Checks on a run besides the comparison with its baseline.

mod criteria;

pub use criteria::{check_criteria, check_outcomes};
