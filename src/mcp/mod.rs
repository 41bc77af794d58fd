//! Client sessions with MCP servers, over stdio and Streamable HTTP. The only place that names rmcp's types.
//!
//! rmcp runs the protocol; what is recorded comes from the wire, because a typed model drops what it does not know.

mod child;
mod http;
mod request;
mod session;
mod tools;
mod wire;

pub use child::ChildCommand;
pub use tools::{Launch, Target, connect};
