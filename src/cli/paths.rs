//! Paths that can be compared with each other, and shown.

use std::path::{Path, PathBuf};

/// Where something is named, without links in the folders above it.
pub(super) fn named(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}

/// A path without links, as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
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

/// A path as it is seen from the folder that the program was started in.
pub(super) fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}
