//! The tools that a search looks through, labelled queries with what it should find, and the words in both.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::{Fields, read_partly, read_whole};
use super::measures::{Grades, Ids};
use super::places::Document;
use crate::scenario_file::Finding;

/// A set of labelled queries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Golden {
    /// The version of the corpus that it was labelled on.
    pub corpus_version: Option<String>,
    pub queries: Vec<Query>,
}

/// A query and the tools that it should find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub id: String,
    pub text: String,
    pub labels: Vec<Label>,
    /// Whether all of its labels could be read: else nobody knows what it should find.
    pub is_whole: bool,
    /// Leads to it in its document.
    pub pointer: String,
}

/// What a tool is to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub tool_id: String,
    /// 0 not relevant, 1 relevant, 2 what was wanted.
    pub grade: u8,
    /// Leads to it in its document.
    pub pointer: String,
}

impl Query {
    pub fn grades(&self) -> Grades {
        Grades::new(self.labels.iter().map(|it| (it.tool_id.clone(), it.grade)))
    }
}

impl Golden {
    /// Reads a golden set `{corpus_version, queries: [{id, query, labels: [{tool_id, relevance}], notes?}]}`.
    ///
    /// # Errors
    ///
    /// Everything that keeps it from being used, such as a query id that is there twice.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        read_whole(document, Self::of)
    }

    /// As much of it as can be read, and what is wrong with the rest; a query without a text has an empty one. `None` where there is nothing to
    /// read.
    pub fn read_partly(document: &Document, findings: &mut Vec<Finding>) -> Option<Self> {
        read_partly(document, findings, Self::of)
    }

    fn of(top: &Fields<'_>) -> Option<Self> {
        if !top.value.is_object() {
            top.refuse("a golden set is an object with a list `queries`");
            return None;
        }
        let version = top.optional_text("corpus_version");
        let mut golden = Self {
            corpus_version: version.map(str::to_owned),
            queries: Vec::new(),
        };
        let mut seen = HashSet::new();
        let Some(queries) = top.list("queries") else {
            return Some(golden);
        };
        if queries.items().is_empty() {
            queries.refuse("there are no queries");
        }
        for query in queries.objects("a query") {
            let id = query.text("id");
            if let Some(id) = id
                && !seen.insert(id)
            {
                query.error("id", format!("the query id `{id}` is here twice"));
            }
            let text = query.text("query");
            let before = query.wrong_so_far();
            let labels = labels(&query);
            let is_whole = query.wrong_so_far() == before;
            if let Some(id) = id {
                golden.queries.push(Query {
                    id: id.to_owned(),
                    text: text.unwrap_or_default().to_owned(),
                    labels,
                    is_whole,
                    pointer: query.pointer,
                });
            }
        }
        Some(golden)
    }
}

fn labels(query: &Fields<'_>) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    let listed = query.list("labels").map(|it| it.objects("a label"));
    for label in listed.unwrap_or_default() {
        let Some(id) = label.text("tool_id") else {
            continue;
        };
        let given = label.get("relevance");
        let number = given.and_then(Value::as_u64).filter(|it| *it <= 2);
        let Some(grade) = number.and_then(|it| u8::try_from(it).ok()) else {
            let problem = match given {
                None => "`relevance` is missing".to_owned(),
                Some(other) => format!("`relevance` must be 0, 1 or 2, not {other}"),
            };
            label.error("relevance", problem);
            continue;
        };
        if let Some(before) = labels.iter().find(|it| it.tool_id == id)
            && before.grade != grade
        {
            let before = before.grade;
            let problem = format!("`{id}` is labelled {before} above, and {grade} here");
            label.error("relevance", problem);
        }
        labels.push(Label {
            tool_id: id.to_owned(),
            grade,
            pointer: label.pointer,
        });
    }
    labels
}

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
        read_whole(document, Self::of)
    }

    /// As much of it as can be read, and what is wrong with the rest. `None` where there is nothing to read.
    pub fn read_partly(document: &Document, findings: &mut Vec<Finding>) -> Option<Self> {
        read_partly(document, findings, Self::of)
    }

    fn of(top: &Fields<'_>) -> Option<Self> {
        if !top.value.is_object() {
            top.refuse("a corpus is an object with a list `tools`");
            return None;
        }
        let version = top.optional_text("version");
        let mut corpus = Self {
            version: version.map(str::to_owned),
            tools: Vec::new(),
        };
        let mut seen = HashSet::new();
        let Some(tools) = top.list("tools") else {
            return Some(corpus);
        };
        if tools.items().is_empty() {
            tools.refuse("there are no tools");
        }
        for tool in tools.objects("a tool") {
            let Some(id) = tool.text("tool_id") else {
                continue;
            };
            if !seen.insert(id) {
                tool.error("tool_id", format!("the tool `{id}` is here twice"));
            }
            let text = |key: &str| tool.optional_text(key).map(str::to_owned);
            let (server, name) = id.split_once(':').unwrap_or(("", id));
            corpus.tools.push(Tool {
                id: id.to_owned(),
                server: text("server").unwrap_or_else(|| server.to_owned()),
                name: text("tool").unwrap_or_else(|| name.to_owned()),
                description: text("description").unwrap_or_default(),
                schema: tool.get("schema").filter(|it| !it.is_null()).cloned(),
                pointer: tool.pointer,
            });
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

/// The words of a text in lower case, in order.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|it: char| !it.is_alphanumeric());
    parts
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words that a name is made of: `listIssues`, `list_issues` and `list-issues` are the same two.
pub(super) fn words_of_name(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = None;
    for it in name.chars() {
        if it.is_uppercase() && before.is_some_and(|it: char| it.is_lowercase()) {
            spaced.push(' ');
        }
        spaced.push(it);
        before = Some(it);
    }
    words(&spaced)
}

/// Whether a text names something: its name to the letter where no ordinary word looks so, or the words of its name, two at least, one after
/// the other.
pub(super) fn names(text: &[String], raw: &str, name: &str) -> bool {
    let parts = words_of_name(name);
    if parts.len() < 2 {
        return false;
    }
    raw.to_lowercase().contains(&name.to_lowercase())
        || text.windows(parts.len()).any(|it| it == parts)
}

/// The share of the words of two texts that both have, from 0 to 1.
pub(super) fn overlap(a: &HashSet<&str>, b: &HashSet<&str>) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 {
        return 1.0;
    }
    super::measures::count(both) / super::measures::count(all)
}
