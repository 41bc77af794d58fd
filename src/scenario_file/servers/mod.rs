//! What servers are there, and what proves that they can be asked?
//!
//! - `server`: a section of `servers`. `client_config`: servers of the configuration of an MCP client.
//!   `client_texts`: what clients write there for variables.
//!   `projects`: those of it that are for the folder somebody works in.
//! - `upstream`: a section of `upstreams`.
//! - `named`: which of them a scenario names.
//! - `container`, `mounts`: the section `docker`.
//! - `source`: the section `source`, and what is done before something is started or built.
//! - `ready`: the sections `ready`. `hook`: the sections `before` and `after`.

pub(super) mod client_config;
mod client_texts;
pub(super) mod container;
pub(super) mod hook;
pub(super) mod mounts;
pub(super) mod named;
pub(super) mod projects;
pub(super) mod ready;
pub(super) mod server;
pub(super) mod source;
pub(super) mod upstream;
