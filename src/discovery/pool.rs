//! Answered ids that nobody has graded, collected for a person to grade: what is not labelled counts as not relevant, right or wrong.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::golden::{Corpus, Golden};
use super::measures::count;
use super::places::{Document, part};
use crate::scenario_file::Finding;

/// What is to be graded, most valuable first.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Pool {
    pub corpus_version: Option<String>,
    pub candidates: Vec<Candidate>,
}

/// An id that was answered to a query and has no label.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Candidate {
    pub query_id: String,
    pub query: String,
    pub tool_id: String,
    pub description: String,
    /// For the person to fill in: 0, 1 or 2.
    pub relevance: Option<u8>,
    /// How much the figures hang on it: 1 / log2(rank + 1), added up over the runs.
    pub value: f64,
    pub best_rank: usize,
    /// How many runs answered it.
    pub runs: usize,
}

/// One run: what was answered to each query, by its id.
pub type Run = Vec<(String, Vec<String>)>;

impl Pool {
    /// Whether a document looks like a pool.
    pub fn is_one(document: &Document) -> bool {
        document
            .value
            .get("candidates")
            .is_some_and(Value::is_array)
    }

    /// Reads a pool that a person may have graded.
    ///
    /// # Errors
    ///
    /// Every candidate that cannot be read, and every grade that is none.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        let mut findings = document.doubled_keys();
        let items = document.value.get("candidates").and_then(Value::as_array);
        for (index, item) in items.into_iter().flatten().enumerate() {
            let here = format!("/candidates{}", part(index));
            let grade = item.get("relevance").filter(|it| !it.is_null());
            if let Some(grade) = grade.filter(|it| it.as_u64().is_none_or(|it| it > 2)) {
                let problem = format!("`relevance` must be 0, 1, 2 or null, and is {grade}");
                findings.push(document.error(&format!("{here}/relevance"), problem));
            } else if let Err(error) = Candidate::deserialize(item) {
                let problem = format!("this is not a candidate of a pool: {error}");
                findings.push(document.error(&here, problem));
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        Self::deserialize(&document.value)
            .map_err(|error| vec![document.error("", format!("this is not a pool: {error}"))])
    }

    /// Takes over what a person has graded in an earlier pool; what is not collected any more stays where it is graded. Returns how many grades
    /// there are.
    pub fn keep_grades(&mut self, earlier: Self) -> usize {
        let graded = earlier.candidates.into_iter();
        for old in graded.filter(|it| it.relevance.is_some()) {
            let same = self
                .candidates
                .iter_mut()
                .find(|it| it.query_id == old.query_id && it.tool_id == old.tool_id);
            match same {
                // Of another question, the grade says nothing.
                Some(new) if new.query == old.query => new.relevance = old.relevance,
                Some(_) => {}
                None => self.candidates.push(old),
            }
        }
        let graded = self.candidates.iter().filter(|it| it.relevance.is_some());
        graded.count()
    }
}

/// Reads what was answered from a report of `retrieval` on a corpus.
///
/// # Errors
///
/// Where it is none, one of another corpus, or one of a search that was not measured.
pub fn read_run(document: &Document, corpus_version: Option<&str>) -> Result<Run, Vec<Finding>> {
    if document.value.get("status").and_then(Value::as_str) == Some("incomplete") {
        let problem = "this is of a measurement that could not be made";
        return Err(vec![document.error("/status", problem)]);
    }
    let of = document.value.get("corpus_version").and_then(Value::as_str);
    if let (Some(has), Some(wants)) = (of, corpus_version)
        && has != wants
    {
        let problem = format!("this was measured on `{has}`, and the queries are of `{wants}`");
        return Err(vec![document.error("/corpus_version", problem)]);
    }
    let Some(queries) = document.value.get("per_query").and_then(Value::as_array) else {
        let problem = "this is not a report of `mcp-eval retrieval`: it has no list `per_query`";
        return Err(vec![document.error("", problem)]);
    };
    let mut run = Run::new();
    for (index, query) in queries.iter().enumerate() {
        let id = query.get("id").and_then(Value::as_str);
        let retrieved = query.get("retrieved").and_then(Value::as_array);
        let (Some(id), Some(retrieved)) = (id, retrieved) else {
            let here = format!("/per_query{}", part(index));
            return Err(vec![
                document.error(&here, "a query of a report has `id` and `retrieved`"),
            ]);
        };
        let ids = retrieved.iter().filter_map(Value::as_str);
        run.push((id.to_owned(), ids.map(str::to_owned).collect()));
    }
    Ok(run)
}

/// Collects what the runs answered and nobody has graded.
pub fn pool(corpus: &Corpus, golden: &Golden, runs: &[Run]) -> Pool {
    let queries: HashMap<&str, _> = golden
        .queries
        .iter()
        .map(|it| (it.id.as_str(), (it, it.grades())))
        .collect();
    let mut found: BTreeMap<(&str, &str), Candidate> = BTreeMap::new();
    for (id, retrieved) in runs.iter().flatten() {
        let Some((query, grades)) = queries.get(id.as_str()) else {
            continue;
        };
        for (at, tool_id) in retrieved.iter().enumerate() {
            let (false, Some(tool)) = (grades.is_labelled(tool_id), corpus.tool(tool_id)) else {
                continue;
            };
            let candidate = found
                .entry((&query.id, &tool.id))
                .or_insert_with(|| Candidate {
                    query_id: query.id.clone(),
                    query: query.text.clone(),
                    tool_id: tool.id.clone(),
                    description: tool.description.clone(),
                    relevance: None,
                    value: 0.0,
                    best_rank: at + 1,
                    runs: 0,
                });
            candidate.value += 1.0 / count(at + 2).log2();
            candidate.best_rank = candidate.best_rank.min(at + 1);
            candidate.runs += 1;
        }
    }
    let mut candidates: Vec<Candidate> = found.into_values().collect();
    candidates.sort_by(|a, b| b.value.total_cmp(&a.value));
    Pool {
        corpus_version: golden.corpus_version.clone(),
        candidates,
    }
}
