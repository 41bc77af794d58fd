//! Numbers that 64 bits cannot hold, digit for digit.
//!
//! JSON sets no limit to numbers, and servers hand out ids of thirty digits; the usual reader keeps the first seventeen of them
//! and makes the rest up. [`parse`] keeps them all: such a number becomes a text that begins with a mark. The mark is a code
//! point that Unicode reserves for use within programs, so it does not come from outside.
//!
//! Marked values stay between reading and comparing. Whatever is stored, sent or shown has the usual number in its place, and the
//! digits beside it: [`take`] parts them, [`put`] joins them. Decimals are carried so, and compared as the numbers they are: [`integers`]
//! and [`parse_integers`] leave them alone.

use std::borrow::Cow;

use serde_json::Value;

use crate::{Digits, Object};

/// Begins the text that stands for a long number.
const MARK: char = '\u{FDD0}';

/// Integers of up to this many digits fit into 64 bits.
const SHORT: usize = 18;
/// A double holds any decimal of this many digits.
const DOUBLE: usize = 15;

/// Reads JSON as `serde_json` does, but for numbers that 64 bits cannot hold, which become marked texts.
///
/// # Errors
///
/// As `serde_json`.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    read(text, DOUBLE + 2, is_long)
}

/// The same, but decimals are read as usual.
///
/// # Errors
///
/// As `serde_json`.
pub fn parse_integers(text: &str) -> serde_json::Result<Value> {
    read(text, SHORT + 1, is_long_integer)
}

/// `least` is how many digits and points a long number has in a row.
fn read(text: &str, least: usize, is_long: fn(&str) -> bool) -> serde_json::Result<Value> {
    let may_have = has_long_run(text.as_bytes(), least);
    match may_have.then(|| marked(text, is_long)).flatten() {
        Some(marked) => serde_json::from_str(&marked),
        None => serde_json::from_str(text),
    }
}

/// Those digits that are of integers.
pub fn integers(digits: &Digits) -> Digits {
    let integers = digits.iter().filter(|it| is_long_integer(it.1));
    integers
        .map(|(path, digits)| (path.clone(), digits.clone()))
        .collect()
}

/// Whether a text may hold long integers; cheap.
pub fn are_in(text: &str) -> bool {
    has_long_run(text.as_bytes(), SHORT + 1)
}

/// The digits of a marked value, with a sign where it is negative.
pub fn of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => text.strip_prefix(MARK),
        _ => None,
    }
}

/// The nearest number that the usual reader would have made of it.
pub fn nearest(digits: &str) -> Value {
    digits.parse::<f64>().map_or(Value::Null, Value::from)
}

/// A text that may hold marked values as JSON, with their digits as JSON has them.
pub fn unmarked(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split(MARK);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.bytes().position(|it| !is_of_number(it));
        let (digits, rest) = piece.split_at(end.unwrap_or(piece.len()));
        if shown.ends_with('"') {
            shown.pop();
            shown.push_str(digits);
            shown.push_str(rest.strip_prefix('"').unwrap_or(rest));
        } else {
            shown.push_str(piece);
        }
    }
    Cow::Owned(shown)
}

/// JSON that may hold marked values as it is sent, with their digits as numbers.
pub fn written(json: &str) -> Cow<'_, str> {
    if !json.contains(MARK) {
        return Cow::Borrowed(json);
    }
    let mut pieces = json.split(MARK);
    let mut written = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let number = piece.find('"').map(|end| piece.split_at(end));
        let number = number.filter(|(number, _)| written.ends_with('"') && is_long(number));
        if let Some((number, rest)) = number {
            written.pop();
            written.push_str(number);
            written.push_str(&rest[1..]);
        } else {
            written.push(MARK);
            written.push_str(piece);
        }
    }
    Cow::Owned(written)
}

/// Puts the nearest numbers in the place of marked values, and returns their digits.
pub fn take(value: &mut Value) -> Digits {
    let mut taken = Digits::new();
    take_within(value, &mut String::new(), &mut taken);
    taken
}

/// The same for the members of an object.
pub fn take_from(members: &mut Object) -> Digits {
    let mut taken = Digits::new();
    take_members(members, &mut String::new(), &mut taken);
    taken
}

/// Puts the marked values back. Places where another value stands now are left alone.
pub fn put(value: &mut Value, digits: &Digits) {
    for (path, digits) in digits {
        if let Some(place) = value.pointer_mut(path)
            && *place == nearest(digits)
        {
            *place = Value::String(format!("{MARK}{digits}"));
        }
    }
}

/// A value with the marked values back: a copy only where there are any.
pub fn filled<'v>(value: &'v Value, digits: &Digits) -> Cow<'v, Value> {
    let mut value = Cow::Borrowed(value);
    if !digits.is_empty() {
        put(value.to_mut(), digits);
    }
    value
}

/// The same for the members of an object.
pub fn put_into(members: &mut Object, digits: &Digits) {
    if digits.is_empty() {
        return;
    }
    let mut value = Value::Object(std::mem::take(members));
    put(&mut value, digits);
    if let Value::Object(filled) = value {
        *members = filled;
    }
}

fn take_within(value: &mut Value, path: &mut String, taken: &mut Digits) {
    match value {
        Value::String(_) => {
            if let Some(digits) = of(value) {
                let number = nearest(digits);
                taken.insert(path.clone(), digits.to_owned());
                *value = number;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                below(path, &index.to_string(), |path| {
                    take_within(item, path, taken);
                });
            }
        }
        Value::Object(members) => take_members(members, path, taken),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn take_members(members: &mut Object, path: &mut String, taken: &mut Digits) {
    for (key, member) in members {
        let key = key.replace('~', "~0").replace('/', "~1");
        below(path, &key, |path| take_within(member, path, taken));
    }
}

fn below(path: &mut String, step: &str, inside: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(step);
    inside(path);
    path.truncate(length);
}

/// The text with every long number outside of its strings written as a marked string; `None` where it has none.
fn marked(text: &str, is_long: fn(&str) -> bool) -> Option<String> {
    let bytes = text.as_bytes();
    let mut marked = String::new();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|it| is_of_number(**it));
                let end = at + length.count();
                // Where a name should stand, a number is an error, and has to stay one.
                let is_name = text[end..].trim_start().starts_with(':');
                if is_long(&text[at..end]) && !is_name {
                    marked.push_str(&text[copied..at]);
                    marked.extend(['"', MARK]);
                    marked.push_str(&text[at..end]);
                    marked.push('"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    marked.push_str(&text[copied..]);
    (copied > 0).then_some(marked)
}

/// Whether at least so many digits stand in a row anywhere, a point counting as one: only then is a closer look needed. Looks at few of
/// the bytes.
fn has_long_run(bytes: &[u8], stride: usize) -> bool {
    let is_digit = |it: &&u8| it.is_ascii_digit() || **it == b'.';
    let mut at = stride - 1;
    while at < bytes.len() {
        if is_digit(&&bytes[at]) {
            let before = bytes[..at].iter().rev().take_while(is_digit).count();
            let after = bytes[at..].iter().take_while(is_digit).count();
            if before + after >= stride {
                return true;
            }
        }
        at += stride;
    }
    false
}

/// Right after the string that begins here.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_of_number(it: u8) -> bool {
    it.is_ascii_digit() || matches!(it, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether a number loses digits when it is read as usual.
fn is_long(number: &str) -> bool {
    is_long_integer(number) || is_long_decimal(number)
}

/// Whether a number is a decimal, as JSON has them, of more digits than a double has.
fn is_long_decimal(number: &str) -> bool {
    let significant = |number: &str| -> String {
        let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    if number.len() <= DOUBLE || number.bytes().all(|it| it.is_ascii_digit() || it == b'-') {
        return false;
    }
    let own = significant(number);
    own.len() > DOUBLE
        && serde_json::from_str::<f64>(number)
            .is_ok_and(|it| significant(&format!("{it:e}")) != own)
}

/// Whether a number is an integer, in the one notation that JSON has for it, that does not fit into 64 bits.
fn is_long_integer(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() > SHORT
        && digits.bytes().all(|it| it.is_ascii_digit())
        && !digits.starts_with('0')
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
        // Beyond, the usual reader refuses the whole.
        && number.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{has_long_run, integers, of, parse, parse_integers, put, take, unmarked, written};

    const LONG: &str = "123456789012345678901234567890";

    #[test]
    fn long_integers_keep_their_digits() {
        let text = format!(
            r#"{{"a": [-{LONG} , 18446744073709551615, -9223372036854775808, 18446744073709551616],
               "in a text \" {LONG}": "{LONG}", "f": {LONG}.5, "e": {LONG}e2}}"#
        );
        let read = parse(&text).unwrap();
        let digits: Vec<Option<&str>> = read["a"].as_array().unwrap().iter().map(of).collect();
        let negative = format!("-{LONG}");
        assert_eq!(
            digits,
            [
                Some(negative.as_str()),
                None,
                None,
                Some("18446744073709551616")
            ]
        );
        assert_eq!(read[format!("in a text \" {LONG}")], LONG);
        let decimal = format!("{LONG}.5");
        assert_eq!(of(&read["f"]), Some(decimal.as_str()));
        let read = parse_integers(&text).unwrap();
        assert!(read["f"].is_f64() && read["e"].is_f64());
    }

    #[test]
    fn decimals_keep_their_digits_where_a_double_has_others() {
        for (number, is_kept) in [
            ("3.14159265358979323846", true),
            ("-0.12345678901234567", true),
            ("0.12345678901234568", false),
            ("1.5e300", false),
            ("123456789.12345678", false),
            ("0.10000000000000000000", false),
            ("6.02214076000000000001e23", true),
        ] {
            let mut read = parse(&format!("[{number}]")).unwrap();
            assert_eq!(of(&read[0]).is_some(), is_kept, "{number}");
            assert_eq!(
                parse_integers(number).unwrap(),
                number.parse::<f64>().unwrap()
            );
            if is_kept {
                let text = read.to_string();
                assert_eq!(written(&text), format!("[{number}]"));
                assert_eq!(unmarked(&text), format!("[{number}]"));
                let digits = take(&mut read);
                assert_eq!(read[0].as_f64(), number.parse().ok());
                assert!(integers(&digits).is_empty());
                put(&mut read, &digits);
                assert_eq!(of(&read[0]), Some(number));
            }
        }
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [
            format!("{{{LONG}: 1}}"),
            format!("[0{LONG}]"),
            format!("[--{LONG}]"),
            format!("[{LONG}"),
            format!("[+{LONG}]"),
            format!("x{LONG}"),
        ] {
            assert!(parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn runs_are_found_wherever_they_stand() {
        for before in 0..40 {
            for length in 0..30 {
                let text = format!("{}{}x", "a".repeat(before), "7".repeat(length));
                for least in [17, 19] {
                    let found = has_long_run(text.as_bytes(), least);
                    assert_eq!(found, length >= least, "{text}");
                }
            }
        }
    }

    #[test]
    fn digits_leave_and_come_back() {
        let text = format!(r#"{{"a/b": [{{"~": {LONG}}}, 1], "c": -{LONG}}}"#);
        let marked = parse(&text).unwrap();
        let mut value = marked.clone();
        let digits = take(&mut value);
        assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!(digits["/a~1b/0/~0"], LONG);
        put(&mut value, &digits);
        assert_eq!(value, marked);
        let mut other = json!({ "c": 5 });
        put(&mut other, &digits);
        assert_eq!(other, json!({ "c": 5 }), "another value");
    }

    #[test]
    fn they_are_shown_as_they_were_written() {
        let text = format!(r#"{{"a":[{LONG},"\"x"],"b":-{LONG}}}"#);
        let marked = parse(&text).unwrap().to_string();
        assert_eq!(unmarked(&marked), text);
        assert_eq!(written(&marked), text);
        for other in [
            "\"\u{fdd0}\"",
            "\"\u{fdd0}12\"",
            "\"\u{fdd0}x\"",
            "\"a\u{fdd0}",
        ] {
            assert_eq!(written(other), other, "no number that was marked");
        }
    }
}
