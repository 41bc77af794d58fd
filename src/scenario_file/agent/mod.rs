//! The agent of a scenario, and what it asks: each section with the type that it becomes.
//!
//! - `section`: the section `agent`, with its kinds.
//! - `model`: a model. `section`, too: a program, and a replay of the baseline.
//! - `script`: calls that are played or expected, with their arguments. `criteria`: the sections `success_criteria` and `limits`.
//! - `inputs`: what the client answers when servers ask it something.

pub(super) mod criteria;
pub(super) mod inputs;
pub(super) mod model;
pub(super) mod script;
pub(super) mod section;

pub use self::criteria::{Criterion, Limits, is_prose};
pub use self::inputs::{Input, InputMethod};
pub use self::model::{
    ApiKey, CommandFormat, MAX_STEPS, MCP_CONFIG, MODEL, ModelAgent, ModelApi, PROMPT, TIMEOUT,
    Temperature, ToolChoice,
};
pub use self::script::{ExpectedCall, FilledText, ScriptedCall};
pub use self::section::{Agent, CommandAgent, Pace, Replaying, needs, reads_prompt, takes};
