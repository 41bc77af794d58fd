//! What a request wants to be run, ready to be.

use serde_json::Value;

use crate::model::redacted::Redacted;
use crate::model::scenario::{Scenario, Server};
use crate::redact::Secrets;
use crate::suite;

/// A scenario that is to be run, and what its reply needs to know.
pub(super) struct Prepared {
    pub(super) scenario: Scenario,
    /// What was asked for, without secrets.
    pub(super) asked: Redacted<Value>,
    /// The tools that must be called, where a test case says so.
    pub(super) expected: Vec<String>,
    /// What the request brought that is secret.
    pub(super) secrets: Secrets,
    /// The file that its text lies in until it has run.
    pub(super) file: Option<tempfile::NamedTempFile>,
}

/// Gives a scenario the servers that whoever started the server has named: in place of its own of the same names, and all of them where it has
/// none.
pub(super) fn give_servers(own: &mut Vec<Server>, given: &[Server]) {
    let is_bare = own.is_empty();
    let names: Vec<String> = own.iter().map(|it| it.name.clone()).collect();
    let fit = given
        .iter()
        .filter(|it| is_bare || names.contains(&it.name));
    let fit: Vec<Server> = fit.cloned().collect();
    suite::give_servers(own, &fit);
}

/// Each of these once, in their order.
pub(super) fn distinct<'a>(tools: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for tool in tools {
        if !distinct.contains(tool) {
            distinct.push(tool.clone());
        }
    }
    distinct
}
