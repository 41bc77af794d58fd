//! The store: baselines and runs on disk, in a versioned format, never half-written; and all results in a database.

mod baselines;
mod cache;
pub mod database;
mod dialogue;
mod files;
mod marker;
mod pending;
mod read;
mod retention;
mod run_index;
mod runs;
mod state;

pub use baselines::{BASELINE, Baselines};
pub use cache::Cache;
pub use dialogue::dialogue;
pub use files::{Held, StoreError, check_links, check_writable, write, write_following_links};
pub use marker::{has_marker, mark};
pub use pending::fingerprint;
pub use read::{load, parse};
pub use retention::Retention;
pub use run_index::{RunLine, index, lines};
pub use runs::{RESULT, Runs};
pub use state::{STATE, own, set_aside};
