//! The output of agents while they work: one file per format.
//!
//! The agents come in new versions every few days, so what is not known is passed over: events, members, whole lines. Only the end is
//! required: without it, an agent that was cut off would look like one that is done.

pub(super) mod claude;
pub(super) mod codex;
pub(super) mod events;
pub(super) mod gemini;

use self::events::{Lines, Stream};
use super::names::Names;
use crate::scenario_file::agent::CommandFormat;

/// A reader of a format, with the names the agent has for the tools.
pub(super) fn stream(format: CommandFormat, names: Names) -> Box<dyn Stream> {
    match format {
        CommandFormat::Generic => Box::new(events::Generic::default()),
        CommandFormat::Claude => Box::new(Lines::new(claude::Claude::new(names))),
        CommandFormat::Codex => Box::new(Lines::new(codex::Codex::new(names))),
        CommandFormat::Gemini => Box::new(Lines::new(gemini::Gemini::new(names))),
    }
}

#[cfg(test)]
mod tests;
