//! What the servers under test did to the answers of those behind them, call by call and tool by tool.

use askama::Template;

use crate::{bytes, direct, duration};
use model::published::result::{Cost, Direct, DirectCall, DirectTool};

use super::conversation;

/// How many calls, and how many tools, are shown before the others are unfolded.
const ROWS: usize = 50;

/// The section's view.
#[derive(Debug)]
pub(super) struct DirectView<'a> {
    /// Those that are shown at once, and the others.
    pub(super) calls: [Vec<CallRow<'a>>; 2],
    pub(super) tools: [Vec<ToolRow<'a>>; 2],
    pub(super) through: CostView,
    pub(super) straight: CostView,
    /// How many times as much it costs through the servers under test.
    pub(super) ratios: String,
}

/// One call behind.
#[derive(Debug, Template)]
#[template(path = "scenario/direct_call.html")]
pub(super) struct CallRow<'a> {
    pub(super) call: &'a DirectCall,
    pub(super) link: Option<String>,
    pub(super) way: String,
    pub(super) through: CostView,
    pub(super) straight: CostView,
}

/// One tool behind.
#[derive(Debug, Template)]
#[template(path = "scenario/direct_tool.html")]
pub(super) struct ToolRow<'a> {
    pub(super) tool: &'a DirectTool,
    pub(super) name: String,
}

/// What calls cost, as text.
#[derive(Debug, Template)]
#[template(path = "scenario/cost.html")]
pub(super) struct CostView {
    pub(super) time: String,
    pub(super) size: String,
    pub(super) tokens: String,
}

impl<'a> DirectView<'a> {
    pub(super) fn new(found: &'a Direct) -> Self {
        let calls = found.calls.iter().map(|call| CallRow {
            call,
            link: conversation::link(None, Some(call.call)),
            way: direct::way(call),
            through: CostView::new(&call.through),
            straight: CostView::new(&call.straight),
        });
        let tools = found.tools.iter().map(|tool| ToolRow {
            tool,
            name: direct::name(tool),
        });
        Self {
            calls: folded(calls.collect()),
            tools: folded(tools.collect()),
            through: CostView::new(&found.totals.through),
            straight: CostView::new(&found.totals.straight),
            ratios: direct::ratios(&found.totals),
        }
    }
}

impl CostView {
    fn new(cost: &Cost) -> Self {
        let time = cost.ms.map(duration::words);
        Self {
            time: time.unwrap_or_else(|| "not measured".to_owned()),
            size: bytes::words(cost.bytes),
            tokens: format!("~{}", cost.tokens),
        }
    }
}

fn folded<T>(mut rows: Vec<T>) -> [Vec<T>; 2] {
    let others = rows.split_off(rows.len().min(ROWS));
    [rows, others]
}
