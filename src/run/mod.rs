//! One execution of one scenario: the ports it needs, the conversation it records, the limits it keeps.

mod again;
mod agent;
mod budget;
mod call_recorder;
mod clock;
mod conversation;
mod patience;
mod ports;
pub mod ready;
mod runner;
mod stop;
mod together;
mod upstream;

pub use again::{AskAgain, ask_again};
pub use agent::Agent;
pub use budget::Budget;
pub use call_recorder::{CallRecorder, EndedCall, Endpoint, PendingCall};
pub use conversation::{Announced, Conversation, ReportedRequest, WantedCall};
pub use patience::Patience;
pub use ports::{Called, Connection, Gateway, Listed, Observer, Progress, Tools, Unlisted};
pub use runner::{Job, Ran, not_begun, run};
pub use stop::{SetupError, Stop};
pub use together::{Part, Together};
