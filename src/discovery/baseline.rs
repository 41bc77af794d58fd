//! The figures that a measurement is held against: an earlier report, or the figures of one.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize as _;
use serde_json::Value;

use super::measures::{AtCuts, CUTS, Figures, mean};
use super::places::{Document, part};
use crate::model::placeholder;
use crate::published::measured::retrieval::Tied;
use crate::scenario_file::Finding;
use crate::text;

/// How much lower recall@5 may be where nothing is said.
const TOLERANCE: f64 = 0.05;

/// What was measured before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline {
    /// At each of [`CUTS`]; `None` where nothing is known, as with the others. That at 5 always is.
    recall: [Option<f64>; CUTS.len()],
    pub mrr: Option<f64>,
    pub ndcg: Option<f64>,
    pub map: Option<f64>,
    /// How much lower recall@5 may be, where it says so itself.
    pub tolerance: Option<f64>,
    pub corpus_version: Option<String>,
    /// What each query got, where it is a report of ours, which knows.
    pub queries: Vec<BaselineQuery>,
    /// It failed what was demanded of it itself.
    pub failed: bool,
}

/// What a query got before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BaselineQuery {
    pub id: String,
    /// What was asked, and what should have been found with which grade; `None` where that is not known.
    pub text: Option<String>,
    pub labels: Option<BTreeMap<String, Option<u8>>>,
    pub recall: AtCuts,
    pub mrr: f64,
    pub ndcg: f64,
    pub ap: f64,
    pub retrieved: Vec<String>,
    /// What equal scores could have made of it, where that is known.
    pub tied: Option<Tied>,
}

impl Baseline {
    /// Figures that were just measured.
    pub(super) fn of(
        figures: &Figures,
        corpus_version: Option<String>,
        queries: Vec<BaselineQuery>,
    ) -> Self {
        Self {
            recall: CUTS.map(|cut| Some(figures.recall.at(cut))),
            mrr: Some(figures.mrr),
            ndcg: Some(figures.ndcg),
            map: Some(figures.ap),
            tolerance: None,
            corpus_version,
            queries,
            failed: false,
        }
    }

    /// Recall at one of [`CUTS`].
    pub fn recall_at(&self, cut: usize) -> Option<f64> {
        let at = CUTS.iter().position(|it| *it == cut)?;
        self.recall[at]
    }

    /// How much lower recall@5 may be, as somebody asks, else as the baseline says; and what it must be at least then.
    pub fn gate(&self, asked: Option<f64>) -> (f64, f64) {
        let tolerance = asked.or(self.tolerance).unwrap_or(TOLERANCE);
        (tolerance, self.recall_at(5).unwrap_or_default() - tolerance)
    }

    /// Who says how much lower it may be, in words.
    pub fn who_tolerates(&self, asked: Option<f64>) -> &'static str {
        match (asked, self.tolerance) {
            (Some(_), _) => "as `tolerance` says (`--tolerance`)",
            (None, Some(_)) => "as the baseline says",
            (None, None) => "as nothing says otherwise",
        }
    }

    /// Reads a baseline: `{recall_at, mrr, ndcg_at_10, map, tolerance?: {recall_at_5}}`, or a report, which has them under `metrics` and those of
    /// each query under `per_query`. Other keys are of no matter.
    ///
    /// # Errors
    ///
    /// The figures that are missing or are no numbers from 0 to 1.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        let mut findings = document.doubled_keys();
        let whole = &document.value;
        let (at, metrics) = match whole.get("metrics") {
            Some(metrics) if whole.get("recall_at").is_none() => ("/metrics", metrics),
            _ => ("", whole),
        };
        let mut number = |pointer: String, value: Option<&Value>| {
            value.and_then(|it| share(document, &pointer, it, &mut findings))
        };
        let recall = CUTS.map(|cut| {
            let below = format!("/recall_at/{cut}");
            number(format!("{at}{below}"), metrics.pointer(&below))
        });
        let mut plain = |name: &str| number(format!("{at}/{name}"), metrics.get(name));
        let mut baseline = Self {
            recall,
            mrr: plain("mrr"),
            ndcg: plain("ndcg_at_10"),
            map: plain("map"),
            ..Self::default()
        };
        if findings.is_empty() && baseline.recall_at(5).is_none() {
            let problem = "a baseline has `recall_at`, with a number under \"5\"";
            findings.push(document.error(&format!("{at}/recall_at"), problem));
        }
        if let Some(value) = whole.pointer("/tolerance/recall_at_5") {
            let here = "/tolerance/recall_at_5";
            baseline.tolerance = share(document, here, value, &mut findings);
        }
        let version = whole.get("corpus_version").and_then(Value::as_str);
        baseline.corpus_version = version.map(str::to_owned);
        baseline.failed = whole.get("status").and_then(Value::as_str) == Some("failed");
        let mut seen = HashSet::new();
        let queries = whole.get("per_query").and_then(Value::as_array);
        for (index, query) in queries.into_iter().flatten().enumerate() {
            let here = format!("/per_query{}", part(index));
            let before = findings.len();
            match read_query(document, &here, query, &mut findings) {
                Some(it) => {
                    if !seen.insert(it.id.clone()) {
                        let problem = format!("the query id `{}` is here twice", it.id);
                        findings.push(document.error(&format!("{here}/id"), problem));
                    }
                    baseline.queries.push(it);
                }
                None if findings.len() > before => {}
                None => findings.push(document.error(
                    &here,
                    "a query of a baseline has `id`, `recall_at`, `mrr`, `ndcg_at_10`, `ap` and `retrieved`",
                )),
            }
        }
        if findings.is_empty()
            && let Some(problem) = baseline.contradiction()
        {
            findings.push(document.error(&format!("{at}/recall_at/5"), problem));
        }
        if findings.is_empty() {
            Ok(baseline)
        } else {
            Err(findings)
        }
    }
}

/// By how much the mean of single queries may differ from what is written of all, which may be rounded.
const ROUNDED: f64 = 0.001;

impl Baseline {
    /// That its queries come to another figure than it says.
    fn contradiction(&self) -> Option<String> {
        let of_queries: Vec<f64> = self.queries.iter().map(|it| it.recall.at(5)).collect();
        let (all, mean) = (self.recall_at(5)?, mean(&of_queries));
        let differs = !of_queries.is_empty() && (all - mean).abs() > ROUNDED;
        differs.then(|| {
            format!(
                "recall@5 is {all} here, and its queries under `per_query` come to {mean:.4}: one of the two was changed"
            )
        })
    }
}

/// Ids and the grade of each, where it is known.
pub(super) fn graded(ids: &[String], grades: &[u8]) -> BTreeMap<String, Option<u8>> {
    let grades = grades.iter().copied().map(Some);
    let grades = grades.chain(std::iter::repeat(None));
    ids.iter().cloned().zip(grades).collect()
}

impl BaselineQuery {
    /// Whether it was another question: with other words, or with other labels.
    pub(super) fn is_other(&self, text: &str, labels: &BTreeMap<String, Option<u8>>) -> bool {
        // Of a text with a secret in it, the rest is known alone.
        let known = self.text.as_ref();
        let known = known.filter(|it| !placeholder::holds(it));
        let other_text = known.is_some_and(|it| it != text);
        let other_labels = self.labels.as_ref().is_some_and(|then| {
            let same = |(a, b): (&Option<u8>, &Option<u8>)| a.is_none() || b.is_none() || a == b;
            !then.keys().eq(labels.keys()) || !then.values().zip(labels.values()).all(same)
        });
        other_text || other_labels
    }
}

/// A figure, all of which are from 0 to 1.
fn share(
    document: &Document,
    pointer: &str,
    value: &Value,
    findings: &mut Vec<Finding>,
) -> Option<f64> {
    let found = value.as_f64().filter(|it| (0.0..=1.0).contains(it));
    if found.is_none() {
        let shown = value.to_string();
        let shown = text::shorten(&shown, 40);
        let problem = format!("this must be a number from 0 to 1, and is {shown}");
        findings.push(document.error(pointer, problem));
    }
    found
}

fn read_query(
    document: &Document,
    pointer: &str,
    query: &Value,
    findings: &mut Vec<Finding>,
) -> Option<BaselineQuery> {
    let mut figure = |below: String| {
        let value = query.pointer(&below)?;
        share(document, &format!("{pointer}{below}"), value, findings)
    };
    let mut recall = AtCuts::default();
    for (at, cut) in CUTS.iter().enumerate() {
        recall.0[at] = figure(format!("/recall_at/{cut}"))?;
    }
    let (mrr, ndcg, ap) = (
        figure("/mrr".to_owned()),
        figure("/ndcg_at_10".to_owned()),
        figure("/ap".to_owned()),
    );
    let retrieved = query.get("retrieved")?.as_array()?.iter();
    let relevant = query.get("relevant").and_then(Value::as_array);
    let relevant: Option<Vec<String>> = relevant.map(|it| {
        let ids = it.iter().filter_map(Value::as_str);
        ids.map(str::to_owned).collect()
    });
    let grades = query.get("grades").and_then(Value::as_array);
    let grades: Option<Vec<u8>> = grades.map(|it| {
        let grades = it.iter().filter_map(Value::as_u64);
        grades.filter_map(|it| u8::try_from(it).ok()).collect()
    });
    let asked = query.get("query").and_then(Value::as_str);
    Some(BaselineQuery {
        id: query.get("id")?.as_str()?.to_owned(),
        text: asked.map(str::to_owned),
        labels: relevant.map(|it| graded(&it, &grades.unwrap_or_default())),
        recall,
        mrr: mrr?,
        ndcg: ndcg?,
        ap: ap?,
        retrieved: retrieved
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        tied: query.get("tied").and_then(|it| Tied::deserialize(it).ok()),
    })
}
