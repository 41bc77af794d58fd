//! The trait of an agent, which holds the conversation of a run.

use futures_util::future::BoxFuture;

use crate::run::conversation::Conversation;
use crate::run::stop::Stop;

/// Drives the conversation until the agent is done.
pub trait Agent: Send {
    /// # Errors
    ///
    /// A [`Stop`] when the run has to end early.
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>>;

    /// Notes for the reader of the results, complete once the agent is done.
    fn notes(&self) -> &[String] {
        &[]
    }
}
