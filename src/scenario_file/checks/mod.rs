//! Checks of what must fit together between the sections of a scenario.
//!
//! - `sections`: mocks and their interactions, containers and servers, tools and servers; what is expected can come, and anything is.
//! - `evaluators`: evaluators can judge what they are declared to judge.
//! - `references`: what a `${…}` stands for is provided where it stands, and what `{{calls.…}}` stands for before.
//! - `upstreams`: servers behind the ones under test, and who is given their addresses, and what criteria say of them.
//! - `ready`: what `ready` sections name is there, and asking changes nothing.

mod evaluators;
pub(super) mod ready;
pub(super) mod references;
pub(super) mod sections;
pub(super) mod upstreams;
