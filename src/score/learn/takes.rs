//! The calls of one take that are learned from.

use crate::pairing::call::request_key;
use crate::scores::polls::Polled;
use model::trajectory::{Answer, Outcome, ToolCall, Trajectory};

/// One of the other takes: its calls in the terms of the first take, and as they were made.
pub(super) struct Take<'a> {
    pub(super) calls: Vec<(usize, &'a ToolCall)>,
    pub(super) said: Vec<(usize, &'a ToolCall)>,
}

/// The calls with their numbers, of each poll the last.
pub(super) fn final_calls<'a>(take: &'a Trajectory, polled: &Polled) -> Vec<(usize, &'a ToolCall)> {
    let mut calls: Vec<(usize, &ToolCall)> = Vec::new();
    for (index, call) in take.calls().enumerate() {
        let key = request_key(call);
        calls.pop_if(|(_, last)| polled.is_try(key) && request_key(last) == key);
        calls.push((index + 1, call));
    }
    calls
}

/// The answer, where it is no error.
pub(super) fn answer(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answer(answer) if !outcome.is_failure() => Some(answer),
        _ => None,
    }
}

/// An error that the tool itself answered.
pub(super) fn answered_error(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answer(answer) if answer.is_error => Some(answer),
        _ => None,
    }
}
