//! Locks that outlast a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder has panicked still guards usable data: all changes under our locks are made in one step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
