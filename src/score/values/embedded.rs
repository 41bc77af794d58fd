//! The JSON document that a text consists of.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::FixedState;
use serde_json::Value;

use model::digits;

/// Documents of less than this are always looked into.
const LARGE: usize = 1 << 20;
/// The most memory that a document in a text may take: so many times the text, and this much more.
const TIMES: usize = 10;
const BEYOND: usize = 16 << 20;
/// What a member takes beside its value.
const NAME: usize = 96;

/// The JSON object or list a text consists of, long integers as [`digits`] marks them.
pub(crate) fn embedded(text: &str) -> Option<Value> {
    (looks_like_json(text) && !is_too_dense(text))
        .then(|| digits::parse_integers(text).ok())
        .flatten()
}

/// The documents in the texts of two answers, each parsed when it is first asked for.
///
/// Texts are known by their addresses: they have to stay where they are as long as this lives.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    parsed: RefCell<Parsed>,
}

/// By the address and length of the text.
type Parsed = HashMap<(usize, usize), Option<Rc<Value>>, FixedState>;

impl Documents {
    /// Whether a text was asked for before, and costs nothing any more.
    pub(crate) fn knows(&self, text: &str) -> bool {
        let address = (text.as_ptr().addr(), text.len());
        self.parsed.borrow().contains_key(&address)
    }

    /// The JSON object or list a text consists of.
    pub(crate) fn of(&self, text: &str) -> Option<Rc<Value>> {
        if !looks_like_json(text) {
            return None;
        }
        let address = (text.as_ptr().addr(), text.len());
        if let Some(known) = self.parsed.borrow().get(&address) {
            return known.clone();
        }
        let document = embedded(text).map(Rc::new);
        self.parsed.borrow_mut().insert(address, document.clone());
        document
    }
}

/// Whether a text would take far more memory as JSON than JSON usually does: millions of empty lists or of numbers. It is compared as the
/// text that it is.
pub(crate) fn is_too_dense(text: &str) -> bool {
    if text.len() < LARGE {
        return false;
    }
    let bytes = text.as_bytes();
    let number_of = |sought: u8| memchr::memchr_iter(sought, bytes).count();
    let (begun, values) = (number_of(b'[') + number_of(b'{'), number_of(b','));
    let names = number_of(b':') * NAME;
    let is_too_much =
        |values: usize| values * size_of::<Value>() + names > TIMES * text.len() + BEYOND;
    // Few documents come near the bound, and only those are searched for what is empty, and holds no value.
    is_too_much(values + begun) && {
        let empty = bytes.windows(2).filter(|it| *it == b"[]" || *it == b"{}");
        is_too_much(values + begun.saturating_sub(empty.count()))
    }
}

/// Whether a text begins as a JSON object or list does.
pub(crate) fn looks_like_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
}
