//! The forms in which trajectories and results leave the program: versioned, with a JSON Schema each.
//!
//! The structs are published ones, so that the inner types may change without breaking anybody's script or stored baseline. What a
//! trajectory and a result both tell has one type and one spelling, in the files of this folder:
//!
//! | module | what it is the form of |
//! |---|---|
//! | [`trajectory`] | a recorded run: `baseline.json`, and the runs kept beside a report |
//! | [`result`] | what a command found: `result.json` |
//! | [`history`] | the results of scenarios over time |
//! | [`measured`] | what searches and scanners were measured to do: `report.json` |
//! | [`evaluator`] | what a program that judges a run is given, and what it answers |
//! | [`ending`] | how a run ended |

pub mod ending;
pub mod evaluator;
pub mod history;
pub mod measured;
pub mod result;
pub mod trajectory;
