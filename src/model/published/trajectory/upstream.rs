//! Calls to the servers behind the one under test, in the form of published trajectories.

use super::learned::{check_call_durations, there_are};
use crate::{UpstreamLane, VaryingArgument};

/// Whether all of it can be, where the agent made this many scored calls. Says what cannot.
pub(super) fn check<S>(upstream: &UpstreamLane<S>, agents_calls: usize) -> Result<(), String> {
    for (number, it) in (1..).zip(&upstream.calls) {
        if it.call.server.is_none() {
            return Err(format!(
                "`upstream`, call {number}: it has no `server`, and a call arrives at one"
            ));
        }
        if let Some(cause) = it.cause.filter(|it| !(1..=agents_calls).contains(it)) {
            let hint = match cause {
                0 => ": write null for a call before the first",
                _ => "",
            };
            return Err(format!(
                "`upstream`, call {number}: its `cause` is call {cause} of the trajectory, and {}{hint}",
                there_are(agents_calls)
            ));
        }
    }
    check_call_durations(upstream.calls.iter().map(|it| &it.call), "`upstream` call")?;
    for VaryingArgument { call, path, .. } in &upstream.varies {
        if !(1..=upstream.calls.len()).contains(call) {
            return Err(format!(
                "`upstream`: its `varies` is about call {call}, and {}",
                there_are(upstream.calls.len())
            ));
        }
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!(
                "`upstream`: its `varies` has the path `{path}`, which does not begin with `/`: write it as `/KEY`"
            ));
        }
    }
    if let Some(call) =
        (upstream.other_answers.iter()).find(|it| !(1..=upstream.calls.len()).contains(it))
    {
        return Err(format!(
            "`upstream`: its `other_answers` is about call {call}, and {}",
            there_are(upstream.calls.len())
        ));
    }
    Ok(())
}
