//! What a plain scalar of YAML means: null, a truth value, a number or text.

use serde_json::Number;

/// A scalar as JSON knows it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scenario_file) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
}

/// Reads an unquoted scalar by the rules of `serde_yaml`, so that what it writes reads back the same.
///
/// `yes`, `on` and numbers with leading zeros are text. An error, in words, for a number that JSON cannot hold.
pub(in crate::scenario_file) fn plain(text: &str) -> Result<Scalar, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ => match text.parse::<serde_yaml::Number>() {
            Ok(number) => Scalar::Number(json_number(&number)?),
            Err(_) if is_too_large(text) => return Err("is a number too large to hold"),
            Err(_) => Scalar::Text(text.to_owned()),
        },
    })
}

fn json_number(number: &serde_yaml::Number) -> Result<Number, &'static str> {
    if let Some(number) = number.as_u64() {
        return Ok(number.into());
    }
    if let Some(number) = number.as_i64() {
        return Ok(number.into());
    }
    number
        .as_f64()
        .and_then(Number::from_f64)
        .ok_or("is not a number that JSON knows")
}

/// Whether a text is written like a number, but beyond the range of integers (64 bits) or floating point numbers.
fn is_too_large(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let integer = !digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit());
    let float = digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && digits.parse::<f64>().is_ok_and(f64::is_infinite);
    !digits.is_empty() && (integer || float)
}
