//! One side of the conversation: its steps, grouped by the call they lead to.

use crate::model::trajectory::{Step, ToolCall, Trajectory};
use crate::report::document::CallV1;

/// One trajectory.
pub(super) struct Track<'a> {
    /// What the user said before anything else.
    pub(super) opening: Vec<&'a Step>,
    pub(super) calls: Vec<(Vec<&'a Step>, &'a ToolCall)>,
    /// What came after the last call.
    pub(super) rest: Vec<&'a Step>,
    /// Where the whole trajectory is.
    pub(super) file: Option<&'a str>,
}

impl<'a> Track<'a> {
    pub(super) fn new(trajectory: Option<&'a Trajectory>, file: Option<&'a str>) -> Self {
        let mut track = Self {
            opening: Vec::new(),
            calls: Vec::new(),
            rest: Vec::new(),
            file,
        };
        for step in trajectory.iter().flat_map(|it| &it.steps) {
            match step {
                Step::ToolCall(call) if call.server.is_some() => {
                    track.calls.push((std::mem::take(&mut track.rest), call));
                }
                Step::User { .. } if track.calls.is_empty() && track.rest.is_empty() => {
                    track.opening.push(step);
                }
                _ => track.rest.push(step),
            }
        }
        track
    }

    fn at(&self, call: Option<&CallV1>) -> Option<&(Vec<&'a Step>, &'a ToolCall)> {
        self.calls.get(call?.number.checked_sub(1)?)
    }

    pub(super) fn call(&self, call: Option<&CallV1>) -> Option<&'a ToolCall> {
        self.at(call).map(|(_, call)| *call)
    }

    /// What was said before this call and after the one before it.
    pub(super) fn before(&self, call: Option<&CallV1>) -> &[&'a Step] {
        self.at(call).map_or(&[], |(steps, _)| steps)
    }
}
