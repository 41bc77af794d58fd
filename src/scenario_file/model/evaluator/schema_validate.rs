//! JSON that must satisfy a schema.

use serde_json::Value;

use super::compared::AnswerOf;
use super::file::FilePlace;

/// What was said, or left, is validated against a JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaValidate {
    pub source: SchemaSource,
    pub schema: Value,
}

/// Where the JSON is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaSource {
    /// In these answers: their structured content, else their text.
    Answer(AnswerOf),
    /// In their structured content alone.
    Structured(AnswerOf),
    /// In the agent's last words, by itself or in a fence.
    FinalText,
    File(FilePlace),
}

impl SchemaValidate {
    pub(super) fn words(&self) -> String {
        let what = match &self.source {
            SchemaSource::Answer(of) => format!("the answer{}", of.words()),
            SchemaSource::Structured(of) => format!("the structured content{}", of.words()),
            SchemaSource::FinalText => "final_text".to_owned(),
            SchemaSource::File(file) => format!("the file \"{}\"", file.written),
        };
        format!("{what} is valid by its schema")
    }
}
