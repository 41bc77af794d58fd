//! Child processes: each in a process group of its own, with a small environment, its stderr kept, gone when we are gone.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// How many of the first and of the last lines of stderr are kept, and how much of each.
const FIRST_LINES: usize = 10;
const LAST_LINES: usize = 10;
const LINE_LENGTH: usize = 500;

/// How long a process may take to leave after its stdin was closed, and again after SIGTERM.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
const TERM_TIMEOUT: Duration = Duration::from_millis(500);

/// How long it may take from the end of a process's stdout to its own end; generous, for busy machines.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Variables a child inherits; the rest of our environment may hold secrets that it must not get. These are the ones the
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

/// How to start a process.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Set besides the few variables every child inherits.
    pub env: Vec<(String, String)>,
    /// The folder it runs in; the current one unless given.
    pub cwd: Option<PathBuf>,
}

/// A running process. Dropping it kills its whole process group.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    stderr: Arc<Mutex<StderrExcerpt>>,
    stderr_ended: tokio::task::JoinHandle<()>,
}

impl Child {
    /// Starts the process and returns it with its stdin and stdout. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why it cannot be started.
    pub fn start(command: &ChildCommand) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
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
        let stderr = Arc::<Mutex<StderrExcerpt>>::default();
        let stderr_ended = tokio::spawn(keep_lines(stderr_pipe, Arc::clone(&stderr)));
        let child = Self {
            process: child,
            group,
            stderr,
            stderr_ended,
        };
        Ok((child, stdin, stdout))
    }

    /// Waits for the process itself; others of its group may go on. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// When the system does not answer.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// How the process ended, once its connection is gone: waits a moment for it.
    pub async fn describe_end(&mut self) -> String {
        let end = match tokio::time::timeout(END_TIMEOUT, self.process.wait()).await {
            Ok(Ok(status)) => describe(status),
            Ok(Err(error)) => format!("cannot be waited for: {error}"),
            Err(_) => "closed its stdout but is still running".to_owned(),
        };
        self.stderr_settled().await;
        end
    }

    /// Waits a moment for what it wrote to stderr last, which may still be on the way.
    pub async fn stderr_settled(&mut self) {
        if !self.stderr_ended.is_finished() {
            let _ = tokio::time::timeout(Duration::from_millis(200), &mut self.stderr_ended).await;
        }
    }

    /// The first and the last lines it wrote to stderr, with how many there were between them.
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lock().lines()
    }

    /// Ends the process, whose stdin must have been closed: waits for it, then asks, then forces. Nothing of its group stays behind.
    pub async fn end(mut self) {
        if tokio::time::timeout(LEAVE_TIMEOUT, self.process.wait())
            .await
            .is_err()
        {
            self.signal(Signal::TERM);
            let _ = tokio::time::timeout(TERM_TIMEOUT, self.process.wait()).await;
        }
        self.kill();
    }

    /// Ends all processes of its group at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only when the group has no process left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a process ended, in words that follow its name.
pub fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The first and the last lines of a process's stderr: the reason of a failure is usually among them.
#[derive(Debug, Default)]
struct StderrExcerpt {
    first: Vec<String>,
    left_out: usize,
    last: VecDeque<String>,
}

impl StderrExcerpt {
    fn add(&mut self, line: &str) {
        let mut kept: String = line.chars().take(LINE_LENGTH).collect();
        if kept.len() < line.len() {
            kept.push('…');
        }
        if self.first.len() < FIRST_LINES {
            self.first.push(kept);
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(kept);
    }

    fn lines(&self) -> Vec<String> {
        let between = match self.left_out {
            0 => None,
            1 => Some("… 1 line left out …".to_owned()),
            several => Some(format!("… {several} lines left out …")),
        };
        let first = self.first.iter().cloned();
        first
            .chain(between)
            .chain(self.last.iter().cloned())
            .collect()
    }
}

async fn keep_lines(stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<StderrExcerpt>>) {
    let mut stderr = BufReader::new(stderr);
    let mut piece = Vec::new();
    let mut is_new_line = true;
    loop {
        piece.clear();
        let mut bounded = (&mut stderr).take(64 * 1024);
        match bounded.read_until(b'\n', &mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&piece);
        let text = text.trim_end();
        if is_new_line && !text.is_empty() {
            kept.lock().add(text);
        }
        is_new_line = piece.ends_with(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::{StderrExcerpt, keep_lines};

    #[test]
    fn the_first_and_the_last_words_are_kept() {
        let read = |text: &str| {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let kept = Arc::<Mutex<StderrExcerpt>>::default();
            runtime
                .unwrap()
                .block_on(keep_lines(text.as_bytes(), Arc::clone(&kept)));
            kept.lock().lines()
        };
        let numbered = |numbers: std::ops::RangeInclusive<usize>| {
            numbers.map(|it| format!("line {it}")).collect::<Vec<_>>()
        };
        let lines = |most: usize| read(&numbered(1..=most).join("\n\n"));
        for few in [0, 1, 10, 11, 20] {
            assert_eq!(lines(few), numbered(1..=few));
        }
        let mark = |between: &str| vec![format!("… {between} left out …")];
        let expected = [numbered(1..=10), mark("1 line"), numbered(12..=21)].concat();
        assert_eq!(lines(21), expected);
        let expected = [numbered(1..=10), mark("980 lines"), numbered(991..=1000)].concat();
        assert_eq!(lines(1000), expected);

        let long = "é".repeat(200_000);
        let cut = format!("{}…", "é".repeat(500));
        assert_eq!(read(&format!("{long}\nend")), [cut, "end".to_owned()]);
    }
}
