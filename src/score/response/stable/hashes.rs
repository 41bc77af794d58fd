//! Hashes by which equal elements are found.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::response::finding::Tree;
use crate::text::key;
use crate::text::token::{may_move, tokens};
use crate::values::path::Step;
use crate::values::same::{self, View};
use model::TokenKind;

use super::spot::{At, Spot};

/// Begins the hash of each kind of value. The hasher does not distinguish zeros of different lengths, nor `false` from `{}`. [`same::hash`]
/// begins with none of these values.
const LIST: u8 = 17;
const OBJECT: u8 = 18;
const MOVING_NUMBER: u8 = 19;
const MOVING_TEXT: u8 = 20;

type Map = HashMap<usize, u64, FixedState>;

/// Hashes of the lists and objects of two answers, by their addresses, so that each is found out once.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    /// Of values without what may vary.
    varying: Map,
    /// Of values as they are.
    exact: Map,
}

impl Hashes {
    /// Equal for values that are the same.
    pub(super) fn exact(&mut self, value: &Value) -> u64 {
        let address = std::ptr::from_ref(value).addr();
        if is_branch(value)
            && let Some(known) = self.exact.get(&address)
        {
            return *known;
        }
        let hash = match value {
            Value::Array(items) => {
                let items: Vec<u64> = items.iter().map(|it| self.exact(it)).collect();
                same::hash_of((LIST, items))
            }
            Value::Object(members) => {
                let members =
                    (members.iter()).map(|(key, it)| same::hash_of((key, self.exact(it))));
                same::hash_of((OBJECT, members.fold(0u64, u64::wrapping_add)))
            }
            _ => return same::hash(value, View::Plain),
        };
        self.exact.insert(address, hash);
        hash
    }

    /// Equal for values that are the same but for what may vary. `key` is the one that says what the values are.
    pub(super) fn varying<'a>(
        &mut self,
        spot: &mut Spot<'a>,
        value: &'a Value,
        at: &At<'a>,
        key: &str,
    ) -> u64 {
        if !is_branch(value) {
            return self.varying_anew(spot, value, at, key);
        }
        let address = std::ptr::from_ref(value).addr();
        if let Some(known) = self.varying.get(&address) {
            return *known;
        }
        let hash = self.varying_anew(spot, value, at, key);
        self.varying.insert(address, hash);
        hash
    }

    fn varying_anew<'a>(
        &mut self,
        spot: &mut Spot<'a>,
        value: &'a Value,
        at: &At<'a>,
        key: &str,
    ) -> u64 {
        if Tree::variation(at).is_some() || spot.is_left_out() {
            return 0;
        }
        let mut hasher = same::hasher();
        match value {
            Value::Array(items) => {
                LIST.hash(&mut hasher);
                let under = Tree::all_under(at);
                spot.at_an_element(|spot| {
                    for it in items {
                        self.varying(spot, it, &under, key).hash(&mut hasher);
                    }
                });
                items.len().hash(&mut hasher);
            }
            Value::Object(members) => {
                let mut sum = 0u64;
                for (key, it) in members {
                    let under = Tree::under(at, key);
                    spot.place.enter(Step::Key(key));
                    let hash = self.varying(spot, it, &under, key);
                    spot.place.leave();
                    sum = sum.wrapping_add(same::hash_of((key, hash)));
                }
                (OBJECT, sum).hash(&mut hasher);
            }
            Value::Number(_) if key::is_duration(key) || key::is_time(key) || key::is_age(key) => {
                MOVING_NUMBER.hash(&mut hasher);
            }
            Value::String(text) if key::is_duration(key) && key::is_duration_text(text) => {
                MOVING_TEXT.hash(&mut hasher);
            }
            Value::String(text) if may_move(text) => {
                for it in tokens(text) {
                    match it.kind {
                        TokenKind::Time | TokenKind::Duration | TokenKind::Ago => {
                            it.kind.hash(&mut hasher);
                        }
                        _ => it.text.hash(&mut hasher),
                    }
                }
            }
            Value::String(text) if is_spaced_evenly(text) => text.hash(&mut hasher),
            Value::String(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                words.join(" ").hash(&mut hasher);
            }
            _ => return same::hash(value, View::Plain),
        }
        hasher.finish()
    }

    /// Sorted hashes of a value's parts, to find out how much two values have in common.
    pub(super) fn print<'a>(&mut self, spot: &mut Spot<'a>, value: &'a Value) -> Vec<u64> {
        let none = Vec::new();
        let mut print: Vec<u64> = match value {
            Value::Object(members) => (members.iter())
                .map(|(key, it)| same::hash_of((key, self.varying(spot, it, &none, key))))
                .collect(),
            Value::Array(items) => (items.iter())
                .map(|it| self.varying(spot, it, &none, ""))
                .collect(),
            Value::String(text) => text.split_whitespace().map(same::hash_of).collect(),
            _ => vec![same::hash(value, View::Plain)],
        };
        print.sort_unstable();
        print
    }
}

fn is_branch(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Whether a text surely has no other white space than single blanks between its words.
fn is_spaced_evenly(text: &str) -> bool {
    let mut was_blank = true;
    for &it in text.as_bytes() {
        if !(b' '..0x7f).contains(&it) || (it == b' ' && was_blank) {
            return false;
        }
        was_blank = it == b' ';
    }
    !was_blank
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::{Hashes, is_spaced_evenly};

    #[test]
    fn texts_are_hashed_as_they_are_only_without_other_white_space() {
        assert!(is_spaced_evenly("a b"));
        for text in [
            "", " ", " a", "a ", "a  b", "a\tb", "a\nb", "a\u{a0}b", "größe",
        ] {
            assert!(!is_spaced_evenly(text), "{text:?}");
        }
    }

    #[test]
    fn values_that_differ_have_hashes_that_differ() {
        let values = json!([
            null, false, true, 0, 1, 2, 0.5, -1, "", " ", "0", "false", [], {}, [[]], [{}], [null], [false], [0], [""], [0, 0], {"": null},
            {"": {}}, {"": []}, {"a": 0}, {"a": false}, {"a": []}, [[], []], [[[]]]
        ]);
        let mut hashes = Hashes::default();
        let mut known = HashMap::new();
        for value in values.as_array().into_iter().flatten() {
            let other = known.insert(hashes.exact(value), value);
            assert_eq!(other, None, "{value}");
        }
    }
}
