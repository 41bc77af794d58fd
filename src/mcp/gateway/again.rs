//! Reads that are asked again: by the gateway itself and in the client's session, but with an id of its own, so that no client ever sees
//! any of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::model::{Answer, Catalogue, Outcome, ToolCall};
use crate::run::{AskAgain, EndedCall, ask_again};

/// Sends a request to the server in a client's session; `None` where no outcome came that is the server's doing.
pub(super) type Asker = Arc<dyn Fn(Value) -> BoxFuture<'static, Option<Outcome>> + Send + Sync>;

/// What is asked again of one server.
#[derive(Debug)]
pub(super) struct Again {
    wanted: AskAgain,
    catalogue: Arc<Catalogue>,
    stop: CancellationToken,
    /// How many reads are being asked again, or wait for that.
    under_way: watch::Sender<usize>,
    /// How many calls have come, each of which ends the waiting of the reads before it.
    calls: watch::Sender<u64>,
    /// How many effects have begun.
    effects: AtomicU64,
    /// The id of the next request counts down from here: clients count up.
    next_id: AtomicI64,
}

/// A read under way, to be asked again once it is answered.
pub(super) struct Read {
    request: Value,
    call: ToolCall,
    asker: Asker,
    /// How many effects had begun when it did; `None` where one was still under way.
    effects: Option<u64>,
}

impl Again {
    pub(super) fn new(
        wanted: AskAgain,
        catalogue: Arc<Catalogue>,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            wanted,
            catalogue,
            stop,
            under_way: watch::Sender::new(0),
            calls: watch::Sender::new(0),
            effects: AtomicU64::new(0),
            next_id: AtomicI64::new(i64::from(i32::MAX)),
        })
    }

    /// A call begins with this request; an effect is not asked again. `amid_effects` where one is under way already.
    pub(super) fn begins(
        &self,
        (server, request): (&str, &Value),
        asker: Asker,
        amid_effects: bool,
    ) -> Option<Read> {
        let text = |pointer| request.pointer(pointer).and_then(Value::as_str);
        let arguments = request.pointer("/params/arguments");
        let call = ToolCall::new(
            Some(server.to_owned()),
            text("/params/name").unwrap_or_default().to_owned(),
            (arguments.and_then(Value::as_object).cloned()).unwrap_or_default(),
            Outcome::Answer(Answer::default()),
        );
        if !self.wanted.only_reads(&call, &self.catalogue) {
            self.effects.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        Some(Read {
            request: request.clone(),
            call,
            asker,
            effects: (!amid_effects).then(|| self.effects.load(Ordering::SeqCst)),
        })
    }

    /// Asks a read again that was answered with `first`, if that is wanted. From here on it is under way: whether it is wanted is found out
    /// meanwhile, so that the client has its answer at once.
    pub(super) fn ask(self: &Arc<Self>, read: Read, first: Outcome, ended: EndedCall) {
        if first.is_failure() {
            return;
        }
        self.under_way.send_modify(|it| *it += 1);
        let mut calls = self.calls.subscribe();
        let under_way = UnderWay(Arc::clone(self));
        tokio::spawn(async move {
            let again = &under_way.0;
            let Read {
                request,
                call,
                asker,
                effects,
            } = read;
            let answered = ToolCall {
                outcome: first,
                ..call
            };
            if !again.wanted.wants(&answered) {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(again.wanted.apart) => {}
                _ = calls.changed() => {}
                () = again.stop.cancelled() => return,
            }
            let since = Instant::now();
            let ask = || asker(again.with_own_id(&request));
            let disturbed = || effects != Some(again.effects.load(Ordering::SeqCst));
            let asking = ask_again(&answered.outcome, ask, disturbed);
            let outcomes = again.stop.run_until_cancelled(asking).await;
            ended.again(outcomes.unwrap_or_default(), since);
        });
    }

    /// Waits until nothing is being asked again, because the next call is to begin: what waits to be asked again is asked now.
    pub(super) async fn finish_before_call(&self) {
        self.calls.send_modify(|it| *it += 1);
        self.wait_until_idle().await;
    }

    /// Waits until nothing is being asked again.
    pub(super) async fn wait_until_idle(&self) {
        // Cannot fail: the sender is a field of this.
        let _ = self.under_way.subscribe().wait_for(|it| *it == 0).await;
    }

    /// The same request with an id of ours, of the type that the client uses. It asks for no progress notifications.
    fn with_own_id(&self, request: &Value) -> Value {
        let id = self.next_id.fetch_sub(1, Ordering::Relaxed);
        let mut request = request.clone();
        request["id"] = match &request["id"] {
            Value::Number(_) => json!(id),
            _ => json!(format!("mcp-eval-{id}")),
        };
        let meta = request.pointer_mut("/params/_meta");
        if let Some(meta) = meta.and_then(Value::as_object_mut) {
            meta.shift_remove("progressToken");
        }
        request
    }
}

/// One of the reads under way.
struct UnderWay(Arc<Again>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|it| *it -= 1);
    }
}

impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Read").field(&self.request).finish()
    }
}
