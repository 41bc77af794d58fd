//! The work budget of one comparison, counted in steps, and its cancellation.
//!
//! A step is about one leaf looked at, or sixteen bytes of text. What a comparison has to do once for all that both sides hold is
//! only counted. What it may try beyond – which of many elements are most like each other – is bounded by an [`allowance`]
//! in proportion to the two sides, and a little more from a reserve, so that small answers are compared without any cut.
//!
//! [`allowance`]: Work::allowance

use std::cell::Cell;
use std::fmt;

/// After so many steps, it is checked again whether the comparison is still wanted.
const PATIENCE: usize = 1 << 13;

/// What one pair of values may take out of the reserve, and all pairs of a comparison together.
const RESERVED: usize = 1 << 16;
const RESERVE: usize = 1 << 19;

/// Bytes of text that are as much work as a leaf.
const TEXT: usize = 16;

/// The work was cancelled, so it has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the comparison was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// The work of one comparison.
pub(super) struct Work<'w> {
    is_unwanted: &'w dyn Fn() -> bool,
    spent: Cell<usize>,
    /// The number of steps at which it is checked next.
    patience: Cell<usize>,
    cancelled: Cell<bool>,
    reserve: Cell<usize>,
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("spent", &self.spent)
            .field("reserve", &self.reserve)
            .finish_non_exhaustive()
    }
}

impl<'w> Work<'w> {
    /// Work that is cancelled when `is_unwanted`, which is asked every few thousand steps.
    pub(super) fn until(is_unwanted: &'w dyn Fn() -> bool) -> Self {
        Self {
            is_unwanted,
            spent: Cell::new(0),
            patience: Cell::new(0),
            cancelled: Cell::new(false),
            reserve: Cell::new(RESERVE),
        }
    }

    /// Work that is never cancelled.
    pub(super) fn uninterrupted() -> Self {
        Self::until(&|| false)
    }

    /// Another comparison begins, with a reserve of its own.
    pub(super) fn begin(&self) {
        self.reserve.set(RESERVE);
    }

    /// Counts steps; false once the work is cancelled.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let spent = self.spent.get().saturating_add(steps);
        self.spent.set(spent);
        // Once for each full stretch of steps, so that the number of checks depends only on the number of steps.
        while spent >= self.patience.get() && !self.cancelled.get() {
            self.patience.set(self.patience.get() + PATIENCE);
            self.cancelled.set((self.is_unwanted)());
        }
        !self.cancelled.get()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// The result, unless the work was cancelled.
    pub(super) fn finish<T>(&self, result: T) -> Result<T, Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(result)
        }
    }

    /// How many steps may be tried with two values of this weight together. Call [`Work::settle`] when that is done.
    pub(super) fn allowance(&self, weight: usize) -> usize {
        weight / 2 + self.reserve.get().min(RESERVED)
    }

    /// Takes what was spent since then beyond what the weight pays for out of the reserve.
    pub(super) fn settle(&self, since: usize, weight: usize) {
        // Every leaf is looked at in any case, about twice, which costs nothing of the reserve.
        let beyond = (self.spent.get() - since).saturating_sub(3 * weight);
        self.reserve.set(self.reserve.get().saturating_sub(beyond));
    }

    pub(super) fn spent(&self) -> usize {
        self.spent.get()
    }
}

/// How much work a text is.
pub(super) fn of_text(text: &str) -> usize {
    1 + text.len() / TEXT
}
