//! Where a change stands among the others of a page.

use askama::Template;

/// Where a change stands among the others.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "scenario/turn.html")]
pub(super) struct Turn {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) all: usize,
    /// The blocks of the changes before and after.
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
}
