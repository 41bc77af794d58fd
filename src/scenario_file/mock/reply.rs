//! Prepared responses: when they answer, what happens before, what goes back and how.

use std::time::Duration;

use serde_json::Value;

/// What a call must have for a response to answer it.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentCondition {
    /// The value equals this one.
    Equals(Value),
    /// The value is a text containing this one.
    Contains(String),
    /// The value is a text matching this regular expression.
    Regex(String),
    /// The value is there, whatever it is.
    Any,
    /// There is no value.
    Absent,
}

/// Which answer is given once all responses that fit a call are used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnExhausted {
    /// A tool error that says so.
    #[default]
    Error,
    /// The last response that fits, once more.
    RepeatLast,
    /// The answer of a tool without responses.
    Default,
}

/// What goes back.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum MockReply {
    /// The answer of a tool without responses.
    #[default]
    Default,
    /// A tool result; it may refer to the call (`{{args.NAME}}`) and to the server's state.
    Result {
        content: Vec<AnswerBlock>,
        structured_content: Option<Value>,
        is_error: bool,
        /// `_meta` of the result.
        meta: Option<Value>,
    },
    /// A JSON-RPC error.
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    /// The `result` of the reply, whatever it is; it may refer to the call.
    RawResult(Value),
    /// The `result` of the reply, to the letter.
    Verbatim(Value),
    /// The `error` of the reply, to the letter.
    VerbatimError(Value),
    /// All that is sent, as it is: text to the letter, anything else as JSON.
    RawMessage(Value),
}

/// A content block.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerBlock {
    /// The block as served.
    pub served: Value,
    /// The value that a text block's text is made of, as compact JSON.
    pub json: Option<Value>,
}

/// Something the server does between a call and its answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Wait(Duration),
    /// `notifications/message`.
    Log {
        level: String,
        logger: Option<String>,
        data: Value,
    },
    /// `notifications/progress`, where the call asks for it.
    Progress {
        progress: Value,
        total: Option<Value>,
        message: Option<String>,
    },
    /// The client is asked all of these. In a session, they are requests to it, one after the other; otherwise, the next round of its own
    /// request brings the answers.
    Ask(Vec<Question>),
    /// A notification with any method.
    Notify {
        method: String,
        params: Value,
    },
    /// Notifies the subscribers of a resource that it changed.
    UpdateResource {
        uri: String,
    },
    /// Notifies all clients that a list changed: `tools`, `resources` or `prompts`.
    ListChanged {
        list: &'static str,
    },
    /// Puts tools into the list, and notifies all clients.
    ShowTools(Vec<String>),
    /// Takes tools out of the list, and notifies all clients.
    HideTools(Vec<String>),
}

/// Something that the client is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its answer is `{{asked.KEY.…}}` from here on.
    pub key: String,
    pub kind: Asked,
    pub params: Value,
}

/// Whom or what the client asks; also the capability that it declares, and the root of a reference to the latest answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Its model.
    Sampling,
    /// Its user.
    Elicitation,
    /// Its own files.
    Roots,
}

impl Asked {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }
}

/// What can go wrong with a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// HTTP: this status instead of a reply. Over stdio, which has none, a JSON-RPC error that names it.
    HttpStatus {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// The reply breaks off, so that it is no JSON.
    InvalidJson,
    /// Nothing where the reply belongs.
    EmptyBody,
    /// No reply, ever.
    Hang,
    /// The reply comes a few bytes at a time.
    SlowBytes { bytes: usize, every: Duration },
    /// The connection ends in the middle of the reply.
    Disconnect,
    /// The reply carries an id nobody asked with.
    WrongId,
    /// The reply comes twice.
    DuplicateReply,
    /// A reply with a text of this many bytes.
    Oversized(usize),
    /// The server's process ends with this code instead of replying.
    Exit(u8),
    /// The tool answers and is gone from then on.
    Vanish,
    /// `content` is a text.
    ContentNotAList,
    /// One of the content blocks is none.
    BadItem,
    /// An image whose data is no Base64.
    InvalidBase64,
    /// The result is of a type that there is not.
    WrongResultType,
    /// The result does not say for how long it holds.
    NoCacheHints,
}

impl AnswerBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            served: serde_json::json!({ "type": "text", "text": text.into() }),
            json: None,
        }
    }

    /// A block whose text is this value as compact JSON.
    pub fn json(value: Value) -> Self {
        Self {
            served: serde_json::json!({ "type": "text" }),
            json: Some(value),
        }
    }
}

impl MockReply {
    /// A result with these blocks.
    pub fn content(blocks: Vec<AnswerBlock>) -> Self {
        Self::Result {
            content: blocks,
            structured_content: None,
            is_error: false,
            meta: None,
        }
    }
}
