//! One side of the conversation: its steps, grouped by the call they lead to.

use crate::model::trajectory::{Step, ToolCall, Trajectory};
use crate::published::result::CallV1;

/// One trajectory.
pub(super) struct Track<'a> {
    pub(super) calls: Vec<(Vec<&'a Step>, &'a ToolCall)>,
    /// What came after the last call.
    pub(super) rest: Vec<&'a Step>,
    /// Where the whole trajectory is.
    pub(super) file: Option<&'a str>,
}

impl<'a> Track<'a> {
    pub(super) fn new(trajectory: Option<&'a Trajectory>, file: Option<&'a str>) -> Self {
        let mut track = Self {
            calls: Vec::new(),
            rest: Vec::new(),
            file,
        };
        for step in trajectory.iter().flat_map(|it| &it.steps) {
            match step {
                Step::ToolCall(call) if call.server.is_some() => {
                    track.calls.push((std::mem::take(&mut track.rest), call));
                }
                _ => track.rest.push(step),
            }
        }
        track
    }

    pub(super) fn call(&self, call: Option<&CallV1>) -> Option<&'a ToolCall> {
        let (_, call) = self.calls.get(call?.number.checked_sub(1)?)?;
        Some(call)
    }

    /// What was said before a call, by its index, and after the one before it; after all calls, what was said at the end.
    fn group(&self, index: usize) -> &[&'a Step] {
        let group = self.calls.get(index).map(|(steps, _)| steps);
        group.unwrap_or(&self.rest)
    }
}

/// One side as it is told from top to bottom: what was said stands before the call it led to, or before the other side's call where the same
/// message of the user led to that.
pub(super) struct Telling<'t, 'a> {
    track: &'t Track<'a>,
    /// How much is told of what was said before each call, and at the end.
    told: Vec<usize>,
    /// The first call that is not told of.
    next: usize,
    /// How many messages of the user are told.
    pub(super) users: usize,
}

impl<'t, 'a> Telling<'t, 'a> {
    pub(super) fn new(track: &'t Track<'a>) -> Self {
        Self {
            track,
            told: vec![0; track.calls.len() + 1],
            next: 0,
            users: 0,
        }
    }

    /// What is left to tell before this call.
    pub(super) fn before(&mut self, call: &CallV1) -> Vec<&'a Step> {
        let index = call.number.saturating_sub(1);
        if index >= self.track.calls.len() {
            return Vec::new();
        }
        self.next = self.next.max(index + 1);
        self.tell(index, self.track.group(index).len())
    }

    /// What is left to tell until as many messages of the user are told, as far as no call lies before them.
    pub(super) fn until_users(&mut self, users: usize) -> Vec<&'a Step> {
        let group = self.track.group(self.next);
        let from = self.told[self.next];
        let asked = group.iter().enumerate().skip(from);
        let asked = asked.filter(|(_, it)| matches!(it, Step::User { .. }));
        let last = asked.take(users.saturating_sub(self.users)).last();
        match last {
            Some((at, _)) => self.tell(self.next, at + 1),
            None => Vec::new(),
        }
    }

    /// What is left to tell after all calls.
    pub(super) fn rest(&mut self) -> Vec<&'a Step> {
        self.tell(self.track.calls.len(), self.track.rest.len())
    }

    fn tell(&mut self, index: usize, until: usize) -> Vec<&'a Step> {
        let from = std::mem::replace(&mut self.told[index], until);
        let steps = self.track.group(index).get(from..until).unwrap_or_default();
        let users = steps.iter().filter(|it| matches!(it, Step::User { .. }));
        self.users += users.count();
        steps.to_vec()
    }
}
