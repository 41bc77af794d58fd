//! One client's session: what is known of the client, its requests under way, and its outbox.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::mock::client::Client;
use crate::mock::wire::Id;

/// The most messages kept for a client that does not fetch them; the oldest are dropped.
const MAX_WAITING: usize = 1000;

/// One client and what is under way with it.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) client: Mutex<Client>,
    pub(super) last_use: AtomicU64,
    /// Messages that belong to no request.
    pub(super) outbox: Outbox,
    /// Our requests that wait for the client's answer.
    pub(super) asked: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>,
    pub(super) last_number: AtomicU64,
    /// The client's requests that are being answered.
    pub(super) running: Mutex<HashMap<Id, CancellationToken>>,
    /// Cancelled when another stream fetches what lies in the outbox.
    stream: Mutex<CancellationToken>,
    /// Cancelled when the session has ended.
    pub(super) ended: CancellationToken,
}

/// Messages that wait to be fetched.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<VecDeque<String>>,
    arrived: Notify,
}

impl Session {
    /// Makes the caller the one reader of the outbox. The token is cancelled when another reader takes over, or the session
    /// ends.
    pub(super) fn take_over(&self) -> CancellationToken {
        let ours = self.ended.child_token();
        std::mem::replace(&mut *self.stream.lock(), ours.clone()).cancel();
        ours
    }

    /// Cancels the request that a `notifications/cancelled` names, if it is being answered.
    pub(super) fn cancel(&self, params: &Value) {
        let Some(id) = params.get("requestId").and_then(Id::of) else {
            return;
        };
        if let Some(running) = self.running.lock().get(&id) {
            running.cancel();
        }
    }
}

impl Outbox {
    pub(super) fn put(&self, message: String) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(message);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// The next message, once there is one.
    pub(super) async fn next(&self) -> String {
        loop {
            if let Some(message) = self.waiting.lock().pop_front() {
                return message;
            }
            self.arrived.notified().await;
        }
    }
}
