//! Servers of a scenario, and the proof that they can be asked.
//!
//! - `server`: a section of `servers`. `client_config`: servers of the configuration of an MCP client.
//!   `client_config`: what clients write there for variables.
//!   `client_config`: those of it that are for the folder somebody works in.
//! - `server`: a section of `upstreams`.
//! - `server`: which of them a scenario names.
//! - `container`: the section `docker`.
//! - `server`: the section `source`, and what is done before something is started or built.
//! - `ready`: the sections `ready`. `server`: the sections `before` and `after`.

pub(super) mod client_config;
pub(super) mod container;
pub(super) mod ready;
pub(super) mod server;
