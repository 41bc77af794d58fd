//! What all pages of the dashboard have in common.

/// What all pages of the dashboard have in common.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// What forms bring with them, so that they come from our own pages.
    pub csrf: &'a str,
    /// Whether there is a session to end.
    pub signed_in: bool,
    /// What came of what was asked for before.
    pub said: Option<&'a str>,
}
