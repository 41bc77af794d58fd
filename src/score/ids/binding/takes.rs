//! The takes of one scenario, with the JSON in their answers read.

use std::borrow::Cow;
use std::collections::HashSet;

use super::place::read_answer;
use model::trajectory::{Outcome, ToolCall, Trajectory};

/// The takes of one scenario.
pub(super) struct Takes {
    pub(super) first: Vec<ToolCall>,
    pub(super) others: Vec<Vec<ToolCall>>,
    /// Values that are bound somewhere, and so count as the server's wherever they are used.
    pub(super) made_up: HashSet<String>,
}

impl Takes {
    /// Without other takes, the first is not read, because it is not needed.
    pub(super) fn new(first: &Trajectory, others: &[Cow<'_, Trajectory>]) -> Self {
        let first = (!others.is_empty()).then(|| read_calls(first));
        Self {
            first: first.unwrap_or_default(),
            others: others.iter().map(|it| read_calls(it)).collect(),
            made_up: HashSet::new(),
        }
    }
}

/// The scored calls with the JSON in their answers read.
pub(crate) fn read_calls(trajectory: &Trajectory) -> Vec<ToolCall> {
    let read = |call: &ToolCall| {
        let mut call = call.clone();
        if let Outcome::Answer(answer) = &mut call.outcome {
            *answer = read_answer(answer);
        }
        call
    };
    trajectory.calls().map(read).collect()
}
