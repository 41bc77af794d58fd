//! One execution of one scenario: the ports it needs, the conversation it records, the limits it keeps.

mod again;
mod busy;
mod call_recorder;
mod conversation;
mod limits;
mod ports;
pub mod ready;
mod runner;
mod upstream;

pub use again::{AskAgain, ask_again};
pub use busy::Patience;
pub use call_recorder::{CallRecorder, EndedCall, Endpoint, PendingCall};
pub use conversation::{Announced, Conversation, ReportedRequest, WantedCall};
pub use limits::{Budget, SetupError, Stop};
pub use ports::{
    Called, Connection, Gateway, Listed, Observer, Part, Progress, Together, Tools, Unlisted,
};
pub use runner::{Agent, Driving, Job, Ran, not_begun, run};
