//! Runs that wait for review.

/// A run that waits for review.
#[derive(Debug)]
pub struct Pending {
    pub scenario: String,
    pub name: String,
    /// Where it is shown beside its baseline; `None` where it cannot be read.
    pub page: Option<String>,
    /// The id of the run.
    pub run: String,
    /// What came of the comparison, in a sentence.
    pub words: String,
    pub fails: bool,
    /// Why it must not be accepted unseen: baseline or scenario have changed since.
    pub moved: Option<String>,
    /// What failed in it by itself.
    pub failing: Vec<String>,
    pub acceptable: bool,
}
