//! The scored calls of one side, with everything the comparison asks of a single call.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::catalogue::{Catalogue, Tool};
use crate::model::rules::{ReadRule, Responses, Rules};
use crate::model::trajectory::{ToolCall, Trajectory};

use super::arguments::{Argument, Request};
use super::breach::{self, Schemas};
use super::response::Response;
use super::same::{self, View, hash_of, same};

/// One scored call.
pub(super) struct Call<'a> {
    pub(super) made: &'a ToolCall,
    arguments: Vec<Argument<'a>>,
    /// The tool as this side's catalogue lists it, or the other side's where this one is unknown.
    listed: Option<&'a Tool>,
    /// Whether it only reads.
    pub(super) reads: bool,
    breach: Option<String>,
    /// Equal for calls that ask the same of the same tool.
    pub(super) key: u64,
    /// Equal for calls of the same tool.
    pub(super) tool: u64,
}

impl<'a> Call<'a> {
    pub(super) fn request(&self) -> Request<'_, 'a> {
        Request {
            tool: &self.made.tool,
            arguments: &self.arguments,
            listed: self.listed,
        }
    }

    pub(super) fn response(&self) -> Response<'_> {
        Response {
            outcome: &self.made.outcome,
            breach: self.breach.as_deref(),
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.response().is_failure()
    }
}

/// The scored calls of a trajectory. A tool its own catalogue does not know is looked up in the `other`: a recording
/// from elsewhere may have no catalogue at all.
pub(super) fn calls<'a>(
    side: &'a Trajectory,
    other: &'a Catalogue,
    rules: &Rules,
) -> Vec<Call<'a>> {
    let mut schemas = Schemas::new(&side.catalogue);
    let (own, other) = (tools(&side.catalogue), tools(other));
    let call = |call: &'a ToolCall| {
        let server = call.server.as_deref().unwrap_or_default();
        let name = (server, call.tool.as_str());
        let listed = own.get(&name).or_else(|| other.get(&name)).copied();
        let hinted = listed.and_then(Tool::read_only_hint).unwrap_or(false);
        let tool = hash_of(name);
        Call {
            reads: hinted || rules.reads.iter().any(|it| is_covered(it, call)),
            // Answers nobody looks at are not checked either: those of an expectation are made up.
            breach: match rules.responses {
                Responses::Ignore => breach::marked(call),
                _ => schemas.breach(call),
            },
            key: key(tool, call),
            tool,
            made: call,
            arguments: Argument::all(&call.arguments),
            listed,
        }
    };
    side.calls().map(call).collect()
}

fn tools(catalogue: &Catalogue) -> HashMap<(&str, &str), &Tool> {
    let servers = catalogue.servers.iter();
    let tools = servers.flat_map(|server| {
        let tools = server.tools.iter().rev();
        tools.map(|tool| ((server.server.as_str(), tool.name()), tool))
    });
    tools.collect()
}

fn is_covered(rule: &ReadRule, call: &ToolCall) -> bool {
    let names_it = rule.tool == call.tool || rule.tool == call.full_name();
    let has = |(name, wanted): (&String, &Value)| {
        call.arguments.get(name).is_some_and(|it| same(it, wanted))
    };
    names_it && rule.arguments.iter().all(has)
}

fn key(tool: u64, call: &ToolCall) -> u64 {
    let arguments = call
        .arguments
        .iter()
        .map(|(name, value)| hash_of((name, same::hash(value, View::Plain))));
    hash_of((tool, arguments.fold(0, u64::wrapping_add)))
}
