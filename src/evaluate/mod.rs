//! Checks on a run besides the comparison with its baseline: what a run should be, whatever it was before.
//!
//! `criteria`, `outcomes` and `step_answers` check what a scenario expects in words of its own. Evaluators are looked at by `engine`, each kind
//! by its file in `kinds`, after `names` has found the tools that it names; `overall` says what they come to together, and `repeated` judges several runs at once.

mod criteria;
mod engine;
mod finding;
pub mod judge;
mod judged;
mod kinds;
mod meant;
mod names;
mod outcomes;
mod overall;
mod repeated;
mod said;
mod step_answers;
mod subject;
mod tools;
mod upstream;

pub use criteria::{Accepted, Basis, as_said, check_criteria};
pub use engine::{evaluate, evaluate_stored};
pub use judged::{Checked, Impossible};
pub use outcomes::{WrongOutcome, lists_tools, no_call, wrong_outcomes};
pub use overall::overall;
pub use repeated::CallTimes;
pub use subject::{Left, LeftFile, OfferedBefore, RunEnvironment, Said, Subject, Unasked};
