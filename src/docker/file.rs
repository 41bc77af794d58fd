//! Files in containers.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bollard::query_parameters::DownloadFromContainerOptions;
use futures_util::StreamExt;
use tar::EntryType;

use crate::docker::engine::{Engine, EngineError};
use crate::scenario_file::servers::{Mount, MountSource, UNSEEN, place_in_memory};

/// How many symbolic links are followed, one after another.
const LINKS: usize = 16;

/// What an archive of one file holds besides it, in bytes at most.
const AROUND: u64 = 64 * 1024;

/// What an archive begins with, in bytes: what kind of thing it holds.
const HEAD: u64 = 2 * 1024;

/// What stands at a path.
enum Found {
    File(Vec<u8>),
    Link(PathBuf),
}

impl Engine {
    /// The bytes of a file in a container with these mounts, at most so many; `None` where there is none.
    ///
    /// # Errors
    ///
    /// In words that follow the file's name: it cannot be read, is too large, is no file, or is where the engine does not see what the
    /// container does.
    pub(super) async fn file(
        &self,
        id: &str,
        (path, mounts): (&Path, &[Mount]),
        most: u64,
    ) -> Result<Option<Vec<u8>>, String> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            // The engine would read what the image has below.
            if let Some(place) = place_in_memory(&path, mounts) {
                return Err(format!("is in `{place}`: {UNSEEN}"));
            }
            if let Some(target) = self.past_link(id, &path, mounts).await? {
                path = target;
                continue;
            }
            let archive = match self.archive(id, &path, most + AROUND).await {
                Ok(archive) => archive,
                Err(EngineError::NotFound(why)) if !why.contains("No such container") => {
                    return Ok(None);
                }
                Err(error) => return Err(format!("cannot be read: {error}")),
            };
            match found(&archive, most)? {
                Found::File(bytes) => return Ok(Some(bytes)),
                Found::Link(target) => path = beside(&path, &target),
            }
        }
        Err(format!(
            "cannot be read: more than {LINKS} links lead on from it"
        ))
    }

    /// The same path past the first folder in it that is a link; `None` where none is. The engine would follow links itself, and not tell
    /// that they lead to memory, so where none can, it is not asked.
    async fn past_link(
        &self,
        id: &str,
        path: &Path,
        mounts: &[Mount],
    ) -> Result<Option<PathBuf>, String> {
        if !mounts.iter().any(|it| it.source == MountSource::Memory) {
            return Ok(None);
        }
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev().skip(1) {
            let archive = match self.archive(id, folder, HEAD).await {
                Ok(archive) => archive,
                // What is missing has nothing within.
                Err(EngineError::NotFound(_)) => return Ok(None),
                Err(error) => return Err(format!("cannot be read: {error}")),
            };
            if let Ok(Found::Link(target)) = found(&archive, 0) {
                let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
                return Ok(Some(beside(folder, &target).join(rest)));
            }
        }
        Ok(None)
    }

    /// The beginning of the archive of what stands at a path.
    async fn archive(&self, id: &str, path: &Path, most: u64) -> Result<Vec<u8>, EngineError> {
        let options = DownloadFromContainerOptions {
            path: path.to_string_lossy().into_owned(),
        };
        let reading = async {
            let mut archive = Vec::new();
            let mut pieces = std::pin::pin!(self.api.download_from_container(id, Some(options)));
            // A folder may hold all that the container does.
            while archive.len() as u64 <= most
                && let Some(piece) = pieces.next().await
            {
                archive.extend_from_slice(&piece?);
            }
            Ok(archive)
        };
        self.ask(reading).await
    }
}

fn found(archive: &[u8], most: u64) -> Result<Found, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let mut archive = tar::Archive::new(archive);
    let first = archive.entries().map_err(unreadable)?.next();
    let mut entry = first
        .ok_or("cannot be read: the engine sends nothing of it")?
        .map_err(unreadable)?;
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous if entry.size() > most => {
            Err(format!("is larger than {} MiB", most / 1024 / 1024))
        }
        EntryType::Regular | EntryType::Continuous => {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(unreadable)?;
            Ok(Found::File(bytes))
        }
        EntryType::Symlink => {
            let target = entry.link_name().map_err(unreadable)?;
            let target = target.ok_or("is a link that leads nowhere")?;
            Ok(Found::Link(target.into_owned()))
        }
        EntryType::Directory => Err("is a folder".to_owned()),
        _ => Err("is not a regular file".to_owned()),
    }
}

/// Where a link leads that stands at `path`; the engine resolves what is left of `..` within the container.
fn beside(path: &Path, target: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).join(target)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tar::{Builder, EntryType, Header};

    use super::{Found, beside, found};

    fn archive(kind: EntryType, link: &str, bytes: &[u8]) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        let mut builder = Builder::new(Vec::new());
        if link.is_empty() {
            builder
                .append_data(&mut header, "it", bytes)
                .expect("it fits");
        } else {
            builder
                .append_link(&mut header, "it", link)
                .expect("it fits");
        }
        builder.into_inner().expect("it is in memory")
    }

    #[test]
    fn only_a_file_has_bytes() {
        let file = found(&archive(EntryType::Regular, "", b"paid"), 4);
        assert!(matches!(file, Ok(Found::File(bytes)) if bytes == b"paid"));
        let larger = found(&archive(EntryType::Regular, "", b"paid!"), 4);
        assert!(larger.is_err_and(|it| it.contains("larger")));
        let link = found(&archive(EntryType::Symlink, "../b", b""), 4);
        assert!(matches!(link, Ok(Found::Link(target)) if target == Path::new("../b")));
        for (kind, why) in [
            (EntryType::Directory, "is a folder"),
            (EntryType::Fifo, "is not a regular file"),
        ] {
            let refused = found(&archive(kind, "", b""), 4);
            assert_eq!(refused.err().as_deref(), Some(why));
        }
        assert!(found(b"", 4).is_err());
    }

    #[test]
    fn a_link_begins_where_it_stands() {
        let stands = Path::new("/data/now");
        assert_eq!(beside(stands, Path::new("old")), Path::new("/data/old"));
        assert_eq!(beside(stands, Path::new("/etc/x")), Path::new("/etc/x"));
    }
}
