//! A session is played again, to learn what varies and what is taken from earlier answers.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::progress::ScenarioProgress;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Ending, Trajectory};
use crate::score;
use crate::suite::containers::ContainerSlot;
use crate::suite::evaluating::Evaluating;
use crate::suite::execute::Reads;
use crate::suite::patience::Patience;
use crate::suite::record::{learned_notes, learned_places};
use crate::suite::suite_context::SuiteContext;

/// What it takes to play a session again.
pub(super) struct Player<'a> {
    pub(super) context: &'a SuiteContext,
    pub(super) slot: &'a ContainerSlot,
    pub(super) progress: &'a ScenarioProgress,
    /// How often the session is played in all, the user's own session included.
    pub(super) takes: u16,
    pub(super) abort: CancellationToken,
}

impl Player<'_> {
    /// Says so when everything is to stop.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.abort.is_cancelled() {
            return Ok(());
        }
        Err(interrupted())
    }

    /// Plays the session again as often as it is to be, and learns what varies and what is bound. Returns what a reader should know of
    /// it.
    ///
    /// # Errors
    ///
    /// When everything is to stop.
    pub(super) async fn learn(
        &self,
        scenario: &Scenario,
        trajectory: &mut Redacted<Trajectory>,
    ) -> Result<Vec<String>, Failure> {
        let rules = &scenario.scoring;
        let patience = Patience::until(&self.abort);
        let learn = |takes: &[Redacted<Trajectory>]| {
            let learned =
                patience.spend_on(|is_unwanted| score::learn_until(takes, rules, is_unwanted));
            learned.map_err(|_| interrupted())
        };
        let mut takes = vec![trajectory.clone()];
        let mut notes = Vec::new();
        if self.takes > 1 {
            let bindings = learn(&takes)?.bindings;
            trajectory.refine(|it| it.bindings = bindings);
        }
        for _ in 1..self.takes {
            let pause = tokio::time::sleep(self.context.takes_apart(scenario));
            let _ = self.abort.run_until_cancelled(pause).await;
            let played = Arc::new(trajectory.clone());
            let (slot, progress) = (self.slot, self.progress);
            let again = self.context.execute(
                scenario,
                Some(&played),
                (Reads::Once, Evaluating::Not),
                slot,
                progress,
            );
            let mut again = Box::pin(again).await.trajectory;
            tokio::task::block_in_place(|| again.refine(score::mark_breaches));
            if again.ending == Ending::Completed {
                takes.push(again);
            } else {
                takes.truncate(1);
                let why = again.ending.reason().unwrap_or("it was stopped");
                notes.push(format!(
                    "it could not be played again, so nothing was learned of what varies: {why}"
                ));
                if let Ending::Error { details, .. } = &again.ending {
                    notes.extend_from_slice(details);
                }
                break;
            }
        }
        let learned = learn(&takes)?;
        trajectory.refine(|it| learned.keep_in(it));
        let compare = |again: &Redacted<Trajectory>| {
            let compared = patience.spend_on(|is_unwanted| {
                score::compare_until(trajectory, again, rules, is_unwanted)
            });
            compared.map_err(|_| interrupted())
        };
        let compared = takes.get(1).map(compare).transpose()?;
        if compared.is_some_and(|it| !it.verdict.passed) {
            notes.push("played again, in one session, it was answered differently: a comparison will say how".to_owned());
        }
        let all_reset = self.context.is_all_reset(scenario);
        notes.extend(learned_notes(trajectory, &learned, all_reset));
        notes.extend(learned_places(trajectory));
        Ok(notes)
    }
}

fn interrupted() -> Failure {
    Failure {
        exit: Exit::Interrupted,
        ..Failure::incomplete("interrupted: nothing was kept")
    }
}
