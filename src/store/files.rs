//! Files that appear whole or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    #[error("not kept as {}, because it could not be read again: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
}

impl StoreError {
    /// What is wrong, without the file's name.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Write { source, .. } | Self::Read { source, .. } => source.to_string(),
            Self::CutOff { .. } => "it ends in the middle of its JSON".to_owned(),
            Self::Invalid { problem, .. } | Self::Unreadable { problem, .. } => problem,
            Self::Version { found, .. } => format!("it has format version {found}"),
        }
    }

    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Write { .. } | Self::Unreadable { .. } => None,
            Self::Read { source, .. } => way_to_read(source.kind()),
            Self::CutOff { .. } => Some(
                "take the file back from version control, or record it again with `mcp-eval record`",
            ),
            Self::Invalid { .. } => Some(
                "correct it, take the file back from version control, or record it again with `mcp-eval record`",
            ),
            Self::Version { .. } => Some(
                "a newer mcp-eval wrote it: install that one, or record it again with this one",
            ),
        }
    }
}

/// What to try where something cannot be read.
fn way_to_read(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::NotADirectory => {
            Some("move it away, or name the folder of the baselines with `--baseline DIR`")
        }
        io::ErrorKind::IsADirectory => Some(
            "move it away, then take the file back from version control, or record it again with `mcp-eval record`",
        ),
        io::ErrorKind::PermissionDenied => {
            Some("give yourself the right to read it, and to enter the folders above it")
        }
        _ => None,
    }
}

/// Writes a file beside the old one and puts it in its place, making folders as needed. Whoever reads it sees the old one or the new
/// one, whole; a program that is killed leaves the old one.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file; nothing has changed then.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    Beside::new(path, content)?.put()
}

/// A file that is written, but not in its place yet. Dropped, it is gone.
pub(super) struct Beside {
    /// As the caller calls it.
    path: PathBuf,
    /// Where it belongs.
    place: PathBuf,
    file: NamedTempFile,
}

/// What files that are not in their place yet are called: this, and as many letters and digits.
const PREFIX: &str = ".mcp-eval-";
const LETTERS: usize = 6;

impl Beside {
    /// Writes a file beside its place, making folders as needed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`], naming the file.
    pub(super) fn new(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        let attempt = || -> io::Result<(PathBuf, NamedTempFile)> {
            let place = place(path)?;
            let folder = folder_of(&place);
            let mut file = match beside(folder) {
                // Asked for only when it is missing: most files go where others went before.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make(folder)?;
                    beside(folder)?
                }
                other => other?,
            };
            file.as_file_mut().write_all(content)?;
            Ok((place, file))
        };
        match attempt() {
            Ok((place, file)) => Ok(Self {
                path: path.to_owned(),
                place,
                file,
            }),
            Err(source) => Err(cannot_write(path, source)),
        }
    }

    /// What the file holds now, as the disk gives it back.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`]: what cannot be read again was not written.
    pub(super) fn read_back(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut content = Vec::new();
        let file = self.file.as_file_mut();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut content))
            .map_err(|source| cannot_write(&self.path, source))?;
        Ok(content)
    }

    /// Makes sure that a computer which loses its power keeps the file, once it is in its place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`], naming the file.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        let synced = self.file.as_file().sync_all();
        synced.map_err(|source| cannot_write(&self.path, source))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`], naming the file; what was in its place is there still.
    pub(super) fn put(self) -> Result<(), StoreError> {
        let put = self.file.persist(&self.place);
        put.map_err(|error| cannot_write(&self.path, error.error))?;
        Ok(())
    }
}

fn cannot_write(path: &Path, source: io::Error) -> StoreError {
    StoreError::Write {
        path: path.to_owned(),
        source,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|it| *it != Path::new(""))
        .unwrap_or(Path::new("."))
}

/// Where a file of this path goes: a link stays one, and what it leads to is replaced. Whatever is no file is never replaced by one.
fn place(path: &Path) -> io::Result<PathBuf> {
    let other = |message| Err(io::Error::other(message));
    let (place, found) = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path.to_owned()),
        Err(error) => return Err(in_the_way(path, error)),
        Ok(found) if found.is_symlink() => match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return other("it is a link that leads nowhere");
            }
            place => {
                let place = place?;
                let found = fs::metadata(&place)?;
                (place, found)
            }
        },
        Ok(found) => (path.to_owned(), found),
    };
    if found.is_dir() {
        return other("a folder is in its place");
    }
    if !found.is_file() {
        return other("what is in its place is no file");
    }
    Ok(place)
}

/// Makes a folder with all above it.
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| in_the_way(folder, error))
}

/// The error of a path that leads through something which is no folder, with the name of that.
pub(super) fn in_the_way(path: &Path, error: io::Error) -> io::Error {
    if !matches!(
        error.kind(),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
    ) {
        return error;
    }
    let obstacle = path.ancestors().find(|it| it.symlink_metadata().is_ok());
    match obstacle.filter(|it| *it != Path::new("") && !it.is_dir()) {
        Some(obstacle) if obstacle.is_symlink() && !obstacle.exists() => io::Error::new(
            error.kind(),
            format!("{} is a link that leads nowhere", obstacle.display()),
        ),
        Some(obstacle) => {
            io::Error::new(error.kind(), format!("{} is no folder", obstacle.display()))
        }
        None => error,
    }
}

fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(LETTERS)
        // As any new file: readable for whom the user's umask allows.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder);
    // Nobody knows the name it was to have, which the error would tell.
    made.map_err(|error| {
        let cause = error.get_ref().and_then(|it| it.source());
        let cause = cause.and_then(|it| it.downcast_ref::<io::Error>());
        match cause.and_then(io::Error::raw_os_error) {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error,
        }
    })
}

/// How long to wait for somebody else who writes to the same folder: it takes them a moment.
const PATIENCE: Duration = Duration::from_secs(2);

/// How old a file must be to be left by somebody who is gone, where nobody can be asked.
const LONG_AGO: Duration = Duration::from_secs(60 * 60);

/// A folder to which at most one process writes at a time, for as long as this lives. The system forgets it when a process ends, however
/// it ends: so what nobody has put in its place, nobody ever will.
pub(super) struct Held {
    /// The lock; `None` on a file system that knows none.
    lock: Option<File>,
    folder: PathBuf,
}

impl Held {
    /// Makes the folder and takes hold of it. `None` when somebody else does not let go of it.
    ///
    /// # Errors
    ///
    /// When there is no such folder, and none can be made.
    pub(super) fn make(folder: &Path) -> Result<Option<Self>, StoreError> {
        make(folder).map_err(|source| cannot_write(folder, source))?;
        let started = Instant::now();
        loop {
            let held = Self::try_hold(folder);
            if held.is_some() || started.elapsed() > PATIENCE {
                return Ok(held);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes hold of a folder; `None` when somebody else has it.
    pub(super) fn try_hold(folder: &Path) -> Option<Self> {
        let lock = match File::open(folder).map(|it| (it.try_lock(), it)) {
            Ok((Ok(()), lock)) => Some(lock),
            Ok((Err(TryLockError::WouldBlock), _)) => return None,
            Ok((Err(TryLockError::Error(_)), _)) | Err(_) => None,
        };
        Some(Self {
            lock,
            folder: folder.to_owned(),
        })
    }

    /// Removes what was never put in its place.
    pub(super) fn sweep(&self) {
        for left in left_behind(&self.folder) {
            let age = || left.metadata().ok()?.modified().ok()?.elapsed().ok();
            if self.lock.is_some() || age().is_some_and(|it| it > LONG_AGO) {
                // It is in nobody's way, and whoever comes next may remove it.
                let _ = fs::remove_file(&left);
            }
        }
    }
}

/// Files of a folder that somebody is about to put in their place, or never did.
pub(super) fn left_behind(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_ours = |it: &fs::DirEntry| {
        let is_file = it.file_type().is_ok_and(|it| it.is_file());
        let name = it.file_name();
        let letters = name.to_str().and_then(|it| it.strip_prefix(PREFIX));
        is_file
            && letters.is_some_and(|it| {
                it.len() == LETTERS && it.bytes().all(|it| it.is_ascii_alphanumeric())
            })
    };
    entries.filter(is_ours).map(|it| it.path()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::write;

    #[test]
    fn a_failed_write_names_the_file_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        write(&path, b"old").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let below_a_file = path.join("c/d");
        let error = write(&below_a_file, b"new").unwrap_err().to_string();
        let named = format!("{} is no folder", path.display());
        assert!(
            error.starts_with("cannot write ") && error.ends_with(&named),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(
            fs::read_dir(folder.path().join("a")).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn whoever_has_the_old_file_open_keeps_reading_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, witness) = (folder.path().join("b.json"), folder.path().join("witness"));
        write(&path, b"old").unwrap();
        // Another name of the very same file: what is written in place shows up under it.
        fs::hard_link(&path, &witness).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read(&witness).unwrap(), b"old");
    }

    #[test]
    fn links_stay_links_and_only_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("other/folder")).unwrap();
        fs::write(at("other/file"), "old").unwrap();
        symlink("other/file", at("link")).unwrap();
        write(&at("link"), b"new").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(fs::read(at("other/file")).unwrap(), b"new");

        symlink("nowhere", at("dangling")).unwrap();
        symlink("/dev/null", at("device")).unwrap();
        for (name, why) in [
            ("dangling", "it is a link that leads nowhere"),
            ("dangling/below", "dangling is a link that leads nowhere"),
            ("device", "what is in its place is no file"),
            ("other/folder", "a folder is in its place"),
        ] {
            let error = write(&at(name), b"new").unwrap_err().to_string();
            assert!(error.ends_with(why), "{name}: {error}");
        }
        assert!(!at("nowhere").exists() && at("device").is_symlink());
    }
}
