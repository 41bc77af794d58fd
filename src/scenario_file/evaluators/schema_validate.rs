//! `type: schema-validate` and `type: file`, and JSON Schemas, written in place or in a file.

use serde_json::{Value, json};

use super::text::{answer_of, only_one, way};
use crate::json_schema;
use crate::model::evaluator::{
    FileEvaluator, FilePlace, FileRoot, SchemaSource, SchemaValidate, TextMatch,
};
use crate::scenario_file::decode::section::wrong_kind;
use crate::scenario_file::decode::template::literal;
use crate::scenario_file::decode::values::{Count, Pattern, Word};
use crate::scenario_file::decode::{At, Decode, NO_HINT, choice, schema, section};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

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

/// The largest file of a schema, in bytes.
const MAX_SCHEMA: u64 = 4 * 1024 * 1024;

/// A schema that can be validated against.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct SchemaValue(pub(in crate::scenario_file) Value);

impl Decode for SchemaValue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let schema = match &node.content {
            Content::Map(_) => node.to_json(),
            Content::Text(path) => {
                let file = findings.folder(node.at).join(path);
                if !findings.may_name(node.at, &file) {
                    return None;
                }
                findings.depends_on(&file);
                let read = findings.read_bytes(&file, MAX_SCHEMA);
                let read = read.and_then(|bytes| {
                    serde_json::from_slice(&bytes).map_err(|error| format!("is not JSON: {error}"))
                });
                match read {
                    Ok(schema) => schema,
                    Err(problem) => {
                        let message = format!("the file {} {problem}", quoted(path));
                        return findings.refuse(node.at, message, NO_HINT);
                    }
                }
            }
            _ => {
                return wrong_kind(
                    node,
                    "a JSON Schema, or the path of a file with one",
                    findings,
                );
            }
        };
        match json_schema::JsonSchema::new(&schema) {
            Err(why) => {
                return findings.refuse(node.at, format!("the schema {why}"), NO_HINT);
            }
            Ok(it) if findings.thorough && accepts_everything(&it) => {
                let hint = "is a keyword misspelt, or does it refer to itself alone?";
                let message = "every JSON value is valid by this schema";
                findings.warning(node.at, message, Some(hint));
            }
            Ok(_) => {}
        }
        Some(Self(schema))
    }
}

/// Whether a schema lets pass whatever comes, tried with one value of each kind and some odd ones.
fn accepts_everything(schema: &json_schema::JsonSchema) -> bool {
    let values = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(7),
        json!(""),
        json!("\u{1f}"),
        json!([]),
        json!([null, {}, {}]),
        json!({}),
        json!({ "\u{1f}": null }),
    ];
    values
        .iter()
        .all(|it| schema.violations(it).next().is_none())
}

schema!(SchemaValue, {"anyOf": [{"type": "object"}, {"type": "string", "pattern": r"\S"}]});

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
