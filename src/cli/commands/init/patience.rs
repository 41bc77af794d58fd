//! How long a first verdict may take.

use std::time::Duration;

/// How long all calls may take together that nobody has asked for. Not all of the ten seconds in which there is a verdict: a server that is
/// busy has to end before it is begun anew, and the report has to be written.
const ALL_CALLS: Duration = Duration::from_millis(6_600);

/// How long one of them may take. Somebody who waits longer for an answer asks for it.
const ONE_CALL: Duration = Duration::from_millis(1_500);

/// Less than this is no time in which anything could be said of a call.
const LEAST: Duration = Duration::from_millis(100);

/// How often a call that is answered is made again after that: recorded twice, and compared.
const AGAIN: u32 = 3;

/// What we ourselves take for a call in all, to score and to show it.
const OURS: Duration = Duration::from_millis(10);

/// The time that is left for calls.
#[derive(Debug)]
pub(super) struct Patience {
    left: Duration,
}

impl Patience {
    /// The share of each of so many servers, which are asked one after the other.
    pub(super) fn of_one_in(servers: usize) -> Self {
        let servers = u32::try_from(servers.max(1)).unwrap_or(u32::MAX);
        Self {
            left: ALL_CALLS / servers,
        }
    }

    /// How long the next call may take so that there is time to make it as often as it will be; `None` where there is none.
    pub(super) fn limit(&self) -> Option<Duration> {
        let left = self.left.saturating_sub(OURS) / (1 + AGAIN);
        Some(left.min(ONE_CALL)).filter(|it| *it >= LEAST)
    }

    /// A call has taken this long, and if it was answered, it will again.
    pub(super) fn spend(&mut self, took: Duration, was_answered: bool) {
        let whole = if was_answered {
            took * (1 + AGAIN) + OURS
        } else {
            took
        };
        self.left = self.left.saturating_sub(whole);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ALL_CALLS, Patience};

    /// How many calls are made of a server with so many tools that take this long, and how long all of that takes.
    fn played(tools: usize, takes: u64) -> (usize, Duration) {
        let takes = Duration::from_millis(takes);
        let mut patience = Patience::of_one_in(1);
        let (mut made, mut all) = (0, Duration::ZERO);
        for _ in 0..tools {
            let Some(limit) = patience.limit() else {
                break;
            };
            let is_answered = takes <= limit;
            patience.spend(takes.min(limit), is_answered);
            all += if is_answered { takes * 4 } else { limit };
            made += usize::from(is_answered);
        }
        (made, all)
    }

    #[test]
    fn whatever_the_tools_take_all_of_it_ends_in_time() {
        for (tools, takes, made) in [
            (3, 900, 1),
            (3, 700, 2),
            (12, 400, 4),
            (200, 5, 200),
            (1, 1_400, 1),
            (5, 30_000, 0),
            (1, 0, 1),
        ] {
            let (calls, all) = played(tools, takes);
            assert_eq!(calls, made, "{tools} tools of {takes} ms");
            assert!(all <= ALL_CALLS, "{tools} tools of {takes} ms: {all:?}");
        }
        let mut shared = Patience::of_one_in(10);
        shared.spend(Duration::from_millis(120), true);
        assert_eq!(shared.limit(), None);
    }
}
