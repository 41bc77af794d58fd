//! What is asked: scenarios, suites and all their parts as the program uses them, defaults merged, variables filled in. With it, what
//! happened, from the crate of this name.

pub mod agent;
pub mod container;
pub mod evaluator;
pub mod interactions;
pub mod judge;
pub mod measurement;
pub mod ready;
pub mod scenario;
pub mod source;
pub mod suite_file;

pub use ::model::*;
