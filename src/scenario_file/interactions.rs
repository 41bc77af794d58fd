//! The `mcp_interactions` section: mock servers and what they answer.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::model::Object;
use crate::model::interactions::{
    ArgumentCondition, MockReply, MockResponse, MockServer, MockTool,
};

use super::content::{BlockSection, text_block};
use super::decode::{At, Decode, NO_HINT, Named, only_entry, section, wrong_kind};
use super::node::{Content, Node};
use super::source::{Findings, Mark};
use super::values::{Count, Pattern, Wait, Word};

section! {
    /// A mock server: the tools it offers and how it answers.
    MockSection {
        /// The name the server gives itself; its name in the scenario unless given.
        name: Option<Word>,
        /// The version the server gives itself; `1.0.0` unless given.
        version: Option<Word>,
        /// Usage instructions the server hands to models.
        instructions: Option<String>,
        /// The tools it offers, in this order.
        tools: Option<Vec<ToolSection>>,
    }
}

section! {
    /// A tool of a mock server.
    ToolSection {
        /// The name the tool is called by.
        name: At<Word>,
        /// The name people are shown.
        title: Option<String>,
        /// What the tool is for.
        description: Option<String>,
        /// JSON Schema of the arguments, served as written.
        input_schema: Option<Object>,
        /// JSON Schema of the structured content, served as written.
        output_schema: Option<Object>,
        /// What the tool says about its effects.
        annotations: Option<AnnotationsSection>,
        /// Its answers; the first that matches a call is given.
        responses: Option<Vec<ResponseSection>>,
    }
}

section! {
    /// What a tool says about its effects.
    AnnotationsSection {
        /// The name people are shown.
        title: Option<String>,
        /// The tool changes nothing.
        read_only_hint: Option<bool>,
        /// The tool may destroy something.
        destructive_hint: Option<bool>,
        /// Calling it again with the same arguments changes nothing more.
        idempotent_hint: Option<bool>,
        /// The tool deals with things beyond the server, such as the web.
        open_world_hint: Option<bool>,
    }
}

section! {
    /// One prepared answer. Texts may hold `{{args.NAME}}`, which stands for an argument of the call.
    ResponseSection, checked by check_response {
        /// What the arguments of a call must be for this answer to be given; any call unless given.
        r#match: Option<Named<Condition>>,
        /// How many calls it answers before the next answer takes over; any number unless given.
        times: Option<Count>,
        /// How long the server takes to answer.
        delay: Option<Wait>,
        /// The content of the result: content blocks, or text for one block of text.
        content: Option<ContentSection>,
        /// The structured content of the result.
        structured_content: Option<Object>,
        /// The tool says that it failed.
        is_error: Option<bool>,
        /// Answer with a JSON-RPC error instead of a result.
        error: Option<ErrorSection>,
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

/// Content blocks, or a text that stands for one block of text.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub(super) enum ContentSection {
    Text(String),
    Blocks(Vec<BlockSection>),
}

impl Decode for ContentSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(text) => Some(Self::Text(text.clone())),
            Content::List(_) => Decode::decode(node, findings).map(Self::Blocks),
            _ => {
                wrong_kind(node, "text or a list of content blocks", findings);
                None
            }
        }
    }
}

/// What an argument must be.
#[derive(Debug, Clone)]
pub(super) struct Condition(ArgumentCondition);

impl Decode for Condition {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return Some(Self(ArgumentCondition::Equals(node.to_json())));
        }
        let known = ["contains", "regex", "any", "equals"];
        let (operator, value) = only_entry(node, &known, findings)?;
        let condition = match operator {
            "contains" => ArgumentCondition::Contains(Decode::decode(value, findings)?),
            "regex" => ArgumentCondition::Regex(Pattern::decode(value, findings)?.0),
            "any" if bool::decode(value, findings)? => ArgumentCondition::Any,
            "any" => {
                findings.error(value.at, "only `any: true` has a meaning", NO_HINT);
                return None;
            }
            _ => ArgumentCondition::Equals(value.to_json()),
        };
        Some(Self(condition))
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

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "exists for its JSON Schema")]
enum Operator {
    /// The argument is a text containing this one.
    Contains(String),
    /// The argument is a text matching this regular expression.
    Regex(Pattern),
    /// The argument is there, whatever it is.
    Any(bool),
    /// The argument equals this value, which may be a map.
    Equals(Value),
}

/// Any value but a map.
struct Literal;

impl JsonSchema for Literal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Literal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": ["null", "boolean", "number", "string", "array"]})
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ConditionSchema::json_schema(generator)
    }
}

/// An answer is a result or an error, and never nothing at all.
fn check_response(response: &ResponseSection, at: Mark, findings: &mut Findings) {
    let is_result = response.content.is_some()
        || response.structured_content.is_some()
        || response.is_error.is_some();
    match (&response.error, is_result) {
        (Some(_), true) => {
            let message = "a response is a result or an `error`, not both";
            let hint = "for a tool that reports a failure, use `is_error: true` with `content`";
            findings.error(at, message, Some(hint));
        }
        (None, false) => {
            let message = "a response needs `content`, `structured_content`, `is_error` or `error`";
            findings.error(at, message, NO_HINT);
        }
        _ => {}
    }
}

impl MockSection {
    pub(super) fn server(&self) -> MockServer {
        let tools = self.tools.iter().flatten();
        MockServer {
            name: self.name.as_ref().map(|it| it.0.clone()),
            version: self.version.as_ref().map(|it| it.0.clone()),
            instructions: self.instructions.clone(),
            tools: tools.map(ToolSection::tool).collect(),
        }
    }

    /// Says so when a tool is declared twice.
    pub(super) fn check_names(&self, findings: &mut Findings) {
        let mut names = std::collections::HashSet::new();
        for tool in self.tools.iter().flatten() {
            if !names.insert(tool.name.0.as_str()) {
                let message = format!("the tool `{}` is declared twice", tool.name.0);
                findings.error(tool.name.at, message, NO_HINT);
            }
        }
    }
}

impl ToolSection {
    fn tool(&self) -> MockTool {
        let responses = self.responses.iter().flatten();
        MockTool {
            name: self.name.0.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            input_schema: self.input_schema.clone().map(Value::Object),
            output_schema: self.output_schema.clone().map(Value::Object),
            annotations: self.annotations.as_ref().map(AnnotationsSection::served),
            responses: responses.map(ResponseSection::response).collect(),
        }
    }
}

impl AnnotationsSection {
    /// The annotations as they go over the wire.
    fn served(&self) -> Object {
        let hints = [
            ("readOnlyHint", self.read_only_hint),
            ("destructiveHint", self.destructive_hint),
            ("idempotentHint", self.idempotent_hint),
            ("openWorldHint", self.open_world_hint),
        ];
        let title = self.title.iter().map(|it| ("title", json!(it)));
        let hints = hints
            .iter()
            .filter_map(|(name, hint)| hint.map(|it| (*name, json!(it))));
        title
            .chain(hints)
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl ResponseSection {
    fn response(&self) -> MockResponse {
        let reply = match &self.error {
            Some(error) => MockReply::Error {
                code: error.code,
                message: error.message.clone(),
                data: error.data.clone(),
            },
            None => MockReply::Result {
                content: match &self.content {
                    None => Vec::new(),
                    Some(ContentSection::Text(text)) => vec![text_block(text)],
                    Some(ContentSection::Blocks(blocks)) => {
                        blocks.iter().map(BlockSection::served).collect()
                    }
                },
                structured_content: self.structured_content.clone().map(Value::Object),
                is_error: self.is_error.unwrap_or(false),
            },
        };
        let conditions = self.r#match.iter().flat_map(|it| &it.0);
        MockResponse {
            matches: conditions
                .map(|(name, condition)| (name.value.clone(), condition.0.clone()))
                .collect(),
            times: self.times.map(|it| it.0),
            delay: self.delay.map(|it| it.0),
            reply,
        }
    }
}
