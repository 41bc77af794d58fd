//! A cache of what is known about the values of one comparison, so that nothing is worked out twice: weights, hashes,
//! documents in texts, and how alike two values are.
//!
//! Values are known by their addresses. They stay where they are as long as the comparison lasts: what is parsed on the way is
//! kept with them, in [`Documents`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::work::{self, Work};

use super::embedded::{Documents, looks_like_json};
use super::same::{self, View};

// The verdict names it here.
pub(crate) use super::embedded::embedded;

type Map<K, V> = HashMap<K, V, FixedState>;

/// The address of a value or text, and the length of a text.
pub(crate) type Address = (usize, usize);

/// What is known so far.
pub(crate) struct Memo<'w> {
    view: View,
    work: &'w Work<'w>,
    documents: &'w Documents,
    weights: RefCell<Map<usize, usize>>,
    hashes: RefCell<Map<usize, u64>>,
    alike: RefCell<Map<(Address, Address), f64>>,
}

impl<'w> Memo<'w> {
    pub(crate) fn new(view: View, work: &'w Work<'w>, documents: &'w Documents) -> Self {
        Self {
            view,
            work,
            documents,
            weights: RefCell::default(),
            hashes: RefCell::default(),
            alike: RefCell::default(),
        }
    }

    pub(crate) fn work(&self) -> &'w Work<'w> {
        self.work
    }

    /// How much work a value is, in leaves.
    pub(crate) fn weight(&self, value: &Value) -> usize {
        if !is_branch(value) {
            return of_leaf(value);
        }
        if let Some(known) = self.weights.borrow().get(&address(value).0) {
            return *known;
        }
        let weight = weigh(value, same::DEPTH, &mut self.weights.borrow_mut());
        self.work.spend(weight);
        weight
    }

    /// A hash that the same values share; see [`same::hash`].
    pub(crate) fn hash(&self, value: &Value) -> u64 {
        if !is_branch(value) {
            self.work.spend(of_leaf(value));
            return same::hash(value, self.view);
        }
        if let Some(known) = self.known_hash(value) {
            return known;
        }
        self.work.spend(self.weight(value));
        same::hash_and_keep(value, self.view, &mut |branch, hash| {
            if is_branch(branch) {
                self.hashes.borrow_mut().insert(address(branch).0, hash);
            }
        })
    }

    /// The hash of a value that has members, if it was looked at before.
    pub(crate) fn known_hash(&self, value: &Value) -> Option<u64> {
        self.hashes.borrow().get(&address(value).0).copied()
    }

    /// The JSON document a text consists of, parsed when it is first asked for.
    pub(crate) fn document(&self, text: &str) -> Option<Rc<Value>> {
        if !looks_like_json(text) {
            return None;
        }
        if !self.documents.knows(text) {
            self.work.spend(work::of_text(text));
        }
        self.documents.of(text)
    }

    /// How alike two values are, if that was found out before.
    pub(crate) fn alike(&self, b: Address, c: Address) -> Option<f64> {
        self.alike.borrow().get(&(b, c)).copied()
    }

    pub(crate) fn keep_alike(&self, b: Address, c: Address, similarity: f64) {
        self.alike.borrow_mut().insert((b, c), similarity);
    }
}

pub(crate) fn address(value: &Value) -> Address {
    (std::ptr::from_ref(value).addr(), usize::MAX)
}

pub(crate) fn address_of_text(text: &str) -> Address {
    (text.as_ptr().addr(), text.len())
}

/// Whether a value has members or elements.
pub(super) fn is_branch(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

fn of_leaf(value: &Value) -> usize {
    match value {
        Value::String(text) => work::of_text(text),
        _ => 1,
    }
}

fn weigh(value: &Value, depth: usize, weights: &mut Map<usize, usize>) -> usize {
    if !is_branch(value) {
        return of_leaf(value);
    }
    if depth == 0 {
        return 1;
    }
    let below: usize = match value {
        Value::Array(items) => items.iter().map(|it| weigh(it, depth - 1, weights)).sum(),
        Value::Object(members) => (members.values())
            .map(|it| weigh(it, depth - 1, weights))
            .sum(),
        _ => 0,
    };
    weights.insert(address(value).0, below + 1);
    below + 1
}
