//! The calls that the servers behind those of a run received while it lasted, each under the agent's call that caused it.

use std::time::{Duration, Instant};

use crate::model::{Step, ToolCall, UpstreamCall, UpstreamLane};
use crate::run::call_recorder::RecordedCall;
use crate::run::conversation::{is_not_sent, tool_call};
use crate::run::limits::{Clock, SetupError};
use crate::run::ports::Gateway;

/// How long after the agent is done a call may still begin that one of its calls caused.
const LATE: Duration = Duration::from_millis(500);

/// How long a call behind the servers may then take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Listens behind the servers of a run.
pub(super) struct Ear<'a> {
    behind: &'a dyn Gateway,
    /// How many calls were received before.
    before: usize,
}

impl<'a> Ear<'a> {
    /// `proven` where calls of ours have proven that the servers are ready: what they caused is no part of the run.
    pub(super) fn new(behind: &'a dyn Gateway, proven: bool) -> Self {
        let before = if proven {
            behind.recorder().lock().calls.len()
        } else {
            0
        };
        Self { behind, before }
    }

    /// Waits for calls that are still under way.
    pub(super) async fn wait_until_idle(&self) {
        tokio::time::sleep(LATE).await;
        self.behind.recorder().wait_until_idle(PATIENCE).await;
    }

    /// A server behind that cannot be used any more: what came of the run says nothing of those in front of it.
    pub(super) fn lost(&self) -> Option<SetupError> {
        let mut lost = self.behind.recorder().lock().lost.clone()?;
        lost.message = format!("behind the servers: {}", lost.message);
        Some(lost)
    }

    /// The calls in the time of the run whose steps these are. What was received while the agent's calls were `asked_again` is no part
    /// of it.
    pub(super) fn lane(
        &self,
        clock: &Clock,
        asked_again: &[(Instant, Instant)],
        steps: &[Step],
    ) -> UpstreamLane {
        let recorded = self.behind.recorder().lock();
        let made = Made::of(steps);
        let is_again = |it: &&RecordedCall| {
            let mut asked = asked_again.iter();
            asked.any(|(from, to)| (*from..=*to).contains(&it.begun))
        };
        let of_run = recorded.calls.iter().skip(self.before);
        let calls = of_run.filter(|it| !is_again(it)).map(|it| {
            let call = tool_call(it, clock);
            let is_early = clock.is_before(it.begun);
            UpstreamCall {
                cause: made.cause(&call).filter(|_| !is_early),
                call,
                headers: it.headers.clone(),
            }
        });
        UpstreamLane {
            catalogue: self.behind.catalogue().clone(),
            calls: calls.collect(),
            headers: recorded.passed_on.iter().cloned().collect(),
            ..UpstreamLane::default()
        }
    }
}

/// The agent's calls that were made, in the order they began, to find those that were under way at a moment.
struct Made<'a> {
    /// With their numbers.
    calls: Vec<(usize, &'a ToolCall)>,
    /// By when each of them and all before it had ended, in milliseconds.
    ended: Vec<f64>,
}

impl<'a> Made<'a> {
    fn of(steps: &'a [Step]) -> Self {
        let scored = steps.iter().filter_map(|it| match it {
            Step::ToolCall(call) if call.server.is_some() => Some(call.as_ref()),
            _ => None,
        });
        let mut calls: Vec<_> = (1..)
            .zip(scored)
            .filter(|(_, it)| !is_not_sent(&it.outcome))
            .collect();
        calls.sort_by(|(_, a), (_, b)| start(a).total_cmp(&start(b)));
        let ended = calls.iter().scan(0.0, |latest, (_, it)| {
            *latest = f64::max(*latest, end(it));
            Some(*latest)
        });
        Self {
            ended: ended.collect(),
            calls,
        }
    }

    /// The number of the call that caused one behind: of those under way then, the one that names most of it, else the one that began last;
    /// where none was under way, the last one before.
    fn cause(&self, behind: &ToolCall) -> Option<usize> {
        let at = behind.start_ms?;
        let begun = self.calls.partition_point(|(_, it)| start(it) <= at);
        let back = (0..begun).rev();
        let under_way: Vec<_> = back
            .take_while(|index| self.ended[*index] >= at)
            .map(|index| self.calls[index])
            .filter(|(_, it)| end(it) >= at)
            .collect();
        let caused = match under_way.as_slice() {
            [] => self.calls[..begun].last().copied(),
            [only] => Some(*only),
            // Of several that are as like, the last is found: here, the one that began last.
            several => several
                .iter()
                .rev()
                .max_by_key(|it| likeness(behind, it.1))
                .copied(),
        };
        caused.map(|(number, _)| number)
    }
}

fn start(call: &ToolCall) -> f64 {
    call.start_ms.unwrap_or_default()
}

/// When a call had ended; never, where it had not.
fn end(call: &ToolCall) -> f64 {
    call.duration_ms
        .map_or(f64::INFINITY, |it| start(call) + it)
}

/// How much of a call is named in the arguments of another, be it in texts of JSON: its tool, and each of its own arguments.
fn likeness(behind: &ToolCall, call: &ToolCall) -> usize {
    let plain = |it: String| it.replace('\\', "");
    let said = plain(serde_json::to_string(&call.arguments).unwrap_or_default());
    let arguments = behind.arguments.values();
    let held = arguments.filter(|it| said.contains(&plain(it.to_string())));
    let is_named = call.tool.ends_with(&behind.tool) || said.contains(&behind.tool);
    held.count() + usize::from(is_named)
}
