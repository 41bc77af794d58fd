//! The cards of some of the causes, as many as the index has room for.

use std::cmp::Reverse;

use crate::html::cause::Card;
use model::published::result::{Cause, CauseKind, ResultDocument};

/// Causes, and how many more there are than the page shows.
pub(super) struct Cards<'a> {
    pub(super) shown: Vec<Card<'a>>,
    pub(super) more: usize,
}

impl<'a> Cards<'a> {
    pub(super) fn new(
        result: &'a ResultDocument,
        is_meant: impl Fn(&Cause) -> bool,
        most: usize,
    ) -> Self {
        let mut causes: Vec<&Cause> = result.causes.iter().filter(|it| is_meant(it)).collect();
        causes.sort_by_key(|it| (!is_rename(it), !it.fails, Reverse(extent(it))));
        let more = causes.len().saturating_sub(most);
        let shown = causes.into_iter().take(most);
        Self {
            shown: shown.map(|it| Card::on_index(it, result)).collect(),
            more,
        }
    }
}

/// Whether it is another name of a tool that is called: whoever reads of all that follows from that reads of it first.
fn is_rename(cause: &Cause) -> bool {
    let is_name = cause.path.as_deref() == Some("name");
    cause.kind == Some(CauseKind::Drift) && is_name && cause.calls > 0
}

/// How much it concerns: so many scenarios, and so many calls.
fn extent(cause: &Cause) -> (usize, usize) {
    (cause.scenarios.len(), cause.calls)
}
