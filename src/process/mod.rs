//! Child processes: each in a process group of its own, with a small environment, its stderr kept, gone when we are gone; and programs of our
//! own that run within us, as if they were such.

mod logged;
mod output;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "linux")]
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{DuplexStream, duplex};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::either::Either::{self, Left, Right};

pub use logged::{Logged, printed};
pub use output::Logs;
use output::Output;
#[cfg(target_os = "linux")]
use supervised::Supervised;
#[cfg(target_os = "linux")]
pub use supervised::supervise;

/// The argument by which our own program is asked to [`supervise`] the rest of its arguments.
pub const SUPERVISE: &str = "supervise";

/// How long a process may take to leave after its stdin was closed, and again after SIGTERM.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
const TERM_TIMEOUT: Duration = Duration::from_millis(500);

/// How long it may take from the end of a process's stdout to its own end; generous, for busy machines.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How much may wait to be read of what is written to a stream within us, in bytes: as much as in a pipe of the system.
const PIPE: usize = 64 * 1024;

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

/// Whether a child was started whose processes may outlive us, though they should not.
static MAY_LEAVE_SOME: AtomicBool = AtomicBool::new(false);

/// The work of a program.
pub trait Work: fmt::Debug + Send + Sync {
    /// Does it, given its ends of stdin, stdout and stderr; returns the exit code.
    fn run(self: Arc<Self>, streams: [DuplexStream; 3]) -> BoxFuture<'static, u8>;
}

/// How to start a process.
#[derive(Debug, Clone, Default)]
pub struct ChildCommand {
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Set besides the few variables every child inherits.
    pub env: Vec<(String, String)>,
    /// The folder it runs in; the current one unless given.
    pub cwd: Option<PathBuf>,
    /// The `mcp-eval` program that supervises the process: with it, everything the process has started ends with us, also what has left
    /// its process group and also when we are killed. Without it, or on another system than Linux, its process group ends with us, unless
    /// we are killed.
    pub supervisor: Option<PathBuf>,
    /// What its processes write to stderr, where it is kept.
    pub logs: Logs,
    /// Does the work of the program within us, in place of a process: of what stands above, the program's name alone counts then.
    pub within: Option<Arc<dyn Work>>,
}

impl ChildCommand {
    /// A command line, the program first, that is set no variables and runs in the current folder.
    pub fn of(line: &[String], supervisor: Option<&Path>) -> Self {
        let (program, args) = line.split_first().unzip();
        Self {
            program: program.map_or_else(Default::default, Into::into),
            args: args.unwrap_or_default().iter().map(Into::into).collect(),
            supervisor: supervisor.map(Path::to_owned),
            ..Self::default()
        }
    }
}

/// The stdin of a child, as we write it.
pub type Stdin = Either<ChildStdin, DuplexStream>;
/// The stdout of a child, as we read it.
pub type Stdout = Either<ChildStdout, DuplexStream>;
type Stderr = Either<ChildStderr, DuplexStream>;

/// A running process. Dropping it kills its whole process group, and where it is supervised everything it has started.
#[derive(Debug)]
pub struct Child {
    process: Process,
    group: Option<Pid>,
    stderr: Arc<Mutex<Output>>,
    stderr_ended: JoinHandle<()>,
}

#[derive(Debug)]
enum Process {
    Own(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Supervised(Supervised),
    Within {
        ended: Shared<BoxFuture<'static, ExitStatus>>,
        handle: AbortHandle,
    },
}

impl Process {
    fn within(work: &Arc<dyn Work>) -> (Self, (Stdin, Stdout, Stderr)) {
        let [stdin, stdout, stderr] = [(); 3].map(|()| duplex(PIPE));
        let running = tokio::spawn(Arc::clone(work).run([stdin.1, stdout.1, stderr.1]));
        let handle = running.abort_handle();
        let ended = running.map(|ended| {
            let killed = Signal::KILL.as_raw();
            ExitStatus::from_raw(ended.map_or(killed, |code| i32::from(code) << 8))
        });
        let ended = ended.boxed().shared();
        let process = Self::Within { ended, handle };
        let streams = (Right(stdin.0), Right(stdout.0), Right(stderr.0));
        (process, streams)
    }
}

impl Child {
    /// Starts the process and returns it with its stdin and stdout. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why it cannot be started.
    pub fn start(command: &ChildCommand) -> std::io::Result<(Self, Stdin, Stdout)> {
        let (mut child, stdin, stdout, stderr) = Self::start_raw(command)?;
        child.stderr_ended = tokio::spawn(output::keep(stderr, Arc::clone(&child.stderr)));
        Ok((child, stdin, stdout))
    }

    /// The same with its stderr, of which nothing is kept.
    fn start_raw(command: &ChildCommand) -> std::io::Result<(Self, Stdin, Stdout, Stderr)> {
        if let Some(cwd) = command.cwd.as_ref().filter(|it| !it.is_dir()) {
            // Spawning would blame the command.
            let message = format!("its `cwd` {} is not a folder", cwd.display());
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, message));
        }
        let (process, id, (stdin, stdout, stderr)) = match (&command.within, &command.supervisor) {
            (Some(work), _) => {
                let (process, streams) = Process::within(work);
                (process, None, streams)
            }
            #[cfg(target_os = "linux")]
            (None, Some(supervisor)) => {
                let mut supervising = prepared(supervisor.as_os_str(), command);
                supervising.args([SUPERVISE.as_ref(), command.program.as_os_str()]);
                supervising.args(&command.args);
                let (supervised, stdin, stdout, stderr) = Supervised::start(supervising)?;
                MAY_LEAVE_SOME.fetch_or(!supervised.adopts, Ordering::Relaxed);
                let id = Some(supervised.child);
                let streams = (Left(stdin), Left(stdout), Left(stderr));
                (Process::Supervised(supervised), id, streams)
            }
            (None, supervisor) => {
                MAY_LEAVE_SOME.fetch_or(supervisor.is_some(), Ordering::Relaxed);
                let mut process = prepared(&command.program, command);
                process.args(&command.args).kill_on_drop(true);
                let (child, stdin, stdout, stderr) = start_own(process)?;
                let id = child.id();
                let streams = (Left(stdin), Left(stdout), Left(stderr));
                (Process::Own(child), id, streams)
            }
        };
        let group = id.and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
        let child = Self {
            process,
            group,
            stderr: command.logs.begin(),
            stderr_ended: tokio::spawn(std::future::ready(())),
        };
        Ok((child, stdin, stdout, stderr))
    }

    /// Waits for the process itself; others of its group may go on. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// When the system does not answer.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        match &mut self.process {
            Process::Own(process) => process.wait().await,
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => Ok(process.wait().await),
            Process::Within { ended, .. } => Ok(ended.clone().await),
        }
    }

    /// How the process ended, once its connection is gone: waits a moment for it.
    pub async fn describe_end(&mut self) -> String {
        let end = match tokio::time::timeout(END_TIMEOUT, self.wait()).await {
            Ok(Ok(status)) => describe(status),
            Ok(Err(error)) => format!("cannot be waited for: {error}"),
            Err(_) => "closed its stdout but is still running".to_owned(),
        };
        self.await_stderr().await;
        end
    }

    /// Waits a moment for what it wrote to stderr last, which may still be on the way.
    pub async fn await_stderr(&mut self) {
        if !self.stderr_ended.is_finished() {
            let _ = tokio::time::timeout(Duration::from_millis(200), &mut self.stderr_ended).await;
        }
    }

    /// The first and the last lines it wrote to stderr, with how many there were between them.
    pub fn stderr(&self) -> Vec<String> {
        output::excerpt(&self.stderr.lock().text())
    }

    /// Ends the process, whose stdin must have been closed: waits for it, then asks, then forces. Nothing it has started stays behind.
    pub async fn end(mut self) {
        if tokio::time::timeout(LEAVE_TIMEOUT, self.wait())
            .await
            .is_err()
        {
            self.terminate(TERM_TIMEOUT).await;
        } else {
            self.force().await;
        }
        self.await_stderr().await;
    }

    /// Asks the process to end, then forces it. Nothing it has started stays behind.
    async fn terminate(&mut self, patience: Duration) {
        self.signal(Signal::TERM);
        let _ = tokio::time::timeout(patience, self.wait()).await;
        self.force().await;
    }

    /// Ends everything it has started, and waits for that.
    async fn force(&mut self) {
        self.kill();
        #[cfg(target_os = "linux")]
        if let Process::Supervised(process) = &mut self.process {
            process.gone().await;
        }
    }

    /// Ends everything it has started at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
        #[cfg(target_os = "linux")]
        if let Process::Supervised(process) = &self.process {
            process.let_go();
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only when the group has no process left.
            let _ = kill_process_group(group, signal);
        }
        if let Process::Within { handle, .. } = &self.process {
            handle.abort();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether some processes may outlive us: children should be supervised, and the system cannot do it.
pub fn may_leave_some() -> bool {
    MAY_LEAVE_SOME.load(Ordering::Relaxed)
}

/// A command with the environment, the folder and the process group that the child gets.
fn prepared(program: &OsStr, child: &ChildCommand) -> Command {
    let mut command = Command::new(program);
    let inherited = INHERITED
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command
        .env_clear()
        .envs(inherited)
        .envs(child.env.iter().map(|(name, value)| (name, value)))
        .process_group(0);
    if let Some(cwd) = &child.cwd {
        command.current_dir(cwd);
    }
    command
}

type Started = (tokio::process::Child, ChildStdin, ChildStdout, ChildStderr);

fn start_own(mut command: Command) -> std::io::Result<Started> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let missing = || std::io::Error::other("a standard stream of the child is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    Ok((child, stdin, stdout, stderr))
}

/// How a process ended, in words that follow its name.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
