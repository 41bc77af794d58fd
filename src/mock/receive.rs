//! Handles a message of a client: takes the message, returns what to deliver.

use std::sync::Arc;

use serde_json::Value;

use crate::mock::exchange::Event;
use crate::mock::faults::{Delivery, deliver};
use crate::mock::running::Running;
use crate::mock::service::Service;
use crate::mock::session::Session;
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
    Later(Running),
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
            Incoming::Request { id, method, params } => self.request(session, id, &method, &params),
        }
    }

    fn request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        id: Id,
        method: &str,
        params: &Value,
    ) -> Received {
        let (exchange, event) = {
            let mut core = self.core();
            let mut client = session.client.lock();
            let (mut exchange, called) = core.begin(&mut client, id, method, params);
            if let Some(called) = called {
                self.calls().record(&core.name, called);
            }
            let event = core.advance(&client, &mut exchange, None);
            (exchange, event)
        };
        let event = match event {
            Event::Answer { id, reply, fault } => {
                return Received::Now(deliver(&id, reply, fault));
            }
            event => event,
        };
        let cancelled = session.ended.child_token();
        let mut running = session.running.lock();
        if running.len() >= MAX_RUNNING {
            let error = wire::error(SERVER_ERROR, "too many requests are under way");
            return Received::Now(deliver(
                &exchange.id,
                wire::error_reply(&exchange.id, &error),
                None,
            ));
        }
        running.insert(exchange.id.clone(), cancelled.clone());
        drop(running);
        Received::Later(Running {
            service: Arc::clone(self),
            session: Arc::clone(session),
            exchange,
            event,
            cancelled,
        })
    }
}
