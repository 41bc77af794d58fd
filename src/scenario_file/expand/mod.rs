//! Where may `${…}` stand, and what is put there?
//!
//! - `places`: everything in which it may stand, visited in one way.
//! - `filling`: values from the environment, and all that is missing of them.

pub(super) mod filling;
pub(super) mod places;
