//! What the measurements of searches and of scanners came to: their `report.json`, which a suite's result holds, too.
//!
//! Numbers that are not known are `null`, never 0. Within a version members may be added; a member never changes its meaning and never goes
//! away.

mod kind;
pub mod retrieval;
pub mod security;
mod status;

pub use self::kind::Measured;
pub use self::status::{FORMAT_VERSION, Status};
