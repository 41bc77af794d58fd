//! Who asks: one file per kind of agent.

mod reference;
mod replay;
mod scripted;

pub use reference::fill_references;
pub use replay::Replay;
pub use scripted::Scripted;
