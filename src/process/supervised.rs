//! Our side of a child that is [supervised](super::supervisor).

use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::Signal;
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
