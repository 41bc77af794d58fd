//! Says of a folder that this program made it, so that it may remove it again.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::files::{StoreError, write};

/// The file that says of a folder that this program made it. It holds the id of the run, so that a copy under another name is nobody's.
const MARKER: &str = ".mcp-eval-run";

/// Says of a folder that this program made it for a run of this id, and holds it for as long as the file is open, or the process lives.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) fn mark_and_hold(folder: &Path, id: &str) -> io::Result<File> {
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .open(folder.join(MARKER))?;
    // A file system without locks holds nothing; there, what goes on is among the newest.
    let _ = file.try_lock();
    // Written only now: whoever finds the file empty leaves the folder alone.
    file.write_all(id.as_bytes())?;
    Ok(file)
}

/// The same of the folder of a report, which nobody holds.
///
/// # Errors
///
/// When the file cannot be written.
pub fn mark(folder: &Path, id: &str) -> Result<(), StoreError> {
    write(&folder.join(MARKER), id.as_bytes())
}

/// A folder itself, and not a link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

/// Whether a folder below `root` was made for the run of this id.
pub(super) fn is_marked(root: &Path, name: &str, id: &str) -> bool {
    let marker = root.join(name).join(MARKER);
    let is_file = fs::symlink_metadata(&marker).is_ok_and(|it| it.is_file() && it.len() < 256);
    is_folder(&root.join(name))
        && is_file
        && fs::read_to_string(&marker).is_ok_and(|it| it.trim_end() == id)
}

/// Whether the run of this folder goes on.
pub(super) fn is_held(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(MARKER)) else {
        return false;
    };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether whoever made this folder for a run of this id, and held it, is gone. Where that cannot be known, as on a file system without
/// locks, it is not.
pub(super) fn is_let_go(folder: &Path, id: &str) -> bool {
    let marker = folder.join(MARKER);
    fs::read_to_string(&marker).is_ok_and(|it| it.trim_end() == id)
        && File::open(marker).is_ok_and(|it| it.try_lock().is_ok())
}

/// Whether a folder says of itself, truly or not, who made it.
pub fn has_marker(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(MARKER)).is_ok()
}
