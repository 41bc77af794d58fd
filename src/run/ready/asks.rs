//! How servers are asked whether they are ready, as a trait.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::model::catalogue::Catalogue;
use crate::model::ready::HealthPage;
use crate::model::trajectory::Outcome;
use crate::run::ports::{Tools, Unlisted};

/// How servers are asked whether they are ready.
pub trait Asks: Send + Sync {
    /// Opens the sessions, or takes those that the run will use, and lists the tools anew, all within `limit`.
    fn open(&self, limit: Duration) -> BoxFuture<'_, Result<Box<dyn Tools>, Unlisted>>;

    /// Asks for a page.
    ///
    /// # Errors
    ///
    /// Why there is no answer yet, in a fragment that can stand in brackets.
    fn page<'a>(
        &'a self,
        page: &'a HealthPage,
        limit: Duration,
    ) -> BoxFuture<'a, Result<PageAnswer, String>>;

    /// Whether two answers to one request say the same, apart from what varies by nature.
    fn is_same(&self, before: &Outcome, after: &Outcome) -> bool;

    /// Whether a tool that is not listed is, by what was accepted, listed under another name.
    fn is_renamed(&self, _tool: &str, _listed: &Catalogue) -> bool {
        false
    }

    /// The name among those listed that is most like that of a tool which is not.
    fn nearest(&self, _tool: &str, _listed: &Catalogue) -> Option<String> {
        None
    }

    /// The text without secrets.
    fn clean(&self, text: &str) -> String;

    /// Reports what is being waited for, and for how long so far.
    fn waiting(&self, what: &str, elapsed: Duration);
}

/// What a page answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAnswer {
    /// Its whole address.
    pub url: String,
    pub status: u16,
    pub body: String,
}
