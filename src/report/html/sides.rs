//! The two columns of a page, as every part of it needs to know them.

/// The two columns of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    /// The heading of the left column; `None` where only the run is shown.
    pub(super) left_title: Option<&'static str>,
    pub(super) right_title: &'static str,
    /// The left column is what was expected, and no baseline.
    pub(super) is_expectation: bool,
    /// Nothing lies beside the page.
    pub(super) is_alone: bool,
}
