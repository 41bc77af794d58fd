//! Which tools a server lists to the agent, seen as its lists pass through the gateway.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::mcp::wire::key;

/// How many lists may be awaited, and how many names are kept: whoever asks for more, or lists more, is not followed.
const MOST_AWAITED: usize = 1000;
const MOST_NAMES: usize = 10_000;

/// The lists that were asked for, and the names in those that came.
#[derive(Debug, Default)]
pub(super) struct Listings {
    /// By session, or exchange where there are no sessions, and the request's id as ids compare.
    awaited: HashSet<(String, String)>,
    names: BTreeSet<String>,
}

impl Listings {
    /// A page is asked for.
    pub(super) fn asked(&mut self, session: &str, exchange: u64, id: &Value) {
        if self.awaited.len() < MOST_AWAITED {
            self.awaited.insert((place(session, exchange), key(id)));
        }
    }

    /// Something is answered: maybe a page.
    pub(super) fn answered(
        &mut self,
        session: &str,
        exchange: Option<u64>,
        id: &Value,
        page: &Value,
    ) {
        if self.awaited.is_empty() {
            return;
        }
        let place = place(session, exchange.unwrap_or_default());
        if !self.awaited.remove(&(place, key(id))) {
            return;
        }
        let tools = page["tools"].as_array().into_iter().flatten();
        let left = MOST_NAMES.saturating_sub(self.names.len());
        let names = tools.filter_map(|it| it["name"].as_str()).take(left);
        self.names.extend(names.map(str::to_owned));
    }

    /// All names, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.iter().cloned().collect()
    }
}

/// Ids need only be unique within a session, and where there are no sessions, within an exchange.
fn place(session: &str, exchange: u64) -> String {
    if session.is_empty() {
        format!("exchange {exchange}")
    } else {
        format!("session {session}")
    }
}
