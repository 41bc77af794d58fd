//! A server that is a child process: in its own process group, its stderr kept, gone when we are gone.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::process::{ChildStdin, Command};

use crate::mcp::wire::Wire;

/// The longest line a server may write to stdout: one message.
pub(super) const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// How many of the last lines of stderr are kept, and how much of each.
const STDERR_LINES: usize = 20;
const STDERR_LENGTH: usize = 500;

/// How long a server may take to leave after its stdin was closed, and again after SIGTERM.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);
const TERM_TIMEOUT: Duration = Duration::from_millis(500);

/// Variables a server inherits; the rest of our environment may hold secrets that are none of its business. These are the ones the
/// official SDKs pass on, with what proxies, certificates and locales need.
const INHERITED: [&str; 27] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "TMPDIR",
    "TMP",
    "TEMP",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "DOCKER_HOST",
    "SYSTEMROOT",
];

/// How to start a server.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Set besides the few variables every server inherits.
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
}

/// A running server process. Dropping it kills its whole process group.
#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    stderr_ended: tokio::task::JoinHandle<()>,
}

impl Child {
    /// Starts the server and returns the two ends to speak MCP over: its stdout, with everything that is no message left out and
    /// every answer shown to `wire`, and its stdin.
    pub(super) fn start(
        command: &ChildCommand,
        wire: Arc<Wire>,
    ) -> std::io::Result<(Self, DuplexStream, ChildStdin)> {
        let mut process = Command::new(&command.program);
        process
            .args(&command.args)
            .env_clear()
            .envs(
                INHERITED
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .process_group(0);
        if let Some(cwd) = &command.cwd {
            if !cwd.is_dir() {
                // Spawning would blame the command.
                let message = format!("its `cwd` {} is no folder", cwd.display());
                return Err(std::io::Error::new(std::io::ErrorKind::NotFound, message));
            }
            process.current_dir(cwd);
        }
        let mut child = process.spawn()?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || std::io::Error::other("a standard stream of the child is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr_pipe = child.stderr.take().ok_or_else(missing)?;

        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(pass_messages(stdout, theirs, wire));
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let stderr_ended = tokio::spawn(keep_last_lines(stderr_pipe, Arc::clone(&stderr)));
        let child = Self {
            process: child,
            group,
            stderr,
            stderr_ended,
        };
        Ok((child, ours, stdin))
    }

    /// How the process ended, once its connection is gone: waits a moment for it.
    pub(super) async fn describe_end(&mut self) -> String {
        let end = match tokio::time::timeout(Duration::from_millis(500), self.process.wait()).await
        {
            Ok(Ok(status)) => describe(status),
            Ok(Err(error)) => format!("cannot be waited for: {error}"),
            Err(_) => "closed its stdout but is still running".to_owned(),
        };
        // What it wrote last may still be on the way.
        let _ = tokio::time::timeout(Duration::from_millis(200), &mut self.stderr_ended).await;
        end
    }

    /// The last lines it wrote to stderr.
    pub(super) fn stderr(&self) -> Vec<String> {
        lock(&self.stderr).iter().cloned().collect()
    }

    /// Ends the process, whose stdin must have been closed: waits for it, then asks, then forces. Nothing of its group stays behind.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(LEAVE_TIMEOUT, self.process.wait())
            .await
            .is_err()
        {
            self.signal(Signal::TERM);
            let _ = tokio::time::timeout(TERM_TIMEOUT, self.process.wait()).await;
        }
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only when nobody is left, which is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Reads lines from the server and passes on those that are messages.
async fn pass_messages(stdout: impl AsyncRead + Unpin, mut to: DuplexStream, wire: Arc<Wire>) {
    let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        match (&mut stdout).take(limit).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(length) if length >= LONGEST_LINE => {
                wire.noise(&format!("a line of more than {LONGEST_LINE} bytes"));
                return;
            }
            Ok(_) => {}
        }
        match std::str::from_utf8(&line) {
            Ok(text) if wire.observe(text) => {
                let ended = if line.ends_with(b"\n") { "" } else { "\n" };
                if to.write_all(&line).await.is_err()
                    || to.write_all(ended.as_bytes()).await.is_err()
                {
                    return;
                }
            }
            Ok(_) => {}
            Err(_) => wire.noise(&String::from_utf8_lossy(&line)),
        }
    }
}

async fn keep_last_lines(stderr: impl AsyncRead + Unpin, lines: Arc<Mutex<VecDeque<String>>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr)
            .take(64 * 1024)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            let mut lines = lock(&lines);
            if lines.len() == STDERR_LINES {
                lines.pop_front();
            }
            lines.push_back(text.chars().take(STDERR_LENGTH).collect());
        }
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn lock(lines: &Mutex<VecDeque<String>>) -> std::sync::MutexGuard<'_, VecDeque<String>> {
    lines
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
