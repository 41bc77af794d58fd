//! The figures that a measurement is held against: an earlier report, or the figures of one.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize as _;
use serde_json::Value;

use super::fields::{Fields, read_whole};
use super::measures::{AtCuts, CUTS, Figures, mean};
use super::places::Document;
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
        read_whole(document, |top| Some(Self::in_document(top)))
    }

    fn in_document(top: &Fields<'_>) -> Self {
        let metrics = top.member("metrics");
        let metrics = metrics.filter(|_| top.get("recall_at").is_none());
        let metrics = metrics.unwrap_or_else(|| top.clone());
        let recall_at = metrics.member_or_null("recall_at");
        let mut baseline = Self {
            recall: CUTS.map(|cut| share(&recall_at, &cut.to_string())),
            mrr: share(&metrics, "mrr"),
            ndcg: share(&metrics, "ndcg_at_10"),
            map: share(&metrics, "map"),
            ..Self::default()
        };
        if top.wrong_so_far() == 0 && baseline.recall_at(5).is_none() {
            recall_at.refuse("a baseline has `recall_at`, with a number under \"5\"");
        }
        baseline.tolerance = share(&top.member_or_null("tolerance"), "recall_at_5");
        let version = top.get("corpus_version").and_then(Value::as_str);
        baseline.corpus_version = version.map(str::to_owned);
        baseline.failed = top.get("status").and_then(Value::as_str) == Some("failed");
        let mut seen = HashSet::new();
        for query in top.items_of("per_query") {
            let before = query.wrong_so_far();
            match read_query(&query) {
                Some(it) => {
                    if !seen.insert(it.id.clone()) {
                        query.error("id", format!("the query id `{}` is here twice", it.id));
                    }
                    baseline.queries.push(it);
                }
                None if query.wrong_so_far() > before => {}
                None => query.refuse(
                    "a query of a baseline has `id`, `recall_at`, `mrr`, `ndcg_at_10`, `ap` and `retrieved`",
                ),
            }
        }
        if top.wrong_so_far() == 0
            && let Some(problem) = baseline.contradiction()
        {
            recall_at.error("5", problem);
        }
        baseline
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
fn share(fields: &Fields<'_>, key: &str) -> Option<f64> {
    let value = fields.get(key)?;
    let found = value.as_f64().filter(|it| (0.0..=1.0).contains(it));
    if found.is_none() {
        let shown = value.to_string();
        let shown = text::shorten(&shown, 40);
        let problem = format!("this must be a number from 0 to 1, and is {shown}");
        fields.error(key, problem);
    }
    found
}

fn read_query(query: &Fields<'_>) -> Option<BaselineQuery> {
    let recall_at = query.member("recall_at")?;
    let mut recall = AtCuts::default();
    for (at, cut) in CUTS.iter().enumerate() {
        recall.0[at] = share(&recall_at, &cut.to_string())?;
    }
    let (mrr, ndcg, ap) = (
        share(query, "mrr"),
        share(query, "ndcg_at_10"),
        share(query, "ap"),
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
