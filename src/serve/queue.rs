//! How many runs go on at once, and how many wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The runs that go on, and those that wait in the order in which they came.
pub(super) struct Queue {
    running: Arc<Semaphore>,
    concurrent: usize,
    /// How many are let in, the running ones included.
    admitted: Arc<AtomicUsize>,
    most: usize,
}

/// A place in the queue for some runs, until it is dropped.
pub(super) struct Place {
    admitted: Arc<AtomicUsize>,
    runs: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admitted.fetch_sub(self.runs, Ordering::SeqCst);
    }
}

/// There is no room for so many runs now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Queue {
    pub(super) fn new(concurrent: usize, waiting: usize) -> Self {
        let concurrent = concurrent.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            running: Arc::new(Semaphore::new(concurrent)),
            concurrent,
            admitted: Arc::default(),
            most: concurrent.saturating_add(waiting),
        }
    }

    /// How many runs one request may bring at most.
    pub(super) fn room(&self) -> usize {
        self.most
    }

    pub(super) fn concurrent(&self) -> usize {
        self.concurrent
    }

    /// How many runs go on, and how many wait.
    pub(super) fn state(&self) -> (usize, usize) {
        let running = self.concurrent - self.running.available_permits();
        let admitted = self.admitted.load(Ordering::SeqCst);
        (running, admitted.saturating_sub(running))
    }

    /// Lets so many runs in.
    ///
    /// # Errors
    ///
    /// When there is no room for all of them.
    pub(super) fn enter(&self, runs: usize) -> Result<Place, Full> {
        let entered = self
            .admitted
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |admitted| {
                let more = admitted.checked_add(runs)?;
                (more <= self.most).then_some(more)
            });
        match entered {
            Ok(_) => Ok(Place {
                admitted: Arc::clone(&self.admitted),
                runs,
            }),
            Err(_) => Err(Full),
        }
    }

    /// Waits until so many runs may go on beside each other, at most as many as may at all.
    pub(super) async fn turn(&self, beside: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = beside.clamp(1, self.concurrent);
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        Arc::clone(&self.running)
            .acquire_many_owned(wanted)
            .await
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, Queue};

    #[tokio::test]
    async fn what_has_no_room_is_refused_until_something_ends() {
        let queue = Queue::new(2, 3);
        let first = queue.enter(4).unwrap_or_else(|_| unreachable!());
        assert_eq!(queue.enter(2).err(), Some(Full));
        let second = queue.enter(1).unwrap_or_else(|_| unreachable!());
        let turn = queue.turn(9).await;
        assert_eq!(queue.state(), (2, 3));
        drop((first, turn));
        assert_eq!(queue.state(), (0, 1));
        assert!(queue.enter(4).is_ok());
        drop(second);
        assert_eq!(queue.enter(6).err(), Some(Full));
    }
}
