//! Findings in data sets that can be read: what is wrong with them, or looks wrong.

use std::collections::{HashMap, HashSet};

use super::golden::{Corpus, Golden, Query, Tool, names, overlap, words};
use super::places::Document;
use crate::scenario_file::{Finding, sort};

/// How many of the words of two queries must be the same for them to be nearly the same query.
const NEARLY: f64 = 0.75;

/// A file and what was read from it.
pub struct Source<'a, T> {
    pub document: &'a Document,
    pub read: &'a T,
}

impl<'a, T> From<&'a (Document, T)> for Source<'a, T> {
    fn from((document, read): &'a (Document, T)) -> Self {
        Self { document, read }
    }
}

impl<T> Clone for Source<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Source<'_, T> {}

/// Everything that is to be said of a golden set and its corpus, sorted by place.
pub fn check(corpus: Source<'_, Corpus>, golden: Source<'_, Golden>) -> Vec<Finding> {
    let mut findings = Vec::new();
    versions(corpus, golden, &mut findings);
    tools(corpus, &mut findings);
    let by_id: HashMap<&str, &Tool> = corpus
        .read
        .tools
        .iter()
        .map(|it| (it.id.as_str(), it))
        .collect();
    for query in &golden.read.queries {
        stale(golden.document, query, &by_id, &mut findings);
        labels(golden.document, query, &mut findings);
        named(golden.document, query, &by_id, &mut findings);
    }
    doubles(golden, &mut findings);
    unused(corpus, golden.read, &mut findings);
    sort(&mut findings);
    findings
}

/// What keeps a golden set from being measured with: figures that would be the same whatever is found. That a labelled tool is gone is
/// reported for each query that misses it.
pub fn unfit(golden: Source<'_, Golden>, findings: &mut Vec<Finding>) {
    let mut first: HashMap<Vec<String>, &Query> = HashMap::new();
    for query in &golden.read.queries {
        labels(golden.document, query, findings);
        let mut asked = words(&query.text);
        if asked.is_empty() {
            asked.push(query.text.clone());
        }
        let earlier = *first.entry(asked).or_insert(query);
        if query.grades() != earlier.grades() {
            findings.push(contrary(golden.document, query, earlier));
        }
    }
}

/// The version that a golden set was made for, if it is another than that of the corpus.
pub fn versions(
    corpus: Source<'_, Corpus>,
    golden: Source<'_, Golden>,
    findings: &mut Vec<Finding>,
) {
    if let (Some(has), Some(wants)) = (&corpus.read.version, &golden.read.corpus_version)
        && has != wants
    {
        let problem = format!(
            "this was labelled on `{wants}`, and {} is `{has}`",
            corpus.document.path
        );
        findings.push(golden.document.error("/corpus_version", problem));
    }
}

fn tools(corpus: Source<'_, Corpus>, findings: &mut Vec<Finding>) {
    for tool in &corpus.read.tools {
        let own = format!("{}:{}", tool.server, tool.name);
        // Some proxies put the server before the tool once more.
        if tool.id != own && tool.id != format!("{}:{own}", tool.server) {
            let problem = format!(
                "`{}` does not match the server and the tool next to it, `{own}`",
                tool.id
            );
            let here = format!("{}/tool_id", tool.pointer);
            findings.push(corpus.document.warning(&here, problem));
        }
        if tool.description.trim().is_empty() {
            let problem = format!("`{}` has no description that a search could find", tool.id);
            findings.push(corpus.document.warning(&tool.pointer, problem));
        }
    }
}

/// Labels of tools that are not there.
fn stale(
    document: &Document,
    query: &Query,
    tools: &HashMap<&str, &Tool>,
    findings: &mut Vec<Finding>,
) {
    for label in &query.labels {
        if !tools.contains_key(label.tool_id.as_str()) {
            let here = format!("{}/tool_id", label.pointer);
            let problem = format!("the corpus has no tool `{}`", label.tool_id);
            findings.push(document.error(&here, problem));
        }
    }
}

fn labels(document: &Document, query: &Query, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for label in &query.labels {
        let here = format!("{}/tool_id", label.pointer);
        if !seen.insert(&label.tool_id) {
            let problem = format!("`{}` is labelled twice", label.tool_id);
            findings.push(document.error(&here, problem));
        }
    }
    if query.is_whole && query.grades().relevant() == 0 {
        let problem = if query.labels.is_empty() {
            format!(
                "`{}` has no labels: whatever is found, its figures are 0",
                query.id
            )
        } else {
            format!(
                "all labels of `{}` are 0: whatever is found, its figures are 0",
                query.id
            )
        };
        let here = format!("{}/labels", query.pointer);
        findings.push(document.error(&here, problem));
    }
}

/// A query that names the tool it should find asks no search anything.
fn named(
    document: &Document,
    query: &Query,
    tools: &HashMap<&str, &Tool>,
    findings: &mut Vec<Finding>,
) {
    let text = words(&query.text);
    for label in query.labels.iter().filter(|it| it.grade >= 1) {
        let Some(tool) = tools.get(label.tool_id.as_str()) else {
            continue;
        };
        let lower = query.text.to_lowercase();
        if names(&text, &query.text, &tool.name) || lower.contains(&tool.id.to_lowercase()) {
            let problem = format!(
                "`{}` names the tool that it should find, `{}`",
                query.id, tool.id
            );
            let here = format!("{}/query", query.pointer);
            findings.push(document.warning(&here, problem));
        }
    }
}

/// The same query once more, that should find something else.
fn contrary(document: &Document, query: &Query, earlier: &Query) -> Finding {
    let here = format!("{}/query", query.pointer);
    let (this, that) = (&query.id, &earlier.id);
    let problem = format!("`{this}` is the same query as `{that}`, with other labels");
    document.error(&here, problem)
}

/// Queries that are the same, or nearly.
fn doubles(golden: Source<'_, Golden>, findings: &mut Vec<Finding>) {
    // A query without text has a finding of its own.
    let queries = golden.read.queries.iter();
    let queries: Vec<&Query> = queries.filter(|it| !it.text.is_empty()).collect();
    let texts: Vec<Vec<String>> = queries.iter().map(|it| words(&it.text)).collect();
    let sets: Vec<HashSet<&str>> = texts
        .iter()
        .map(|it| it.iter().map(String::as_str).collect())
        .collect();
    let mut first: HashMap<&[String], usize> = HashMap::new();
    for (at, near) in pairs(&sets) {
        let same = first.get(texts[at].as_slice()).copied();
        first.entry(&texts[at]).or_insert(at);
        let Some(before) = same.or(near) else {
            continue;
        };
        let (query, earlier) = (queries[at], queries[before]);
        let here = format!("{}/query", query.pointer);
        let (this, that) = (&query.id, &earlier.id);
        let finding = if texts[at] != texts[before] {
            let problem = format!("`{this}` is nearly the same query as `{that}`");
            golden.document.warning(&here, problem)
        } else if query.grades() == earlier.grades() {
            let problem = format!("`{this}` is the same query as `{that}`, and counts twice");
            golden.document.warning(&here, problem)
        } else {
            contrary(golden.document, query, earlier)
        };
        findings.push(finding);
    }
}

/// Each set's index, and that of the first set before it that is nearly the same. Two such sets share one of their rarest words, so that not
/// every pair has to be looked at.
fn pairs(sets: &[HashSet<&str>]) -> Vec<(usize, Option<usize>)> {
    let mut often: HashMap<&str, usize> = HashMap::new();
    for word in sets.iter().flatten() {
        *often.entry(word).or_default() += 1;
    }
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let mut ordered: Vec<&str> = set.iter().copied().collect();
        ordered.sort_by_key(|it| (often[it], *it));
        // Three quarters of the words are shared, so one of the first quarter and one more is.
        let rarest = ordered.len() - ordered.len() * 3 / 4 + 1;
        let mut near: Option<usize> = None;
        let mut looked = HashSet::new();
        for word in ordered.into_iter().take(rarest) {
            let others = holders.entry(word).or_default();
            for other in others.iter().copied() {
                if looked.insert(other)
                    && near.is_none_or(|it| other < it)
                    && overlap(set, &sets[other]) >= NEARLY
                {
                    near = Some(other);
                }
            }
            others.push(at);
        }
        found.push((at, near));
    }
    found
}

/// Tools that no query asks for: what becomes of them, nobody measures.
fn unused(corpus: Source<'_, Corpus>, golden: &Golden, findings: &mut Vec<Finding>) {
    let labels = golden.queries.iter().flat_map(|it| &it.labels);
    let asked: HashSet<&str> = labels
        .filter(|it| it.grade >= 1)
        .map(|it| it.tool_id.as_str())
        .collect();
    for tool in &corpus.read.tools {
        if !asked.contains(tool.id.as_str()) {
            let problem = format!("no query asks for `{}`", tool.id);
            findings.push(corpus.document.warning(&tool.pointer, problem));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::pairs;

    #[test]
    fn near_pairs_are_all_found() {
        let texts = [
            "list the open issues of a repository",
            "create a file",
            "list the open issues of the repository",
            "create a folder",
            "list all open issues of a repository",
            "create a file",
        ];
        let sets: Vec<HashSet<&str>> = texts.iter().map(|it| it.split(' ').collect()).collect();
        let mut expected = Vec::new();
        for (at, set) in sets.iter().enumerate() {
            let near = (0..at).find(|it| super::overlap(set, &sets[*it]) >= super::NEARLY);
            expected.push((at, near));
        }
        assert_eq!(pairs(&sets), expected);
        assert!(
            expected.iter().filter(|it| it.1.is_some()).count() >= 2,
            "{expected:?}"
        );
    }
}
