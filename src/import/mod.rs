//! Recordings of other tools as trajectories of ours.

mod blocks;
mod clock;
mod error;
mod original;
mod python;
mod steps;
mod tools;

pub use error::ImportError;
pub use original::original;
