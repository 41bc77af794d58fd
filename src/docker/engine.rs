//! The engine: connected once, and asked with a limit on every request.

use std::io;
use std::time::Duration;

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker};

use crate::docker::address::{self, Address, Variable};
use crate::run::SetupError;

/// How long the engine may take to answer the first request, which is made as often: one that has just begun loses requests, and one that
/// is busy answers late. A minute in all.
const HELLO_TIMEOUTS: [Duration; 3] = [
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(40),
];

/// How long it may take for anything but a build.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Called, with what is waited for and for how long so far, when an answer takes long; says whether to go on.
pub type OnWait<'a> = &'a (dyn Fn(&str, Duration) -> bool + Send + Sync);

/// A Docker engine that has answered.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) api: Docker,
    pub(super) address: Address,
}

/// Why the engine has not done what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EngineError {
    /// What the request is about is not there.
    #[error("{0}")]
    NotFound(String),
    /// It is in a state that forbids it, or is being changed by another client.
    #[error("{0}")]
    Conflict(String),
    /// The engine tried and failed, or refused.
    #[error("{0}")]
    Failed(String),
    #[error("the engine has not answered within {0:?}")]
    Slow(Duration),
    #[error("the connection to the engine failed: {0}")]
    Lost(String),
}

impl Engine {
    /// Connects to the engine that the environment names, and agrees with it on a version of its API.
    ///
    /// # Errors
    ///
    /// When there is none, it may not be used, or it does not answer; the message says what to do.
    pub async fn connect(variable: &Variable, on_wait: OnWait<'_>) -> Result<Self, SetupError> {
        let address = address::find(variable)?;
        let seconds = REQUEST_TIMEOUT.as_secs();
        let api = match &address {
            Address::Socket(path) => {
                Docker::connect_with_unix(&path.to_string_lossy(), seconds, API_DEFAULT_VERSION)
            }
            Address::Tcp(authority) => Docker::connect_with_http(
                &format!("tcp://{authority}"),
                seconds,
                API_DEFAULT_VERSION,
            ),
        }
        .map_err(|error| unreachable(&address, &error))?;
        let mut waited = Duration::ZERO;
        for patience in HELLO_TIMEOUTS {
            let hello = api.clone().negotiate_version();
            if let Ok(answered) = tokio::time::timeout(patience, hello).await {
                let api = answered.map_err(|error| unreachable(&address, &error))?;
                return Ok(Self { api, address });
            }
            waited += patience;
            if !on_wait(&format!("the Docker engine at {address}"), waited) {
                break;
            }
        }
        Err(SetupError::new(format!(
            "the Docker engine at {address} accepts connections and has not answered within {waited:?}: restart it, or use `--no-docker`"
        )))
    }

    /// Waits for the answer to a request, within limits.
    pub(super) async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, EngineError> {
        tokio::time::timeout(REQUEST_TIMEOUT, request)
            .await
            .map_err(|_| EngineError::Slow(REQUEST_TIMEOUT))?
            .map_err(|error| EngineError::from(&error))
    }
}

impl From<&Error> for EngineError {
    fn from(error: &Error) -> Self {
        match error {
            Error::DockerResponseServerError {
                status_code,
                message,
            } => {
                let message = message.trim().to_owned();
                match status_code {
                    404 => Self::NotFound(message),
                    409 => Self::Conflict(message),
                    _ => Self::Failed(message),
                }
            }
            Error::DockerStreamError { error } => Self::Failed(error.trim().to_owned()),
            Error::RequestTimeoutError => Self::Slow(REQUEST_TIMEOUT),
            other => Self::Lost(innermost(other)),
        }
    }
}

/// Why an engine cannot be spoken with, and what to do about it.
fn unreachable(address: &Address, error: &Error) -> SetupError {
    let nowhere = matches!(error, Error::SocketNotFoundError(_));
    SetupError::new(match kind(error) {
        Some(io::ErrorKind::PermissionDenied) => format!(
            "no permission to use the Docker engine at {address}: add yourself to the group `docker` (`sudo usermod -aG docker $USER`, then log in again), or use `--no-docker`"
        ),
        Some(io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) | None
            if nowhere || kind(error).is_some() =>
        {
            format!(
                "no Docker engine runs at {address}: start it (`sudo systemctl start docker`, or Docker Desktop), point DOCKER_HOST to another, or use `--no-docker`"
            )
        }
        _ => format!(
            "the Docker engine at {address} cannot be used: {}; point DOCKER_HOST to another, or use `--no-docker`",
            innermost(error)
        ),
    })
}

/// The kind of the input or output error at the bottom, where there is one.
fn kind(error: &Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(it) = cause {
        if let Some(io) = it.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = it.source();
    }
    None
}

fn innermost(error: &Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
