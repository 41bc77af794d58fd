//! A session is played again, to learn what varies and what is taken from earlier answers.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::cli::commands::record::learned::told;
use crate::cli::containers::Place;
use crate::cli::execute::{Executor, Reads};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::progress::ScenarioProgress;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Ending, Trajectory};
use crate::score;

/// What it takes to play a session again.
pub(super) struct Player<'a> {
    pub(super) executor: &'a Executor,
    pub(super) place: &'a Place,
    pub(super) progress: &'a ScenarioProgress,
    /// How often the session is played, that which was heard included.
    pub(super) takes: u16,
    pub(super) abort: CancellationToken,
}

impl Player<'_> {
    /// Says so when everything is to stop.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.abort.is_cancelled() {
            return Ok(());
        }
        Err(Failure {
            exit: Exit::Interrupted,
            ..Failure::incomplete("interrupted: nothing was kept")
        })
    }

    /// Plays the session again as often as it is to be, and learns what varies and what is bound. Returns what a reader should know of
    /// it.
    pub(super) async fn learn(
        &self,
        scenario: &Scenario,
        trajectory: &mut Trajectory,
    ) -> Vec<String> {
        let rules = &scenario.scoring;
        let mut takes = vec![trajectory.clone()];
        let mut notes = Vec::new();
        if self.takes > 1 {
            trajectory.bindings = score::learn(&takes, rules).bindings;
        }
        for _ in 1..self.takes {
            let played = Arc::new(trajectory.clone());
            let (place, progress) = (self.place, self.progress);
            let again =
                self.executor
                    .execute(scenario, Some(&played), Reads::Once, place, progress);
            let mut again = Box::pin(again).await.trajectory;
            score::mark_breaches(&mut again);
            if again.ending == Ending::Completed {
                takes.push(again);
            } else {
                takes.truncate(1);
                notes.push("it could not be played again, so nothing was learned of what varies");
                break;
            }
        }
        let learned = score::learn(&takes, rules);
        trajectory.learned.clone_from(&learned.answers);
        trajectory.bindings.clone_from(&learned.bindings);
        if let Some(again) = takes.get(1)
            && !score::compare(trajectory, again, rules).verdict.passed
        {
            notes.push("played again, in one session, it was answered differently: a comparison will say how");
        }
        let notes = notes.into_iter().map(str::to_owned);
        notes.chain(told(trajectory, &learned)).collect()
    }
}
