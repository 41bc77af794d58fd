//! Declarations of mock servers and stand-ins for models: what they offer and answer.
//!
//! - `server`: a section of `mcp_interactions`, and what looks like a reference there and is none. `resources`: what it offers besides tools.
//! - `responses`: one prepared answer, and when it is given; `steps`: what happens before, and what goes wrong with it; `content`: what it
//!   holds.
//! - `declared`: what a mock server offers as it is served; `reply`: its answers; `reference`: `{{…}}` in them.
//! - `llm`: the section `llm_interactions`.

pub(super) mod content;
pub(super) mod declared;
pub(super) mod llm;
pub(super) mod reference;
pub(super) mod reply;
pub(super) mod resources;
pub(super) mod responses;
pub(super) mod server;
pub(super) mod steps;

pub use self::declared::{
    HttpResponses, MockBody, MockContents, MockMessage, MockPrompt, MockResource,
    MockResourceTemplate,
};
pub use self::llm::{
    LlmAnswer, LlmArguments, LlmError, LlmExpectation, LlmInteraction, LlmReply, LlmStop,
    LlmToolCall, NEXT,
};
pub use self::reference::{Filter, Reference, Segment};
pub use self::reply::{
    AnswerBlock, ArgumentCondition, Asked, Fault, MockReply, OnExhausted, Question, Step,
};
pub use self::responses::MockResponse;
pub use self::server::{CacheHints, DeclaredServer, MockTool};
