//! The mock MCP server: a declaration answers requests, a thin front carries them.
//!
//! It works on plain JSON rather than on a typed server, so that it can say exactly what is declared.

mod answers;
mod server;
mod stdio;

pub use server::Mock;
pub use stdio::serve_stdio;
