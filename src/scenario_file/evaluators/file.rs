//! `type: file`, and the place of a file that a run leaves.

use std::path::PathBuf;

use serde_json::Value;

use super::schema::SchemaValue;
use super::text::{TextMatch, only_one, way};
use crate::model::ShownText;
use crate::scenario_file::decode::{At, Pattern, Word, literal, section};
use crate::scenario_file::yaml::{Findings, Mark, quoted};

section! {
    /// A file after the run. It is checked while servers that outlive a run are still up, and before the commands under `after` are run.
    FileKeys {
        /// The file, relative to this one. `${NAME}` is an environment variable.
        path: At<Word>,
        /// The server in whose working folder (its `cwd`) `path` begins.
        server: Option<At<Word>>,
        /// The container in which `path`, an absolute one, is: its name under `containers`, or `docker` for the one of that section. What a container keeps in memory alone (`tmpfs`, /proc) is not seen.
        container: Option<At<Word>>,
        /// Whether it is there; true unless given.
        exists: Option<At<bool>>,
        /// This text is in it.
        contains: Option<At<Word>>,
        /// Its text is this one; spaces around it do not count.
        equals: Option<At<String>>,
        /// This regular expression finds something in it.
        regex: Option<At<Pattern>>,
        /// It is JSON, and valid by this JSON Schema, or the one in the file of this path.
        schema: Option<SchemaValue>,
        /// Whether it is what it was when the run began.
        unchanged: Option<bool>,
    }
}

impl FileKeys {
    pub(super) fn file(&self, at: Mark, findings: &mut Findings) -> Option<FileEvaluator> {
        let (contains, regex) = (self.contains.as_ref(), self.regex.as_ref());
        let ways = [
            way("contains", contains, |it| TextMatch::Contains(it.0)),
            way("equals", self.equals.as_ref(), TextMatch::Equals),
            way("regex", regex, |it| TextMatch::Regex(it.0)),
        ];
        let has_text = ways.iter().any(|(_, it)| it.is_some());
        let text = if has_text {
            Some(only_one(at, ways, findings)?)
        } else {
            None
        };
        let exists = self.exists.as_ref().is_none_or(|it| it.value);
        if let Some(it) = &self.exists
            && !exists
            && (has_text || self.schema.is_some() || self.unchanged.is_some())
        {
            let message = "a file that is not there has neither text nor history";
            findings.error(it.at, message, Some("keep `exists: false` alone"));
        }
        Some(FileEvaluator {
            file: place(
                &self.path,
                (self.server.as_ref(), self.container.as_ref()),
                findings,
            )?,
            exists,
            text,
            schema: self.schema.as_ref().map(|it| it.0.clone()),
            unchanged: self.unchanged,
        })
    }
}

/// Where a file is that a run leaves, with the server or the container that its path begins in.
pub(super) fn place(
    path: &At<Word>,
    (server, container): (Option<&At<Word>>, Option<&At<Word>>),
    findings: &mut Findings,
) -> Option<FilePlace> {
    let begins = match (server, container) {
        (None, None) => FileRoot::Folder(findings.folder(path.at)),
        (Some(name), None) => FileRoot::Server(name.0.clone()),
        (None, Some(name)) => FileRoot::Container(name.0.clone()),
        (Some(_), Some(container)) => {
            let message = "a file is in the folder of a server or in a container";
            return findings.refuse(container.at, message, Some("keep one of the two keys"));
        }
    };
    if path.0.starts_with("~/") {
        let message = "`~` is not expanded here";
        return findings.refuse(path.at, message, Some("write `${HOME}/…`"));
    }
    if container.is_some() && !path.0.starts_with(['/', '$']) {
        let message = format!("{} is not an absolute path", quoted(&path.0));
        let hint = "in a container, a path begins at its root: `/data/orders.json`";
        return findings.refuse(path.at, message, Some(hint));
    }
    let written = if findings.is_literal(path.at) {
        literal(&path.0)
    } else {
        path.0.clone()
    };
    Some(FilePlace { written, begins })
}

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
