//! One server that is started for a run.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::port::Port;
use crate::model::trouble::Trouble;
use crate::process::{ChildCommand, Logged};
use crate::run::SetupError;

/// How long somebody who listens on this machine may take to take a connection.
const PATIENCE: Duration = Duration::from_millis(200);

/// How to start a server.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) server: String,
    pub(crate) command: ChildCommand,
    /// Where it is to be reached.
    pub(crate) url: String,
    /// The port that it was given, which no other server is given meanwhile.
    pub(crate) port: Port,
}

/// A server that was started.
#[derive(Debug)]
pub(super) struct StartedServer {
    pub(super) name: String,
    process: Logged,
    _port: Port,
}

impl StartedServer {
    /// Starts it. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why it cannot be started.
    pub(super) fn start(program: Program) -> Result<Self, SetupError> {
        let Program {
            server,
            command,
            url,
            port,
        } = program;
        if let Some(address) = address(&url).filter(|it| answers(it)) {
            return Err(SetupError::new(format!(
                "server `{server}` is not started, because something else listens at {address} already: end that, or write `${{port}}` in place of the port"
            )));
        }
        let process = Logged::start(&command).map_err(|error| {
            let command = command.program.to_string_lossy();
            SetupError::new(format!(
                "server `{server}` cannot be started: `{command}`: {error}"
            ))
        })?;
        Ok(Self {
            name: server,
            process,
            _port: port,
        })
    }

    /// Waits for its end, and says how it ended. May be dropped and called again.
    pub(super) async fn ended(&mut self) -> SetupError {
        let how = self.process.wait().await;
        self.obituary(how)
    }

    /// How it has ended, if it has, or does within this time.
    pub(super) async fn post_mortem(&mut self, patience: Duration) -> Option<SetupError> {
        let how = self.process.wait_for(patience).await?;
        Some(self.obituary(how))
    }

    fn obituary(&self, how: Result<(), String>) -> SetupError {
        let how = how.err().unwrap_or_else(|| "exited with code 0".to_owned());
        SetupError {
            message: format!("server `{}` {how}", self.name),
            details: self.process.last_words(),
            trouble: Some(Trouble::Transport),
        }
    }

    /// What a reader should know of it while it runs.
    pub(super) fn living(&self) -> Vec<String> {
        std::iter::once(format!("server `{}` is running", self.name))
            .chain(self.process.last_words())
            .collect()
    }

    pub(super) fn log(&self) -> String {
        self.process.output()
    }

    pub(super) async fn stop(&mut self) {
        self.process.stop().await;
    }
}

/// The host and the port of an address.
fn address(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, port) = authority.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    Some(authority.to_owned())
}

/// Whether somebody takes connections there.
fn answers(address: &str) -> bool {
    let Ok(mut addresses) = address.to_socket_addrs() else {
        return false;
    };
    addresses.any(|it| TcpStream::connect_timeout(&it, PATIENCE).is_ok())
}
