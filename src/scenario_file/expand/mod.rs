//! Where may `${…}` stand, and what is put there?
//!
//! - `places`: everything in which it may stand, visited in one way.
//! - `filling`: values from the environment, and all that is missing of them.
//! - `literal`: things in which it stands for nothing.
//! - `config`: `{{upstream.NAME.url}}` in the configuration file of the system under test.

pub(super) mod config;
pub(super) mod filling;
pub(super) mod literal;
pub(super) mod places;
