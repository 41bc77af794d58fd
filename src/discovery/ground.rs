//! The labels that the queries of a search are measured against, and answers that look as if it was asked wrongly.

use std::collections::{BTreeMap, HashSet};

use super::golden::{Corpus, Golden, Query};
use super::measures::{Grades, Ids};
use super::search::{Answer, Finds};
use crate::published::measured::retrieval::Further;
use crate::text::plural;

/// What the queries are measured against.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub corpus: &'a Corpus,
    pub golden: &'a Golden,
    pub finds: Finds,
}

/// Why answers cannot be scored, in a sentence.
pub type Problem = String;

impl Ground<'_> {
    /// The ids that may be found.
    pub fn ids(&self) -> Ids {
        match self.finds {
            Finds::Tools => self.corpus.ids(),
            Finds::Servers => Ids::new(self.corpus.tools.iter().map(|it| server(&it.id))),
        }
    }

    /// The labels of a query as the search sees them: where it finds servers, those of the tools that are labelled.
    pub(super) fn grades(&self, query: &Query) -> Grades {
        match self.finds {
            Finds::Tools => query.grades(),
            Finds::Servers => {
                let mut best: BTreeMap<&str, u8> = BTreeMap::new();
                for label in &query.labels {
                    let server = server(&label.tool_id);
                    let grade = best.entry(server).or_default();
                    *grade = label.grade.max(*grade);
                }
                Grades::new(best)
            }
        }
    }

    /// The relevant ids of a query, the best first.
    pub(super) fn relevant(&self, query: &Query) -> Vec<(String, u8)> {
        let grades = self.grades(query);
        let mut seen = HashSet::new();
        let mut all: Vec<(String, u8)> = Vec::new();
        for label in &query.labels {
            let id = match self.finds {
                Finds::Tools => label.tool_id.as_str(),
                Finds::Servers => server(&label.tool_id),
            };
            if grades.of(id) >= 1 && seen.insert(id) {
                all.push((id.to_owned(), grades.of(id)));
            }
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.1));
        all
    }

    /// Whether nothing at all was found in some run, whatever was asked, which is how a search looks that is asked wrongly, or has nothing indexed: a sentence.
    pub fn refuse_silence(&self, runs: &[Vec<Answer>]) -> Option<Problem> {
        let queries = self.golden.queries.len();
        let mut is_silent = runs
            .iter()
            .map(|run| run.iter().all(|it| it.found.is_empty()));
        let silent = is_silent.position(|it| it).filter(|_| queries > 0)?;
        let tools = self.corpus.tools.len();
        let run = if runs.len() > 1 {
            format!(" in run {} of {}", silent + 1, runs.len())
        } else {
            String::new()
        };
        Some(format!(
            "nothing was found for any of the {queries} queries{run}, out of {tools} tools: the search is asked wrongly, or has nothing indexed yet"
        ))
    }

    /// What looks as if it were set up wrongly, in sentences.
    pub fn doubts(&self, runs: &[Vec<Answer>], further: &Further) -> Vec<String> {
        let mut warnings = Vec::new();
        let queries = &self.golden.queries;
        let silent = queries.iter().enumerate().filter(|(at, _)| {
            let mut answers = runs.iter().filter_map(|run| run.get(*at));
            answers.all(|it| it.found.is_empty())
        });
        let silent: Vec<&str> = silent.map(|(_, it)| it.id.as_str()).collect();
        if 2 * silent.len() >= queries.len() && !silent.is_empty() {
            warnings.push(format!(
                "warning: nothing at all was found for {} of {} queries ({})",
                silent.len(),
                queries.len(),
                shown(&silent)
            ));
        }
        warnings.extend(left_out(runs, further));
        let labels = queries.iter().flat_map(|it| &it.labels);
        let stale = labels.filter(|it| it.grade >= 1 && self.corpus.tool(&it.tool_id).is_none());
        let mut stale: Vec<&str> = stale.map(|it| it.tool_id.as_str()).collect();
        stale.sort_unstable();
        stale.dedup();
        if !stale.is_empty() {
            warnings.push(format!(
                "warning: {} that queries should find cannot be found, because the corpus does not have them ({}): `mcp-eval datasets validate` says where they are labelled",
                plural(stale.len(), "tool"),
                shown(&stale)
            ));
        }
        warnings
    }

    /// Whether in some run so many answered ids are unknown that they are written otherwise than those of the corpus: a sentence that shows both.
    pub fn refuse_unmapped(&self, runs: &[Vec<Answer>]) -> Option<Problem> {
        runs.iter().find_map(|run| self.refuse_unmapped_in(run))
    }

    fn refuse_unmapped_in(&self, run: &[Answer]) -> Option<Problem> {
        let ids = self.ids();
        let answered = || run.iter().flat_map(Answer::ids);
        let all = answered().count();
        let strange: Vec<&str> = answered().filter(|it| !ids.contains(it)).collect();
        if all == 0 || 2 * (all - strange.len()) >= all {
            return None;
        }
        let shown = |ids: Vec<&str>| {
            let mut seen = HashSet::new();
            let ids = ids.into_iter().filter(|it| seen.insert(*it)).take(3);
            ids.map(|it| format!("`{it}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let theirs = self.corpus.tools.iter().map(|it| match self.finds {
            Finds::Tools => it.id.as_str(),
            Finds::Servers => server(&it.id),
        });
        Some(format!(
            "{} of {all} answered ids are not in the corpus: the search answers {}, and the corpus has {}",
            strange.len(),
            shown(strange),
            shown(theirs.collect()),
        ))
    }
}

/// Which answered ids take no rank, in sentences: whoever reads the answer gets them all the same.
fn left_out(runs: &[Vec<Answer>], further: &Further) -> Vec<String> {
    let mut warnings = Vec::new();
    let answers = || runs.iter().flatten();
    let strange: usize = further.unmapped.values().sum();
    if strange > 0 {
        let all: usize = answers().map(|it| it.found.len()).sum();
        let ids: Vec<&str> = further.unmapped.keys().map(String::as_str).collect();
        warnings.push(format!(
            "warning: {strange} of {all} answered ids are not in the corpus and take no rank, although whoever asks gets them ({})",
            shown(&ids)
        ));
    }
    if further.repeated > 0 {
        let (repeated, all) = (further.repeated, answers().count());
        warnings.push(format!(
            "warning: {repeated} of {all} answers have an id more than once, which counts once"
        ));
    }
    if let Some(metrics) = &further.as_answered {
        warnings.push(format!(
            "warning: with all that takes no rank, as whoever asks gets it, Recall@1/3/5/10 is {:.3} {:.3} {:.3} {:.3}, and MRR {:.3}",
            metrics.recall(1),
            metrics.recall(3),
            metrics.recall(5),
            metrics.recall(10),
            metrics.mrr
        ));
    }
    warnings
}

/// The first of some ids.
fn shown(ids: &[&str]) -> String {
    let more = if ids.len() > 3 { ", …" } else { "" };
    let ids = ids.iter().take(3).map(|it| format!("`{it}`"));
    format!("{}{more}", ids.collect::<Vec<_>>().join(", "))
}

fn server(id: &str) -> &str {
    id.split_once(':').map_or(id, |(server, _)| server)
}
