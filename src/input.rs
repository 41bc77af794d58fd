//! Files that somebody names, read only where they are files: opening a named pipe waits for whoever writes into it, and a device may
//! never end.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

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

/// Refuses a path on which a link leads out of what it lies in: out of the working directory, of the folder in there that the path begins
/// with, or of `root`. Whoever has made a checkout could otherwise have written and read what lies anywhere.
///
/// # Errors
///
/// Which link it is, and where it leads.
pub fn check_links(path: &Path, root: &Path) -> io::Result<()> {
    let here = std::env::current_dir()?;
    // The folder of what has a name alone is the one that is worked in.
    let absolute = |it: &Path| std::path::absolute(here.join(it));
    let (path, root) = (absolute(path)?, absolute(root)?);
    let below = path.strip_prefix(&here).ok().filter(|it| is_plain(it));
    let top = below.and_then(|it| it.components().next());
    let around = top.map(|it| [here.clone(), here.join(it)]);
    for folder in around.into_iter().flatten().chain([root]) {
        let above = path.ancestors().take_while(|it| **it != *folder);
        for link in above.filter(|it| it.starts_with(&folder)) {
            let Ok(target) = fs::read_link(link) else {
                continue;
            };
            let target = link.with_file_name(target);
            if !is_within(&target, &folder) {
                let link = link.strip_prefix(&here).unwrap_or(link).display();
                let to = real(&target);
                let why = format!("{link} is a link out of its folder, to {}", to.display());
                return Err(io::Error::other(why));
            }
        }
    }
    Ok(())
}

/// Whether a path goes down only.
fn is_plain(path: &Path) -> bool {
    path.components()
        .all(|it| matches!(it, Component::Normal(_)))
}

/// A path without links, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for folder in path.ancestors() {
        if let Ok(real) = folder.canonicalize() {
            let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
            // Joining nothing would add a `/`, which makes a file a folder.
            return if rest == Path::new("") {
                real
            } else {
                real.join(rest)
            };
        }
    }
    path
}

/// Whether a path leads into a folder, whatever links and `..` are on the way. Where there is nothing yet, its nearest folder that is there
/// counts; a way back up behind it leads nowhere.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    let (Ok(folder), Ok(path)) = (folder.canonicalize(), std::path::absolute(path)) else {
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
        return is_plain(rest) && real.starts_with(&folder);
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
