//! The `llm_interactions` section: what a stand-in for a model's API expects and answers.

use std::time::Duration;

use serde_json::Value;

use super::reply::ArgumentCondition;
use super::responses::Condition;
use crate::model::Object;
use crate::model::usage::Usage;
use crate::scenario_file::decode::{
    At, Count, Decode, Named, Plain, Positive, Wait, Word, choice, held, schema, section, shapes,
};
use crate::scenario_file::yaml::{Findings, Mark, Node};

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
    InteractionSection => LlmInteraction, checked by check {
        /// What the request must hold; else it is refused, with what it lacks.
        expect: Option<ExpectationSection> as LlmExpectation = LlmExpectation::default(),
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
        delay: Option<Wait> as Option<Duration>,
        /// How many requests get this error or fault; 1 unless given.
        times: Option<At<Count>> as u32 = 1,
    } and {
        /// What goes back.
        reply: LlmReply,
    }
}

section! {
    /// What a request must hold.
    ExpectationSection => LlmExpectation(Default) {
        /// The model asked for.
        model: Option<Condition> as Option<ArgumentCondition>,
        /// The system prompt.
        system: Option<Condition> as Option<ArgumentCondition>,
        /// The latest message of the user.
        user: Option<Condition> as Option<ArgumentCondition>,
        /// Tools that must be on offer, among others.
        tools: Option<Vec<Word>> as Vec<String> = Vec::new(),
        /// The texts of the tool results the request ends with, in order; all of them.
        tool_results: Option<Vec<Condition>> as Option<Vec<ArgumentCondition>>,
        /// Members of the body, by JSON pointer.
        body: Option<Named<Condition>> as Vec<(String, ArgumentCondition)> = Vec::new(),
        /// Headers, by name.
        headers: Option<Named<Condition>> as Vec<(String, ArgumentCondition)> = Vec::new(),
    }
}

section! {
    /// A call the model asks for.
    ToolCallSection => LlmToolCall {
        /// The tool, as it is offered to the model.
        name: Word as String,
        /// The arguments: a map; or a text, for arguments that are none.
        arguments: Option<ArgumentsSection> as LlmArguments = LlmArguments::Object(Object::new()),
    }
}

section! {
    /// How many tokens an answer took, each counted once.
    UsageSection for Usage {
        /// Sent to the model, without those of the cache.
        input: Option<Tokens> as Option<u64>,
        /// Said by the model.
        output: Option<Tokens> as Option<u64>,
        /// Read from a cache.
        cache_read: Option<Tokens> as Option<u64>,
        /// Written to a cache.
        cache_write: Option<Tokens> as Option<u64>,
    }
}

section! {
    /// An error of the API.
    LlmErrorSection => LlmError {
        /// The HTTP status, from 400 to 599.
        status: Status as u16,
        /// The API's word for it, such as `rate_limit_error`; one that goes with the status unless given.
        code: Option<String> as Option<String>,
        /// What the API says of it.
        message: Option<String> as String = String::new(),
        /// How long the client is asked to wait, in seconds.
        retry_after: Option<Positive> as Option<f64>,
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

        held!($name as $type);

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

impl Plain<LlmReply> for InteractionSection {
    fn plain(&self, findings: &Findings) -> LlmReply {
        if let Some(error) = &self.error {
            return LlmReply::Error(error.plain(findings));
        }
        if let Some(fault) = &self.fault {
            return match fault.0 {
                LlmFault::Disconnect => LlmReply::Cut,
                LlmFault::Hang => LlmReply::Hang,
                LlmFault::InvalidJson => LlmReply::InvalidJson,
            };
        }
        LlmReply::Answer(LlmAnswer {
            text: self.text.plain(findings),
            tool_calls: self.tool_calls.plain(findings).unwrap_or_default(),
            stop: self.stop.plain(findings).unwrap_or_default(),
            usage: self.usage.plain(findings).unwrap_or_default(),
        })
    }
}

impl Plain<LlmArguments> for ArgumentsSection {
    fn plain(&self, _: &Findings) -> LlmArguments {
        match self {
            Self::Map(map) => LlmArguments::Object(map.clone()),
            Self::Text(text) => LlmArguments::Text(text.clone()),
        }
    }
}

/// The member of an answer's body in which the stand-in says which interaction of its script comes next, counted from 1; absent behind the last.
pub const NEXT: &str = "x_next_interaction";

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

/// The arguments of a call that the model asks for: an object; or a text, where the model is to say what is none.
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
