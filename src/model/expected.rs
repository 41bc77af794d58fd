//! The calls that a scenario expects, to be compared with those of a run.

use crate::Object;

/// The calls that a scenario expects.
#[derive(Debug)]
pub struct Expectation<'a> {
    /// The id of the scenario.
    pub scenario: &'a str,
    pub name: &'a str,
    /// SHA-256 of what is asked, in hexadecimal.
    pub hash: &'a str,
    pub calls: Vec<Expected<'a>>,
}

/// A call that is expected.
#[derive(Debug)]
pub struct Expected<'a> {
    /// The full name, or the bare one.
    pub tool: &'a str,
    /// `None` where it may have any.
    pub arguments: Option<&'a Object>,
    /// Whether it is meant to fail.
    pub is_error: bool,
}
