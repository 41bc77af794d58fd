//! Client sessions with MCP servers, over stdio and Streamable HTTP, and the gateway through which agents have sessions of their own.
//! The only place that names rmcp's types.
//!
//! rmcp runs the protocol; what is recorded comes from the wire, because a typed model drops what it does not know.

mod child;
mod gateway;
mod http;
mod noting;
mod request;
mod session;
mod target;
mod tools;
mod wire;

pub use gateway::{GatewayPlace, open as open_gateway};
pub use target::{Launch, OnProgress, Target};
pub use tools::connect;
