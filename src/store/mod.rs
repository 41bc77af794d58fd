//! The store: baselines and runs on disk, in a versioned format, never half-written; and all results in a database.

mod baselines;
mod cache;
mod catalogues;
pub mod database;
mod dialogue;
mod files;
mod read;
mod retention;
mod runs;
mod settle;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use baselines::fingerprint;
pub use baselines::{BASELINE, Baselines};
pub use cache::Cache;
pub use dialogue::dialogue;
pub use files::{
    Held, StoreError, check_links, check_writable, make_unversioned, write, write_following_links,
    write_json,
};
pub use read::{load, parse};
pub use retention::Retention;
pub use runs::{CURRENT, RESULT, RunLine, Runs, has_marker, index, lines, mark};

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
