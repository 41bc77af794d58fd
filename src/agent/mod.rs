//! Who asks: one file per kind of agent.

mod reference;
mod scripted;

pub use reference::fill_references;
pub use scripted::Scripted;
