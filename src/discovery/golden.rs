//! Labelled queries: what a search should find.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::Fields;
use super::measures::Grades;
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
        let mut findings = Vec::new();
        let golden = Self::read_partly(document, &mut findings);
        match golden.filter(|_| findings.is_empty()) {
            Some(golden) => Ok(golden),
            None => Err(findings),
        }
    }

    /// As much of it as can be read, and what is wrong with the rest; a query without a text has an empty one. `None` where there is nothing to
    /// read.
    pub fn read_partly(document: &Document, findings: &mut Vec<Finding>) -> Option<Self> {
        findings.extend(document.doubled_keys());
        if !document.value.is_object() {
            let problem = "a golden set is an object with a list `queries`";
            findings.push(document.error("", problem));
            return None;
        }
        let top = Fields::new(document, &document.value);
        let version = top.optional_text("", "corpus_version", findings);
        let mut golden = Self {
            corpus_version: version.map(str::to_owned),
            queries: Vec::new(),
        };
        let mut seen = HashSet::new();
        if let Some(queries) = top.list("", "queries", findings) {
            if queries.items.is_empty() {
                findings.push(document.error("/queries", "there are no queries"));
            }
            for (pointer, fields) in queries.objects(document, "a query", findings) {
                let id = fields.text(&pointer, "id", findings);
                if let Some(id) = id
                    && !seen.insert(id)
                {
                    let here = format!("{pointer}/id");
                    findings
                        .push(document.error(&here, format!("the query id `{id}` is here twice")));
                }
                let text = fields.text(&pointer, "query", findings);
                let before = findings.len();
                let labels = labels(document, &pointer, fields, findings);
                let is_whole = findings.len() == before;
                if let Some(id) = id {
                    golden.queries.push(Query {
                        id: id.to_owned(),
                        text: text.unwrap_or_default().to_owned(),
                        labels,
                        is_whole,
                        pointer,
                    });
                }
            }
        }
        Some(golden)
    }
}

fn labels(
    document: &Document,
    pointer: &str,
    query: Fields<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<Label> {
    let Some(items) = query.list(pointer, "labels", findings) else {
        return Vec::new();
    };
    let mut labels: Vec<Label> = Vec::new();
    for (pointer, fields) in items.objects(document, "a label", findings) {
        let Some(id) = fields.text(&pointer, "tool_id", findings) else {
            continue;
        };
        let here = format!("{pointer}/relevance");
        let grade = fields.get("relevance");
        let number = grade.and_then(Value::as_u64);
        let Some(grade) = number
            .and_then(|it| u8::try_from(it).ok())
            .filter(|it| *it <= 2)
        else {
            let problem = match grade {
                None => "`relevance` is missing".to_owned(),
                Some(other) => format!("`relevance` must be 0, 1 or 2, not {other}"),
            };
            findings.push(document.error(&here, problem));
            continue;
        };
        if let Some(before) = labels.iter().find(|it| it.tool_id == id)
            && before.grade != grade
        {
            let before = before.grade;
            let problem = format!("`{id}` is labelled {before} above, and {grade} here");
            findings.push(document.error(&here, problem));
        }
        labels.push(Label {
            tool_id: id.to_owned(),
            grade,
            pointer,
        });
    }
    labels
}
