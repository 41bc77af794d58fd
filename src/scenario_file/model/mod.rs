//! Scenarios, suites and all their parts as the program uses them: defaults merged, variables filled in.

pub mod agent;
pub mod container;
pub mod evaluator;
pub mod hook;
pub mod interactions;
pub mod judge;
pub mod measurement;
pub mod ready;
pub mod scenario;
pub mod source;
pub mod suite_file;
