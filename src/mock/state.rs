//! What a mock server remembers: values that were set, and counters.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::Object;

/// The most names a path below which something is set may have; deeper paths set nothing.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct State {
    values: Value,
    counters: HashMap<String, u64>,
}

impl State {
    pub(super) fn new(values: Object) -> Self {
        Self {
            values: Value::Object(values),
            counters: HashMap::new(),
        }
    }

    pub(super) fn get(&self, path: &[String]) -> Option<&Value> {
        path.iter()
            .try_fold(&self.values, |at, name| member(at, name))
    }

    /// Sets a value; whatever stands in the way of its path is replaced by an object.
    pub(super) fn set(&mut self, path: &[String], value: Value) {
        if path.len() > MAX_DEPTH {
            return;
        }
        let mut at = &mut self.values;
        for name in path {
            if !at.is_object() {
                *at = Value::Object(Object::new());
            }
            let Value::Object(members) = at else { return };
            at = members.entry(name.clone()).or_insert(Value::Null);
        }
        *at = value;
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
            members.shift_remove(last);
        }
    }

    /// The next number of a counter, from 1.
    pub(super) fn count(&mut self, counter: &str) -> u64 {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::State;

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
    fn counters_start_at_one_and_know_their_names() {
        let mut state = State::default();
        let numbers = [state.count("a"), state.count("a"), state.count("b")];
        assert_eq!(numbers, [1, 2, 1]);
    }
}
