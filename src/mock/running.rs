//! A request whose answer takes time: it is played to its end, event by event.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::mock::exchange::{Event, Exchange};
use crate::mock::faults::{Delivery, deliver};
use crate::mock::service::Service;
use crate::mock::session::Session;
use crate::mock::wire;

/// How long a client may take to answer a request of ours.
const ASK_TIMEOUT: Duration = Duration::from_secs(300);

/// What goes back over time.
#[derive(Debug)]
pub(super) enum Outgoing {
    Message(String),
    Last(Delivery),
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) service: Arc<Service>,
    pub(super) session: Arc<Session>,
    pub(super) exchange: Exchange,
    pub(super) event: Event,
    pub(super) cancelled: CancellationToken,
}

impl Running {
    /// Plays the exchange to its end. It ends early, without an answer, when it is cancelled or the client is gone.
    pub(super) async fn drive(mut self, out: mpsc::Sender<Outgoing>) {
        let cancelled = self.cancelled.clone();
        tokio::select! {
            () = self.play(&out) => {}
            () = cancelled.cancelled() => {}
            () = out.closed() => {}
        }
        self.session.running.lock().remove(&self.exchange.id);
    }

    async fn play(&mut self, out: &mpsc::Sender<Outgoing>) {
        loop {
            let placeholder = Event::Wait(Duration::ZERO);
            let answer = match std::mem::replace(&mut self.event, placeholder) {
                Event::Wait(wait) => {
                    tokio::time::sleep(wait).await;
                    None
                }
                Event::Message(message) => {
                    let _ = out.send(Outgoing::Message(message)).await;
                    None
                }
                Event::Announce(news) => {
                    self.service.announce(&news);
                    None
                }
                Event::Ask { method, params } => Some(self.ask(out, method, &params).await),
                Event::Answer { id, reply, fault } => {
                    let _ = out.send(Outgoing::Last(deliver(&id, reply, fault))).await;
                    return;
                }
            };
            let mut core = self.service.core();
            let client = self.session.client.lock();
            self.event = core.advance(&client, &mut self.exchange, answer);
        }
    }

    async fn ask(
        &self,
        out: &mpsc::Sender<Outgoing>,
        method: &str,
        params: &Value,
    ) -> Result<Value, Value> {
        let number = self.session.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        let (answered, answer) = oneshot::channel();
        self.session.asked.lock().insert(number, answered);
        let _ = out
            .send(Outgoing::Message(wire::request(number, method, params)))
            .await;
        let answer = tokio::time::timeout(ASK_TIMEOUT, answer).await;
        self.session.asked.lock().remove(&number);
        let no_answer = || Err(wire::error(wire::SERVER_ERROR, "no answer came"));
        answer.ok().and_then(Result::ok).unwrap_or_else(no_answer)
    }
}
