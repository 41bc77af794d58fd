//! The forms in which trajectories and results leave the program: versioned, with a JSON Schema each.
//!
//! A value that is published as it is has its one type in `model`, which may change as the version of its format allows: it is in stored
//! baselines and in other people's scripts. What is published in another form has a type here:
//!
//! | module | what it is the form of |
//! |---|---|
//! | [`trajectory`] | a recorded run: `baseline.json`, and the runs kept beside a report |
//! | [`result`] | what a command found: `result.json` |
//! | [`history`] | the results of scenarios over time |
//! | [`kept`] | what the results database has of results and runs |
//! | [`measured`] | what searches and scanners were measured to do: `report.json` |
//! | [`evaluator`] | what a program that judges a run is given, and what it answers |
//! | [`ending`] | how a run ended |

pub mod ending;
pub mod evaluator;
pub mod history;
pub mod kept;
pub mod measured;
pub mod result;
pub mod trajectory;
