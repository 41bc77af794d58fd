//! Agents: one file per kind.

mod chat;
mod command;
mod listener;
mod reference;
mod replay;
mod scripted;

pub use chat::Chat;
pub use command::{Command, Prompt, Workplace, mcp_config, passes};
pub use listener::{Announce, Listener};
pub use reference::Answers;
pub use replay::Replay;
pub use scripted::Scripted;
