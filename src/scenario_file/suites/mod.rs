//! Suite files: which scenarios run together, how, and what they must come to.

mod load;
mod section;

pub use load::{FOLDER, LoadedSuite, SuiteFound, find_suites, suite, suite_json_schema};
