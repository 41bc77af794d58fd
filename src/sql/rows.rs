//! What a database answers, as JSON.

use serde_json::Value;

/// The most rows that are read; of more, the first so many, and that there are more.
pub const MOST_ROWS: usize = 10_000;

/// The most that is read of all rows together, in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What a query returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    /// A value per column, each as JSON: what a database has beyond that – dates, decimals, bytes – as text.
    pub rows: Vec<Vec<Value>>,
    /// There are more than were read.
    pub has_more: bool,
}

/// Gathers rows as long as there is room for them.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) rows: Rows,
    bytes: usize,
}

impl Gathered {
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self {
            rows: Rows {
                columns,
                ..Rows::default()
            },
            bytes: 0,
        }
    }

    /// Takes a row; false where there was no room for it, and nothing more is to be read.
    pub(super) fn take(&mut self, row: Vec<Value>) -> bool {
        self.bytes += row.iter().map(size).sum::<usize>();
        if self.rows.rows.len() == MOST_ROWS || self.bytes > MOST_BYTES {
            self.rows.has_more = true;
            return false;
        }
        self.rows.rows.push(row);
        true
    }
}

/// About what a value takes, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => value.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// A number as databases print it, exactly, where JSON has one.
pub(super) fn number(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(|it: &Value| it.is_number() && is_whole(text, &it.to_string()))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Whether a number that is written so has all digits of the other; zeros at the end of a fraction are none.
fn is_whole(text: &str, read: &str) -> bool {
    let digits = |it: &str| -> String {
        let (mantissa, _) = it.split_once(['e', 'E']).unwrap_or((it, ""));
        let mantissa = match mantissa.split_once('.') {
            Some((whole, fraction)) => format!("{whole}{}", fraction.trim_end_matches('0')),
            None => mantissa.to_owned(),
        };
        let mantissa = mantissa.trim_start_matches(['-', '+', '0']);
        mantissa.trim_end_matches('0').to_owned()
    };
    digits(text) == digits(read)
}

/// Bytes that are no text, in hexadecimal.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => Value::String(format!("0x{}", hex::encode(bytes))),
    }
}
