//! What a mock server knows about one client.

use std::collections::HashSet;

use serde_json::Value;

/// Log levels, the least severe first (RFC 5424).
pub(super) const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The most resources one client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// What is known of one client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// The capabilities it declared.
    pub(super) capabilities: Value,
    /// The least severe log level it wants, as an index into [`LOG_LEVELS`].
    pub(super) log_level: usize,
    subscriptions: HashSet<String>,
}

impl Client {
    /// Whether it can be asked: `sampling`, `elicitation` or `roots`.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities
            .get(capability)
            .is_some_and(Value::is_object)
    }

    pub(super) fn wants_log(&self, level: &str) -> bool {
        let level = LOG_LEVELS.iter().position(|it| *it == level);
        level.is_none_or(|it| it >= self.log_level)
    }

    /// False when it has subscribed to too many already.
    pub(super) fn subscribe(&mut self, uri: &str) -> bool {
        let fits = self.subscriptions.len() < MAX_SUBSCRIPTIONS;
        if fits {
            self.subscriptions.insert(uri.to_owned());
        }
        fits
    }

    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.subscriptions.remove(uri);
    }

    pub(super) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.contains(uri)
    }
}
