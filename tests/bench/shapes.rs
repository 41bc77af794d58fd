//! JSON documents of every shape that answers have, and the same with a share of their leaves changed.

use serde_json::{Value, json};

/// Marsaglia's xorshift: numbers that look random and are the same every time.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(0x0139_408d_cbbf_7a44 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }
}

/// Makes a document of roughly so many leaves.
pub(crate) type Make = fn(usize) -> Value;

/// The shapes by name.
pub(crate) const SHAPES: [(&str, Make); 13] = [
    ("tree of twos", |leaves| twos(leaves.max(2).ilog2(), 0)),
    ("leaning tree", |leaves| leaning(leaves.min(120))),
    ("many leaning trees", |leaves| {
        (0..leaves.div_ceil(100)).map(|_| leaning(50)).collect()
    }),
    ("chain of objects", |leaves| {
        chain(leaves.min(120), |it, at| json!({"at": at, "next": it}))
    }),
    ("chain of lists", |leaves| {
        chain(leaves.min(120), |it, at| json!([at, it]))
    }),
    ("list of records", |leaves| {
        (0..leaves.div_ceil(5)).map(record).collect()
    }),
    ("list of sentences", |leaves| {
        (0..leaves).map(|it| json!(sentence(it))).collect()
    }),
    ("list of numbers", |leaves| {
        (0..leaves).map(|it| json!(it * 7)).collect()
    }),
    ("list of words", |leaves| {
        (0..leaves).map(|it| json!(format!("word{it}"))).collect()
    }),
    ("matrix", |leaves| {
        let side = leaves.isqrt();
        let row = |row: usize| {
            (0..side)
                .map(|it| json!(row * side + it))
                .collect::<Value>()
        };
        (0..side).map(row).collect()
    }),
    ("texts of JSON", |leaves| {
        (0..leaves.div_ceil(5))
            .map(|it| json!(record(it).to_string()))
            .collect()
    }),
    // Each may be the beginning of something longer, at every place.
    ("texts of signs", |leaves| {
        let signs = ["=", "[", "a:", "-", "\\", "&amp;", "1,", "<secret:"];
        signs
            .map(|it| json!(it.repeat(leaves)))
            .into_iter()
            .collect()
    }),
    ("mixture", |leaves| {
        let part = |it: usize| {
            json!({
                "record": record(it),
                "rows": (0..5).map(|row| json!([row, row + it, sentence(row)])).collect::<Value>(),
                "tree": twos(2, it),
                "note": sentence(it),
                "inner": record(it + 1).to_string(),
            })
        };
        json!({"parts": (0..leaves.div_ceil(40)).map(part).collect::<Value>(), "total": leaves})
    }),
];

fn twos(depth: u32, at: usize) -> Value {
    let label = format!("node {at}");
    if depth == 0 {
        return json!({ "label": label });
    }
    json!({ "label": label, "children": [twos(depth - 1, 2 * at + 1), twos(depth - 1, 2 * at + 2)] })
}

fn leaning(depth: usize) -> Value {
    (0..depth / 2).fold(json!({"label": "leaf"}), |inner, at| {
        json!({ "label": format!("branch {at}"), "children": [{ "label": format!("twig {at}") }, inner] })
    })
}

fn chain(depth: usize, link: fn(Value, usize) -> Value) -> Value {
    (0..depth).fold(json!("end"), link)
}

fn record(at: usize) -> Value {
    json!({
        "id": format!("record-{at}"),
        "name": sentence(at),
        "rank": at * 10,
        "enabled": at.is_multiple_of(2),
        "tags": ["one", "two", "three"],
    })
}

fn sentence(at: usize) -> String {
    const WORDS: [&str; 16] = [
        "alpha", "river", "count", "green", "server", "window", "table", "often", "quick", "paper",
        "under", "seven", "light", "stone", "apple", "north",
    ];
    let word =
        |it: usize| WORDS[(at / 16usize.pow(u32::try_from(it % 4).unwrap_or(0)) + 5 * it) % 16];
    let words: Vec<&str> = (0..8).map(word).collect();
    format!("The {at}th of them: {}.", words.join(" "))
}

/// The document with so many per cent of its leaves changed to something else of their type.
pub(crate) fn changed(document: &Value, per_cent: usize, seed: u64) -> Value {
    let mut changed = document.clone();
    change(&mut changed, per_cent, &mut Numbers::new(seed));
    changed
}

fn change(value: &mut Value, per_cent: usize, numbers: &mut Numbers) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|it| change(it, per_cent, numbers)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|it| change(it, per_cent, numbers)),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(mut inner @ (Value::Object(_) | Value::Array(_))) => {
                change(&mut inner, per_cent, numbers);
                *text = inner.to_string();
            }
            _ if numbers.below(100) < per_cent => {
                text.push_str(" x");
                text.push_str(&numbers.below(1000).to_string());
            }
            _ => {}
        },
        leaf if numbers.below(100) < per_cent => {
            *leaf = match leaf {
                Value::Bool(it) => json!(!*it),
                Value::Number(_) => json!(numbers.below(1_000_000)),
                _ => json!("was null"),
            };
        }
        _ => {}
    }
}

/// The list with so many per cent of its elements removed, doubled or moved; anything else as it is.
pub(crate) fn rearranged(document: &Value, per_cent: usize, seed: u64) -> Value {
    let Value::Array(items) = document else {
        return document.clone();
    };
    let mut numbers = Numbers::new(seed);
    let mut items = items.clone();
    for edit in 0..items.len() * per_cent / 100 {
        let (from, to) = (numbers.below(items.len()), numbers.below(items.len()));
        match edit % 3 {
            0 if items.len() > 1 => drop(items.remove(from)),
            1 => items.insert(to, items[from].clone()),
            _ => items.swap(from, to),
        }
    }
    Value::Array(items)
}
