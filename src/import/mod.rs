//! Recordings of other tools as trajectories of ours.

mod original;
mod unwrap;

pub use original::{ImportError, original};
