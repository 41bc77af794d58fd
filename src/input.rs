//! Files that somebody names, read only where they are files: opening a named pipe waits for whoever writes into it, and a device may
//! never end.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The bytes of a file.
///
/// # Errors
///
/// When it cannot be read, and at once when it is a named pipe, a socket or a device.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    check(path)?;
    fs::read(path)
}

/// The text of a file.
///
/// # Errors
///
/// As [`read`], and when it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    check(path)?;
    fs::read_to_string(path)
}

fn check(path: &Path) -> io::Result<()> {
    match special(fs::metadata(path)?.file_type()) {
        None => Ok(()),
        Some(kind) => {
            let why = format!("it is {kind}, not a regular file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
    }
}

/// What something is that can be read, but is neither a file nor a folder.
fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device")
    } else {
        None
    }
}

/// Whether there is something at a path that can be named as a file, even if it then cannot be read.
pub fn is_no_folder(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_dir())
}
