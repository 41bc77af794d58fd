//! The words of the project as plain types, and the forms in which they are [`published`]; with them, what all rooms do with [`json`],
//! [`text`]s and [`digits`]. No I/O, no behaviour beyond small views.

pub mod binding;
pub mod call;
pub mod called;
pub mod catalogue;
pub mod cell;
pub mod change;
pub mod comparison;
pub mod digits;
pub mod direct;
pub mod drift;
pub mod evaluation;
pub mod expected;
pub mod experiment;
pub mod interval;
pub mod json;
pub mod json_path;
pub mod label;
pub mod learned;
pub mod number;
pub mod pending;
pub mod placeholder;
pub mod places;
pub mod points;
pub mod published;
pub mod reason;
pub mod redacted;
pub mod redaction;
pub mod reference;
pub mod repeated;
pub mod response;
pub mod rules;
pub mod ruling;
pub mod sentence;
pub mod stamp;
pub mod status;
pub mod suite;
pub mod text;
pub mod texts;
pub mod trajectory;
pub mod trouble;
pub mod unsteady;
pub mod upstream;
pub mod usage;

/// A JSON object, keys in the order they came.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// The digits of numbers that 64 bits cannot hold, by where they stand (JSON pointers).
pub type Digits = std::collections::BTreeMap<String, String>;
