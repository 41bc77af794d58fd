//! The time for a comparison: until the program is asked to stop, or until the scenario's time is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::model::{Ending, Problem, Redacted, ScenarioResult, Status, Trajectory};
use crate::scenario_file::Scenario;
use crate::score::Cancelled;
use crate::suite::outcome::without_verdict;

/// The least time for comparing a run, even if the run itself used up all of the scenario's time.
const AT_LEAST: Duration = Duration::from_secs(1);

/// How long work on a finished run may take.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    interrupt: CancellationToken,
    /// What the run has left of the scenario's time for each piece of work on it, and how much that time is. No moment at which it ends,
    /// because other takes may be made before a piece of work begins, and each has the scenario's time for itself.
    left: Option<(Duration, Duration)>,
}

/// Why work ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Interrupted,
    /// The scenario's time, which is this long, is over.
    TimedOut(Duration),
}

impl Patience {
    /// Without a time limit, until the program is asked to stop.
    pub(crate) fn until(interrupt: &CancellationToken) -> Self {
        Self {
            interrupt: interrupt.clone(),
            left: None,
        }
    }

    /// The same, with each piece of work limited to what the run has left of its scenario's time.
    pub(crate) fn after(
        run: &Trajectory,
        scenario: &Scenario,
        interrupt: &CancellationToken,
    ) -> Self {
        let whole = scenario.timeouts.scenario;
        let taken = run.duration_ms.unwrap_or_default().max(0.0) / 1000.0;
        let taken = Duration::try_from_secs_f64(taken).unwrap_or(whole);
        let left = whole.saturating_sub(taken).max(AT_LEAST);
        Self {
            interrupt: interrupt.clone(),
            left: Some((left, whole)),
        }
    }

    /// Does work that regularly asks whether it is still wanted. Other tasks of the runtime, which wait for servers and signals, go on
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// Why it was not done to the end.
    pub(crate) fn spend_on<T>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, Cancelled>,
    ) -> Result<T, Stopped> {
        if self.interrupt.is_cancelled() {
            return Err(Stopped::Interrupted);
        }
        let begun = Instant::now();
        let is_over = |(left, _): (Duration, Duration)| begun.elapsed() >= left;
        let is_unwanted = || self.interrupt.is_cancelled() || self.left.is_some_and(is_over);
        let done = tokio::task::block_in_place(|| work(&is_unwanted));
        done.map_err(|Cancelled| match self.left {
            Some((_, whole)) if !self.interrupt.is_cancelled() => Stopped::TimedOut(whole),
            _ => Stopped::Interrupted,
        })
    }
}

impl Stopped {
    /// The result of a scenario whose run was not compared to the end.
    pub(crate) fn result(self, open: ScenarioResult, run: &Redacted<Trajectory>) -> ScenarioResult {
        let (status, message, ending) = match self {
            Self::Interrupted => (
                Status::Interrupted,
                "interrupted".to_owned(),
                Ending::Interrupted,
            ),
            Self::TimedOut(whole) => (
                Status::Timeout,
                format!("the scenario's timeout of {whole:?} passed: comparing what it came to"),
                run.ending.clone(),
            ),
        };
        let mut ended = run.clone();
        ended.refine(|it| it.ending = ending);
        open.with(|it| {
            it.status = status;
            it.problem = Some(Problem::new(message));
            it.duration_ms = run.duration_ms;
            it.current = Some(Arc::new(ended));
        })
    }

    /// The same where nothing else is known yet.
    pub(crate) fn of(self, scenario: &Scenario, run: &Redacted<Trajectory>) -> ScenarioResult {
        let open = without_verdict(scenario, Status::Error, String::new());
        self.result(open, run)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::{Patience, Stopped};
    use crate::score::Cancelled;

    /// Work that ends only when it is cancelled.
    fn endless(patience: &Patience) -> Result<(), Stopped> {
        patience.spend_on(|is_unwanted| {
            while !is_unwanted() {
                std::hint::spin_loop();
            }
            Err(Cancelled)
        })
    }

    #[test]
    fn work_ends_on_a_signal_and_with_its_time() {
        let interrupt = CancellationToken::new();
        let whole = Duration::from_secs(60);
        let short = Patience {
            interrupt: interrupt.clone(),
            left: Some((Duration::from_millis(20), whole)),
        };
        assert_eq!(endless(&short), Err(Stopped::TimedOut(whole)));
        std::thread::sleep(Duration::from_millis(30));
        let next = short.spend_on(|is_unwanted| {
            if is_unwanted() {
                Err(Cancelled)
            } else {
                Ok(())
            }
        });
        assert_eq!(next, Ok(()), "each piece of work has its own time");
        let patient = Patience::until(&interrupt);
        let signal = interrupt.clone();
        let sender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            signal.cancel();
        });
        assert_eq!(endless(&patient), Err(Stopped::Interrupted));
        assert!(sender.join().is_ok());
        let begun = patient.spend_on(|_| -> Result<(), _> { unreachable!("it is over before") });
        assert_eq!(begun, Err(Stopped::Interrupted));
    }
}
