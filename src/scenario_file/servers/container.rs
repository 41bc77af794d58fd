//! The container a server under test runs in, as a scenario describes it.

use std::path::{Component, Path, PathBuf};

use super::ready::Ready;
use super::source::Prepare;

/// What the only container of a scenario is called where one must be named: the section that describes it.
pub const ONLY_CONTAINER: &str = "docker";

/// A container that is reset before a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// What the others call it; `None` for the only one, of `docker`.
    pub name: Option<String>,
    pub image: Image,
    /// Set where the scenario is skipped without its image, and no error: how to get the image, in words.
    pub optional: Option<String>,
    /// The port the server listens on inside the container; `None` for one that only other containers reach.
    pub port: Option<u16>,
    /// Where the port is published; `None` for a free port.
    pub host_port: Option<u16>,
    pub env: Vec<(String, String)>,
    /// Replaces the image's command; its entry point stays.
    pub command: Option<Vec<String>>,
    pub mounts: Vec<Mount>,
    /// Where the scenario's configuration file is mounted, read-only.
    pub config_target: Option<String>,
    /// The network it joins; one that is not there is made.
    pub network: Option<String>,
    /// In bytes.
    pub memory: Option<u64>,
    /// How many processors it may use, in fractions.
    pub cpus: Option<f64>,
    /// How many processes it may have.
    pub pids: Option<u32>,
    /// A user and group as the engine takes them, such as `1000:1000`.
    pub user: Option<String>,
    /// Its own file system cannot be written.
    pub read_only: bool,
    /// The engine's socket is mounted, for servers that start containers themselves.
    pub docker_socket: bool,
    pub ready: Ready,
    pub reset: Reset,
    pub keep: Keep,
}

/// Where the container's image comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// One the engine has.
    Named(String),
    /// One that is built before the first run.
    Built(Build),
    /// One that is built where the source of the system under test is at hand, and else one the engine has.
    BuiltOrNamed(Build, String),
}

/// How an image is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The folder whose files the build may use.
    pub context: PathBuf,
    /// Below the context.
    pub dockerfile: String,
    pub args: Vec<(String, String)>,
    /// Labels of the image that say what source it was made from, where the Dockerfile does not say so itself.
    pub labels: Vec<(String, String)>,
    /// What is done before.
    pub prepare: Option<Prepare>,
    /// What the image is made of, as a hash: one that was built of the same is used again. `None` where that is not known, and the engine
    /// finds out while it builds.
    pub state: Option<String>,
}

/// Something mounted into the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub source: MountSource,
    /// An absolute path in the container.
    pub target: String,
    pub read_only: bool,
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountSource {
    /// A file or folder of this machine.
    Path(PathBuf),
    /// A volume; one that is not there is made.
    Volume(String),
    /// A file system in memory, empty at every start.
    Memory,
}

/// When the container is replaced by a fresh one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// Before every run.
    Scenario,
    /// Once for all scenarios of a command that describe the same container.
    Suite,
    /// It is started where it does not run, and left running.
    Never,
}

/// What becomes of the container after the scenario's last run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is removed.
    Never,
    /// It is kept for a look at it when the scenario has not passed.
    OnFailure,
}

/// What is said of a file that only the container itself can see.
pub const UNSEEN: &str = "what a container keeps in memory alone cannot be seen";

/// Where every container has file systems that are on no disk.
const KERNELS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The mount in memory that an absolute path in a container with these mounts is under; `None` where it is on a disk. Of mounts within
/// mounts, the innermost counts.
pub fn place_in_memory(path: &Path, mounts: &[Mount]) -> Option<String> {
    let path = plain(path);
    let own = mounts.iter().map(|it| {
        let in_memory = it.source == MountSource::Memory;
        (plain(Path::new(&it.target)), in_memory)
    });
    let kernels = KERNELS.iter().map(|it| (PathBuf::from(it), true));
    let over = kernels.chain(own).filter(|(it, _)| path.starts_with(it));
    let (target, in_memory) = over.max_by_key(|(it, _)| it.components().count())?;
    in_memory.then(|| target.to_string_lossy().into_owned())
}

/// A path without `.` and `..`, none of which leads above the root.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(name) => plain.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

impl Image {
    /// The image in words: its name, or the folder it is built from.
    pub fn words(&self) -> String {
        match self {
            Self::Named(name) => format!("`{name}`"),
            Self::Built(build) | Self::BuiltOrNamed(build, _) => {
                format!("built from {}", build.context.display())
            }
        }
    }

    /// The image that is used: built where there is a source to build it from.
    #[must_use]
    pub fn chosen(self, has_source: bool) -> Self {
        match self {
            Self::BuiltOrNamed(build, _) if has_source => Self::Built(build),
            Self::BuiltOrNamed(_, name) => Self::Named(name),
            chosen => chosen,
        }
    }

    /// How it is built, where it may have to be.
    pub fn build_mut(&mut self) -> Option<&mut Build> {
        match self {
            Self::Built(build) | Self::BuiltOrNamed(build, _) => Some(build),
            Self::Named(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Mount, MountSource, place_in_memory};

    #[test]
    fn the_innermost_mount_says_where_a_file_is() {
        let mount = |source: MountSource, target: &str| Mount {
            source,
            target: target.to_owned(),
            read_only: false,
        };
        let mounts = [
            mount(MountSource::Memory, "/scratch/"),
            mount(MountSource::Volume("kept".to_owned()), "/scratch/kept"),
            mount(MountSource::Memory, "/scratch/kept/now"),
            mount(MountSource::Volume("shared".to_owned()), "/dev/shm"),
        ];
        for (path, place) in [
            ("/scratch/a", Some("/scratch")),
            ("/scratch", Some("/scratch")),
            ("/scratched/a", None),
            ("/scratch/kept/a", None),
            ("/scratch/kept/now/a", Some("/scratch/kept/now")),
            ("/scratch/kept/../a", Some("/scratch")),
            ("/scratch/../data/a", None),
            ("/data/./../../scratch//a", Some("/scratch")),
            ("/proc/1/status", Some("/proc")),
            ("/sys/a", Some("/sys")),
            ("/dev/a", Some("/dev")),
            ("/dev/shm/a", None),
            ("/process", None),
        ] {
            let found = place_in_memory(Path::new(path), &mounts);
            assert_eq!(found.as_deref(), place, "{path}");
        }
    }
}
