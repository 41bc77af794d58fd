//! The calls of a page as squares, one each: a map of them, and the way to each.

use model::text::{line, shorten};

use super::conversation::{Block, CallBlock};

/// The longest name of a tool beside its square.
const TOOL: usize = 80;

/// A call.
pub(super) struct Square {
    /// Names its block within the page.
    pub(super) anchor: String,
    pub(super) number: String,
    /// The class that gives it its colour: `fails`, `differs` or `equal`.
    pub(super) class: &'static str,
    /// What it is, for whoever cannot see colours: `call 2, forecast: fails`.
    pub(super) title: String,
}

/// The calls, in the order of the page.
pub(super) fn squares(blocks: &[Block<'_>]) -> Vec<Square> {
    let calls = blocks.iter().filter_map(|it| match it {
        Block::Call(call) => Some(square(call)),
        Block::Messages(_) | Block::Behind(..) => None,
    });
    calls.collect()
}

fn square(call: &CallBlock<'_>) -> Square {
    let has_failed = call.right.as_ref().is_some_and(|it| it.failed);
    let (class, state) = match call.class {
        "same" => ("equal", "unchanged"),
        "recorded" | "again" if has_failed => ("fails", "error"),
        state @ ("recorded" | "again") => ("equal", state),
        _ if call.fails => ("fails", "fails"),
        state => ("differs", state),
    };
    let tool = line(&call.tool);
    Square {
        anchor: call.anchor.clone(),
        number: call.number.clone(),
        class,
        title: format!("call {}, {}: {state}", call.number, shorten(&tool, TOOL)),
    }
}
