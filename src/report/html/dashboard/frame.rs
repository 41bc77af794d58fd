//! What the pages of the dashboard have in common, and what it puts around a page of the report.

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

/// A run that waits for review.
#[derive(Debug)]
pub struct Pending {
    pub scenario: String,
    pub name: String,
    /// Where it is shown beside its baseline; `None` where it cannot be read.
    pub page: Option<String>,
    /// The id of the run.
    pub run: String,
    /// What else changed in it, besides the cause that it is shown with.
    pub also: Vec<String>,
    /// Why it must not be accepted unseen: baseline or scenario have changed since.
    pub moved: Option<String>,
    /// What failed in it by itself.
    pub failing: Vec<String>,
    pub acceptable: bool,
}

/// The runs that wait for review for one cause.
#[derive(Debug)]
pub struct PendingCause {
    /// The cause in a sentence.
    pub words: String,
    pub fails: bool,
    pub runs: Vec<Pending>,
}
