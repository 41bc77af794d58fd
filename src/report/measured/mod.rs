//! What is shown of measurements besides their page: by themselves, and among the results of a suite.

pub mod junit;
pub mod markdown;
pub mod terminal;
mod words;

pub use words::{lines, words};
