//! Client sessions with MCP servers, over stdio, Streamable HTTP and the older HTTP with SSE, and the gateway through which agents have sessions of their own.
//! The only place that names rmcp's types.
//!
//! rmcp runs the protocol; what is recorded comes from the wire, because a typed model drops what it does not know.

mod answering;
mod child;
mod era;
mod events;
mod gateway;
mod http;
mod legacy;
mod link;
mod mend;
mod request;
mod session;
mod target;
mod transport_error;
mod wire;

pub use gateway::{GatewayFrom, GatewayPlace, SentHeaders, open as open_gateway, open_behind};
pub use session::connect;
pub use target::{Launch, Observed, OnProgress, Target};
