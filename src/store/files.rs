//! Files that are replaced as a whole: readers never see a half-written one.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::input;
use crate::json;

/// What can go wrong with stored files.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is cut off: it ends in the middle of its JSON", path.display())]
    CutOff { path: PathBuf },
    #[error("{} is not a trajectory: {problem}", path.display())]
    Invalid { path: PathBuf, problem: String },
    #[error(
        "{} has format version {found}, and mcp-eval {} reads version {supported}", path.display(), env!("CARGO_PKG_VERSION")
    )]
    Version {
        path: PathBuf,
        found: String,
        supported: u32,
    },
    #[error("{} is not of the baseline beside it: who reviews it reads something else than what is compared", path.display())]
    OtherDialogue { path: PathBuf },
    /// What a baseline was recorded with.
    #[error("cannot read {}, the catalogue of {}: {problem}", path.display(), by.display())]
    Catalogue {
        path: PathBuf,
        by: PathBuf,
        problem: String,
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
            Self::Invalid { problem, .. }
            | Self::Unreadable { problem, .. }
            | Self::Catalogue { problem, .. } => problem,
            Self::Version { found, .. } => format!("it has format version {found}"),
            Self::OtherDialogue { .. } => "it is not of the baseline beside it".to_owned(),
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
            Self::OtherDialogue { .. } => Some(
                "remove it, run `mcp-eval list` outside CI, which writes it again, and commit it; or record again with `mcp-eval record`",
            ),
            Self::Catalogue { .. } => Some(
                "take the file back from version control (`git checkout`), or record again with `mcp-eval record`",
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

/// Writes a file beside the old one and puts it in its place, making folders as needed. Readers see either the old or the new file as a
/// whole; a process that is killed leaves the old one.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file, also where a link leads out of what it lies in ([`input::check_links`]); nothing has changed then.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    check_links(path, path)?;
    write_following_links(path, content)
}

/// The same for a file that the user has named, wherever links lead.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file; nothing has changed then.
pub fn write_following_links(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    Beside::new(path, content)?.put()
}

/// The same of a document as indented JSON, with a line break at its end. It is written while it is made: the text of many scenarios is long.
///
/// # Errors
///
/// As [`write()`].
pub fn write_json(path: &Path, document: &impl Serialize) -> Result<(), StoreError> {
    check_links(path, path)?;
    let filled = Beside::filled(path, |file| {
        let mut text = BufWriter::with_capacity(PIECE, Escaping(file));
        serde_json::to_writer_pretty(&mut text, document)?;
        text.write_all(b"\n")?;
        text.flush()
    });
    filled?.put()
}

/// How much JSON is put into its file at once, in bytes.
const PIECE: usize = 1 << 16;

/// Puts JSON into a file as [`json::escaped`] has it. No part of it ends within a character.
struct Escaping<'a>(&'a mut File);

impl Write for Escaping<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(part.to_owned()).map_err(io::Error::other)?;
        self.0.write_all(json::escaped(text).as_bytes())?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// [`input::check_links`] of what is about to be written.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file and the link.
pub fn check_links(path: &Path, root: &Path) -> Result<(), StoreError> {
    input::check_links(path, root).map_err(|source| cannot_write(path, source))
}

/// A file that is written to a temporary name, and not in its place yet. Dropping it removes it.
pub(super) struct Beside {
    /// The path that the caller gave, for messages.
    path: PathBuf,
    /// Where it is put in the end.
    destination: PathBuf,
    file: NamedTempFile,
}

/// The name of temporary files begins with this prefix, followed by so many random letters and digits.
const PREFIX: &str = ".mcp-eval-";
const LETTERS: usize = 6;

/// Whether a file can be written: tries it beside its place, and leaves nothing behind.
///
/// # Errors
///
/// [`StoreError::Write`], naming the file.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    let above = folder_of(path).ancestors();
    let missing: Vec<&Path> = above
        .take_while(|it| *it != Path::new("") && !it.exists())
        .collect();
    let tried = Beside::new(path, b"").and_then(|_| match fs::symlink_metadata(path) {
        // Only now that its folder is there, the system can refuse the name itself.
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(cannot_write(path, source)),
        _ => Ok(()),
    });
    for folder in missing {
        // Somebody else may have put something there.
        let _ = fs::remove_dir(folder);
    }
    tried
}

impl Beside {
    /// Writes a file beside its place, making folders as needed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`], naming the file.
    pub(super) fn new(path: &Path, content: &[u8]) -> Result<Self, StoreError> {
        Self::filled(path, |file| file.write_all(content))
    }

    /// The same with what `writing` puts into it.
    fn filled(
        path: &Path,
        writing: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Self, StoreError> {
        let attempt = || -> io::Result<(PathBuf, NamedTempFile)> {
            let destination = destination(path)?;
            let folder = folder_of(&destination);
            let mut file = match beside(folder) {
                // The folder is made only when it turns out to be missing, because it usually exists.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make(folder)?;
                    beside(folder)?
                }
                other => other?,
            };
            writing(file.as_file_mut())?;
            Ok((destination, file))
        };
        match attempt() {
            Ok((destination, file)) => Ok(Self {
                path: path.to_owned(),
                destination,
                file,
            }),
            Err(source) => Err(cannot_write(path, source)),
        }
    }

    /// The content of the file, read back from the disk.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`] when it cannot be read back: such a file counts as not written.
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
    /// [`StoreError::Write`], naming the file; what was in its place is unchanged.
    pub(super) fn put(self) -> Result<(), StoreError> {
        let put = self.file.persist(&self.destination);
        put.map_err(|error| cannot_write(&self.path, error.error))?;
        Ok(())
    }
}

pub(super) fn cannot_write(path: &Path, source: io::Error) -> StoreError {
    let path = path.to_owned();
    StoreError::Write { path, source }
}

pub(super) fn cannot_read(path: &Path, source: io::Error) -> StoreError {
    let path = path.to_owned();
    StoreError::Read { path, source }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|it| *it != Path::new(""))
        .unwrap_or(Path::new("."))
}

/// Where a file of this path goes: a link stays a link, and its target is replaced. Only regular files are ever replaced.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let other = |message| Err(io::Error::other(message));
    let (destination, found) = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path.to_owned()),
        Err(error) => return Err(in_the_way(path, error)),
        Ok(found) if found.is_symlink() => match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return other("it is a link that leads nowhere");
            }
            target => {
                let target = target?;
                let found = fs::metadata(&target)?;
                (target, found)
            }
        },
        Ok(found) => (path.to_owned(), found),
    };
    if found.is_dir() {
        return other("a folder is in its place");
    }
    if !found.is_file() {
        return other("what is in its place is not a file");
    }
    Ok(destination)
}

/// Makes a folder with all above it.
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| in_the_way(folder, error))
}

/// Makes a folder of files that are no part of a project's history: git leaves a new one alone. One that is there stays as it is.
pub fn make_unversioned(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_ok() {
        return Ok(());
    }
    make(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}

/// The error of a path of which a parent is no folder, with the name of that parent.
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
        Some(obstacle) => io::Error::new(
            error.kind(),
            format!("{} is not a folder", obstacle.display()),
        ),
        None => error,
    }
}

fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(LETTERS)
        // The permissions of any new file, limited by the user's umask; temporary files would otherwise be private.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder);
    // The error would name the temporary file, which means nothing to the user.
    made.map_err(|error| {
        let cause = error.get_ref().and_then(|it| it.source());
        let cause = cause.and_then(|it| it.downcast_ref::<io::Error>());
        match cause.and_then(io::Error::raw_os_error) {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error,
        }
    })
}

/// How long to wait for another process that writes to the same folder, which usually takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// How old a temporary file must be to count as left behind, where the file system knows no locks.
const LONG_AGO: Duration = Duration::from_secs(60 * 60);

/// A folder to which at most one process writes at a time, for as long as this lives. The system frees the lock of a process that
/// ends, even if it is killed, so temporary files found under the lock belong to no living process.
pub struct Held {
    /// The lock; `None` on a file system that knows none.
    lock: Option<File>,
    folder: PathBuf,
}

impl Held {
    /// Makes the folder, which lies in `root`, and locks it. `None` when another process holds it for too long.
    ///
    /// # Errors
    ///
    /// When there is no such folder, and none can be made.
    pub(super) fn make(folder: &Path, root: &Path) -> Result<Option<Self>, StoreError> {
        check_links(folder, root)?;
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

    /// Locks a folder; `None` when another process holds it.
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

    /// Removes temporary files that were never put in their place.
    pub(super) fn sweep(&self) {
        for left in left_behind(&self.folder) {
            let age = || left.metadata().ok()?.modified().ok()?.elapsed().ok();
            if self.lock.is_some() || age().is_some_and(|it| it > LONG_AGO) {
                // A file that cannot be removed does no harm, and is tried again next time.
                let _ = fs::remove_file(&left);
            }
        }
    }
}

/// The temporary files of a folder: of a process that is writing, or of one that was killed.
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

    use serde_json::json;

    use super::{PIECE, write, write_json};
    use crate::json::pretty;

    #[test]
    fn json_is_written_as_it_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        let acting = "é\u{85}\u{202e}\n\"".repeat(PIECE / 10);
        let long = json!({ "é": [acting, "中".repeat(PIECE), 0.5, null, {}] });
        for document in [long, json!({})] {
            write_json(&path, &document).unwrap();
            let expected = pretty(&document) + "\n";
            assert!(fs::read_to_string(&path).unwrap() == expected);
        }
    }

    #[test]
    fn a_failed_write_names_the_file_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        write(&path, b"old").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let below_a_file = path.join("c/d");
        let error = write(&below_a_file, b"new").unwrap_err().to_string();
        let named = format!("{} is not a folder", path.display());
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
        // A second name of the same file, under which a change in place would show.
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
            ("device", "what is in its place is not a file"),
            ("other/folder", "a folder is in its place"),
        ] {
            let error = write(&at(name), b"new").unwrap_err().to_string();
            assert!(error.ends_with(why), "{name}: {error}");
        }
        assert!(!at("nowhere").exists() && at("device").is_symlink());
    }
}
