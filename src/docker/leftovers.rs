//! Labels that name the process that made a container, and what earlier runs have left in the engine.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use bollard::models::ContainerSummary;
use bollard::query_parameters::{
    ListContainersOptions, ListNetworksOptions, ListVolumesOptions, RemoveImageOptions,
    RemoveVolumeOptions,
};
use sha2::{Digest, Sha256};

use crate::docker::engine::{Engine, EngineError};
use crate::run::SetupError;

/// How the names of containers begin that were kept for inspection.
pub(super) const KEPT: &str = "mcp-eval-kept-";

/// Kinds of things in an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Container,
    Network,
    Volume,
    /// An image we have built.
    Image,
}

impl Kind {
    /// The kind in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Network => "network",
            Self::Volume => "volume",
            Self::Image => "image",
        }
    }
}

/// Something in the engine that we have made.
#[derive(Debug, Clone)]
pub struct Left {
    pub kind: Kind,
    /// Its id in the engine; of an image with a name, that name.
    pub(super) id: String,
    pub name: String,
    pub why: Why,
}

/// Why something of ours is in the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The run that made it has been killed.
    Orphaned,
    /// It was kept for inspection after a scenario had not passed.
    Kept,
    /// It was made to be left running, by `reset: never`.
    Outlives,
    /// A newer build has taken its name.
    Replaced,
    /// It was built of another state of what it is made of than the image of the same name that was built or used last.
    Older,
    /// This container is made of it.
    UsedBy(String),
    /// The run that made it, of this process number, is still at work.
    InUse(String),
    /// It was made on another machine, or in another container: whether that run is still at work cannot be found out from here.
    Elsewhere,
}

impl Why {
    /// Whether it may be removed by a clean-up: no run is at work with it.
    pub fn is_free(&self) -> bool {
        match self {
            Self::Orphaned | Self::Kept | Self::Outlives | Self::Replaced | Self::Older => true,
            Self::UsedBy(_) | Self::InUse(_) | Self::Elsewhere => false,
        }
    }
}

impl Engine {
    /// The containers, networks and volumes in the engine that any run of the program has made, containers first, as it must be removed.
    ///
    /// # Errors
    ///
    /// When the engine does not answer.
    pub async fn leftovers(&self) -> Result<Vec<Left>, SetupError> {
        self.labelled(SESSION).await.map_err(|it| unlisted(&it))
    }

    /// Removes something. That it is gone already is fine.
    ///
    /// # Errors
    ///
    /// When the engine refuses.
    pub async fn remove_left(&self, left: &Left) -> Result<(), SetupError> {
        let id = left.id.as_str();
        let removed = match left.kind {
            Kind::Container => self.remove(id).await,
            Kind::Network => self.ask(self.api.remove_network(id)).await,
            Kind::Volume => {
                let options = None::<RemoveVolumeOptions>;
                self.ask(self.api.remove_volume(id, options)).await
            }
            Kind::Image => {
                let options = None::<RemoveImageOptions>;
                let removed = self.api.remove_image(id, options, None);
                self.ask(removed).await.map(drop)
            }
        };
        match removed {
            Ok(()) | Err(EngineError::NotFound(_)) => Ok(()),
            // An image that others are made of goes with the last of them.
            Err(error)
                if left.kind == Kind::Image
                    && error.to_string().contains("dependent child images") =>
            {
                Ok(())
            }
            Err(error) => Err(SetupError::new(format!(
                "the {} {} cannot be removed: {error}",
                left.kind.word(),
                left.name
            ))),
        }
    }

    /// Removes what killed runs have left behind, and nothing else.
    pub(super) async fn sweep(&self) {
        for left in self.labelled(SESSION).await.unwrap_or_default() {
            if left.why == Why::Orphaned {
                // What cannot be removed now is tried again by the next run.
                let _ = self.remove_left(&left).await;
            }
        }
    }

    /// Removes the containers that were kept for a look before this one of the same scenario, but for those of other living processes.
    pub(super) async fn forget_kept(&self, owner: &Owner, scenario: &str, newest: &str) {
        let all = self
            .containers(vec![format!("{SCENARIO}={scenario}")])
            .await;
        for it in all.unwrap_or_default() {
            let (id, labels) = (it.id.clone().unwrap_or_default(), it.labels.clone());
            let is_kept = id != newest && name(&it).starts_with(KEPT);
            if is_kept && owner.may_forget(&labels.unwrap_or_default()) {
                // One that stays is removed by `mcp-eval clean`.
                let _ = self.remove(&id).await;
            }
        }
    }

    /// Removes all that one run of the program has made, but for what it kept on purpose.
    pub(super) async fn remove_all_of(&self, owner: &Owner) {
        let label = format!("{SESSION}={}", owner.session);
        let of_this_run = self.labelled(&label).await.unwrap_or_default();
        let of_this_run = of_this_run
            .iter()
            .filter(|it| matches!(it.why, Why::InUse(_)));
        let (containers, rest): (Vec<&Left>, Vec<&Left>) =
            of_this_run.partition(|it| it.kind == Kind::Container);
        for several in [containers, rest] {
            let removals = several.iter().map(|it| self.remove_left(it));
            futures_util::future::join_all(removals).await;
        }
    }

    /// All containers, running or not, that carry all of these labels.
    pub(super) async fn containers(
        &self,
        labels: Vec<String>,
    ) -> Result<Vec<ContainerSummary>, EngineError> {
        let options = ListContainersOptions {
            all: true,
            filters: Some(HashMap::from([("label".to_owned(), labels)])),
            ..ListContainersOptions::default()
        };
        self.ask(self.api.list_containers(Some(options))).await
    }

    /// Containers, then networks and volumes, that carry a label.
    async fn labelled(&self, label: &str) -> Result<Vec<Left>, EngineError> {
        let labels = vec![label.to_owned()];
        let filters = || Some(HashMap::from([("label".to_owned(), labels.clone())]));
        let this = Owner::another();
        let mut left = Vec::new();
        let mut add = |kind, id: String, name: String, labels: Option<Labels>| {
            let why = why(&this, &labels.unwrap_or_default(), name.starts_with(KEPT));
            left.push(Left {
                kind,
                id,
                name,
                why,
            });
        };
        for it in self.containers(labels.clone()).await? {
            let name = name(&it);
            add(Kind::Container, it.id.unwrap_or_default(), name, it.labels);
        }
        let options = ListNetworksOptions { filters: filters() };
        for it in self.ask(self.api.list_networks(Some(options))).await? {
            let (id, name) = (it.id.unwrap_or_default(), it.name.unwrap_or_default());
            add(Kind::Network, id, name, it.labels);
        }
        let options = ListVolumesOptions { filters: filters() };
        let volumes = self.ask(self.api.list_volumes(Some(options))).await?;
        for it in volumes.volumes.unwrap_or_default() {
            add(Kind::Volume, it.name.clone(), it.name, Some(it.labels));
        }
        Ok(left)
    }
}

/// The name of a container; its id where it has none.
pub(super) fn name(container: &ContainerSummary) -> String {
    let names = container.names.iter().flatten();
    let name = names.map(|it| it.trim_start_matches('/')).next();
    name.or(container.id.as_deref())
        .unwrap_or_default()
        .to_owned()
}

/// What is wrong when the engine does not tell which containers it has.
pub(super) fn unlisted(error: &EngineError) -> SetupError {
    SetupError::new(format!("the engine's containers cannot be listed: {error}"))
}

fn why(this: &Owner, labels: &Labels, kept: bool) -> Why {
    if kept {
        return Why::Kept;
    }
    if labels.contains_key(OUTLIVES) {
        return Why::Outlives;
    }
    match this.fate(labels) {
        Fate::Dead => Why::Orphaned,
        Fate::Lives => Why::InUse(process(labels).unwrap_or("?").to_owned()),
        Fate::Unknown => Why::Elsewhere,
    }
}

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
    use crate::docker::leftovers::{Fate, Owner};

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
