//! Servers of a scenario, and the proof that they can be asked.
//!
//! - `server`: a section of `servers`, and which of them a scenario names. `upstream`: a section of `upstreams`.
//! - `client_config`: servers of the configuration of an MCP client, also those for the folder somebody works in, and what clients write
//!   there for variables.
//! - `docker`: the section `docker`. `container`: mounts, and when a container is replaced.
//! - `source`: the section `source`, and what is done before something is started or built.
//! - `ready`: the sections `ready`. `hook`: the sections `before` and `after`.

pub(super) mod client_config;
pub(super) mod container;
pub(super) mod docker;
pub(super) mod hook;
pub(super) mod ready;
pub(super) mod server;
pub(super) mod source;
pub(super) mod upstream;

pub use self::client_config::{
    ClientConfigError, ClientServers, UnreadServer, client_config, client_servers, project_folders,
};
pub use self::container::{
    Keep, Mount, MountSource, ONLY_CONTAINER, Reset, UNSEEN, place_in_memory,
};
pub use self::docker::{Build, Container, Image};
pub use self::hook::Hook;
pub use self::ready::{AtPath, Expected, HealthPage, PageAddress, Ready, ReadyCall, Until};
pub use self::server::{HttpStyle, Protocol, Server, Start, Transport};
pub use self::source::{PREPARE_TIMEOUT, Prepare, Source, Version};
