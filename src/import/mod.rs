//! Recordings of other tools as trajectories of ours.

mod blocks;
mod clock;
mod original;
mod python;
mod steps;
mod tools;

pub use original::{ImportError, original};
