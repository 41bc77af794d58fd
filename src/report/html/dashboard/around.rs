//! What the dashboard puts around a page of the report.

use super::frame::Frame;
use super::pending::Pending;

/// What the dashboard puts around a page of the report.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub frame: Frame<'a>,
    /// Whether the index of the run lies beside the page.
    pub has_index: bool,
    /// Where the history of the scenario is.
    pub history: Option<&'a str>,
    /// The run waits for review.
    pub decide: Option<&'a Pending>,
    /// Why nobody may decide on it here, and how they may.
    pub undecidable: Option<&'a str>,
}
