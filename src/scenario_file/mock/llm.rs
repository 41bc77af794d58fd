//! The `llm_interactions` section: what a stand-in for a model's API expects and answers.

use std::time::Duration;

use serde_json::Value;

use super::reply::ArgumentCondition;
use super::responses::Condition;
use crate::model::Object;
use crate::model::usage::Usage;
use crate::scenario_file::decode::values::{Count, Positive, Wait, Word};
use crate::scenario_file::decode::{At, Decode, Named, choice, schema, section, shapes};
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::{Findings, Mark};

choice! {
    /// Why the model stops: it is done (which it also is when it wants its calls to be made), its answer has grown too long, it refuses, or
    /// a filter has stopped it.
    StopWord for LlmStop {
        "done" => LlmStop::Done,
        "max_tokens" => LlmStop::MaxTokens,
        "refusal" => LlmStop::Refusal,
        "content_filter" => LlmStop::ContentFilter,
    }
}

/// What goes wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario_file) enum LlmFault {
    Disconnect,
    Hang,
    InvalidJson,
}

choice! {
    /// What goes wrong with an answer: the connection ends in the middle, there never is one, or it breaks off and is no JSON.
    FaultWord for LlmFault {
        "disconnect" => LlmFault::Disconnect,
        "hang" => LlmFault::Hang,
        "invalid_json" => LlmFault::InvalidJson,
    }
}

section! {
    /// One request to the model and what is answered: `text` and `tool_calls`, or an `error`, or a `fault`.
    InteractionSection, checked by check {
        /// What the request must hold; else it is refused, with what it lacks.
        expect: Option<ExpectationSection>,
        /// What the model says.
        text: Option<At<String>>,
        /// The tools the model wants to be called.
        tool_calls: Option<At<Vec<ToolCallSection>>>,
        /// Why the model stops; `done` unless given.
        stop: Option<At<StopWord>>,
        /// How many tokens it took; none is reported unless given.
        usage: Option<At<UsageSection>>,
        /// An error instead of an answer.
        error: Option<At<LlmErrorSection>>,
        /// What goes wrong instead of an answer.
        fault: Option<At<FaultWord>>,
        /// How long the answer takes.
        delay: Option<Wait>,
        /// How many requests get this error or fault; 1 unless given.
        times: Option<At<Count>>,
    }
}

section! {
    /// What a request must hold.
    ExpectationSection {
        /// The model asked for.
        model: Option<Condition>,
        /// The system prompt.
        system: Option<Condition>,
        /// The latest message of the user.
        user: Option<Condition>,
        /// Tools that must be on offer, among others.
        tools: Option<Vec<Word>>,
        /// The texts of the tool results the request ends with, in order; all of them.
        tool_results: Option<Vec<Condition>>,
        /// Members of the body, by JSON pointer.
        body: Option<Named<Condition>>,
        /// Headers, by name.
        headers: Option<Named<Condition>>,
    }
}

section! {
    /// A call the model asks for.
    ToolCallSection {
        /// The tool, as it is offered to the model.
        name: Word,
        /// The arguments: a map; or a text, for arguments that are none.
        arguments: Option<ArgumentsSection>,
    }
}

section! {
    /// How many tokens an answer took, each counted once.
    UsageSection {
        /// Sent to the model, without those of the cache.
        input: Option<Tokens>,
        /// Said by the model.
        output: Option<Tokens>,
        /// Read from a cache.
        cache_read: Option<Tokens>,
        /// Written to a cache.
        cache_write: Option<Tokens>,
    }
}

section! {
    /// An error of the API.
    LlmErrorSection {
        /// The HTTP status, from 400 to 599.
        status: Status,
        /// The API's word for it, such as `rate_limit_error`; one that goes with the status unless given.
        code: Option<String>,
        /// What the API says of it.
        message: Option<String>,
        /// How long the client is asked to wait, in seconds.
        retry_after: Option<Positive>,
    }
}

shapes! {
    /// A map of arguments, or a text in its place.
    ArgumentsSection, "text or a map" {
        Text => Text(String),
        Map => Map(Object),
    }
}

/// Defines a whole number within bounds.
macro_rules! whole {
    ($(#[doc = $doc:literal])+ $name:ident($type:ty), $least:literal to $most:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub(in crate::scenario_file) struct $name($type);

        impl Decode for $name {
            fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
                let value = i64::decode(node, findings)?;
                let fits = ($least..=$most).contains(&value);
                if !fits {
                    let message =
                        format!("expected a number from {} to {}, found {value}", $least, $most);
                    findings.error(node.at, message, None::<&str>);
                }
                <$type>::try_from(value).ok().filter(|_| fits).map(Self)
            }
        }

        schema!($name, {"type": "integer", "minimum": $least, "maximum": $most});
    };
}

whole! {
    /// A number of tokens.
    Tokens(u64), 0 to 1_000_000_000_i64
}

whole! {
    /// The HTTP status of an error.
    Status(u16), 400 to 599_i64
}

/// An interaction is an answer, an error or a fault.
fn check(interaction: &InteractionSection, at: Mark, findings: &mut Findings) {
    let answer = [
        interaction.text.as_ref().map(At::mark),
        interaction.tool_calls.as_ref().map(At::mark),
        interaction.stop.as_ref().map(At::mark),
        interaction.usage.as_ref().map(At::mark),
    ];
    let answer = answer.into_iter().flatten().next();
    let error = interaction.error.as_ref().map(At::mark);
    let fault = interaction.fault.as_ref().map(At::mark);
    let hint = "give `text` and `tool_calls`, or an `error`, or a `fault`";
    match [answer, error, fault].iter().flatten().count() {
        0 => findings.error(at, "does not say what to answer", Some(hint)),
        1 => {}
        _ => findings.error(at, "is more than one kind of answer", Some(hint)),
    }
    if let (Some(times), Some(_)) = (&interaction.times, answer) {
        let message = "`times` means nothing for an answer of the model";
        let hint = "each request needs its own answer";
        findings.error(times.at, message, Some(hint));
    }
}

impl InteractionSection {
    pub(in crate::scenario_file) fn interaction(&self) -> LlmInteraction {
        LlmInteraction {
            expect: self
                .expect
                .as_ref()
                .map(ExpectationSection::expectation)
                .unwrap_or_default(),
            reply: self.reply(),
            delay: self.delay.map(|it| it.0),
            times: self.times.as_ref().map_or(1, |it| it.0),
        }
    }

    fn reply(&self) -> LlmReply {
        if let Some(error) = &self.error {
            return LlmReply::Error(LlmError {
                status: error.status.0,
                code: error.code.clone(),
                message: error.message.clone().unwrap_or_default(),
                retry_after: error.retry_after.map(|it| it.0),
            });
        }
        if let Some(fault) = &self.fault {
            return match fault.0 {
                LlmFault::Disconnect => LlmReply::Cut,
                LlmFault::Hang => LlmReply::Hang,
                LlmFault::InvalidJson => LlmReply::InvalidJson,
            };
        }
        let calls = self.tool_calls.iter().flat_map(|it| &it.value);
        let tokens = |pick: fn(&UsageSection) -> Option<Tokens>| {
            self.usage.as_ref().and_then(|it| pick(it)).map(|it| it.0)
        };
        LlmReply::Answer(LlmAnswer {
            text: self.text.as_ref().map(|it| it.value.clone()),
            tool_calls: calls.map(ToolCallSection::call).collect(),
            stop: self.stop.as_ref().map_or(LlmStop::Done, |it| it.0),
            usage: Usage {
                input: tokens(|it| it.input),
                output: tokens(|it| it.output),
                cache_read: tokens(|it| it.cache_read),
                cache_write: tokens(|it| it.cache_write),
            },
        })
    }
}

impl ExpectationSection {
    fn expectation(&self) -> LlmExpectation {
        let one = |it: &Option<Condition>| it.as_ref().map(|it| it.0.clone());
        let named = |it: &Option<Named<Condition>>| -> Vec<(String, ArgumentCondition)> {
            let named = it.iter().flat_map(|it| &it.0);
            named
                .map(|(name, it)| (name.value.clone(), it.0.clone()))
                .collect()
        };
        let results = self.tool_results.as_ref();
        LlmExpectation {
            model: one(&self.model),
            system: one(&self.system),
            user: one(&self.user),
            tools: self.tools.iter().flatten().map(|it| it.0.clone()).collect(),
            tool_results: results.map(|it| it.iter().map(|it| it.0.clone()).collect()),
            body: named(&self.body),
            headers: named(&self.headers),
        }
    }
}

impl ToolCallSection {
    fn call(&self) -> LlmToolCall {
        LlmToolCall {
            name: self.name.0.clone(),
            arguments: match &self.arguments {
                None => LlmArguments::Object(Object::new()),
                Some(ArgumentsSection::Map(map)) => LlmArguments::Object(map.clone()),
                Some(ArgumentsSection::Text(text)) => LlmArguments::Text(text.clone()),
            },
        }
    }
}

/// The member of an answer's body in which the stand-in says which interaction of its script comes next, counted from 1; absent behind the last.
pub const NEXT: &str = "x_next_interaction";

/// One request and what is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmInteraction {
    pub expect: LlmExpectation,
    pub reply: LlmReply,
    /// How long the answer takes.
    pub delay: Option<Duration>,
    /// How many requests it answers; only what is no answer of the model can answer several.
    pub times: u32,
}

/// What a request must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LlmExpectation {
    pub model: Option<ArgumentCondition>,
    pub system: Option<ArgumentCondition>,
    /// The latest message of the user.
    pub user: Option<ArgumentCondition>,
    /// Tools that must be on offer, among others.
    pub tools: Vec<String>,
    /// The texts of the tool results the request ends with, in order; all of them.
    pub tool_results: Option<Vec<ArgumentCondition>>,
    /// Conditions on members of the body, by JSON pointer.
    pub body: Vec<(String, ArgumentCondition)>,
    /// Conditions on headers, by name.
    pub headers: Vec<(String, ArgumentCondition)>,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub enum LlmReply {
    Answer(LlmAnswer),
    /// An error as the API words it.
    Error(LlmError),
    /// The connection ends in the middle of an answer.
    Cut,
    /// There is no answer, ever.
    Hang,
    /// The answer breaks off, and nothing says so.
    InvalidJson,
}

/// What the model says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LlmAnswer {
    pub text: Option<String>,
    pub tool_calls: Vec<LlmToolCall>,
    pub stop: LlmStop,
    pub usage: Usage,
}

/// A call the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmToolCall {
    pub name: String,
    /// An object; or a text, where the model is to say what is none.
    pub arguments: LlmArguments,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LlmArguments {
    Object(Object),
    /// To the letter, where the API has arguments as text; as JSON text where it does not.
    Text(String),
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LlmStop {
    /// It is done, or wants its calls to be made.
    #[default]
    Done,
    MaxTokens,
    Refusal,
    ContentFilter,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmError {
    pub status: u16,
    /// The API's word for it; one that goes with the status unless given.
    pub code: Option<String>,
    pub message: String,
    /// Seconds.
    pub retry_after: Option<f64>,
}

impl LlmInteraction {
    /// Whether the client has got what it asked for.
    pub fn is_answer(&self) -> bool {
        matches!(self.reply, LlmReply::Answer(_))
    }
}

impl LlmArguments {
    /// The arguments as a text.
    pub fn text(&self) -> String {
        match self {
            Self::Object(object) => Value::Object(object.clone()).to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The arguments as a value.
    pub fn value(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Text(text) => Value::String(text.clone()),
        }
    }
}
