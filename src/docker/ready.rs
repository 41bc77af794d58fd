//! Proof that a fresh container can be asked.

use std::time::Duration;

use bollard::models::HealthStatusEnum;

use crate::docker::container::Reached;
use crate::docker::engine::Engine;
use crate::docker::failure;
use crate::model::ready::Ready;
use crate::run::SetupError;
use crate::run::ready::{Asks, Waiting, pauses, prove};

/// How often to check whether the container still runs, and whether it is healthy.
const WATCH: Duration = Duration::from_millis(200);

/// Knows how the servers in a container are asked.
pub trait Probe: Send + Sync {
    /// Whether there are servers in the container that can be asked.
    fn is_asked(&self) -> bool;

    /// Asks as a client would, in sessions of its own.
    fn asks<'a>(&'a self, reached: Option<&'a Reached>) -> Box<dyn Asks + 'a>;
}

/// Waits until the container has proven that it is ready: healthy where its image declares a health check, and then, where they are
/// asked, by what its servers list and answer.
///
/// # Errors
///
/// When it has ended, is unhealthy, or `ready.timeout` has passed; with its state, its last lines and what was waited for.
pub(super) async fn wait(
    engine: &Engine,
    id: &str,
    (ready, has_health_check): (&Ready, bool),
    (probe, reached): (&dyn Probe, Option<&Reached>),
) -> Result<(), SetupError> {
    let asks = probe.asks(reached);
    let waiting = Waiting::new(ready, asks.as_ref());
    let proof = async {
        if has_health_check {
            healthy(engine, id, &waiting).await?;
        }
        if !probe.is_asked() {
            return still_runs(engine, id).await;
        }
        prove(ready, &waiting).await
    };
    tokio::select! {
        proof = proof => proof,
        () = end(engine, id) => {
            let mut ended = failure::ended(engine, id).await;
            ended.message = format!("{}, while waiting for {}", ended.message, waiting.what());
            Err(ended)
        }
        () = tokio::time::sleep_until(waiting.deadline()) => {
            if waiting.is_for_renamed() {
                return still_runs(engine, id).await;
            }
            let message = format!(
                "the container is not ready after {:?}: still waiting for {} (`ready.timeout` changes how long)",
                ready.timeout,
                waiting.what()
            );
            let mut not_ready = failure::not_ready(engine, id, message).await;
            not_ready.details = waiting.observed().into_iter().chain(not_ready.details).collect();
            Err(not_ready)
        }
    }
}

/// Whether a container runs of which nobody asks anything.
async fn still_runs(engine: &Engine, id: &str) -> Result<(), SetupError> {
    failure::ended_by_now(engine, id).await?.map_or(Ok(()), Err)
}

/// Waits for the container's end.
async fn end(engine: &Engine, id: &str) {
    loop {
        let state = failure::state(engine, id).await.ok().flatten();
        if state.is_none_or(|it| it.running != Some(true)) {
            return;
        }
        tokio::time::sleep(WATCH).await;
    }
}

async fn healthy(engine: &Engine, id: &str, waiting: &Waiting<'_>) -> Result<(), SetupError> {
    waiting.for_("its health check");
    let mut pauses = pauses(None);
    while let Ok(Some(state)) = failure::state(engine, id).await {
        match state.health.as_ref().and_then(|it| it.status) {
            Some(HealthStatusEnum::STARTING) => {}
            Some(HealthStatusEnum::UNHEALTHY) => {
                let words = failure::health_words(&state).unwrap_or_default();
                let message = format!("the container is {words}");
                return Err(failure::not_ready(engine, id, message).await);
            }
            _ => break,
        }
        if let Some(words) = failure::health_words(&state) {
            waiting.for_(&format!("its health check ({words})"));
        }
        tokio::time::sleep(pauses.next().unwrap_or(WATCH)).await;
    }
    Ok(())
}
