//! One side of the conversation: its steps, grouped by the call they lead to.
//!
//! The messages between calls are shown beside each other for both sides.

use askama::Template;

use crate::diff::side_by_side;
use model::published::result::Call;
use model::text::aligned::aligned;
use model::{Step, ToolCall, Trajectory};

use super::answer::pretty;
use super::excerpt::Excerpt;

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

/// Something said, or a call of a tool that is no MCP tool.
#[derive(Debug, Template)]
#[template(path = "scenario/message.html")]
pub(super) struct Message {
    pub(super) who: &'static str,
    pub(super) text: Excerpt,
}

/// Messages of both sides that stand beside each other.
#[derive(Debug)]
pub(super) enum MessageRow {
    /// Both sides said so, or there is only one.
    Same(Message),
    Beside {
        left: Option<Message>,
        right: Option<Message>,
    },
}

impl MessageRow {
    /// Whether it is a message of the person the agent works for.
    pub(super) fn is_of_user(&self) -> bool {
        matches!(self, Self::Same(it) if it.who == USER)
    }
}

const USER: &str = "User";

/// The messages of both sides before a call.
pub(super) fn beside(left: &[&Step], right: &[&Step]) -> Vec<MessageRow> {
    let left: Vec<_> = left.iter().map(|it| said(it)).collect();
    let right: Vec<_> = right.iter().map(|it| said(it)).collect();
    let ends = (left.len(), right.len());
    let (mut a, mut b) = (0, 0);
    let mut rows = Vec::new();
    for (next_a, next_b) in aligned(&left, &right).into_iter().chain([ends]) {
        let stretch = side_by_side(left[a..next_a].iter(), right[b..next_b].iter());
        rows.extend(stretch.map(|(was, now)| differing(was, now)));
        if (next_a, next_b) != ends {
            rows.push(MessageRow::Same(message(&right[next_b])));
        }
        (a, b) = (next_a + 1, next_b + 1);
    }
    rows
}

/// The messages of a run that was compared with nothing.
pub(super) fn alone(steps: &[&Step]) -> Vec<MessageRow> {
    let said = steps.iter().map(|it| said(it));
    said.map(|it| MessageRow::Same(message(&it))).collect()
}

fn differing(was: Option<&Said>, now: Option<&Said>) -> MessageRow {
    let texts = was
        .filter(|was| now.is_some_and(|now| now.0 == was.0))
        .zip(now);
    let Some((was, now)) = texts else {
        return MessageRow::Beside {
            left: was.map(message),
            right: now.map(message),
        };
    };
    let [left, right] = Excerpt::beside(&was.1, &now.1);
    MessageRow::Beside {
        left: Some(Message {
            who: was.0,
            text: left,
        }),
        right: Some(Message {
            who: now.0,
            text: right,
        }),
    }
}

/// Who said what.
type Said = (&'static str, String);

fn message((who, text): &Said) -> Message {
    Message {
        who,
        text: Excerpt::plain(text, None),
    }
}

fn said(step: &Step) -> Said {
    match step {
        Step::User { text } => (USER, text.clone()),
        Step::Assistant { text } => ("Agent", text.clone()),
        Step::ToolCall(call) => (
            "Other tool, not scored",
            format!(
                "{} {}",
                call.full_name(),
                pretty(&call.arguments.clone().into())
            ),
        ),
    }
}
