//! A message of a client, from its arrival to what is delivered, also where the answer takes time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::mock::exchange::{Delivery, Event, Exchange, refuse};
use crate::mock::playing::Request;
use crate::mock::service::{Service, Session};
use crate::mock::subscription::Subscription;
use crate::mock::wire::{self, Id, Incoming, SERVER_ERROR};

/// The most requests of one client that are being answered at once.
const MAX_RUNNING: usize = 1000;

/// What to do about a message of a client.
#[derive(Debug)]
pub(super) enum Received {
    /// Nothing goes back.
    Nothing,
    /// The text is no message; this error goes back.
    Refused(String),
    /// This goes back at once.
    Now(Delivery),
    /// An answer that takes time goes back.
    Later(Box<Running>),
}

impl Service {
    /// Takes a message as it came over the wire.
    pub(super) fn receive(self: &Arc<Self>, session: &Arc<Session>, bytes: &[u8]) -> Received {
        self.handle(session, Incoming::read(bytes))
    }

    /// Takes a message.
    pub(super) fn handle(self: &Arc<Self>, session: &Arc<Session>, message: Incoming) -> Received {
        match message {
            Incoming::Invalid { reply } => Received::Refused(reply),
            Incoming::Answer { number, outcome } => {
                let asked = number.and_then(|it| session.asked.lock().remove(&it));
                if let Some(asked) = asked {
                    // The receiver is gone when the request was cancelled.
                    let _ = asked.send(outcome);
                }
                Received::Nothing
            }
            Incoming::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    session.cancel(&params);
                }
                Received::Nothing
            }
            Incoming::Request { id, method, params } => self.request(session, id, method, params),
        }
    }

    fn request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        id: Id,
        method: String,
        params: Value,
    ) -> Received {
        let (exchange, event) = {
            let mut core = self.core();
            let mut request = Request {
                id,
                method,
                params,
                stateless: false,
            };
            let mut described = None;
            let is_marked = session.is_stateless;
            if core.is_stateless(&request.method, &request.params, is_marked) {
                request.stateless = true;
                match core.client_of(&request.method, &request.params) {
                    Ok(client) => described = Some(client),
                    Err(error) => return Received::Now(refuse(&request, &error)),
                }
            }
            core.decide(&request);
            let mut client = session.client.lock();
            let asking = described.as_mut().unwrap_or(&mut client);
            let (mut exchange, called) = core.begin(asking, request);
            exchange.client = described;
            if let Some(called) = called {
                self.calls().record(&core.name, called);
            }
            let event = core.advance(&client, &mut exchange, None);
            (exchange, event)
        };
        let event = match event {
            Event::Answer(delivery) => return Received::Now(delivery),
            event => event,
        };
        let cancelled = session.ended.child_token();
        let mut running = session.running.lock();
        if running.len() >= MAX_RUNNING {
            let error = wire::error(SERVER_ERROR, "too many requests are under way");
            let reply = wire::error_reply(&exchange.request.id, &error);
            return Received::Now(Delivery::Messages(vec![reply]));
        }
        running.insert(exchange.request.id.clone(), cancelled.clone());
        drop(running);
        Received::Later(Box::new(Running {
            service: Arc::clone(self),
            session: Arc::clone(session),
            exchange,
            event,
            cancelled,
        }))
    }
}

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
        self.session
            .running
            .lock()
            .remove(&self.exchange.request.id);
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
                Event::Listen(subscription) => return self.listen(out, &subscription).await,
                Event::Answer(delivery) => {
                    let _ = out.send(Outgoing::Last(delivery)).await;
                    return;
                }
            };
            let mut core = self.service.core();
            let client = self.session.client.lock();
            self.event = core.advance(&client, &mut self.exchange, answer);
        }
    }

    /// Passes news on until the client or the server ends it.
    async fn listen(&self, out: &mpsc::Sender<Outgoing>, subscription: &Subscription) {
        let mut news = self.service.news();
        let mut message = Some(subscription.acknowledged());
        loop {
            if let Some(message) = message.take() {
                let _ = out.send(Outgoing::Message(message)).await;
            }
            tokio::select! {
                news = news.recv() => match news {
                    Ok(news) => message = subscription.message(&news),
                    // Too many came at once, and some are lost.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                () = self.session.closing.cancelled() => {
                    let last = Delivery::Messages(subscription.ended());
                    let _ = out.send(Outgoing::Last(last)).await;
                    return;
                }
            }
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
        let no_answer = || Err(wire::error(SERVER_ERROR, "no answer came"));
        answer.ok().and_then(Result::ok).unwrap_or_else(no_answer)
    }
}
