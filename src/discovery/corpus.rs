//! The tools that a search looks through.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::Fields;
use super::measures::Ids;
use super::places::Document;
use crate::scenario_file::Finding;

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
        let mut findings = Vec::new();
        let corpus = Self::read_partly(document, &mut findings);
        match corpus.filter(|_| findings.is_empty()) {
            Some(corpus) => Ok(corpus),
            None => Err(findings),
        }
    }

    /// As much of it as can be read, and what is wrong with the rest. `None` where there is nothing to read.
    pub fn read_partly(document: &Document, findings: &mut Vec<Finding>) -> Option<Self> {
        findings.extend(document.doubled_keys());
        let top = Fields::new(document, &document.value);
        if !document.value.is_object() {
            findings.push(document.error("", "a corpus is an object with a list `tools`"));
            return None;
        }
        let version = top.optional_text("", "version", findings);
        let mut corpus = Self {
            version: version.map(str::to_owned),
            tools: Vec::new(),
        };
        let mut seen = HashSet::new();
        if let Some(tools) = top.list("", "tools", findings) {
            if tools.items.is_empty() {
                findings.push(document.error("/tools", "there are no tools"));
            }
            for (pointer, fields) in tools.objects(document, "a tool", findings) {
                let Some(id) = fields.text(&pointer, "tool_id", findings) else {
                    continue;
                };
                if !seen.insert(id) {
                    let here = format!("{pointer}/tool_id");
                    findings.push(document.error(&here, format!("the tool `{id}` is here twice")));
                }
                let mut text = |key: &str| {
                    fields
                        .optional_text(&pointer, key, findings)
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
        Some(corpus)
    }

    pub fn ids(&self) -> Ids {
        Ids::new(self.tools.iter().map(|it| it.id.clone()))
    }

    pub fn tool(&self, id: &str) -> Option<&Tool> {
        self.tools.iter().find(|it| it.id == id)
    }
}
