//! What is kept on disk: baselines and runs, in a versioned format, never half-written.

mod baselines;
mod dialogue;
mod files;
mod format;
mod runs;

pub use baselines::Baselines;
pub use dialogue::dialogue;
pub use files::{StoreError, write};
pub use format::{FORMAT_VERSION, json_schema, load, parse, to_json};
pub use runs::Runs;
