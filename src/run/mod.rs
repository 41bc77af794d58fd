//! One execution of one scenario: the ports it needs, the conversation it records, the limits it keeps.

mod conversation;
mod ports;
mod runner;

pub use conversation::{Conversation, Stop};
pub use ports::{Agent, Called, Observer, Progress, SetupError, Tools};
pub use runner::{Job, run};
