//! Observations about a server during its session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::Value;

use crate::model::catalogue::{Client, ClientAnswer};

/// What is known of a server by having spoken to it. Clones share it, so that what one session of a run has found the next ones know.
#[derive(Debug, Clone, Default)]
pub struct Observed(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    notes: Mutex<Vec<String>>,
    is_legacy: AtomicBool,
    /// The client whose answers are given again, and how often each was.
    played: Mutex<Option<(Client, Vec<usize>)>>,
    /// What that client was never asked, and this one was.
    unanswered: Mutex<Option<String>>,
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

    /// Tells the reader that what the server asked its client was declined.
    pub(super) fn declined(&self, server: &str, method: &str) {
        self.note(format!(
            "server `{server}` asked its client `{method}`: declined"
        ));
    }

    /// What it asks its client is answered as this client did, which is nothing that turns out.
    pub fn answers_are_of(&self, client: &Client) {
        let given = vec![0; client.answers.len()];
        *self.0.played.lock() = Some((client.clone(), given));
    }

    /// The client whose answers are given again.
    pub(super) fn client(&self) -> Option<Client> {
        self.0.played.lock().as_ref().map(|it| it.0.clone())
    }

    /// What that client answers to such a request, an error where nobody knows; `None` without such a client.
    pub(super) fn answer(&self, method: &str, params: &Value) -> Option<Result<ClientAnswer, ()>> {
        let mut played = self.0.played.lock();
        let (client, given) = played.as_mut()?;
        let is_other = |it: &ClientAnswer| it.params != *params;
        // The one to the same question first, and one that was not given yet.
        let best = (client.answers.iter().enumerate())
            .filter(|(index, it)| it.method == method && (!is_other(it) || given[*index] == 0))
            .min_by_key(|(index, it)| (is_other(it), given[*index]));
        let Some((index, answer)) = best else {
            // Other questions, such as that for roots, come when a server likes, and are part of no call.
            if matches!(method, "elicitation/create" | "sampling/createMessage") {
                self.0.unanswered.lock().get_or_insert(method.to_owned());
            }
            return Some(Err(()));
        };
        given[index] += 1;
        Some(Ok(answer.clone()))
    }

    /// What it has asked that nobody can answer, reported once.
    pub(super) fn take_unanswered(&self) -> Option<String> {
        self.0.unanswered.lock().take()
    }

    /// Whether it speaks the older transport, although nobody says so.
    pub(super) fn is_legacy(&self) -> bool {
        self.0.is_legacy.load(Ordering::Relaxed)
    }

    pub(super) fn found_legacy(&self) {
        self.0.is_legacy.store(true, Ordering::Relaxed);
    }
}
