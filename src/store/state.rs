//! The folder where the program keeps what is its own: runs, the results database, what judges have answered.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder, in the working directory.
pub const STATE: &str = ".mcp-eval";

/// The folder that is used in its place, once there is one.
static ASIDE: OnceLock<PathBuf> = OnceLock::new();

/// Where something of this name lies among what is the program's own.
pub fn own(name: &str) -> PathBuf {
    let folder = ASIDE.get().map_or(Path::new(STATE), PathBuf::as_path);
    folder.join(name)
}

/// From now on, keeps what is the program's own in this folder, and leaves [`STATE`] alone. Only the first call counts.
pub fn set_aside(folder: PathBuf) {
    let _ = ASIDE.set(folder);
}
