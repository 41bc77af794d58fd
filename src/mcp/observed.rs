//! What turns out about a server while it is spoken to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// What is known of a server by having spoken to it. Clones share it, so that what one session of a run has found the next ones know.
#[derive(Debug, Clone, Default)]
pub struct Observed(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    notes: Mutex<Vec<String>>,
    is_legacy: AtomicBool,
}

impl Observed {
    /// What a reader of the run should know, in the order in which it turned out.
    pub fn notes(&self) -> Vec<String> {
        self.0.notes.lock().clone()
    }

    /// Tells the reader of the run something, once.
    pub(super) fn note(&self, note: String) {
        let mut notes = self.0.notes.lock();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Whether it speaks the older transport, although nobody says so.
    pub(super) fn is_legacy(&self) -> bool {
        self.0.is_legacy.load(Ordering::Relaxed)
    }

    pub(super) fn found_legacy(&self) {
        self.0.is_legacy.store(true, Ordering::Relaxed);
    }
}
