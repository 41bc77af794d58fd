//! The events in an agent's output, whatever its format.

use std::time::Duration;

use crate::model::Object;
use crate::model::trajectory::Outcome;
use crate::model::usage::Usage;
use crate::run::{SetupError, Stop};

/// One event in an agent's output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AgentEvent {
    /// A message.
    Assistant(String),
    /// A call of a tool: `mcp__<server>__<tool>` for a server's, or the name of one of its own.
    Call {
        /// Unique within the run.
        id: String,
        name: String,
        arguments: Object,
    },
    /// What came of a call.
    Answered { id: String, outcome: Outcome },
    /// It has these tools of its own.
    OwnTools(Vec<String>),
    /// It begins to ask its model, for formats that print all requests at once.
    Begins,
    /// A request to its model failed and is made again.
    Retry {
        /// The HTTP status, where a response came.
        status: Option<u16>,
        problem: String,
        pause: Option<Duration>,
    },
    /// A request to its model was answered, or more is known of the answer to the one with this id.
    Request { id: String, answer: ModelAnswer },
    /// What all requests took together, including those that were not printed.
    Total {
        usage: Usage,
        /// In US dollars, as the agent calculates it.
        cost: Option<f64>,
    },
    /// What a reader should know of how it went.
    Note(String),
    /// Why it makes no sense to let it go on.
    Stop(Stop),
}

/// What is known of an answer of an agent's model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ModelAnswer {
    pub(super) model: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Usage,
}

/// Reads what an agent prints, line by line.
pub(super) trait Stream: Send {
    /// The events of a line, without its line break. A line that cannot be understood has none.
    fn read(&mut self, line: &str) -> Vec<AgentEvent>;

    /// The output has ended: the remaining events.
    fn end(&mut self) -> Vec<AgentEvent> {
        Vec::new()
    }

    /// How the work ended, according to the output. Called last.
    fn verdict(&mut self) -> Verdict {
        Verdict::Done
    }
}

/// How an agent ended, according to its output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It is done, or its format does not print how it ended.
    Done,
    /// It says what ended it.
    Stopped(Stop),
    /// It would have said so if it were done.
    CutOff(SetupError),
}
