//! Files that a run leaves.

use std::path::PathBuf;

use serde_json::Value;

use super::text::TextMatch;
use crate::model::redacted::ShownText;

/// What is said of a file after the run.
#[derive(Debug, Clone, PartialEq)]
pub struct FileEvaluator {
    pub file: FilePlace,
    /// Whether it is there.
    pub exists: bool,
    /// What its text must be like.
    pub text: Option<TextMatch>,
    /// Its JSON is valid by this schema.
    pub schema: Option<Value>,
    /// Whether it is what it was before the run.
    pub unchanged: Option<bool>,
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePlace {
    /// As the scenario says it, with `${…}` not yet filled in.
    pub written: String,
    pub begins: FileRoot,
}

/// Where the path of a file begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileRoot {
    /// In this folder, that of the file that says it.
    Folder(PathBuf),
    /// In the working folder of this server.
    Server(String),
    /// At the root of this container.
    Container(String),
}

impl FileEvaluator {
    pub(super) fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        if let Some(text) = &mut self.text {
            text.each_text(visit);
        }
    }

    pub(super) fn words(&self) -> String {
        let mut said = Vec::new();
        if !self.exists {
            said.push("is not there".to_owned());
        }
        said.extend(self.text.as_ref().map(TextMatch::words));
        said.extend(
            self.schema
                .as_ref()
                .map(|_| "is valid by its schema".to_owned()),
        );
        said.extend(self.unchanged.map(|it| {
            let words = if it { "is unchanged" } else { "has changed" };
            words.to_owned()
        }));
        if said.is_empty() {
            said.push("is there".to_owned());
        }
        format!("the file \"{}\" {}", self.file.written, said.join(", "))
    }
}
