//! Mounts of a container, and when it is replaced.

use std::path::{Component, Path, PathBuf};

/// What the only container of a scenario is called where one must be named: the section that describes it.
pub const ONLY_CONTAINER: &str = "docker";

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
