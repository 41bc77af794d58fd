//! `type: schema-validate`.

use serde_json::Value;

use super::compared::AnswerOf;
use super::file::{FilePlace, place};
use super::schema::SchemaValue;
use super::text::answer_of;
use crate::scenario_file::decode::{At, Count, NO_HINT, Word, choice, section};
use crate::scenario_file::yaml::{Findings, Mark};

/// What is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario_file) enum Validated {
    Answer,
    Structured,
    FinalText,
    File,
}

choice! {
    /// What is validated.
    ValidatedWord for Validated {
        "answer" => Validated::Answer,
        "structured_content" => Validated::Structured,
        "final_text" => Validated::FinalText,
        "file" => Validated::File,
    }
}

section! {
    /// JSON that must be valid by a schema.
    SchemaKeys {
        /// `answer`: what tools answered. `structured_content`: that part of it. `final_text`: JSON in the agent's last words, by itself or in a fence. `file`: a file that the run left, at `path`. `answer` unless given, or `file` where there is `path`.
        r#in: Option<At<ValidatedWord>>,
        /// The tool whose answers are validated; all tools unless given.
        tool: Option<At<Word>>,
        /// The number of the call whose answer is validated, counted from 1: among those of `tool`, or among all. All of them unless given.
        call: Option<At<Count>>,
        /// The file, relative to this one.
        path: Option<At<Word>>,
        /// The server in whose working folder `path` begins.
        server: Option<At<Word>>,
        /// The container in which `path`, an absolute one, is: its name under `containers`, or `docker` for the one of that section.
        container: Option<At<Word>>,
        /// The JSON Schema, or the path of a file with it, relative to this one. Nothing that it refers to is fetched.
        schema: SchemaValue,
    }
}

impl SchemaKeys {
    pub(super) fn tool(&self) -> Option<(Mark, &str)> {
        self.tool.as_ref().map(|it| (it.at, it.0.as_str()))
    }

    pub(super) fn schema_validate(
        &self,
        at: Mark,
        findings: &mut Findings,
    ) -> Option<SchemaValidate> {
        let usual = if self.path.is_some() {
            Validated::File
        } else {
            Validated::Answer
        };
        let validated = self.r#in.as_ref().map_or(usual, |it| it.value.0);
        let of_answers = matches!(validated, Validated::Answer | Validated::Structured);
        let of_file = validated == Validated::File;
        let tool = self.tool.as_ref().map(|it| ("tool", it.at, of_answers));
        let call = self.call.as_ref().map(|it| ("call", it.at, of_answers));
        let path = self.path.as_ref().map(|it| ("path", it.at, of_file));
        let server = self.server.as_ref().map(|it| ("server", it.at, of_file));
        let container = self.container.as_ref();
        let container = container.map(|it| ("container", it.at, of_file));
        let given = [tool, call, path, server, container];
        for (key, at, fits) in given.into_iter().flatten() {
            if !fits {
                let message = format!("`{key}` does not apply to what is validated");
                findings.error(at, message, NO_HINT);
            }
        }
        let of = answer_of(self.tool.as_ref(), self.call.as_ref());
        let source = match (validated, &self.path) {
            (Validated::Answer, _) => SchemaSource::Answer(of),
            (Validated::Structured, _) => SchemaSource::Structured(of),
            (Validated::FinalText, _) => SchemaSource::FinalText,
            (Validated::File, Some(path)) => {
                let begins = (self.server.as_ref(), self.container.as_ref());
                SchemaSource::File(place(path, begins, findings)?)
            }
            (Validated::File, None) => {
                return findings.refuse(at, "`in: file` needs a `path`", NO_HINT);
            }
        };
        Some(SchemaValidate {
            source,
            schema: self.schema.0.clone(),
        })
    }
}

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
