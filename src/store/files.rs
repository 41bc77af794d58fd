//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// What can go wrong with stored files.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is cut off: it ends in the middle of its JSON", path.display())]
    CutOff { path: PathBuf },
    #[error("{} is no trajectory: {problem}", path.display())]
    Invalid { path: PathBuf, problem: String },
    #[error(
        "{} has format version {found}, and mcp-eval {} reads version {supported}", path.display(), env!("CARGO_PKG_VERSION")
    )]
    Version {
        path: PathBuf,
        found: String,
        supported: u32,
    },
}

impl StoreError {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Write { .. } | Self::Read { .. } => None,
            Self::CutOff { .. } | Self::Invalid { .. } => Some(
                "take the file back from version control, or record it again with `mcp-eval record`",
            ),
            Self::Version { .. } => Some(
                "a newer mcp-eval wrote it: install that one, or record it again with this one",
            ),
        }
    }
}

/// Writes a file beside the old one and puts it in its place, making folders as needed. Whoever reads it sees the old one or the new
/// one, whole; a program that is killed leaves the old one.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file; nothing has changed then.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace(path, content, Durability::Process)
}

/// As [`write()`], and a computer that loses its power keeps the old one or the new one, too. For what people cannot make again.
///
/// # Errors
///
/// As [`write()`].
pub(super) fn write_durably(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace(path, content, Durability::Disk)
}

/// What a file that was written survives.
#[derive(Clone, Copy, PartialEq)]
enum Durability {
    Process,
    Disk,
}

fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".mcp-eval-")
        // As any new file: readable for whom the user's umask allows.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

fn replace(path: &Path, content: &[u8], durability: Durability) -> Result<(), StoreError> {
    let attempt = || -> io::Result<()> {
        let folder = path
            .parent()
            .filter(|it| *it != Path::new(""))
            .unwrap_or(Path::new("."));
        let mut file = match beside(folder) {
            // Asked for only when it is missing: most files go where others went before.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                beside(folder)?
            }
            other => other?,
        };
        file.write_all(content)?;
        if durability == Durability::Disk {
            file.as_file().sync_all()?;
        }
        file.persist(path)?;
        Ok(())
    };
    attempt().map_err(|source| StoreError::Write {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::write;

    #[test]
    fn a_failed_write_names_the_file_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        write(&path, b"old").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let below_a_file = path.join("c");
        let error = write(&below_a_file, b"new").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot write ") && error.contains("b.json"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(
            fs::read_dir(folder.path().join("a")).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }
}
