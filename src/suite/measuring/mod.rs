//! Scenarios that measure a tool search, or scanners of tool descriptions.
//!
//! To `play`, a measurement is another way to a result: what asks is an agent of ours, so that the system under test is prepared, started, proven
//! ready, interrupted and looked at as for any other run. What it was answered is scored once the run has ended.
//!
//! | file | what is there |
//! |---|---|
//! | `doing` | what commands do with such scenarios |
//! | `data_sets` | what is measured with, read from files, and what is wrong with these |
//! | `place`, `dotenv`, `asker`, `catalogue` | where a search is, and the file that may say so, how it is asked there, which tools are there |
//! | `searching`, `scanning` | the agents; `task` has them, and what they were answered so far |
//! | `accepted` | the figures that are held against those of now, where `record` keeps them |
//! | `held` | which figures these are, and what is demanded besides |
//! | `scored`, `judged` | the figures of now, and the reports that they make |
//! | `scenario_result` | the outcome, as the result of a scenario |
//! | `once` | all of this for one scenario |

mod accepted;
mod asker;
mod catalogue;
mod data_sets;
mod doing;
mod dotenv;
mod held;
mod judged;
mod once;
mod place;
mod scanning;
mod scenario_result;
mod scored;
mod searching;
mod task;

pub use self::accepted::accepted_figures;
pub use self::data_sets::check_measurement;
pub(crate) use self::doing::{Doing, First, Others};
pub(crate) use self::once::measured;
pub(crate) use self::place::place_of;
pub use self::place::{place_secrets, search_secrets, usual_place};
pub(crate) use self::task::Measuring;
