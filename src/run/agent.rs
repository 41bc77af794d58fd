//! What a run needs from whoever asks, as a trait: an agent to hold the conversation.

use futures_util::future::BoxFuture;

use crate::run::conversation::Conversation;
use crate::run::stop::Stop;

/// Who asks: drives the conversation until it has done what it meant to.
pub trait Agent: Send {
    /// # Errors
    ///
    /// A [`Stop`] when the run has to end early.
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>>;

    /// What a reader should know of how it went, once it is done.
    fn notes(&self) -> &[String] {
        &[]
    }
}
