//! The older transport over HTTP: a GET opens an event stream, whose first event names the endpoint that takes messages by POST; the answers
//! come on the stream.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>
//!
//! | file | what happens there |
//! |---|---|
//! | `open` | opens the stream and waits for the endpoint |
//! | `inbox` | the messages of the server, as they come |
//! | `outbox` | the messages to the server |
//! | `transport` | both, as a connection for rmcp |
//! | `error` | what can go wrong |

mod error;
mod inbox;
mod open;
mod outbox;
mod transport;

pub(super) use self::error::LegacyError;
pub(super) use self::inbox::Inbox;
pub(super) use self::open::open;
pub(super) use self::outbox::{Outbox, taking};
pub(super) use self::transport::{LegacyTransport, StreamEnd};
