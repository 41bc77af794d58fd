//! The small process between us and a child, which ends everything when we are gone, and our side of such a child.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

/// How long the supervisor may take to start the child; generous, for busy machines.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// How long it may take until everything is killed: a little longer than the supervisor tries.
const END_TIMEOUT: Duration = Duration::from_secs(6);

/// What a supervisor says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Started {
    /// `adopts` tells whether it also finds what leaves the child's family.
    Runs { child: u32, adopts: bool },
    /// The system's number of the error.
    Failed { code: i32 },
}

impl Started {
    const LENGTH: usize = 12;

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (child, code, adopts) = match self {
            Self::Runs { child, adopts } => (child, 0, adopts),
            Self::Failed { code } => (0, code.cast_unsigned(), false),
        };
        [child, code, adopts.into()].map(u32::to_ne_bytes).concat()
    }

    fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        let (numbers, _) = bytes.as_chunks();
        match [0, 1, 2].map(|it| u32::from_ne_bytes(numbers[it])) {
            [0, code, _] => Self::Failed {
                code: code.cast_signed(),
            },
            [child, _, adopts] => Self::Runs {
                child,
                adopts: adopts == 1,
            },
        }
    }
}

/// A child behind its supervisor. Dropping it ends everything the child has started.
#[derive(Debug)]
pub(super) struct Supervised {
    supervisor: tokio::process::Child,
    /// The supervisor waits for the end of this.
    control: UnixStream,
    ended: watch::Receiver<Option<ExitStatus>>,
    pub(super) child: u32,
    pub(super) adopts: bool,
}

impl Supervised {
    /// Starts the supervisor, and it the child. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be started.
    pub(super) fn start(
        mut supervisor: Command,
    ) -> io::Result<(Self, ChildStdin, ChildStdout, ChildStderr)> {
        let (mut control, theirs) = UnixStream::pair()?;
        let supervisor = supervisor
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let (stdin, to_child) = io::pipe()?;
        let (from_child, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        send(&control, &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
        drop((stdin, stdout, stderr));
        control.set_read_timeout(Some(START_TIMEOUT))?;
        let mut said = [0; Started::LENGTH];
        control.read_exact(&mut said)?;
        let (child, adopts) = match Started::from_bytes(said) {
            Started::Runs { child, adopts } => (child, adopts),
            Started::Failed { code } => return Err(io::Error::from_raw_os_error(code)),
        };
        let reports = control.try_clone()?;
        reports.set_nonblocking(true)?;
        let reports = tokio::net::UnixStream::from_std(reports)?;
        let (ends, ended) = watch::channel(None);
        tokio::spawn(async move { ends.send(Some(end(reports).await)) });
        let supervised = Self {
            supervisor,
            control,
            ended,
            child,
            adopts,
        };
        Ok((
            supervised,
            ChildStdin::from_std(OwnedFd::from(to_child).into())?,
            ChildStdout::from_std(OwnedFd::from(from_child).into())?,
            ChildStderr::from_std(OwnedFd::from(errors).into())?,
        ))
    }

    /// Waits for the child itself. May be dropped and called again.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        let ended = self.ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|it| *it).unwrap_or_else(killed)
    }

    /// Lets the supervisor end everything, without waiting for it.
    pub(super) fn let_go(&self) {
        // Fails when the supervisor is gone.
        let _ = self.control.shutdown(std::net::Shutdown::Write);
    }

    /// Waits until everything has ended.
    pub(super) async fn gone(&mut self) {
        let _ = tokio::time::timeout(END_TIMEOUT, self.supervisor.wait()).await;
    }
}

/// How the child ended. A supervisor that cannot say so has ended it by force.
async fn end(mut reports: tokio::net::UnixStream) -> ExitStatus {
    let mut status = [0; 4];
    match reports.read_exact(&mut status).await {
        Ok(_) => ExitStatus::from_raw(i32::from_ne_bytes(status)),
        Err(_) => killed(),
    }
}

fn killed() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

/// Hands a copy of these over the socket.
fn send(control: &UnixStream, streams: &[std::os::fd::BorrowedFd<'_>; 3]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(streams)) {
        return Err(io::Error::other("three streams do not fit into a message"));
    }
    let byte = &[IoSlice::new(&[0])];
    sendmsg(control, byte, &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// How long processes are killed again that do not end: some cannot, because the kernel or another user holds them.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause before it is looked again who is left.
const KILL_PAUSE: Duration = Duration::from_millis(2);

/// Starts the program, whose standard streams come over our stdin, and ends all it has started when stdin ends.
///
/// # Errors
///
/// When stdin is no socket over which standard streams come, or nobody listens at its other end.
pub fn supervise(program: &OsStr, args: &[OsString]) -> io::Result<()> {
    // From here on, processes whose parents have ended become our children.
    let adopts = rustix::process::set_child_subreaper(Some(getpid())).is_ok();
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let [stdin, stdout, stderr] = standard_streams(&control)?;
    let spawned = std::process::Command::new(program)
        .args(args)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0)
        .spawn();
    let child = match spawned {
        Ok(child) => child.id(),
        Err(error) => {
            let code = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            return control.write_all(&Started::Failed { code }.to_bytes());
        }
    };
    control.write_all(&Started::Runs { child, adopts }.to_bytes())?;
    let reports = control.try_clone()?;
    std::thread::spawn(move || reap(child, reports));
    // Nothing is ever said: this waits for the end.
    let _ = control.read(&mut [0]);
    end_descendants();
    Ok(())
}

fn standard_streams(control: &UnixStream) -> io::Result<[OwnedFd; 3]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let into = &mut [IoSliceMut::new(&mut byte)];
    recvmsg(control, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let streams: Vec<OwnedFd> = ancillary
        .drain()
        .filter_map(|it| match it {
            RecvAncillaryMessage::ScmRights(streams) => Some(streams),
            _ => None,
        })
        .flatten()
        .collect();
    streams
        .try_into()
        .map_err(|_| io::Error::other("three standard streams were expected"))
}

/// Waits for the child and for all processes we have adopted, until there are none; reports how the child ended.
fn reap(child: u32, mut reports: UnixStream) {
    while let Ok(ended) = rustix::process::wait(WaitOptions::empty()) {
        if let Some((id, status)) = ended
            && u32::try_from(id.as_raw_nonzero().get()) == Ok(child)
        {
            // Fails when nobody wants to know any more.
            let _ = reports.write_all(&status.as_raw().to_ne_bytes());
        }
    }
}

/// Kills all processes that descend from us, until none is left.
fn end_descendants() {
    let deadline = Instant::now() + KILL_TIMEOUT;
    loop {
        let living = descendants();
        if living.is_empty() || Instant::now() > deadline {
            return;
        }
        for id in living {
            // Fails when it has ended meanwhile.
            let _ = kill_process(id, Signal::KILL);
        }
        std::thread::sleep(KILL_PAUSE);
    }
}

/// The processes that descend from us and have not ended.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, has_ended)) = parent_and_end(&stat) {
            children.entry(parent).or_default().push((id, has_ended));
        }
    }
    let mut living = Vec::new();
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for (id, has_ended) in children.remove(&parent).unwrap_or_default() {
            parents.push(id);
            living.extend(Pid::from_raw(id).filter(|_| !has_ended));
        }
    }
    living
}

/// The id of a process's parent, and whether it has ended and only waits to be asked how.
///
/// Format: `/proc/PID/stat` in <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>: the name, which may hold any character,
/// stands in round brackets.
fn parent_and_end(stat: &[u8]) -> Option<(i32, bool)> {
    let name_end = memchr::memrchr(b')', stat)?;
    let rest = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    Some((fields.next()?.parse().ok()?, matches!(state, "Z" | "X")))
}

#[cfg(test)]
mod tests {
    use super::parent_and_end;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        let read = |text: &str| parent_and_end(text.as_bytes());
        assert_eq!(read("12 (sh) S 7 12 12 0 -1"), Some((7, false)));
        assert_eq!(read("12 (a) Z 9 (b) R 7 1"), Some((7, false)));
        assert_eq!(read("12 (sh) Z 1 12"), Some((1, true)));
        assert_eq!(read("12 (sh) S"), None);
        assert_eq!(read(""), None);
    }
}
