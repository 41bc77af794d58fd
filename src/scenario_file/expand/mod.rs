//! Expanding `${…}`: where it is allowed, and the values put there.
//!
//! - `places`: where it may stand in what no section declares by itself, and in lists of anything.
//! - `filling`: values from the environment, all that is missing of them, things in which it stands for nothing, and `{{upstream.NAME.url}}` in
//!   the configuration file of the system under test.

pub(super) mod filling;
pub(super) mod places;
