//! The state of a mock server: values that were set, counters, and what is known about one client, with notifications for it.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::mock::wire;
use crate::model::Object;

/// The most names a path below which something is set may have; deeper paths set nothing.
const MAX_DEPTH: usize = 32;

/// About how many bytes are remembered at most, so that clients cannot fill the memory by their requests.
const MAX_WEIGHT: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct State {
    values: Value,
    counters: HashMap<String, u64>,
    /// About how many bytes were added since the start.
    weight: usize,
}

impl State {
    pub(super) fn new(values: Object) -> Self {
        Self {
            values: Value::Object(values),
            counters: HashMap::new(),
            weight: 0,
        }
    }

    pub(super) fn get(&self, path: &[String]) -> Option<&Value> {
        path.iter()
            .try_fold(&self.values, |at, name| member(at, name))
    }

    /// Sets a value; values along its path that are no objects are replaced by objects. False when there is no room for it.
    pub(super) fn set(&mut self, path: &[String], value: Value) -> bool {
        let names: usize = path.iter().map(String::len).sum();
        let added = names + weight(&value);
        if path.len() > MAX_DEPTH || self.weight + added > MAX_WEIGHT {
            return false;
        }
        self.weight += added;
        let mut at = &mut self.values;
        for name in path {
            if !at.is_object() {
                *at = Value::Object(Object::new());
            }
            let Value::Object(members) = at else {
                return false;
            };
            at = members.entry(name.clone()).or_insert(Value::Null);
        }
        self.weight = self.weight.saturating_sub(weight(at));
        *at = value;
        true
    }

    pub(super) fn unset(&mut self, path: &[String]) {
        let Some((last, above)) = path.split_last() else {
            return;
        };
        let parent = above.iter().try_fold(&mut self.values, |at, name| {
            at.as_object_mut()?.get_mut(name)
        });
        if let Some(Value::Object(members)) = parent {
            // The others keep their order.
            let removed = members.shift_remove(last);
            let removed = removed.map_or(0, |it| weight(&it));
            self.weight = self.weight.saturating_sub(removed);
        }
    }

    /// The next number of a counter, from 1; 0 when there is no room for another counter.
    pub(super) fn count(&mut self, counter: &str) -> u64 {
        if !self.counters.contains_key(counter) {
            if self.weight + counter.len() > MAX_WEIGHT {
                return 0;
            }
            self.weight += counter.len() + OWN_WEIGHT;
        }
        let count = self.counters.entry(counter.to_owned()).or_default();
        *count += 1;
        *count
    }
}

/// A member of an object by name, or an item of a list by index.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// About how many bytes a value takes besides its texts.
const OWN_WEIGHT: usize = 64;

/// About how many bytes a value takes in memory.
pub(super) fn weight(value: &Value) -> usize {
    OWN_WEIGHT
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(members) => members_weight(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

/// About how many bytes the members of an object take in memory.
pub(super) fn members_weight(members: &Object) -> usize {
    let members = members.iter();
    members.map(|(name, it)| name.len() + weight(it)).sum()
}

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
pub(super) const MAX_SUBSCRIPTIONS: usize = 1000;

/// What is known of one client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// It has opened a session, in which it gets news.
    pub(super) initialized: bool,
    /// The capabilities it declared.
    pub(super) capabilities: Value,
    /// The least severe log level it wants, as an index into [`LOG_LEVELS`]; their number for none.
    pub(super) log_level: usize,
    subscriptions: HashSet<String>,
}

impl Client {
    /// What one request says of its client.
    pub(super) fn of_one_request(capabilities: Value, log_level: usize) -> Self {
        Self {
            capabilities,
            log_level,
            ..Self::default()
        }
    }

    /// Whether it can be asked: `sampling`, `elicitation` or `roots`, and what is within.
    pub(super) fn can(&self, capability: &[&str]) -> bool {
        let mut names = capability.iter();
        let found = names.try_fold(&self.capabilities, |at, name| at.get(name));
        found.is_some_and(Value::is_object)
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

/// A notification that belongs to no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announcement {
    /// A list changed: `tools`, `resources` or `prompts`.
    ListChanged(&'static str),
    /// A resource changed, for those that subscribed to it.
    ResourceUpdated(String),
}

impl Announcement {
    /// The notification, as text.
    pub(super) fn message(&self, meta: Option<&Value>) -> String {
        let (method, mut params) = match self {
            Self::ListChanged(list) => (format!("notifications/{list}/list_changed"), Value::Null),
            Self::ResourceUpdated(uri) => (
                "notifications/resources/updated".to_owned(),
                json!({ "uri": uri }),
            ),
        };
        if let Some(meta) = meta {
            params["_meta"] = meta.clone();
        }
        wire::notification(&method, &params)
    }

    /// Whether this client gets it.
    pub(super) fn concerns(&self, client: &Client) -> bool {
        match self {
            Self::ListChanged(_) => client.initialized,
            Self::ResourceUpdated(uri) => client.is_subscribed(uri),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::mock::state::{MAX_WEIGHT, State};

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_set_is_found_until_it_is_unset_and_the_rest_keeps_its_order() {
        let mut state = State::default();
        for name in ["a", "b", "c"] {
            state.set(&path(&format!("things.{name}")), json!({ "name": name }));
        }
        assert_eq!(state.get(&path("things.b.name")), Some(&json!("b")));
        state.unset(&path("things.a"));
        state.unset(&path("things.a"));
        state.unset(&path("nothing.here"));
        let left = state.get(&path("things")).unwrap().to_string();
        assert_eq!(left, r#"{"b":{"name":"b"},"c":{"name":"c"}}"#);
        state.set(&path("things.b.name.first"), json!(1));
        assert_eq!(
            state.get(&path("things.b")),
            Some(&json!({"name": {"first": 1}}))
        );
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut state = State::default();
        let text = json!("x".repeat(MAX_WEIGHT / 10));
        let room = (0..20).filter(|it| state.set(&path(&format!("a.{it}")), text.clone()));
        assert_eq!(room.count(), 9);
        // Setting the same value again takes no more room, and removing a value frees its room.
        assert!(state.set(&path("a.1"), json!(1)));
        state.unset(&path("a.2"));
        assert!(state.set(&path("a.new"), text.clone()));
        assert!(!state.set(&path(&"a.".repeat(40)), json!(1)));
    }

    #[test]
    fn counters_start_at_one_and_know_their_names() {
        let mut state = State::default();
        let numbers = [state.count("a"), state.count("a"), state.count("b")];
        assert_eq!(numbers, [1, 2, 1]);
    }
}
