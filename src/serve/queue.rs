//! The queue: how many runs go on at once, how many wait, and what only one of them may use at a time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::scenario_file::Scenario;
use crate::suite::{self, Settings};

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

/// Who has what, and who waits for it.
pub(super) struct Sharing {
    asked: Arc<Mutex<VecDeque<Asked>>>,
    /// Sent to whenever somebody is done.
    done: watch::Sender<()>,
}

struct Asked {
    number: u64,
    things: BTreeSet<String>,
}

/// What a request has, or waits for, until it is dropped.
pub(super) struct Share {
    asked: Arc<Mutex<VecDeque<Asked>>>,
    done: watch::Sender<()>,
    number: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.asked.lock().retain(|it| it.number != self.number);
        self.done.send_replace(());
    }
}

impl Default for Sharing {
    fn default() -> Self {
        Self {
            asked: Arc::default(),
            done: watch::channel(()).0,
        }
    }
}

impl Sharing {
    /// Waits until nobody who has asked before has any of what these scenarios share with others. All of it is had at once, so that no two
    /// requests wait for each other.
    pub(super) async fn turn(&self, scenarios: &[Scenario], settings: &Settings) -> Share {
        let things = scenarios.iter().filter(|it| it.enabled);
        let things: BTreeSet<String> = things.flat_map(|it| suite::shared(it, settings)).collect();
        self.wait(things).await
    }

    async fn wait(&self, things: BTreeSet<String>) -> Share {
        let mut done = self.done.subscribe();
        let share = self.ask(things);
        while !self.is_first(share.number) {
            // The sender is here, so there always is a value.
            let _ = done.changed().await;
        }
        share
    }

    fn ask(&self, things: BTreeSet<String>) -> Share {
        let mut asked = self.asked.lock();
        let number = asked.back().map_or(0, |it| it.number + 1);
        asked.push_back(Asked { number, things });
        Share {
            asked: Arc::clone(&self.asked),
            done: self.done.clone(),
            number,
        }
    }

    /// Whether nobody who asked before wants any of the same.
    fn is_first(&self, number: u64) -> bool {
        let asked = self.asked.lock();
        let Some(own) = asked.iter().find(|it| it.number == number) else {
            return true;
        };
        let mut before = asked.iter().take_while(|it| it.number != number);
        before.all(|it| it.things.is_disjoint(&own.things))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::{Full, Queue, Share, Sharing};

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

    fn things(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    /// What somebody gets who does not wait.
    async fn at_once(sharing: &Sharing, names: &[&str]) -> Option<Share> {
        let waited = tokio::time::timeout(Duration::ZERO, sharing.wait(things(names)));
        waited.await.ok()
    }

    #[tokio::test]
    async fn what_somebody_has_is_waited_for_in_the_order_of_asking() {
        let sharing = Sharing::default();
        let first = sharing.wait(things(&["a", "b"])).await;
        assert!(at_once(&sharing, &["b", "c"]).await.is_none());
        // Somebody who gave up waiting stands in nobody's way.
        let other = at_once(&sharing, &["c"]).await.unwrap();
        assert!(at_once(&sharing, &[]).await.is_some());
        // Somebody who waits for two things keeps later ones from the one that is free, so that it gets both some day.
        let second = sharing.wait(things(&["a", "d"]));
        tokio::pin!(second);
        let soon = |it| tokio::time::timeout(Duration::ZERO, it);
        assert!(soon(second.as_mut()).await.is_err());
        assert!(at_once(&sharing, &["d"]).await.is_none());
        drop(first);
        let second = second.await;
        assert!(at_once(&sharing, &["d"]).await.is_none());
        drop((second, other));
        assert!(at_once(&sharing, &["a", "b", "c", "d"]).await.is_some());
    }
}
