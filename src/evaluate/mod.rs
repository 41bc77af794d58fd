//! Checks on a run besides the comparison with its baseline: what a run should be, whatever it was before.
//!
//! `criteria` and `outcomes` check what a scenario expects in words of its own. Evaluators are looked at by `engine`, each kind
//! by its file in `kinds`, after `tools` has found the tools that it names; `overall` says what they come to together, and `engine` judges several runs at once.

mod criteria;
mod engine;
mod finding;
pub mod judge;
mod kinds;
mod outcomes;
mod overall;
mod subject;
mod tools;

pub use criteria::{Accepted, Basis, as_said, check_criteria};
pub use engine::{CallTimes, evaluate, evaluate_stored, is_hidden};
pub use finding::{Checked, HIDDEN, Impossible};
pub use outcomes::{WrongOutcome, lists_tools, no_call, wrong_outcomes};
pub use overall::overall;
pub use subject::{Left, LeftFile, OfferedBefore, RunEnvironment, Subject, Unasked};
