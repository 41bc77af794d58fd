//! Numbers of more digits than a floating point number keeps.

use serde_json::Number;

use super::node::{Content, Node};
use super::source::{Findings, Mark};

/// Says which numbers in a value are not what is written there. The place of a number says too little to repeat what was written.
pub(in crate::scenario_file) fn refuse(node: &Node, findings: &mut Findings) {
    match &node.content {
        Content::Number(number) if findings.is_rounded(node.at) => {
            refuse_one(node.at, number, findings);
        }
        Content::List(items) => items.iter().for_each(|it| refuse(it, findings)),
        Content::Map(entries) => (entries.iter()).for_each(|it| refuse(&it.value, findings)),
        _ => {}
    }
}

/// Says that a number is not what is written there.
pub(in crate::scenario_file) fn refuse_one(at: Mark, number: &Number, findings: &mut Findings) {
    let message = format!("has more digits than a number keeps, and would become {number}");
    findings.error(at, message, Some("put it in quotes, which keep them all"));
}

/// Whether a number, which was read from a text, has another value than the text says.
pub(in crate::scenario_file) fn is_rounded(written: &str, number: &Number) -> bool {
    if !number.is_f64() {
        return false;
    }
    let Some(said) = Decimal::read(written) else {
        // It is in another notation than that of decimals.
        return false;
    };
    let is_whole = written.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    // Even where a whole number beyond 64 bits keeps its value, it is written otherwise from here on.
    is_whole && !said.digits.is_empty() || Some(said) != Decimal::read(&number.to_string())
}

/// A decimal number, in the one way that there is to say it.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Neither begins nor ends with a zero; empty for 0.
    digits: String,
    /// What power of ten they are multiplied with; 0 for 0.
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{part}");
        if all.is_empty() || !all.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let places = i64::try_from(part.len()).ok()?;
        let digits = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        Some(Self {
            is_negative,
            digits: digits.to_owned(),
            exponent: exponent.checked_sub(places)?.checked_add(zeros)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::is_rounded;

    #[test]
    fn a_number_is_rounded_where_its_value_is_another() {
        for (written, rounded) in [
            ("0.1", false),
            ("1.10", false),
            ("-0", false),
            ("1e5", false),
            ("1.5E-7", false),
            ("-12.50e+2", false),
            ("0.30000000000000004", false),
            ("1e22", false),
            ("18446744073709551615", false),
            ("18446744073709551616", true),
            ("100000000000000000000", true),
            ("-123456789012345678901", true),
            ("0.12345678901234567890", true),
            ("9007199254740993.0", true),
            ("1e-400", true),
        ] {
            let number: Number = serde_json::from_str(written).unwrap();
            assert_eq!(is_rounded(written, &number), rounded, "{written}");
        }
    }
}
