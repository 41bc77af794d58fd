//! The cards of some of the causes, as many as the index has room for.

use crate::html::cause::Card;
use model::published::result::{Cause, ResultDocument};

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
        let causes = || result.causes.iter().filter(|it| is_meant(it));
        Self {
            shown: causes()
                .take(most)
                .map(|it| Card::on_index(it, result))
                .collect(),
            more: causes().count().saturating_sub(most),
        }
    }
}
