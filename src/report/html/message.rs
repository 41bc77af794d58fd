//! Messages between calls, on both sides.

use askama::Template;

use model::text::aligned::aligned;
use model::trajectory::Step;

use super::answer::pretty;
use super::excerpt::Excerpt;

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
        let (mut was, mut now) = (left[a..next_a].iter(), right[b..next_b].iter());
        loop {
            let (was, now) = (was.next(), now.next());
            if was.is_none() && now.is_none() {
                break;
            }
            rows.push(differing(was, now));
        }
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
