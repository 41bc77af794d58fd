//! Who asks: one file per kind of agent.

mod reference;
mod scripted;

pub use scripted::Scripted;
