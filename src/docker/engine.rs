//! The engine: found by the environment, the current context or the usual sockets, connected once, and asked with a limit on every request.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker};
use serde_json::Value;
use sha2::{Digest, Sha256};

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
        let address = find(variable)?;
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

/// Where an engine listens on an unchanged Linux, and where containers expect to find it.
pub(super) const USUAL_SOCKET: &str = "/var/run/docker.sock";

/// Gives the value of an environment variable.
pub type Variable = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Where an engine listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Socket(PathBuf),
    /// `host:port`, without encryption.
    Tcp(String),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp(authority) => write!(f, "tcp://{authority}"),
        }
    }
}

impl Address {
    /// The host on which the engine publishes ports, if that is not this machine.
    pub(super) fn remote_host(&self) -> Option<&str> {
        let Self::Tcp(authority) = self else {
            return None;
        };
        let host = authority
            .rsplit_once(':')
            .map_or(authority.as_str(), |it| it.0);
        let is_local = matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
        (!is_local).then_some(host)
    }

    /// The engine's socket as the engine itself sees it. One that runs on this machine has it where we have it, wherever that is, also a
    /// rootless one. Docker Desktop and its like run in a machine of their own, whose socket is in the usual place, and so does an engine
    /// whose socket is forwarded to here.
    pub(super) fn socket_of_engine(&self, is_here: bool) -> PathBuf {
        match self {
            Self::Socket(path)
                if is_here || path.starts_with("/run") || path.starts_with("/var/run") =>
            {
                path.clone()
            }
            _ => USUAL_SOCKET.into(),
        }
    }
}

/// Finds the engine: `DOCKER_HOST`, else `DOCKER_CONTEXT` or the current context of the configuration in `DOCKER_CONFIG` or
/// `~/.docker`, else the first of the usual sockets that is there.
///
/// # Errors
///
/// When the address that was found cannot be connected to by any means we know.
pub(super) fn find(variable: &Variable) -> Result<Address, SetupError> {
    let given = |name: &str| variable(name).filter(|it| !it.is_empty());
    let home = given("HOME").map(PathBuf::from);
    if let Some(host) = given("DOCKER_HOST") {
        let tls = given("DOCKER_TLS_VERIFY").is_some() && !host.starts_with("unix:");
        return parse(&host, "DOCKER_HOST", tls);
    }
    let config = given("DOCKER_CONFIG")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|it| it.join(".docker")));
    let context = given("DOCKER_CONTEXT").or_else(|| {
        let config = read_json(&config.as_ref()?.join("config.json"))?;
        Some(config.get("currentContext")?.as_str()?.to_owned())
    });
    if let Some(name) = context.filter(|it| !it.is_empty() && it != "default") {
        return of_context(&name, config.as_deref());
    }
    let runtime = given("XDG_RUNTIME_DIR").map(PathBuf::from);
    let sockets = usual(home.as_deref(), runtime.as_deref());
    let there = sockets.iter().find(|it| is_socket(it));
    Ok(Address::Socket(
        there.cloned().unwrap_or_else(|| USUAL_SOCKET.into()),
    ))
}

/// Where engines listen by default: the system's, a rootless one, Docker Desktop, Colima, Rancher Desktop, Podman.
fn usual(home: Option<&Path>, runtime: Option<&Path>) -> Vec<PathBuf> {
    let mut sockets = vec![PathBuf::from(USUAL_SOCKET)];
    sockets.extend(runtime.map(|it| it.join("docker.sock")));
    let below_home = [
        ".docker/run/docker.sock",
        ".docker/desktop/docker.sock",
        ".colima/default/docker.sock",
        ".rd/docker.sock",
    ];
    sockets.extend(
        home.into_iter()
            .flat_map(|it| below_home.map(|path| it.join(path))),
    );
    sockets.extend(runtime.map(|it| it.join("podman/podman.sock")));
    sockets
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

/// The engine a context leads to. Contexts are kept in folders named by the hash of their name.
fn of_context(name: &str, config: Option<&Path>) -> Result<Address, SetupError> {
    let folder = hex::encode(Sha256::digest(name.as_bytes()));
    let meta = config.map(|it| it.join("contexts/meta").join(folder).join("meta.json"));
    let meta = meta.as_deref().and_then(read_json);
    let host = meta
        .as_ref()
        .and_then(|it| it.pointer("/Endpoints/docker/Host")?.as_str());
    let Some(host) = host else {
        return Err(SetupError::new(format!(
            "the Docker context `{name}` is not known: `docker context ls` shows those that are, and DOCKER_CONTEXT or `docker context use` choose one"
        )));
    };
    parse(host, &format!("the Docker context `{name}`"), false)
}

fn parse(host: &str, whence: &str, tls: bool) -> Result<Address, SetupError> {
    let refused = |why: &str| {
        Err(SetupError::new(format!(
            "{whence} leads to `{host}`, {why}"
        )))
    };
    if tls || host.starts_with("https://") {
        return refused(
            "and an engine behind TLS cannot be used: forward its socket with `ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock HOST` and set DOCKER_HOST=unix:///tmp/docker.sock",
        );
    }
    match host.split_once("://") {
        Some(("unix", path)) if path.starts_with('/') => Ok(Address::Socket(path.into())),
        Some(("tcp" | "http", authority)) if !authority.trim_matches('/').is_empty() => {
            let authority = authority.trim_end_matches('/');
            let has_port = authority
                .rsplit_once(':')
                .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            Ok(Address::Tcp(if has_port {
                authority.to_owned()
            } else {
                format!("{authority}:2375")
            }))
        }
        Some(("ssh", to)) => refused(&format!(
            "and SSH is not spoken here: forward the socket with `ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock {to}` and set DOCKER_HOST=unix:///tmp/docker.sock"
        )),
        _ => refused("which is not an address: write unix:///PATH or tcp://HOST:PORT"),
    }
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use crate::docker::engine::Address;

    #[test]
    fn the_socket_of_an_engine_here_is_mounted_wherever_it_lies() {
        let cases = [
            ("/home/me/rootless.sock", true, "/home/me/rootless.sock"),
            (
                "/run/user/1000/docker.sock",
                true,
                "/run/user/1000/docker.sock",
            ),
            ("/var/run/docker.sock", false, "/var/run/docker.sock"),
            (
                "/home/me/.docker/desktop/docker.sock",
                false,
                "/var/run/docker.sock",
            ),
            ("/tmp/forwarded.sock", false, "/var/run/docker.sock"),
        ];
        for (socket, is_here, expected) in cases {
            let address = Address::Socket(socket.into());
            assert_eq!(address.socket_of_engine(is_here).to_str(), Some(expected));
        }
        let far = Address::Tcp("far.example:2375".to_owned());
        assert_eq!(
            far.socket_of_engine(true).to_str(),
            Some("/var/run/docker.sock")
        );
    }
}
