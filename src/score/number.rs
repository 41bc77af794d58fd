//! Numbers compared by value, whatever their JSON notation.

use std::cmp::Ordering;

use serde_json::Number;

/// The largest similarity of two things that are not equal.
///
/// Two integers beyond 2^53 can differ by less than a 64-bit fraction can tell; they are still not the same number.
pub(super) const ALMOST: f64 = 1.0 - f64::EPSILON;

/// Whether two numbers have the same value: `1` equals `1.0`, and integers are compared digit by digit at any size.
pub(super) fn equal(a: &Number, b: &Number) -> bool {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a == b;
    }
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => float(a).total_cmp(&float(b)) == Ordering::Equal,
        // The one is whole and the other is not, so they differ.
        _ => false,
    }
}

/// Whether two numbers are the same but for the noise of floating point: integers digit for digit, others to 1e-12 of their size.
pub(super) fn close(a: &Number, b: &Number) -> bool {
    if equal(a, b) {
        return true;
    }
    if integer(a).is_some() && integer(b).is_some() {
        return false;
    }
    let (a, b) = (float(a), float(b));
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// The number as an integer, where it is whole; a float counts as whole below 2^100.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Some(it) = number.as_i64() {
        return Some(it.into());
    }
    if let Some(it) = number.as_u64() {
        return Some(it.into());
    }
    let it = number.as_f64()?;
    if it.fract().abs() > 0.0 || it.abs() >= 2f64.powi(100) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and below 2^100, so the conversion is exact"
    )]
    Some(it as i128)
}

/// The number as a 64-bit float.
pub(super) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(0.0)
}

/// `max(0, 1 - abs(a-b) / max_diff)`, below 1 unless equal; `max_diff` is the larger of the two amounts unless given.
pub(super) fn distance(a: &Number, b: &Number, max_diff: Option<f64>) -> f64 {
    if equal(a, b) {
        return 1.0;
    }
    between(float(a), float(b), max_diff).min(ALMOST)
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
pub(super) fn parse(text: &str) -> Option<Number> {
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

/// A count as a float, for means and shares.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of things in memory stay far below 2^53"
)]
pub(super) fn count(it: usize) -> f64 {
    it as f64
}

/// `part / whole`, and 1 of nothing.
pub(super) fn share(part: f64, whole: usize) -> f64 {
    // Adding zero turns the negative zero that an empty sum is into a plain one.
    if whole == 0 {
        1.0
    } else {
        part / count(whole) + 0.0
    }
}
