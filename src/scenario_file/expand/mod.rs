//! Expanding `${…}`: where it is allowed, and the values put there.
//!
//! - `places`: everything in which it may stand, visited in one way.
//! - `filling`: values from the environment, and all that is missing of them.
//! - `filling`: things in which it stands for nothing.
//! - `filling`: `{{upstream.NAME.url}}` in the configuration file of the system under test.

pub(super) mod filling;
pub(super) mod places;
