//! What a search said, in as many ways as it can be read.

use serde_json::Value;

/// What a search said. A tool may say the same twice, as structured content and as text; and a list as one text for each of its items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Each of them the whole of what was said, in one or more documents; the first that can be read counts.
    ways: Vec<Vec<Value>>,
}

impl Said {
    /// What is said in one document.
    pub fn in_one(document: Value) -> Self {
        Self {
            ways: vec![vec![document]],
        }
    }

    /// What is said in these ways.
    pub(super) fn in_ways(ways: Vec<Vec<Value>>) -> Self {
        Self { ways }
    }

    /// What `read` finds in the first way in which it finds anything. Texts that hold JSON are looked into where nothing is found otherwise.
    ///
    /// # Errors
    ///
    /// What `read` fails with first.
    pub(super) fn first<T>(
        &self,
        read: impl Fn(&[Value]) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, String> {
        for way in &self.ways {
            if let Some(found) = read(way)? {
                return Ok(Some(found));
            }
        }
        for way in &self.ways {
            let unfolded: Vec<Value> = way.iter().map(unfolded).collect();
            if let Some(found) = read(&unfolded)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The same with the lists and objects that texts in it hold.
fn unfolded(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => {
            let held = serde_json::from_str::<Value>(text);
            held.map_or_else(|_| value.clone(), |it| unfolded(&it))
        }
        Value::Array(items) => items.iter().map(unfolded).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, it)| (key.clone(), unfolded(it)));
            Value::Object(members.collect())
        }
        _ => value.clone(),
    }
}
