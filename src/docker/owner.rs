//! Labels that name the process that made a container, and whether that process is still running.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

/// Names the run of the program that made something; everything we make carries it.
pub(super) const SESSION: &str = "dev.mcp-eval.session";
/// The machine or container that the program ran in, within which process numbers are unique.
const MACHINE: &str = "dev.mcp-eval.machine";
/// The machine's start, as the kernel names it.
const BOOT: &str = "dev.mcp-eval.boot";
const PROCESS: &str = "dev.mcp-eval.process";
/// When the process was started, in the kernel's ticks, because process numbers are reused.
const STARTED: &str = "dev.mcp-eval.started";
/// What was made is meant to outlive the program.
pub(super) const OUTLIVES: &str = "dev.mcp-eval.outlives";
/// The scenario, and which of its containers, that a container was made for.
pub(super) const SCENARIO: &str = "dev.mcp-eval.scenario";
/// An image that we have built.
pub(super) const BUILT: &str = "dev.mcp-eval.built";

/// The labels of something in the engine.
pub(super) type Labels = HashMap<String, String>;

/// One run of the program, as its labels name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) session: String,
    machine: String,
    boot: String,
    process: u32,
    started: String,
}

/// What has become of the run of the program that made something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Lives,
    Dead,
    /// It ran on another machine, or in another container, so it cannot be looked up.
    Unknown,
}

impl Owner {
    /// Another run in this process: one is all of a command, but who uses the library may have several at once.
    pub(super) fn another() -> Self {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let (machine, boot, started) = (machine(), boot(), started(process).unwrap_or_default());
        let name = format!("{machine} {boot} {process} {started} {run}");
        Self {
            session: hex::encode(Sha256::digest(name.as_bytes()))[..12].to_owned(),
            machine,
            boot,
            process,
            started,
        }
    }

    /// The labels of what this run of the program makes.
    pub(super) fn labels(&self, outlives: bool) -> Labels {
        let mut labels = Labels::from([
            (SESSION.to_owned(), self.session.clone()),
            (MACHINE.to_owned(), self.machine.clone()),
            (BOOT.to_owned(), self.boot.clone()),
            (PROCESS.to_owned(), self.process.to_string()),
            (STARTED.to_owned(), self.started.clone()),
        ]);
        if outlives {
            labels.insert(OUTLIVES.to_owned(), "true".to_owned());
        }
        labels
    }

    /// What has become of the run of the program that made something with these labels, asked from this one.
    pub(super) fn fate(&self, labels: &Labels) -> Fate {
        let label = |name: &str| labels.get(name).map(String::as_str);
        if label(SESSION) == Some(&self.session) {
            return Fate::Lives;
        }
        let process = label(PROCESS).and_then(|it| it.parse::<u32>().ok());
        let (Some(process), true) = (process, label(MACHINE) == Some(&self.machine)) else {
            return Fate::Unknown;
        };
        if label(BOOT) != Some(&self.boot) {
            return Fate::Dead;
        }
        match started(process) {
            Some(started) if label(STARTED) == Some(&started) => Fate::Lives,
            _ => Fate::Dead,
        }
    }

    /// Whether this run of the program may remove what was kept for a look by the one that made something with these labels: it has ended,
    /// or was one of the same process.
    pub(super) fn may_forget(&self, labels: &Labels) -> bool {
        let is_own = process(labels) == Some(self.process.to_string().as_str());
        let fate = self.fate(labels);
        fate == Fate::Dead || (fate == Fate::Lives && is_own)
    }
}

/// The number of the process that made something with these labels.
pub(super) fn process(labels: &Labels) -> Option<&str> {
    labels.get(PROCESS).map(String::as_str)
}

/// A name for the machine, or the container on it, within which process numbers are unique. It is hashed, because labels can be read by
/// every user of the engine, and the identity of a machine should not be public.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let name = format!(
        "mcp-eval {} {} {}",
        rustix::system::uname().nodename().to_string_lossy(),
        read("/etc/machine-id"),
        space.display()
    );
    hex::encode(Sha256::digest(name.as_bytes()))[..16].to_owned()
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// When a process was started; `None` when there is none of that number. On systems
/// without `/proc`, all processes of one number count as the same.
fn started(process: u32) -> Option<String> {
    if !Path::new("/proc/self/stat").exists() {
        let id = rustix::process::Pid::from_raw(i32::try_from(process).ok()?)?;
        let there = rustix::process::test_kill_process(id) != Err(rustix::io::Errno::SRCH);
        return there.then(String::new);
    }
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may itself hold spaces and parentheses, so fields are counted after the last one. The start
    // is the 22nd field of all.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // A zombie process has ended, so its containers are left over.
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Fate, Owner};

    #[test]
    fn runs_in_one_process_have_names_of_their_own_and_live_as_long_as_it() {
        let (one, other) = (Owner::another(), Owner::another());
        assert_ne!(one.session, other.session);
        assert_eq!(one.fate(&other.labels(false)), Fate::Lives);
    }

    #[test]
    fn what_was_kept_is_forgotten_unless_another_living_process_keeps_it() {
        let owner = Owner::another();
        let of = |process: u32| Owner {
            session: String::new(),
            process,
            started: super::started(process).unwrap_or_default(),
            ..owner.clone()
        };
        assert!(owner.may_forget(&Owner::another().labels(false)));
        let parent = std::os::unix::process::parent_id();
        assert!(!owner.may_forget(&of(parent).labels(false)));
        assert!(owner.may_forget(&of(u32::MAX).labels(false)));
        let elsewhere = Owner {
            machine: "far".to_owned(),
            ..of(u32::MAX)
        };
        assert!(!owner.may_forget(&elsewhere.labels(false)));
    }
}
