//! How serving a mock ended.

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client disconnected, or the server was stopped.
    Closed,
    /// A fault wants the process to end with this code.
    Exit(u8),
}
