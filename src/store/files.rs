//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use atomic_write_file::AtomicWriteFile;

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

/// Writes a file beside the old one and puts it in its place, making folders as needed. The old one stays whole until then.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file; nothing has changed then.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let attempt = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = AtomicWriteFile::open(path)?;
        file.write_all(content)?;
        file.commit()
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
