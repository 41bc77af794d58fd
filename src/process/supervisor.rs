//! The small process between us and a child: when we let go of the child, or are killed ourselves, it ends everything that the child
//! has started, also in sessions and process groups of its own.
//!
//! It is started by [`super::supervised`] with one end of a socket as its stdin. Over it come first the three standard streams of the
//! child; back go a report on its start and later how it ended. The end of the socket is the end of all: it comes also from `kill -9`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process};

use super::supervised::Started;

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
    let spawned = Command::new(program)
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
