//! Client sessions with MCP servers, over stdio, Streamable HTTP and the older HTTP with SSE, and the gateway through which agents have sessions of their own.
//! The only place that names rmcp's types.
//!
//! rmcp runs the protocol; what is recorded comes from the wire, because a typed model drops what it does not know.

mod answering;
mod child;
mod events;
mod gateway;
mod headers;
mod http;
mod legacy;
mod link;
mod mend;
mod noting;
mod observed;
mod problem;
mod request;
mod session;
mod target;
mod tools;
mod wire;

pub use gateway::{GatewayFrom, GatewayPlace, SentHeaders, open as open_gateway, open_behind};
pub use observed::Observed;
pub use target::{Launch, OnProgress, Target};
pub use tools::connect;
