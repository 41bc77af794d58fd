//! One side of the conversation: its steps, grouped by the call they lead to.

use model::published::result::Call;
use model::trajectory::{Step, ToolCall, Trajectory};

/// One trajectory.
pub(super) struct Track<'a> {
    pub(super) calls: Vec<(Vec<&'a Step>, &'a ToolCall)>,
    /// What came after the last call.
    pub(super) rest: Vec<&'a Step>,
}

impl<'a> Track<'a> {
    pub(super) fn new(trajectory: Option<&'a Trajectory>) -> Self {
        let mut track = Self {
            calls: Vec::new(),
            rest: Vec::new(),
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

    pub(super) fn call(&self, call: Option<&Call>) -> Option<&'a ToolCall> {
        let (_, call) = self.calls.get(call?.number.checked_sub(1)?)?;
        Some(call)
    }

    /// The steps between the call of this index and the one before it; after the last call, the steps at the end.
    fn group(&self, index: usize) -> &[&'a Step] {
        let group = self.calls.get(index).map(|(steps, _)| steps);
        group.unwrap_or(&self.rest)
    }
}

/// Reads a track from top to bottom: messages stand before the call they led to, or before the other side's call where the same message of
/// the user led to that.
pub(super) struct TrackReader<'t, 'a> {
    track: &'t Track<'a>,
    /// How many of the steps before each call, and at the end, have been taken.
    shown: Vec<usize>,
    /// The index of the first call that has not been reached.
    next: usize,
    /// How many messages of the user have been taken.
    pub(super) users: usize,
}

impl<'t, 'a> TrackReader<'t, 'a> {
    pub(super) fn new(track: &'t Track<'a>) -> Self {
        Self {
            track,
            shown: vec![0; track.calls.len() + 1],
            next: 0,
            users: 0,
        }
    }

    /// The remaining steps before this call.
    pub(super) fn before(&mut self, call: &Call) -> Vec<&'a Step> {
        let index = call.number.saturating_sub(1);
        if index >= self.track.calls.len() {
            return Vec::new();
        }
        self.next = self.next.max(index + 1);
        self.take(index, self.track.group(index).len())
    }

    /// The remaining steps up to this many messages of the user, as far as no call lies before them.
    pub(super) fn until_users(&mut self, users: usize) -> Vec<&'a Step> {
        let group = self.track.group(self.next);
        let from = self.shown[self.next];
        let asked = group.iter().enumerate().skip(from);
        let asked = asked.filter(|(_, it)| matches!(it, Step::User { .. }));
        let last = asked.take(users.saturating_sub(self.users)).last();
        match last {
            Some((at, _)) => self.take(self.next, at + 1),
            None => Vec::new(),
        }
    }

    /// The remaining steps after all calls.
    pub(super) fn rest(&mut self) -> Vec<&'a Step> {
        self.take(self.track.calls.len(), self.track.rest.len())
    }

    fn take(&mut self, index: usize, until: usize) -> Vec<&'a Step> {
        let from = std::mem::replace(&mut self.shown[index], until);
        let steps = self.track.group(index).get(from..until).unwrap_or_default();
        let users = steps.iter().filter(|it| matches!(it, Step::User { .. }));
        self.users += users.count();
        steps.to_vec()
    }
}
