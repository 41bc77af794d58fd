//! Paths that can be compared with each other, and shown.

use std::path::{Path, PathBuf};

use crate::input::real;

/// Where something is named, without links in the folders above it.
pub(super) fn named(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}

/// A path as it is seen from the folder that the program was started in.
pub(super) fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}
