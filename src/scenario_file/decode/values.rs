//! The kinds of values that keys hold.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;
use serde_json::Value;

use super::plain::Plain;
use super::section::{Decode, NO_HINT, wrong_kind};
use super::served::Served;
use crate::model::json_path::JsonPath;
use crate::model::{Object, RedactionPattern};
use crate::scenario_file::yaml::{Content, Findings, Node, quoted};

impl Decode for String {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if let Content::Text(text) = &node.content {
            return Some(text.clone());
        }
        wrong_kind(node, "text", findings)
    }
}

impl Decode for bool {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if let Content::Bool(value) = node.content {
            return Some(value);
        }
        wrong_kind(node, "true or false", findings)
    }
}

/// `true`, where `false` would mean nothing.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct OnlyTrue;

impl Decode for OnlyTrue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let is_true = bool::decode(node, findings)?;
        if !is_true {
            findings.error(node.at, "only `true` has a meaning here", NO_HINT);
        }
        is_true.then_some(Self)
    }
}

impl Decode for i64 {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::Number(number) = &node.content else {
            return wrong_kind(node, "a whole number", findings);
        };
        let value = number.as_i64();
        if value.is_none() {
            let message = format!("expected a whole number, found {number}");
            findings.error(node.at, message, NO_HINT);
        }
        value
    }
}

impl Decode for Value {
    fn decode(node: &Node, _: &mut Findings) -> Option<Self> {
        Some(node.to_json())
    }
}

impl Decode for Object {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if let Content::Map(entries) = &node.content {
            return Some(Node::object(entries));
        }
        wrong_kind(node, "a map", findings)
    }
}

/// Text that is not empty.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Word(pub(in crate::scenario_file) String);

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Decode for Word {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        if text.trim().is_empty() {
            return findings.refuse(node.at, "must not be empty", NO_HINT);
        }
        Some(Self(text))
    }
}

/// A regular expression that compiles, and is not empty.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Pattern(pub(in crate::scenario_file) String);

impl Decode for Pattern {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        if text.is_empty() {
            return findings.refuse(
                node.at,
                "must not be empty: it would find something in every text",
                NO_HINT,
            );
        }
        let compiled = regex::Regex::new(&text);
        // One that finds something in nothing and in a character that nobody thought of.
        if let Ok(it) = &compiled
            && it.is_match("")
            && it.is_match("\u{1f}")
        {
            let message = format!("{} finds something in every text", quoted(&text));
            let hint = "an alternative that is empty, or `*` and `?` around all of it, match nothing as well";
            return findings.refuse(node.at, message, Some(hint));
        }
        if let Err(error) = compiled {
            // The message draws the pattern with a caret; its last line says what is wrong.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            let message = format!("{} is not a regular expression: {reason}", quoted(&text));
            return findings.refuse(node.at, message, NO_HINT);
        }
        Some(Self(text))
    }
}

/// A JSON pointer or JSON path.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct PathText(pub(in crate::scenario_file) JsonPath);

impl Decode for PathText {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        match JsonPath::parse(&text) {
            Ok(path) => Some(Self(path)),
            Err(problem) => {
                let message = format!("{} is not a path: {problem}", quoted(&text));
                let hint = "write `/tools/0/name` or `$.tools[*].name`, and `$` for all of it";
                findings.refuse(node.at, message, Some(hint))
            }
        }
    }
}

/// An HTTP status.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Status(pub(in crate::scenario_file) u16);

impl Decode for Status {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let value = i64::decode(node, findings)?;
        let status = u16::try_from(value)
            .ok()
            .filter(|it| (100..600).contains(it));
        if status.is_none() {
            let message = format!("expected an HTTP status from 100 to 599, found {value}");
            findings.error(node.at, message, NO_HINT);
        }
        status.map(Self)
    }
}

/// A regular expression for secrets, which must not match just anything.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct SecretPattern(pub(in crate::scenario_file) RedactionPattern);

impl Decode for SecretPattern {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        match RedactionPattern::new(&text) {
            Ok(pattern) => Some(Self(pattern)),
            Err(problem) => {
                let message = format!("{} {problem}", quoted(&text));
                let hint = "describe the secrets alone, such as `acme_[0-9a-f]{16}`";
                findings.refuse(node.at, message, Some(hint))
            }
        }
    }
}

/// A number within bounds.
pub(in crate::scenario_file) fn number(
    node: &Node,
    expected: &str,
    fits: impl Fn(f64) -> bool,
    findings: &mut Findings,
) -> Option<f64> {
    let Content::Number(number) = &node.content else {
        return wrong_kind(node, expected, findings);
    };
    let value = number.as_f64().filter(|it| fits(*it));
    if value.is_none() {
        let message = format!("expected {expected}, found {number}");
        findings.error(node.at, message, NO_HINT);
    }
    value
}

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Fraction(pub(in crate::scenario_file) f64);

impl Decode for Fraction {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let fits = |it| (0.0..=1.0).contains(&it);
        number(node, "a number from 0 to 1", fits, findings).map(Self)
    }
}

/// A number above 0.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Positive(pub(in crate::scenario_file) f64);

impl Decode for Positive {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        number(node, "a number above 0", |it| it > 0.0, findings).map(Self)
    }
}

/// A number from 0: a sum of money.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Amount(pub(in crate::scenario_file) f64);

impl Decode for Amount {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        number(node, "a number from 0", |it| it >= 0.0, findings).map(Self)
    }
}

/// What something counts for among others.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Weight(pub(in crate::scenario_file) f64);

impl Weight {
    /// The largest; sums of these stay exact enough to tell one from another.
    const MOST: f64 = 1e6;
}

impl Decode for Weight {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let fits = |it| (0.0..=Self::MOST).contains(&it);
        number(node, "a number from 0 to 1000000", fits, findings).map(Self)
    }
}

/// A whole number from 1.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Count(pub(in crate::scenario_file) u32);

impl Decode for Count {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        from(1, node, findings).map(Self)
    }
}

/// A whole number from 0: how many times something happened.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Times(pub(in crate::scenario_file) u32);

impl Decode for Times {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        from(0, node, findings).map(Self)
    }
}

/// How often something is done: 0 or 1 times.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Once(pub(in crate::scenario_file) bool);

impl Decode for Once {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let value = i64::decode(node, findings)?;
        let is_once = [false, true].into_iter().find(|it| i64::from(*it) == value);
        if is_once.is_none() {
            let message = format!("expected 0 or 1, found {value}");
            findings.error(node.at, message, NO_HINT);
        }
        is_once.map(Self)
    }
}

/// A whole number that is at least this. That there is a largest, too, is only mentioned to those who exceed it.
fn from(least: u32, node: &Node, findings: &mut Findings) -> Option<u32> {
    let value = i64::decode(node, findings)?;
    let fits = u32::try_from(value).ok().filter(|it| *it >= least);
    if fits.is_none() {
        let most = match u32::MAX {
            most if value > i64::from(most) => format!(" to {most}"),
            _ => " on".to_owned(),
        };
        let message = format!("expected a whole number from {least}{most}, found {value}");
        findings.error(node.at, message, NO_HINT);
    }
    fits
}

/// A port: a whole number from 1 to 65535.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Port(pub(in crate::scenario_file) u16);

impl Decode for Port {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let value = i64::decode(node, findings)?;
        let port = u16::try_from(value).ok().filter(|it| *it > 0);
        if port.is_none() {
            let message = format!("expected a port from 1 to 65535, found {value}");
            findings.error(node.at, message, NO_HINT);
        }
        port.map(Self)
    }
}

/// An amount of memory: text such as `512m` or `2g`, or a number of bytes.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Size(pub(in crate::scenario_file) u64);

/// A size's units and how many bits they shift by, as the engine reads them: powers of 1024.
const UNITS: [(&str, u32); 5] = [("b", 0), ("k", 10), ("m", 20), ("g", 30), ("t", 40)];

impl Decode for Size {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Text(_) | Content::Number(_)) {
            return wrong_kind(node, "an amount of memory", findings);
        }
        let written = node.as_written();
        let size = bytes(&written.to_ascii_lowercase()).filter(|it| i64::try_from(*it).is_ok());
        if size.is_none_or(|it| it == 0) {
            let message = format!("{} is not an amount of memory", quoted(&written));
            return findings.refuse(node.at, message, Some("write it like 512m, 2g or 1.5g"));
        }
        size.map(Self)
    }
}

fn bytes(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = text[number.len()..].trim_end_matches("ib");
    // `mb` means the same as `m`.
    let unit = unit
        .strip_suffix('b')
        .filter(|it| !it.is_empty())
        .unwrap_or(unit);
    let (_, shift) = UNITS
        .iter()
        .find(|(name, _)| *name == unit || unit.is_empty())?;
    let (whole, part) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    if part.is_empty() {
        return (!number.contains('.')).then_some(whole);
    }
    let places = u32::try_from(part.len()).ok().filter(|it| *it <= 6)?;
    let part = part.parse::<u64>().ok()? << shift;
    whole.checked_add(part / 10_u64.pow(places))
}

/// A length of time: text such as `60s`, `1m30s`, `250ms`, or a number of seconds.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Wait(pub(in crate::scenario_file) Duration);

/// A length of time above zero, written like [`Wait`].
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Timeout(pub(in crate::scenario_file) Duration);

/// Longer waits are mistakes, and far longer ones would overflow the clock.
const MAX_WAIT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Decode for Wait {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let hint = Some("write it like 60s, 1m30s or 250ms");
        let wait = match &node.content {
            Content::Text(text) => SpanParser::new().parse_unsigned_duration(text).ok(),
            Content::Number(number) => number
                .as_f64()
                .and_then(|it| Duration::try_from_secs_f64(it).ok()),
            _ => return wrong_kind(node, "a length of time", findings),
        };
        let Some(wait) = wait else {
            let message = format!("{} is not a length of time", quoted(&node.as_written()));
            return findings.refuse(node.at, message, hint);
        };
        if wait > MAX_WAIT {
            return findings.refuse(node.at, "is longer than a week", hint);
        }
        Some(Self(wait))
    }
}

impl Decode for Timeout {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Wait(wait) = Wait::decode(node, findings)?;
        if wait.is_zero() {
            return findings.refuse(node.at, "must be above zero", NO_HINT);
        }
        Some(Self(wait))
    }
}

/// What is the same with its place and without.
macro_rules! same {
    ($($type:ty),+) => { $(
        impl Plain<$type> for $type {
            fn plain(&self, _: &Findings) -> $type {
                self.clone()
            }
        }
    )+ };
}

same!(bool, i64, String, Value, Object);

/// What only holds a value that has been checked.
macro_rules! held {
    ($($type:ident as $value:ty),+ $(,)?) => { $(
        impl $crate::scenario_file::decode::plain::Plain<$value> for $type {
            fn plain(&self, _: &$crate::scenario_file::yaml::Findings) -> $value {
                self.0.clone()
            }
        }
    )+ };
}
pub(in crate::scenario_file) use held;

held!(
    Word as String,
    Pattern as String,
    PathText as JsonPath,
    Status as u16,
    Fraction as f64,
    Positive as f64,
    Amount as f64,
    Weight as f64,
    Count as u32,
    Times as u32,
    Once as bool,
    Port as u16,
    Size as u64,
    Wait as Duration,
    Timeout as Duration,
);

impl Plain<u64> for Count {
    fn plain(&self, _: &Findings) -> u64 {
        self.0.into()
    }
}

impl Plain<u64> for Times {
    fn plain(&self, _: &Findings) -> u64 {
        self.0.into()
    }
}

/// A number of things in memory.
impl Plain<usize> for Count {
    fn plain(&self, _: &Findings) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl Plain<usize> for Times {
    fn plain(&self, _: &Findings) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// What is sent as it is.
macro_rules! as_it_is {
    ($($type:ty),+) => { $(
        impl Served for $type {
            fn served(&self) -> Option<Value> {
                Some(self.clone().into())
            }
        }
    )+ };
}

as_it_is!(bool, i64, String, Value, Object);

impl Served for Word {
    fn served(&self) -> Option<Value> {
        Some(self.0.clone().into())
    }
}

impl Served for Fraction {
    fn served(&self) -> Option<Value> {
        Some(self.0.into())
    }
}

/// Gives a type a JSON Schema, written out or that of another type: in place, or, behind `as`, under a name of its own.
macro_rules! schema {
    ($type:ident, { $($json:tt)* }) => {
        $crate::scenario_file::decode::schema!($type, |_| schemars::json_schema!({ $($json)* }));
    };
    ($type:ident as $name:expr, { $($json:tt)* }) => {
        $crate::scenario_file::decode::schema!($type as $name, |_| schemars::json_schema!({ $($json)* }));
    };
    ($type:ident, |$generator:pat_param| $schema:expr) => {
        $crate::scenario_file::decode::schema!(@ $type, true, stringify!($type), |$generator| $schema);
    };
    ($type:ident as $name:expr, |$generator:pat_param| $schema:expr) => {
        $crate::scenario_file::decode::schema!(@ $type, false, $name, |$generator| $schema);
    };
    (@ $type:ident, $in_place:literal, $name:expr, |$generator:pat_param| $schema:expr) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                $in_place
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub(in crate::scenario_file) use schema;

schema!(Word, {"type": "string", "pattern": r"\S"});
schema!(OnlyTrue, {"const": true});
schema!(Pattern, {"type": "string", "format": "regex", "minLength": 1});
schema!(PathText, {"type": "string", "pattern": r"\S"});
schema!(Status, {"type": "integer", "minimum": 100, "maximum": 599});
schema!(SecretPattern, {"type": "string", "format": "regex", "minLength": 1});
schema!(Fraction, {"type": "number", "minimum": 0, "maximum": 1});
schema!(Positive, {"type": "number", "exclusiveMinimum": 0});
schema!(Amount, {"type": "number", "minimum": 0});
schema!(Weight, {"type": "number", "minimum": 0, "maximum": Weight::MOST});
schema!(Count, {"type": "integer", "minimum": 1, "maximum": u32::MAX});
schema!(Times, {"type": "integer", "minimum": 0, "maximum": u32::MAX});
schema!(Once, {"type": "integer", "enum": [0, 1]});
schema!(Port, {"type": "integer", "minimum": 1, "maximum": u16::MAX});
schema!(Size, {
    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": r"^\d"}]
});
schema!(Wait, {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\s*\d"}]
});
schema!(Timeout, {
    "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": r"^\s*\d"}]
});
