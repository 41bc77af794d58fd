//! What is kept on disk: baselines and runs, in a versioned format, never half-written.

mod baselines;
mod dialogue;
mod files;
mod read;
mod runs;

pub use baselines::Baselines;
pub use dialogue::dialogue;
pub use files::{StoreError, check_writable, write};
pub use read::{load, parse};
pub use runs::Runs;
