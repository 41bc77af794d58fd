//! Servers over HTTP that are started for one run, and ended after it.
//!
//! - `port`: free ports, each for one server at a time.
//! - `server`: one server from its start to its end.
//! - `servers`: all of a run.

mod port;
mod server;
mod servers;

pub(crate) use self::port::Port;
pub(crate) use self::server::Program;
pub(crate) use self::servers::StartedServers;
