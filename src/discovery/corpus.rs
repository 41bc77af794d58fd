//! The tools that a search looks through.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::Fields;
use super::finding::Finding;
use super::measures::Ids;
use super::places::Document;

/// A list of tools, frozen at some time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Corpus {
    pub version: Option<String>,
    pub tools: Vec<Tool>,
}

/// A tool of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// `server:tool`.
    pub id: String,
    pub server: String,
    pub name: String,
    pub description: String,
    pub schema: Option<Value>,
    /// Leads to it in its document.
    pub pointer: String,
}

impl Corpus {
    /// Reads a corpus `{version?, generated_from, tools: [{tool_id, server, tool, description, schema?}]}`.
    ///
    /// # Errors
    ///
    /// Everything that keeps it from being used, such as a tool id that is there twice.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        let mut findings = document.doubled_keys();
        let top = Fields::new(document, &document.value);
        if !document.value.is_object() {
            findings.push(document.error("", "a corpus is an object with a list `tools`"));
            return Err(findings);
        }
        let version = top.optional_text("", "version", &mut findings);
        let mut corpus = Self {
            version: version.map(str::to_owned),
            tools: Vec::new(),
        };
        let mut seen = HashSet::new();
        if let Some(tools) = top.list("", "tools", &mut findings) {
            if tools.items.is_empty() {
                findings.push(document.error("/tools", "there are no tools"));
            }
            for (pointer, fields) in tools.objects(document, "a tool", &mut findings) {
                let Some(id) = fields.text(&pointer, "tool_id", &mut findings) else {
                    continue;
                };
                if !seen.insert(id) {
                    let here = format!("{pointer}/tool_id");
                    findings.push(document.error(&here, format!("the tool `{id}` is here twice")));
                }
                let mut text = |key: &str| {
                    fields
                        .optional_text(&pointer, key, &mut findings)
                        .map(str::to_owned)
                };
                let (server, name) = id.split_once(':').unwrap_or(("", id));
                corpus.tools.push(Tool {
                    id: id.to_owned(),
                    server: text("server").unwrap_or_else(|| server.to_owned()),
                    name: text("tool").unwrap_or_else(|| name.to_owned()),
                    description: text("description").unwrap_or_default(),
                    schema: fields.get("schema").filter(|it| !it.is_null()).cloned(),
                    pointer,
                });
            }
        }
        if findings.is_empty() {
            Ok(corpus)
        } else {
            Err(findings)
        }
    }

    pub fn ids(&self) -> Ids {
        Ids::new(self.tools.iter().map(|it| it.id.clone()))
    }

    pub fn tool(&self, id: &str) -> Option<&Tool> {
        self.tools.iter().find(|it| it.id == id)
    }
}
