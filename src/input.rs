//! Files that somebody names, read only where they are files: opening a named pipe waits for whoever writes into it, and a device may
//! never end.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path};

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

/// Whether a path leads into a folder, whatever links and `..` are on the way. Where there is nothing yet, its nearest folder that is there
/// counts; a way back up behind it leads nowhere.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    for nearest in path.ancestors() {
        let Ok(real) = nearest.canonicalize() else {
            // A link that leads nowhere could lead anywhere later.
            if nearest.is_symlink() {
                return false;
            }
            continue;
        };
        let rest = path.strip_prefix(nearest).unwrap_or(&path);
        let is_plain = rest
            .components()
            .all(|it| matches!(it, Component::Normal(_)));
        return is_plain && real.starts_with(&folder);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::is_within;

    #[test]
    fn a_folder_holds_what_lies_in_it_and_no_link_leads_out_unseen() {
        let around = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (around.path().join("in"), around.path().join("out"));
        fs::create_dir_all(inside.join("deep")).expect("a folder");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(outside.join("file"), "").expect("a file");
        symlink(&outside, inside.join("link")).expect("a link");
        symlink(outside.join("nothing"), inside.join("dangling")).expect("a link");
        for (path, expected) in [
            ("in/deep", true),
            ("in/deep/../new", true),
            ("in/new/../new", false),
            ("in/new/file", true),
            ("in", true),
            ("in/../out/file", false),
            ("in/link/file", false),
            ("in/link/new", false),
            ("in/dangling", false),
            ("in/new/../../../out/file", false),
            ("inner", false),
            ("out/file", false),
        ] {
            let path = around.path().join(path);
            assert_eq!(is_within(&path, &inside), expected, "{}", path.display());
        }
        assert!(!is_within(&inside, &around.path().join("gone")));
    }
}
