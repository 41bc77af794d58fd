//! Problems in what people wrote by hand: it cannot be read, or can have no effect.
//!
//! - `rules`: the rules of a scenario.
//! - `learned`: what a baseline says was learned of its answers.

pub(super) mod learned;
pub(super) mod rules;
