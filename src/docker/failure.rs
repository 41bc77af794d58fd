//! Messages about containers that cannot be used: their state, the last lines of their logs, and what to try.

use std::collections::VecDeque;
use std::fmt::Write as _;

use bollard::models::{ContainerState, HealthStatusEnum};
use bollard::query_parameters::{InspectContainerOptions, LogsOptions};
use futures_util::StreamExt;
use jiff::Timestamp;

use crate::docker::engine::{Engine, EngineError};
use crate::model::Trouble;
use crate::run::SetupError;
use crate::scenario_file::servers::Container;
use crate::text;

/// What is wrong when the engine does not make a container.
pub(super) fn not_created(container: &Container, error: &EngineError) -> SetupError {
    let text = error.to_string();
    let hint = match &text {
        it if it.contains("bind source path does not exist") => {
            ": paths under `mounts` are relative to the file that names them"
        }
        it if it.contains("Minimum memory limit") => ": give `memory` more",
        it if it.contains("CPUs available") => ": give `cpus` less",
        _ => "",
    };
    SetupError::new(format!(
        "the container of {} cannot be created: {text}{hint}",
        container.image.words()
    ))
}

/// What is wrong when a container does not start.
pub(super) fn not_started(container: &Container, error: &EngineError) -> SetupError {
    let text = error.to_string();
    let taken = ["port is already allocated", "address already in use"];
    if let Some(port) = container.host_port
        && taken.iter().any(|it| text.contains(it))
    {
        return SetupError::new(format!(
            "port {port} of this machine is taken: `docker ps --filter publish={port}` and `ss -ltnp` show by whom; without `host_port`, a free one is used"
        ));
    }
    let hint = match &text {
        it if it.contains("executable file not found")
            || it.contains("no such file or directory") =>
        {
            ": look at `command` and at the image's entry point"
        }
        it if it.contains("unable to find user")
            || it.contains("no matching entries in passwd") =>
        {
            ": the image knows no such `user`; give its number"
        }
        _ => "",
    };
    SetupError::new(format!(
        "the container of {} cannot be started: {text}{hint}",
        container.image.words()
    ))
}

/// What is wrong with a container that has ended by now; `None` while it runs.
pub(super) async fn ended_by_now(
    engine: &Engine,
    id: &str,
) -> Result<Option<SetupError>, SetupError> {
    match state(engine, id).await {
        Ok(Some(state)) if state.running == Some(true) => Ok(None),
        Ok(_) => Ok(Some(ended(engine, id).await)),
        Err(error) => Err(unknown(&error)),
    }
}

/// What is wrong when a container has ended that should serve.
pub(super) async fn ended(engine: &Engine, id: &str) -> SetupError {
    let how = match state(engine, id).await {
        Ok(Some(state)) => format!("has {}", how_it_ended(&state)),
        Ok(None) => "is gone: it was removed".to_owned(),
        Err(error) => return unknown(&error),
    };
    SetupError {
        message: format!("the container {how}"),
        details: last_words(engine, id).await,
        trouble: Some(Trouble::Transport),
    }
}

/// What is wrong when a container has not become ready, though it still runs.
pub(super) async fn not_ready(engine: &Engine, id: &str, message: String) -> SetupError {
    let state = match state(engine, id).await {
        Ok(Some(state)) if state.running == Some(true) => "is running".to_owned(),
        Ok(Some(state)) => format!("has {}", how_it_ended(&state)),
        Ok(None) => "is gone".to_owned(),
        Err(error) => format!("cannot be looked at: {error}"),
    };
    let mut details = vec![format!("the container {state}")];
    details.extend(last_words(engine, id).await);
    SetupError {
        message,
        details,
        trouble: Some(Trouble::Transport),
    }
}

/// The state of a container; `None` when there is no such container.
pub(super) async fn state(
    engine: &Engine,
    id: &str,
) -> Result<Option<ContainerState>, EngineError> {
    let inspected = engine
        .api
        .inspect_container(id, None::<InspectContainerOptions>);
    match engine.ask(inspected).await {
        Ok(inspected) => Ok(inspected.state),
        Err(EngineError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a container that has not become ready fails whoever needs one made from the same: it has ended, or its health check has not
/// passed.
pub(super) async fn fails_everybody(engine: &Engine, id: &str) -> bool {
    let state = state(engine, id).await.ok().flatten();
    state.is_some_and(|it| it.running != Some(true) || health_words(&it).is_some())
}

/// What is wrong when the engine does not answer what state a container is in.
pub(super) fn unknown(error: &EngineError) -> SetupError {
    SetupError::new(format!("the state of the container is unknown: {error}"))
}

fn how_it_ended(state: &ContainerState) -> String {
    let code = state.exit_code.unwrap_or_default();
    let mut how = format!("exited with code {code}");
    if state.oom_killed == Some(true) {
        how.push_str(", killed because it was out of memory (`memory` gives it more)");
    } else if let Some(signal) = signal(code) {
        let _ = write!(how, " ({signal})");
    }
    if let Some(error) = state.error.as_ref().filter(|it| !it.is_empty()) {
        let _ = write!(how, ": {error}");
    }
    how
}

/// The signals that exit codes commonly stand for.
fn signal(code: i64) -> Option<&'static str> {
    Some(match code {
        126 => "its program cannot be executed",
        127 => "its program was not found",
        134 => "SIGABRT",
        137 => "SIGKILL",
        139 => "SIGSEGV",
        143 => "SIGTERM",
        _ => return None,
    })
}

/// What the health check said last, of a container that is not healthy.
pub(super) fn health_words(state: &ContainerState) -> Option<String> {
    let health = state.health.as_ref()?;
    let status = match health.status? {
        HealthStatusEnum::UNHEALTHY => "unhealthy",
        HealthStatusEnum::STARTING => "starting",
        _ => return None,
    };
    let last = health.log.as_ref().and_then(|it| it.last());
    let output = last.and_then(|it| it.output.as_deref()).map(str::trim);
    Some(match output.filter(|it| !it.is_empty()) {
        Some(output) => format!("{status}, its health check says: {output}"),
        None => status.to_owned(),
    })
}

async fn last_words(engine: &Engine, id: &str) -> Vec<String> {
    text::last_words(&engine.log(id, None).await.unwrap_or_default())
}

/// The most that is kept of a log, in bytes; the oldest output is dropped.
const MOST: usize = 4 * 1024 * 1024;

impl Engine {
    /// What a container has written to its standard streams, since a moment or since its start.
    pub(super) async fn log(
        &self,
        id: &str,
        since: Option<Timestamp>,
    ) -> Result<String, EngineError> {
        let options = LogsOptions {
            stdout: true,
            stderr: true,
            // The engine counts in whole seconds.
            since: since.map_or(0, |it| i32::try_from(it.as_second()).unwrap_or(0)),
            tail: "all".to_owned(),
            ..LogsOptions::default()
        };
        let reading = async {
            let mut kept = VecDeque::new();
            let mut lost = 0;
            let mut log = std::pin::pin!(self.api.logs(id, Some(options)));
            while let Some(piece) = log.next().await {
                let piece = piece?.into_bytes();
                lost += piece.len();
                kept.push_back(piece);
                // Whole pieces are dropped, so that little is copied.
                while lost > MOST && kept.len() > 1 {
                    lost -= kept.pop_front().map_or(0, |it| it.len());
                }
            }
            Ok(kept)
        };
        let kept = self.ask(reading).await?;
        let bytes: Vec<u8> = kept.into_iter().flatten().collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
