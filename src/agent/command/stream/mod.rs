//! What agents print while they work: one file per format.

mod generic;

use crate::model::Object;
use crate::model::agent::CommandFormat;
use crate::model::trajectory::Outcome;
use crate::model::usage::Usage;
use crate::run::Stop;

/// What an agent tells of its work.
#[expect(dead_code, reason = "the generic format tells nothing but messages")]
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A message.
    Assistant(String),
    /// A call of a tool, its own or a server's, by the name it has for it: `mcp__<server>__<tool>` for a server's.
    Call {
        /// Tells it from other calls of the run.
        id: String,
        name: String,
        arguments: Object,
    },
    /// What came of a call.
    Answered { id: String, outcome: Outcome },
    /// A request to its model, which was answered.
    Request {
        model: Option<String>,
        stop_reason: Option<String>,
        usage: Usage,
        cost: Option<f64>,
    },
    /// What a reader should know of how it went.
    Note(String),
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
    ///
    /// # Errors
    ///
    /// Why no verdict may be drawn from it, or which limit ended it.
    fn verdict(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}

/// A reader of a format.
pub(super) fn stream(format: CommandFormat) -> Box<dyn Stream> {
    match format {
        CommandFormat::Generic => Box::new(generic::Generic::default()),
    }
}
