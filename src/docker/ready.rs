//! Proof that a fresh container can be asked.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bollard::models::HealthStatusEnum;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::docker::container::Reached;
use crate::docker::engine::Engine;
use crate::docker::failure;
use crate::docker::session::Tell;
use crate::model::container::Ready;
use crate::run::SetupError;

/// How long to wait before looking again: hardly at all at first, then longer and longer up to the last of these.
const PAUSES_MS: [u64; 8] = [2, 5, 10, 20, 40, 80, 120, 200];

/// How often to look whether the container still runs.
const WATCH: Duration = Duration::from_millis(200);

/// Asks the servers in a container for the names of their tools, as a client would.
pub trait Probe: Send + Sync {
    /// Opens an MCP session with each server, lists its tools and closes it again, all within `limit`.
    ///
    /// # Errors
    ///
    /// Why it did not work, in a sentence.
    fn tools<'a>(
        &'a self,
        reached: &'a Reached,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Vec<String>, String>>;
}

/// What is being waited for, told to whoever shows it and quoted when it does not come.
struct Waiting<'a> {
    tell: Tell<'a>,
    what: Mutex<String>,
}

impl Waiting<'_> {
    fn for_(&self, what: String) {
        (self.tell)(&format!("waiting for {what}"));
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn what(&self) -> String {
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        what.clone()
    }
}

/// Waits until the container has proven that it is ready: healthy where its image says how to tell, an MCP session that opens, the tools
/// that must be there, and a list of tools that has stayed the same for a while.
///
/// # Errors
///
/// When it has ended, is unhealthy, or `ready.timeout` has passed; with its state, its last lines and what was waited for.
pub(super) async fn wait(
    engine: &Engine,
    (id, reached): (&str, &Reached),
    (ready, has_health_check): (&Ready, bool),
    probe: &dyn Probe,
    tell: Tell<'_>,
) -> Result<(), SetupError> {
    let waiting = Waiting {
        tell,
        what: Mutex::default(),
    };
    let deadline = Instant::now() + ready.timeout;
    let proof = async {
        if has_health_check {
            healthy(engine, id, &waiting).await?;
        }
        let ask = |limit| probe.tools(reached, limit);
        tools(ready, deadline, ask, &waiting).await;
        Ok(())
    };
    tokio::select! {
        proof = proof => proof,
        () = end(engine, id) => {
            let mut ended = failure::ended(engine, id).await;
            ended.message = format!("{}, while waiting for {}", ended.message, waiting.what());
            Err(ended)
        }
        () = tokio::time::sleep_until(deadline) => {
            let message = format!(
                "the container is not ready after {:?}: still waiting for {} (`ready.timeout` changes how long)",
                ready.timeout,
                waiting.what()
            );
            Err(failure::not_ready(engine, id, message).await)
        }
    }
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
    waiting.for_("its health check".to_owned());
    let mut pauses = pauses();
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
            waiting.for_(format!("its health check ({words})"));
        }
        tokio::time::sleep(pauses.next().unwrap_or(WATCH)).await;
    }
    Ok(())
}

/// Asks again and again until what must be there is there, and has been for long enough.
async fn tools<'a>(
    ready: &Ready,
    deadline: Instant,
    ask: impl Fn(Duration) -> BoxFuture<'a, Result<Vec<String>, String>>,
    waiting: &Waiting<'_>,
) {
    waiting.for_("an answer to MCP `initialize`".to_owned());
    let wanted: BTreeSet<&str> = ready.tools.iter().map(String::as_str).collect();
    let mut pauses = pauses();
    let mut seen: Option<(BTreeSet<String>, Instant)> = None;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match ask(left).await {
            Err(why) => {
                waiting.for_(format!("an answer to MCP `initialize` ({why})"));
                seen = None;
            }
            Ok(names) => {
                let names: BTreeSet<String> = names.into_iter().collect();
                if let Some(missing) = missing(&names, &wanted, ready.min_tools) {
                    waiting.for_(missing);
                    seen = None;
                } else {
                    let since = match seen {
                        Some((before, since)) if before == names => since,
                        _ => Instant::now(),
                    };
                    if since.elapsed() >= ready.settle {
                        return;
                    }
                    waiting.for_(format!(
                        "{} tools to stay the same for {:?}",
                        names.len(),
                        ready.settle
                    ));
                    seen = Some((names, since));
                }
            }
        }
        tokio::time::sleep(pauses.next().unwrap_or(WATCH)).await;
    }
}

/// What is missing among the tools, in words: `tools 3/7`.
fn missing(names: &BTreeSet<String>, wanted: &BTreeSet<&str>, at_least: usize) -> Option<String> {
    let lacking: Vec<&str> = wanted
        .iter()
        .filter(|it| !names.contains(**it))
        .copied()
        .collect();
    if !lacking.is_empty() {
        let have = wanted.len() - lacking.len();
        return Some(format!(
            "tools {have}/{}, missing `{}`",
            wanted.len(),
            lacking.join("`, `")
        ));
    }
    (names.len() < at_least).then(|| format!("tools {}/{at_least}", names.len()))
}

fn pauses() -> impl Iterator<Item = Duration> {
    let last = PAUSES_MS[PAUSES_MS.len() - 1];
    PAUSES_MS
        .into_iter()
        .chain(std::iter::repeat(last))
        .map(Duration::from_millis)
}
