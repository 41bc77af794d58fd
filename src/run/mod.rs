//! One execution of one scenario: the ports it needs, the conversation it records, the limits it keeps.

mod again;
mod budget;
mod clock;
mod conversation;
mod overheard;
mod ports;
pub mod ready;
mod runner;
mod together;

pub use again::{AskAgain, ask_again};
pub use budget::Budget;
pub use conversation::{Announced, Conversation, Stop, ToldRequest, Unsendable, WantedCall};
pub use overheard::{Endpoint, Heard, Hearing, Overheard};
pub use ports::{Agent, Called, Observer, Progress, SetupError, Tools, Unlisted};
pub use runner::{Job, not_begun, run};
pub use together::{Part, Together};
