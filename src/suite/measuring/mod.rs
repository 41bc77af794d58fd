//! Scenarios that measure a tool search, or scanners of tool descriptions.
//!
//! To `play`, a measurement is another way to a result: what asks is an agent of ours, so that the system under test is prepared, started, proven
//! ready, interrupted and looked at as for any other run. What it was answered is scored once the run has ended.
//!
//! | file | what is there |
//! |---|---|
//! | `data_sets` | what is measured with, read from files, and what is wrong with these |
//! | `place`, `asker` | where a search is, and the file that may say so, how it is asked there, which tools are there |
//! | `task`, `searching` | what commands do with such scenarios; the agents, and what they were answered so far |
//! | `accepted` | the figures that are held against those of now, where `record` keeps them |
//! | `held` | which figures these are, and what is demanded besides |
//! | `judged` | the figures of now, the reports that they make, and the result of the scenario |
//! | `once` | all of this for one scenario |

mod accepted;
mod asker;
mod data_sets;
mod held;
mod judged;
mod once;
mod place;
mod searching;
mod task;

pub use self::accepted::accepted_figures;
pub use self::data_sets::check_measurement;
pub(crate) use self::once::measured;
pub(crate) use self::place::place_of;
pub use self::place::{place_secrets, search_secrets, usual_place};
pub(crate) use self::task::Measuring;
pub(crate) use task::{Doing, First, Others};
