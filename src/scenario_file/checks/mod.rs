//! What must fit together between the sections of a scenario?
//!
//! - `sections`: mocks and their interactions, containers and addresses, tools and servers.
//! - `ready`: what `ready` sections name is there, and asking changes nothing.
//! - `expected`: what is expected can come, and anything is.

pub(super) mod expected;
pub(super) mod ready;
pub(super) mod sections;
