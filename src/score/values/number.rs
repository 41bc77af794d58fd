//! Numbers compared by value, whatever their JSON notation.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use model::digits;
pub(crate) use model::number::count;

/// The largest similarity of two things that are not equal.
///
/// Two integers beyond 2^53 can differ by less than a 64-bit fraction can express; they are still not the same number.
pub(crate) const ALMOST: f64 = 1.0 - f64::EPSILON;

/// Integers from here on are compared by their digits.
const LONG: u128 = 1 << 64;

/// Whether two numbers have the same value: `1` equals `1.0`, and integers are compared digit by digit at any size.
pub(crate) fn equal(a: &Number, b: &Number) -> bool {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a == b;
    }
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => float(a).total_cmp(&float(b)) == Ordering::Equal,
        // One is whole and the other is not, so they differ.
        _ => false,
    }
}

/// Whether two numbers are the same but for the noise of floating point: integers digit for digit, others to 1e-12 of their size.
pub(crate) fn close(a: &Number, b: &Number) -> bool {
    if equal(a, b) {
        return true;
    }
    if integer(a).is_some() && integer(b).is_some() {
        return false;
    }
    let (a, b) = (float(a), float(b));
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// Whether a value is a number, be it one too long for 64 bits.
pub(crate) fn is_number(value: &Value) -> bool {
    value.is_number() || digits::of(value).is_some()
}

/// What a number's value is, so that equal ones have equal forms.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Exact<'v> {
    Whole(i128),
    /// Beyond 64 bits, in digits. A float stands for the integer that its shortest notation spells.
    Long(Cow<'v, str>),
    Float(f64),
}

/// The value of a number of any length; `None` for anything else.
pub(super) fn exact(value: &Value) -> Option<Exact<'_>> {
    if let Value::Number(number) = value {
        return Some(exact_of(number));
    }
    let digits = digits::of(value)?;
    let whole = digits.parse::<i128>().ok();
    Some(match whole.filter(|it| it.unsigned_abs() < LONG) {
        Some(whole) => Exact::Whole(whole),
        None => Exact::Long(digits.into()),
    })
}

/// The value of a number that fits into 64 bits.
pub(super) fn exact_of(number: &Number) -> Exact<'static> {
    let float = float(number);
    match integer(number) {
        Some(whole) => Exact::Whole(whole),
        None if float.fract().abs() > 0.0 => Exact::Float(float),
        None => Exact::Long(float.to_string().into()),
    }
}

/// The number as an integer, where it is whole; a float counts as whole below 2^64.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Some(it) = number.as_i64() {
        return Some(it.into());
    }
    if let Some(it) = number.as_u64() {
        return Some(it.into());
    }
    let it = number.as_f64()?;
    if it.fract().abs() > 0.0 || it.abs() >= 2f64.powi(64) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and below 2^64, so the conversion is exact"
    )]
    Some(it as i128)
}

/// The number as a 64-bit float.
pub(crate) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(0.0)
}

/// `max(0, 1 - abs(a-b) / max_diff)`, below 1 unless equal; `max_diff` is the larger of the two amounts unless given.
pub(crate) fn distance(a: &Number, b: &Number, max_diff: Option<f64>) -> f64 {
    if equal(a, b) {
        return 1.0;
    }
    between(float(a), float(b), max_diff).min(ALMOST)
}

/// [`distance`] of two numbers of any length; 0 for what is none.
pub(crate) fn distance_of(a: &Value, b: &Value, max_diff: Option<f64>) -> f64 {
    let float = |it: &Value| match it {
        Value::Number(it) => Some(float(it)),
        _ => digits::of(it)?.parse().ok(),
    };
    match (float(a), float(b)) {
        _ if exact(a).is_some_and(|a| exact(b) == Some(a)) => 1.0,
        (Some(a), Some(b)) => between(a, b, max_diff).min(ALMOST),
        _ => 0.0,
    }
}

/// [`distance`] of two floats, where equal ones have none.
pub(super) fn between(a: f64, b: f64, max_diff: Option<f64>) -> f64 {
    let difference = (a - b).abs();
    if difference <= 0.0 {
        return 1.0;
    }
    let span = max_diff.unwrap_or_else(|| a.abs().max(b.abs()));
    // `max` also turns the NaN of a hostile `max_diff` into 0.
    (1.0 - difference / span).clamp(-1.0, 1.0).max(0.0)
}

/// The number a text spells in decimal notation, with sign, fraction and exponent as JSON has them.
pub(crate) fn parse(text: &str) -> Option<Number> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let decimal = unsigned.starts_with(|it: char| it.is_ascii_digit())
        && unsigned
            .bytes()
            .all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !decimal {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Ok(it) = text.parse::<i64>() {
        return Some(it.into());
    }
    if let Ok(it) = text.parse::<u64>() {
        return Some(it.into());
    }
    Number::from_f64(text.parse().ok()?)
}

/// The number a text spells, of any length.
pub(crate) fn of_text(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let (sign, amount) = match trimmed.strip_prefix('-') {
        Some(amount) => ("-", amount),
        None => ("", trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let digits = amount.trim_start_matches('0');
    let is_integer = digits.len() > 18 && digits.bytes().all(|it| it.is_ascii_digit());
    let long = is_integer.then(|| digits::parse_integers(&format!("{sign}{digits}")).ok());
    long.flatten().or_else(|| parse(text).map(Value::Number))
}

/// `part / whole`, and 1 of nothing.
pub(crate) fn share(part: f64, whole: usize) -> f64 {
    // Adding zero turns the negative zero that an empty sum is into a plain one.
    if whole == 0 {
        1.0
    } else {
        part / count(whole) + 0.0
    }
}
