//! A scored call, with everything that a comparison needs to know of a single call.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::request::arguments::{Argument, Named, Request};
use crate::response::breach::{self, Schemas};
use crate::response::in_band::Signs;
use crate::response::outcome::Response;
use crate::text::excerpt;
use crate::values::same::{hash_of, same};
use model::rules::{ReadRule, Responses, Rules};
use model::{Catalogue, Tool, ToolCall, Trajectory};

/// One scored call.
pub(crate) struct Call<'a> {
    pub(crate) made: &'a ToolCall,
    arguments: Vec<Argument<'a>>,
    /// The tool as this side's catalogue lists it, or the other side's where this one is unknown.
    pub(crate) listed: Option<&'a Tool>,
    /// Whether it only reads.
    pub(crate) reads: bool,
    breach: Option<String>,
    /// Its server, which has no sessions, answered with a question to its client first.
    asks_first: bool,
    /// What its answer says went wrong although the server says that it is fine.
    in_band: OnceCell<Option<String>>,
    /// The signs of such errors; `None` where answers are not compared.
    signs: Option<Rc<Signs>>,
    /// Counted from 1 among the scored calls of its side.
    pub(crate) number: usize,
    /// The earlier calls of the same poll, whose answers do not count.
    pub(super) tries: Vec<&'a ToolCall>,
    /// What it asked in its own words, where those of its baseline stand in `made`.
    pub(crate) said: &'a ToolCall,
    /// Equal for calls that ask the same of the same tool.
    pub(crate) key: u64,
    /// The same for what it asked in its own words.
    pub(crate) said_key: u64,
    /// Equal for calls of the same tool of the same server.
    pub(crate) tool: u64,
}

impl<'a> Call<'a> {
    /// How often it was made in a row, as part of a poll.
    pub(crate) fn attempts(&self) -> usize {
        self.tries.len() + 1
    }

    /// Its tool, as rules name it.
    pub(crate) fn named(&self) -> Named<'a> {
        Named {
            server: self.made.server.as_deref().unwrap_or_default(),
            tool: &self.made.tool,
        }
    }

    pub(crate) fn request(&self) -> Request<'_, 'a> {
        Request {
            tool: self.named(),
            arguments: &self.arguments,
            listed: self.listed,
        }
    }

    pub(crate) fn response(&self) -> Response<'_> {
        Response {
            in_band: self.in_band(),
            ..self.plain_response()
        }
    }

    /// The response without a look at what its answer says.
    pub(crate) fn plain_response(&self) -> Response<'_> {
        Response {
            outcome: &self.made.outcome,
            breach: self.breach.as_deref(),
            in_band: None,
            is_unknown_tool: self.listed.is_none(),
            asks_first: self.asks_first,
        }
    }

    /// Computed when first needed, because most answers equal those of the baseline and are never searched for errors.
    fn in_band(&self) -> Option<&str> {
        let signs = self.signs.as_ref();
        let error = || signs.and_then(|it| it.error(&self.made.outcome));
        self.in_band.get_or_init(error).as_deref()
    }

    /// What its failure says, in the words of its own server.
    pub(crate) fn message(&self) -> String {
        let response = Response {
            outcome: &self.said.outcome,
            ..self.plain_response()
        };
        match self.in_band() {
            Some(said) => said.to_owned(),
            None => response.message(),
        }
    }

    /// Whether it failed, by the server's word or by what its answer says.
    pub(crate) fn failed(&self) -> bool {
        self.plain_response().is_failure() || self.in_band().is_some()
    }
}

/// The scored calls of a trajectory. A tool its own catalogue does not know is looked up in the `other`: a recording
/// from elsewhere may have no catalogue at all.
///
/// `said` is the same side in its own words. Of equal requests in a row, those for whose key `is_try` is true are one call with the
/// one after them.
pub(super) fn scored<'a>(
    side: &'a Trajectory,
    said: &'a Trajectory,
    other: &'a Catalogue,
    rules: &Rules,
    is_try: impl Fn(u64) -> bool,
) -> Vec<Call<'a>> {
    let mut schemas = Schemas::new(&side.catalogue);
    let signs = match rules.responses {
        Responses::Ignore => None,
        _ => Some(Rc::new(Signs::new(&rules.errors))),
    };
    let (own, other) = (tools(&side.catalogue), tools(other));
    let stateless: HashSet<&str> = (side.catalogue.servers.iter())
        .filter(|it| it.is_stateless())
        .map(|it| it.server.as_str())
        .collect();
    let mut call = |number: usize, call: &'a ToolCall, said: &'a ToolCall| {
        let server = call.server.as_deref().unwrap_or_default();
        let name = (server, call.tool.as_str());
        let listed = own.get(&name).or_else(|| other.get(&name)).copied();
        let hinted = listed.and_then(Tool::read_only_hint).unwrap_or(false);
        let tool = hash_of(name);
        let arguments = Argument::all(&call.arguments);
        let key = hash_of((tool, Argument::key(&arguments)));
        Call {
            number,
            tries: Vec::new(),
            said,
            reads: hinted || is_listed_read(call, rules),
            // Answers that are not compared are not checked either, because those of an expectation are not real ones.
            breach: match rules.responses {
                Responses::Ignore => breach::marked(call),
                _ => schemas.breach(call),
            },
            asks_first: stateless.contains(server)
                && (call.outcome.answer()).is_some_and(|it| it.asked().is_some()),
            in_band: OnceCell::new(),
            signs: signs.clone(),
            key,
            said_key: if std::ptr::eq(call, said) {
                key
            } else {
                request_key(said)
            },
            tool,
            made: call,
            arguments,
            listed,
        }
    };
    let mut calls: Vec<Call<'a>> = Vec::new();
    for (index, (made, said)) in side.calls().zip(said.calls()).enumerate() {
        let mut next = call(index + 1, made, said);
        if let Some(last) = calls.pop_if(|it| it.key == next.key && is_try(it.key)) {
            next.tries = last.tries;
            next.tries.push(last.made);
        }
        calls.push(next);
    }
    calls
}

fn tools(catalogue: &Catalogue) -> HashMap<(&str, &str), &Tool> {
    let servers = catalogue.servers.iter();
    let tools = servers.flat_map(|server| {
        let tools = server.tools.iter().rev();
        tools.map(|tool| ((server.server.as_str(), tool.name()), tool))
    });
    tools.collect()
}

/// Whether a call only reads: the server's annotations say so, or the scenario does.
pub fn only_reads(call: &ToolCall, catalogue: &Catalogue, rules: &Rules) -> bool {
    let server = call.server.as_deref().unwrap_or_default();
    let hint = catalogue
        .tool(server, &call.tool)
        .and_then(Tool::read_only_hint);
    hint.unwrap_or(false) || is_listed_read(call, rules)
}

/// Whether the scenario says that a call only reads.
fn is_listed_read(call: &ToolCall, rules: &Rules) -> bool {
    rules.reads.iter().any(|it| is_covered(it, call))
}

fn is_covered(rule: &ReadRule, call: &ToolCall) -> bool {
    let names_it = rule.tool == call.tool || rule.tool == call.full_name();
    let has = |(name, wanted): (&String, &Value)| {
        call.arguments.get(name).is_some_and(|it| same(it, wanted))
    };
    names_it && rule.arguments.iter().all(has)
}

/// Equal for calls that ask the same of the same tool.
pub(crate) fn request_key(call: &ToolCall) -> u64 {
    let server = call.server.as_deref().unwrap_or_default();
    let tool = hash_of((server, call.tool.as_str()));
    hash_of((tool, Argument::key(&Argument::all(&call.arguments))))
}

/// Whether two calls ask the same of the same tool.
pub(crate) fn is_same_request(a: &ToolCall, b: &ToolCall) -> bool {
    let equal_argument =
        |(name, a): (&String, &Value)| b.arguments.get(name).is_some_and(|b| same(a, b));
    a.server == b.server
        && a.tool == b.tool
        && a.arguments.len() == b.arguments.len()
        && a.arguments.iter().all(equal_argument)
}

/// A call as an excerpt of what it asks.
pub(crate) fn asked(call: &ToolCall) -> String {
    let mut shown = String::new();
    for (name, value) in call.arguments.iter().take(8) {
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        shown.push_str(name);
        shown.push_str(": ");
        shown.push_str(&excerpt::of(value));
    }
    excerpt::shorten(&format!("{}({shown})", call.tool))
}
