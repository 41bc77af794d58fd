//! Prepared responses of a mock server, and the conditions under which they answer.

use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::content::BlockSection;
use super::reference::Reference;
use super::reply::{AnswerBlock, ArgumentCondition, Fault, MockReply, Step};
use super::steps::{FaultSection, StepSection};
use crate::model::Object;
use crate::scenario_file::decode::{
    At, Count, Decode, NO_HINT, Named, OnlyTrue, Pattern, Plain, Wait, held, one_key, schema,
    section, shapes,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node, quoted};

section! {
    /// One prepared answer. Texts may hold `{{args.NAME}}`, an argument of the call.
    ResponseSection => MockResponse(Default), checked by check_response {
        /// What the arguments of a call must be for this answer to be given; any call unless given.
        r#match: Option<Named<Condition>>,
        /// What the server must remember for this answer to be given, by place: `orders[args.id]: { any: true }`.
        when: Option<Named<Condition>> as Vec<(Reference, ArgumentCondition)> = Vec::new(),
        /// How many calls it answers before the next answer takes over; any number unless given.
        times: Option<Count> as Option<u32>,
        /// How long the server takes to answer.
        delay: Option<Wait> as Option<Duration>,
        /// What the server does before it answers, in order.
        steps: Option<Vec<StepSection>> as Vec<Step> = Vec::new(),
        /// What the server remembers from this call on, by place: `orders[args.id]: { name: "{{args.name}}" }`.
        set: Option<Named<Value>> as Vec<(Reference, Value)> = Vec::new(),
        /// Places of what the server forgets: `orders[args.id]`.
        unset: Option<Vec<At<PlaceText>>> as Vec<Reference> = Vec::new(),
        /// The content of the result: content blocks, or text for one block of text.
        content: Option<ContentSection>,
        /// The structured content of the result.
        structured_content: Option<Object>,
        /// The tool says that it failed.
        is_error: Option<bool>,
        /// `_meta` of the result, served as written.
        _meta: Option<Object>,
        /// Answer with a JSON-RPC error instead of a result.
        error: Option<ErrorSection>,
        /// The `result` of the reply as it goes over the wire, whatever it is.
        raw_result: Option<Value>,
        /// The whole message as it goes over the wire: text to the letter, anything else as JSON. `{{id}}` is the id of the request.
        raw_message: Option<Value>,
        /// What goes wrong with the answer.
        fault: Option<FaultSection> as Option<Fault>,
    } and {
        /// Conditions on arguments, all of which must hold.
        matches: Vec<(String, ArgumentCondition)>,
        /// The arguments as a whole must equal these.
        arguments: Option<Object> = None,
        /// What goes back.
        reply: MockReply,
    }
}

section! {
    /// A JSON-RPC error.
    ErrorSection {
        /// The error code, such as -32603 for an internal error.
        code: i64,
        /// What went wrong, in a sentence.
        message: String,
        /// Anything more the server has to say.
        data: Option<Value>,
    }
}

shapes! {
    /// Content blocks, or a text as the only block.
    ContentSection, "text or a list of content blocks" {
        Text => Text(String),
        List => Blocks(Vec<BlockSection>),
    }
}

/// A place in what a mock server remembers.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct PlaceText(Reference);

impl Decode for PlaceText {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        place(&text, node.at, findings).map(Self)
    }
}

held!(PlaceText as Reference);

schema!(PlaceText, {"type": "string"});

fn place(text: &str, at: Mark, findings: &mut Findings) -> Option<Reference> {
    let place = Reference::state(text);
    if place.is_none() {
        let message = format!("{} is not a place", quoted(text));
        let hint = "write names with dots between them; `[args.id]` is a name that a call gives: `orders[args.id].state`";
        findings.error(at, message, Some(hint));
    }
    place
}

/// An answer is one thing, and never nothing at all.
fn check_response(response: &ResponseSection, at: Mark, findings: &mut Findings) {
    let places = response.when.iter().flat_map(|it| &it.0).map(|(it, _)| it);
    let set = response.set.iter().flat_map(|it| &it.0).map(|(it, _)| it);
    for name in places.chain(set) {
        place(&name.value, name.at, findings);
    }
    let is_result = response.content.is_some()
        || response.structured_content.is_some()
        || response.is_error.is_some()
        || response._meta.is_some();
    let answers = [
        ("a result", is_result),
        ("an `error`", response.error.is_some()),
        ("a `raw_result`", response.raw_result.is_some()),
        ("a `raw_message`", response.raw_message.is_some()),
    ];
    let given: Vec<&str> = answers.iter().filter(|it| it.1).map(|it| it.0).collect();
    match (given.as_slice(), &response.fault) {
        ([], None) => {
            let does_something = response.set.is_some()
                || response.unset.is_some()
                || response.delay.is_some()
                || response.steps.is_some();
            if !does_something {
                let message = "a response needs `content`, `structured_content`, `is_error`, `error`, `raw_result`, `raw_message` or `fault`";
                findings.error(at, message, NO_HINT);
            }
        }
        ([what, ..], Some(fault)) if !fault.carries_an_answer() => {
            let message = format!(
                "with the fault `{}`, {what} would never be seen",
                fault.name()
            );
            findings.error(at, message, NO_HINT);
        }
        ([one, another, ..], _) => {
            let message = format!("a response is {one} or {another}, not both");
            let hint = "for a tool that reports a failure, use `is_error: true` with `content`";
            let hint = (*another == "an `error`").then_some(hint);
            findings.error(at, message, hint);
        }
        _ => {}
    }
}

impl Plain<Vec<AnswerBlock>> for ContentSection {
    fn plain(&self, _: &Findings) -> Vec<AnswerBlock> {
        match self {
            Self::Text(text) => vec![AnswerBlock::text(text)],
            Self::Blocks(blocks) => blocks.iter().map(BlockSection::block).collect(),
        }
    }
}

impl ResponseSection {
    /// Says so when the response to a method other than a tool call answers like a tool.
    pub(in crate::scenario_file) fn check_method(&self, method: Mark, findings: &mut Findings) {
        let answers_like_a_tool =
            self.content.is_some() || self.structured_content.is_some() || self.is_error.is_some();
        if answers_like_a_tool {
            let message = "`content`, `structured_content` and `is_error` are for tools";
            let hint = "write the result of another method as `raw_result`";
            findings.error(method, message, Some(hint));
        }
    }
}

/// By place. One that is none was reported.
impl<T, S: Plain<T>> Plain<Vec<(Reference, T)>> for Named<S> {
    fn plain(&self, findings: &Findings) -> Vec<(Reference, T)> {
        let named = self.0.iter();
        named
            .filter_map(|(place, it)| Some((Reference::state(place)?, it.plain(findings))))
            .collect()
    }
}

impl Plain<Vec<(String, ArgumentCondition)>> for ResponseSection {
    fn plain(&self, findings: &Findings) -> Vec<(String, ArgumentCondition)> {
        self.r#match.plain(findings).unwrap_or_default()
    }
}

impl Plain<MockReply> for ResponseSection {
    fn plain(&self, findings: &Findings) -> MockReply {
        if let Some(error) = &self.error {
            return MockReply::Error {
                code: error.code,
                message: error.message.clone(),
                data: error.data.clone(),
            };
        }
        if let Some(raw) = &self.raw_result {
            return MockReply::RawResult(raw.clone());
        }
        if let Some(raw) = &self.raw_message {
            return MockReply::RawMessage(raw.clone());
        }
        let nothing = self.content.is_none()
            && self.structured_content.is_none()
            && self.is_error.is_none()
            && self._meta.is_none();
        if nothing {
            return MockReply::Default;
        }
        MockReply::Result {
            content: self.content.plain(findings).unwrap_or_default(),
            structured_content: self.structured_content.clone().map(Value::Object),
            is_error: self.is_error.unwrap_or(false),
            meta: self._meta.clone().map(Value::Object),
        }
    }
}

/// What an argument must be.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Condition(pub(in crate::scenario_file) ArgumentCondition);

impl Decode for Condition {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return Some(Self(ArgumentCondition::Equals(node.to_json())));
        }
        Some(Self(match Operator::decode(node, findings)? {
            Operator::Contains(text) => ArgumentCondition::Contains(text),
            Operator::Regex(pattern) => ArgumentCondition::Regex(pattern.0),
            Operator::Any(_) => ArgumentCondition::Any,
            Operator::Absent(_) => ArgumentCondition::Absent,
            Operator::Equals(value) => ArgumentCondition::Equals(value),
        }))
    }
}

one_key! {
    /// What an argument must be, where it is not written as it is.
    Operator {
        /// The argument is a text containing this one.
        "contains" => Contains(String),
        /// The argument is a text matching this regular expression.
        "regex" => Regex(Pattern),
        /// The argument is there, whatever it is.
        "any" => Any(OnlyTrue),
        /// There is no such argument.
        "absent" => Absent(OnlyTrue),
        /// The argument equals this value, which may be a map.
        "equals" => Equals(Value),
    }
}

// Says in the schema what `Condition` reads.
/// What an argument must be.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "exists for its JSON Schema")]
enum ConditionSchema {
    /// The argument equals this value.
    Literal(Literal),
    /// The argument meets this condition.
    Operator(Operator),
}

/// Any value but a map.
struct Literal;

schema!(Literal, {"type": ["null", "boolean", "number", "string", "array"]});

held!(Condition as ArgumentCondition);

schema!(Condition as "Condition", |generator| ConditionSchema::json_schema(generator));
