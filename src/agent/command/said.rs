//! What an agent tells of its work, whatever the format it prints.

use std::time::Duration;

use crate::model::Object;
use crate::model::trajectory::Outcome;
use crate::model::usage::Usage;
use crate::run::{SetupError, Stop};

/// What an agent tells of its work.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A message.
    Assistant(String),
    /// A call of a tool: `mcp__<server>__<tool>` for a server's, or the name of one of its own.
    Call {
        /// Tells it from other calls of the run.
        id: String,
        name: String,
        arguments: Object,
    },
    /// What came of a call.
    Answered { id: String, outcome: Outcome },
    /// It begins to ask its model, for formats that tell of all requests at once.
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
    /// What all requests took together, those included that nothing was told of.
    Total {
        usage: Usage,
        /// As the agent reckons; in US dollars, which is what the vendors are paid in.
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
    /// What a line tells. It may be anything: what cannot be understood tells nothing.
    fn read(&mut self, line: &str) -> Vec<Said>;

    /// The output has ended: what is left to tell.
    fn end(&mut self) -> Vec<Said> {
        Vec::new()
    }

    /// What the output said of how the work ended, asked last.
    fn verdict(&mut self) -> Verdict {
        Verdict::Done
    }
}

/// How an agent ended, by its own account.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It is done, or its output would not tell if it were not.
    Done,
    /// It says what ended it.
    Stopped(Stop),
    /// It would have said so if it were done.
    CutOff(SetupError),
}
