//! What the servers behind those of a run heard while it lasted, each call under the agent's call that caused it.

use std::time::{Duration, Instant};

use crate::model::trajectory::{Step, ToolCall};
use crate::model::upstream::{UpstreamCall, UpstreamLane};
use crate::run::call_recorder::RecordedCall;
use crate::run::clock::Clock;
use crate::run::conversation::{is_not_sent, tool_call};
use crate::run::ports::Gateway;
use crate::run::stop::SetupError;

/// How long after the agent is done a call may still begin that one of its calls caused.
const LATE: Duration = Duration::from_millis(500);

/// How long a call behind the servers may then take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Listens behind the servers of a run.
pub(super) struct Ear<'a> {
    behind: &'a dyn Gateway,
    /// How many calls were heard before.
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
    pub(super) async fn settled(&self) {
        tokio::time::sleep(LATE).await;
        self.behind.recorder().settled(PATIENCE).await;
    }

    /// A server behind that cannot be used any more: what came of the run says nothing of those in front of it.
    pub(super) fn lost(&self) -> Option<SetupError> {
        let mut lost = self.behind.recorder().lock().lost.clone()?;
        lost.message = format!("behind the servers: {}", lost.message);
        Some(lost)
    }

    /// What was heard, in the time of the run whose steps these are. What was heard while the agent's calls were `asked_again` is no part
    /// of it.
    pub(super) fn lane(
        &self,
        clock: &Clock,
        asked_again: &[(Instant, Instant)],
        steps: &[Step],
    ) -> UpstreamLane {
        let heard = self.behind.recorder().lock();
        let calls: Vec<&ToolCall> = scored(steps).collect();
        let is_again = |it: &&RecordedCall| {
            let mut asked = asked_again.iter();
            clock.stood_at(it.begun) || asked.any(|(from, to)| (*from..=*to).contains(&it.begun))
        };
        let of_run = heard.calls.iter().skip(self.before);
        let calls = of_run.filter(|it| !is_again(it)).map(|it| {
            let call = tool_call(it, clock);
            UpstreamCall {
                cause: cause(&call, &calls),
                call,
                headers: it.headers.clone(),
            }
        });
        UpstreamLane {
            catalogue: self.behind.catalogue().clone(),
            calls: calls.collect(),
            headers: heard.passed_on.iter().cloned().collect(),
            ..UpstreamLane::default()
        }
    }
}

fn scored(steps: &[Step]) -> impl Iterator<Item = &ToolCall> {
    steps.iter().filter_map(|it| match it {
        Step::ToolCall(call) if call.server.is_some() => Some(call.as_ref()),
        _ => None,
    })
}

/// The number of the agent's call that caused one behind: of those under way then, the one that names most of it, else the one that began
/// last; where none was under way, the last one before.
fn cause(heard: &ToolCall, calls: &[&ToolCall]) -> Option<usize> {
    let at = heard.start_ms?;
    let sent = (1..).zip(calls.iter().copied());
    let mut begun: Vec<(usize, &ToolCall)> = sent
        .filter(|(_, it)| !is_not_sent(&it.outcome) && start(it) <= at)
        .collect();
    begun.sort_by(|(_, a), (_, b)| start(a).total_cmp(&start(b)));
    let is_under_way = |(_, it): &&(usize, &ToolCall)| {
        let lasted = it.duration_ms;
        lasted.is_none_or(|lasted| at <= start(it) + lasted)
    };
    let under_way: Vec<_> = begun.iter().filter(is_under_way).collect();
    let caused = match under_way.as_slice() {
        [] => begun.last(),
        [only] => Some(*only),
        several => {
            let likeness = |it: &&&(usize, &ToolCall)| likeness(heard, it.1);
            several.iter().max_by_key(likeness).copied()
        }
    };
    caused.map(|(number, _)| *number)
}

fn start(call: &ToolCall) -> f64 {
    call.start_ms.unwrap_or_default()
}

/// How much of a call is named in the arguments of another, be it in texts of JSON: its tool, and each of its own arguments.
fn likeness(heard: &ToolCall, call: &ToolCall) -> usize {
    let plain = |it: String| it.replace('\\', "");
    let said = plain(serde_json::to_string(&call.arguments).unwrap_or_default());
    let arguments = heard.arguments.values();
    let held = arguments.filter(|it| said.contains(&plain(it.to_string())));
    let is_named = call.tool.ends_with(&heard.tool) || said.contains(&heard.tool);
    held.count() + usize::from(is_named)
}
