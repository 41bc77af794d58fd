//! The figures that a measurement is held against: an earlier report, or the figures of one.

use serde_json::Value;

use super::finding::Finding;
use super::measures::{AtCuts, CUTS, Figures};
use super::places::{Document, part};

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
}

/// What a query got before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BaselineQuery {
    pub id: String,
    pub recall: AtCuts,
    pub mrr: f64,
    pub ndcg: f64,
    pub ap: f64,
    pub retrieved: Vec<String>,
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
        }
    }

    /// Recall at one of [`CUTS`].
    pub fn recall_at(&self, cut: usize) -> Option<f64> {
        let at = CUTS.iter().position(|it| *it == cut)?;
        self.recall[at]
    }

    /// Reads a baseline: `{recall_at, mrr, ndcg_at_10, map, tolerance?: {recall_at_5}}`, or a report, which has them under `metrics` and those of
    /// each query under `per_query`. Other keys are of no matter.
    ///
    /// # Errors
    ///
    /// The figures that are missing or are no numbers.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        let whole = &document.value;
        let (at, metrics) = match whole.get("metrics") {
            Some(metrics) if whole.get("recall_at").is_none() => ("/metrics", metrics),
            _ => ("", whole),
        };
        let mut number = |pointer: String, value: Option<&Value>| {
            let found = value.and_then(Value::as_f64);
            if let Some(value) = value
                && found.is_none()
            {
                let problem = format!("this must be a number, and is {value}");
                findings.push(document.error(&pointer, problem));
            }
            found
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
            match value.as_f64().filter(|it| *it >= 0.0) {
                Some(it) => baseline.tolerance = Some(it),
                None => findings.push(
                    document.error("/tolerance/recall_at_5", "a tolerance is a number from 0"),
                ),
            }
        }
        let version = whole.get("corpus_version").and_then(Value::as_str);
        baseline.corpus_version = version.map(str::to_owned);
        let queries = whole.get("per_query").and_then(Value::as_array);
        for (index, query) in queries.into_iter().flatten().enumerate() {
            match read_query(query) {
                Some(it) => baseline.queries.push(it),
                None => findings.push(document.error(
                    &format!("/per_query{}", part(index)),
                    "a query of a baseline has `id`, `recall_at`, `mrr`, `ndcg_at_10`, `ap` and `retrieved`",
                )),
            }
        }
        if findings.is_empty() {
            Ok(baseline)
        } else {
            Err(findings)
        }
    }
}

fn read_query(query: &Value) -> Option<BaselineQuery> {
    let number = |name: &str| query.get(name).and_then(Value::as_f64);
    let mut recall = AtCuts::default();
    for (at, cut) in CUTS.iter().enumerate() {
        let pointer = format!("/recall_at/{cut}");
        recall.0[at] = query.pointer(&pointer).and_then(Value::as_f64)?;
    }
    let retrieved = query.get("retrieved")?.as_array()?.iter();
    Some(BaselineQuery {
        id: query.get("id")?.as_str()?.to_owned(),
        recall,
        mrr: number("mrr")?,
        ndcg: number("ndcg_at_10")?,
        ap: number("ap")?,
        retrieved: retrieved
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    })
}
