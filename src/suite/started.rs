//! Servers over HTTP that are started for one run, and ended after it.

use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all, select_all};
use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::mcp::OnProgress;
use crate::model::{Ending, Redacted, Trajectory, Trouble};
use crate::process::{ChildCommand, Logged};
use crate::redact::Redactor;
use crate::run::SetupError;
use crate::suite::post_mortem::{end_as, lost_connection};
use crate::suite::stack::{Log, Running};

/// Where ports are looked for: below those that Linux (from 32768), macOS and Windows (from 49152) give to whoever asks for any. One of those
/// could go to somebody else between its choice and the moment at which the server listens there.
const RANGE: Range<u16> = 20_000..32_768;

/// A port of this machine that was free, and that no process of ours gives to another server meanwhile. The server will listen there over TCP,
/// and only later; what tells our other processes that the port is given is a socket that holds the UDP port of the same number.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    _held: UdpSocket,
}

impl Port {
    /// Takes a free port. It is looked for from anywhere in the range, so that processes side by side seldom meet.
    ///
    /// # Errors
    ///
    /// When none is free.
    pub(crate) fn free() -> Result<Self, SetupError> {
        let none = |why: String| SetupError::new(format!("there is no free port: {why}"));
        let mut anywhere = [0; 2];
        getrandom::fill(&mut anywhere).map_err(|error| none(error.to_string()))?;
        let count = RANGE.end - RANGE.start;
        let first = u16::from_le_bytes(anywhere) % count;
        let free = (first..count)
            .chain(0..first)
            .map(|it| RANGE.start + it)
            .find_map(|number| {
                let held = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
                TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
                Some(Self {
                    number,
                    _held: held,
                })
            });
        free.ok_or_else(|| {
            none(format!(
                "all from {} to {} are taken",
                RANGE.start,
                RANGE.end - 1
            ))
        })
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

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
struct StartedServer {
    name: String,
    process: Logged,
    _port: Port,
}

impl StartedServer {
    /// Starts it. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why it cannot be started.
    fn start(program: Program) -> Result<Self, SetupError> {
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
    async fn ended(&mut self) -> SetupError {
        let how = self.process.wait().await;
        self.obituary(how)
    }

    /// How it has ended, if it has, or does within this time.
    async fn post_mortem(&mut self, patience: Duration) -> Option<SetupError> {
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
    fn living(&self) -> Vec<String> {
        std::iter::once(format!("server `{}` is running", self.name))
            .chain(self.process.last_words())
            .collect()
    }

    async fn stop(&mut self) {
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

/// How long the end of a server may take to be noticed when nobody is found where it was.
const NOTICE: Duration = Duration::from_secs(1);

/// How long it may take where nothing speaks for it.
const GLANCE: Duration = Duration::from_millis(20);

/// The servers that are started for one run. Dropping them kills all they have started.
#[derive(Debug, Default)]
pub(crate) struct StartedServers {
    /// Held by whoever waits for them.
    servers: Mutex<Vec<StartedServer>>,
    /// That one of them has ended was reported before.
    is_reported: AtomicBool,
}

impl StartedServers {
    /// Starts them, in their order. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be started; none is left running.
    pub(crate) fn start(programs: Vec<Program>) -> Result<Self, SetupError> {
        let started = programs.into_iter().map(StartedServer::start);
        Ok(Self {
            servers: Mutex::new(started.collect::<Result<_, _>>()?),
            is_reported: AtomicBool::new(false),
        })
    }

    /// Waits for something that needs them all, such as that they are ready. The end of one of them is the end of that.
    ///
    /// # Errors
    ///
    /// How the first of them ended; else what failed, with what they have said so far.
    pub(crate) async fn during<T>(
        &self,
        work: impl Future<Output = Result<T, SetupError>>,
    ) -> Result<T, SetupError> {
        let mut servers = self.servers.lock().await;
        if servers.is_empty() {
            return work.await;
        }
        let done = tokio::select! {
            biased;
            ended = first_end(&mut servers) => return Err(self.too_early(ended)),
            done = work => done,
        };
        let mut failed = match done {
            Ok(done) => return Ok(done),
            Err(failed) => failed,
        };
        // What asks them may notice first that one has ended.
        if let Ok(mut ended) = tokio::time::timeout(NOTICE, first_end(&mut servers)).await {
            ended.details.insert(0, failed.message);
            return Err(self.too_early(ended));
        }
        failed
            .details
            .extend(servers.iter().flat_map(StartedServer::living));
        Err(failed)
    }

    fn too_early(&self, mut ended: SetupError) -> SetupError {
        self.is_reported.store(true, Ordering::Relaxed);
        ended.message.push_str(" before it was ready");
        ended
    }

    /// Gives a run during which one of them has ended the ending [`Ending::Error`], because what came of its calls is no basis for a verdict.
    /// Returns whether one has.
    pub(crate) async fn examine(
        &self,
        trajectory: &mut Redacted<Trajectory>,
        redactor: &Redactor,
    ) -> bool {
        if trajectory.ending == Ending::Interrupted || self.is_reported.load(Ordering::Relaxed) {
            return false;
        }
        let lost = lost_connection(trajectory);
        let patience = if lost { NOTICE } else { GLANCE };
        let mut servers = self.servers.lock().await;
        let looked = servers.iter_mut().map(|it| it.post_mortem(patience));
        let Some(mut ended) = join_all(looked).await.into_iter().flatten().next() else {
            return false;
        };
        ended.message.push_str(" during the run");
        let died = redactor.ending(ended.into());
        trajectory.refine(|it| end_as(it, &died));
        true
    }
}

impl Running for StartedServers {
    fn name(&self) -> &'static str {
        "the servers that were started"
    }

    fn logs(&self, _: Timestamp) -> BoxFuture<'_, Vec<Log>> {
        async {
            let servers = self.servers.lock().await;
            let log = |it: &StartedServer| (format!("server {}", it.name), it.process.output());
            servers.iter().map(log).collect()
        }
        .boxed()
    }

    /// Asks them to end, then forces them.
    fn tear_down<'a>(&'a self, _: OnProgress<'a>) -> BoxFuture<'a, Vec<String>> {
        async {
            let mut servers = self.servers.lock().await;
            join_all(servers.iter_mut().map(StartedServer::stop)).await;
            Vec::new()
        }
        .boxed()
    }
}

/// How the first of some servers ended, of which there is one at least.
async fn first_end(servers: &mut [StartedServer]) -> SetupError {
    let ends = servers.iter_mut().map(|it| it.ended().boxed());
    select_all(ends).await.0
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn no_port_is_given_twice_at_once() {
        let ports: Vec<Port> = (0..400).map(|_| Port::free().unwrap()).collect();
        let mut numbers: Vec<u16> = ports.iter().map(Port::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ports.len());
        // Linux gives those from 32768 to whoever asks for any.
        assert!(numbers.iter().all(|it| (1024..32_768).contains(it)));
    }
}
