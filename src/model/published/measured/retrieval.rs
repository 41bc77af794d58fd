//! The results of measuring a search, as they are written to `report.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::Status;
use crate::number::apart;

/// The decimal places of figures, unless it takes more to distinguish them.
const PLACES: usize = 3;

/// The measurement of one search. Numbers that are not known are `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub format_version: u32,
    pub mcp_eval: String,
    /// When it was made, RFC 3339.
    pub made_at: String,
    pub search: String,
    pub status: Status,
    pub corpus_version: Option<String>,
    /// The name of the golden set's file.
    pub golden_version: String,
    pub runs_averaged: usize,
    /// `null` where not every query got an answer.
    pub metrics: Option<Metrics>,
    pub baseline_delta: Option<Delta>,
    pub gate: Option<Gate>,
    #[serde(default)]
    pub floor: Option<Floor>,
    pub lost_gate: Option<LostGate>,
    pub further: Option<Further>,
    /// 95 % intervals of the means over queries.
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// Against the baseline, where that knows its queries; or against the search that was named first.
    pub compared: Option<Compared>,
    /// Against the search that was named first, where `compared` is against a baseline.
    #[serde(default)]
    pub beside: Option<Compared>,
    /// Of several runs, whether all answered alike; the queries that did not.
    pub deterministic: Option<bool>,
    pub unsteady: Vec<String>,
    pub ties: Option<Ties>,
    pub catalogue: Catalogue,
    /// Where data and system come from, by name.
    pub stamps: BTreeMap<String, String>,
    /// What is worth knowing, in sentences.
    pub notes: Vec<String>,
    /// Why it is incomplete, in sentences.
    pub problems: Vec<String>,
    pub per_query: Vec<QueryReport>,
}

impl Report {
    /// Whether anything is demanded of it.
    pub fn is_gated(&self) -> bool {
        self.gate.is_some() || self.floor.is_some() || self.lost_gate.is_some()
    }
}

/// Figures by the cut that they are taken at.
pub type ByCut = BTreeMap<String, f64>;

/// The means over queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metrics {
    pub recall_at: ByCut,
    pub mrr: f64,
    pub ndcg_at_10: f64,
    pub map: f64,
}

/// Now less the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    pub recall_at_5: Option<f64>,
    /// At every cut of which the baseline knows.
    #[serde(default)]
    pub recall_at: ByCut,
    pub mrr: Option<f64>,
    pub ndcg_at_10: Option<f64>,
    pub map: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    pub metric: String,
    pub passed: bool,
    pub tolerance: f64,
    pub value: f64,
    pub threshold: f64,
}

impl Gate {
    /// The value and what it must be at least, so that two that differ do not look alike.
    pub fn shown(&self) -> [String; 2] {
        apart(self.value, self.threshold, PLACES)
    }
}

/// What a figure must be at least, whatever it was before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    pub metric: String,
    pub passed: bool,
    pub value: f64,
    pub floor: f64,
}

impl Floor {
    /// The value and what it must be at least, so that two that differ do not look alike.
    pub fn shown(&self) -> [String; 2] {
        apart(self.value, self.floor, PLACES)
    }
}

/// How many queries may be lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LostGate {
    pub max_lost: usize,
    /// Lost, and not allowed to be.
    pub lost: Vec<String>,
    pub allowed: Vec<Allowed>,
    /// Of some queries nobody can say whether they are lost: it does not pass then, and has not failed for that.
    #[serde(default)]
    pub not_measured: bool,
    pub passed: bool,
}

/// A query that may be lost until a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    pub id: String,
    pub reason: String,
    /// The last day on which it may, `2026-12-31`.
    pub until: String,
}

/// What is told besides the figures that gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Further {
    /// The share of queries with any relevant id before the cut.
    pub hit_at: ByCut,
    /// The share of queries with all of them.
    pub complete_at: ByCut,
    /// With the gain 2^grade − 1.
    pub ndcg_exp_at_10: f64,
    /// The figures where grade 2 alone is relevant, over the queries that have such a label; 0 where none has.
    pub grade_2_only: Metrics,
    /// How many have.
    #[serde(default)]
    pub with_grade_2: usize,
    /// The share of the ids looked at that nobody has graded.
    pub unlabelled_share: f64,
    /// Queries of which nothing relevant is among the first ten.
    pub zero_hits: Vec<String>,
    /// Of one answer, on average.
    pub bytes: f64,
    /// About how many tokens of a model that is: a quarter of the bytes.
    pub tokens: f64,
    pub latency_ms: Option<Latency>,
    /// Answered ids that are not in the corpus, and how often.
    pub unmapped: BTreeMap<String, usize>,
    /// How many answers had an id twice.
    pub repeated: usize,
    /// The figures if ids that are not in the corpus, and those that were there before, took the ranks at which they stand: so whoever asks gets
    /// them. `null` where there are none.
    #[serde(default)]
    pub as_answered: Option<Metrics>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
}

/// One measurement against another, query by query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// What it is compared with.
    pub with: String,
    /// Queries whose recall@5 fell.
    pub lost: Vec<String>,
    /// Queries whose recall@5 rose.
    pub won: Vec<String>,
    /// Queries with the same recall@5 and other figures.
    pub moved: Vec<String>,
    /// Queries that were answered otherwise, with the same figures: what changed places is not what they should find.
    #[serde(default)]
    pub reordered: Vec<String>,
    /// Of the queries that are lost, won or moved, those in which ids had equal scores on either side, so that their order may be chance.
    #[serde(default)]
    pub tied: Vec<String>,
    /// Queries that had other words or other labels there, so that nothing is said of them.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Queries that only one of the two knows.
    pub only_here: Vec<String>,
    pub only_there: Vec<String>,
    pub tests: Vec<Test>,
}

impl Compared {
    /// Whether every query is there on both sides, is the same, and got the same.
    pub fn is_equal(&self) -> bool {
        let differing = [
            &self.lost,
            &self.won,
            &self.moved,
            &self.reordered,
            &self.changed,
            &self.only_here,
            &self.only_there,
        ];
        differing.iter().all(|it| it.is_empty())
    }
}

/// Whether the means of a figure differ by more than chance would make them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    pub metric: String,
    /// The mean of the differences, now less then.
    pub difference: f64,
    /// By the paired randomisation test, two-sided.
    pub p: f64,
    /// The same after Holm's correction over the figures.
    pub p_holm: f64,
    /// Every assignment of signs was tried.
    pub exact: bool,
}

/// The figures if neighbours with equal scores stood as badly, and as well, as they could.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ties {
    pub queries: Vec<String>,
    pub worst: Metrics,
    pub best: Metrics,
}

/// The live catalogue against the corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Catalogue {
    /// Whether it could be looked at.
    pub compared: bool,
    #[serde(flatten)]
    pub drift: Drift,
}

/// One query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryReport {
    pub id: String,
    pub query: String,
    pub recall_at: ByCut,
    pub mrr: f64,
    pub ndcg_at_10: f64,
    pub ap: f64,
    /// The ids that should be found, the best first.
    pub relevant: Vec<String>,
    /// The grade of each of these.
    #[serde(default)]
    pub grades: Vec<u8>,
    /// The ids of the corpus that were, at most ten, in the order of the answer of the first run.
    pub retrieved: Vec<String>,
    /// What it was before, where that is known.
    pub before: Option<Before>,
    /// What equal scores could make of it, where there are any that matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tied: Option<Tied>,
    /// Which relevant ids are not among the first five, by which the gate goes, and why.
    pub misses: Vec<Miss>,
    pub ms: Option<f64>,
}

impl QueryReport {
    /// Whether what it should find stands lower than before: by nDCG@10, else by MRR, else by average precision.
    pub fn is_worse(&self) -> bool {
        self.before.as_ref().is_some_and(|before| {
            let changes = [
                self.ndcg_at_10 - before.ndcg_at_10,
                self.mrr - before.mrr,
                self.ap - before.ap,
            ];
            let first = changes.into_iter().find(|it| it.abs() > 1e-12);
            first.is_some_and(|it| it < 0.0)
        })
    }

    /// What became of it since before, in a fragment such as `Recall@5 -0.500, nDCG@10 -0.061, files:read 2 → 4, files:list 3 → none`; empty
    /// where nothing is known of before.
    pub fn since(&self) -> String {
        let Some(before) = &self.before else {
            return String::new();
        };
        let mut parts = Vec::new();
        let recall = self.recall_at.get("5").copied().unwrap_or_default();
        for (name, change) in [
            ("Recall@5", recall - before.recall_at_5),
            ("nDCG@10", self.ndcg_at_10 - before.ndcg_at_10),
            ("MRR", self.mrr - before.mrr),
        ] {
            if change.abs() > 1e-12 {
                parts.push(format!("{name} {change:+.3}"));
            }
        }
        let rank = |ids: &[String], id: &String| ids.iter().position(|it| it == id);
        for id in &self.relevant {
            let (then, now) = (rank(&before.retrieved, id), rank(&self.retrieved, id));
            if then != now {
                let miss = self.misses.iter().find(|it| it.tool_id == *id);
                let now = now.or(miss.and_then(|it| it.rank?.checked_sub(1)));
                let shown = |rank: Option<usize>| {
                    rank.map_or_else(|| "none".to_owned(), |it| (it + 1).to_string())
                };
                parts.push(format!("{id} {} → {}", shown(then), shown(now)));
            }
        }
        parts.join(", ")
    }
}

/// A query in the measurement that this one is compared with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Before {
    pub recall_at_5: f64,
    pub mrr: f64,
    pub ndcg_at_10: f64,
    pub ap: f64,
    pub retrieved: Vec<String>,
}

/// A relevant id that is not among the first five.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Miss {
    pub tool_id: String,
    pub why: Why,
    /// Where it stands, from 1; beyond ten, when a hundred are asked for.
    pub rank: Option<usize>,
}

/// What equal scores could make of one query, at worst and at best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tied {
    pub recall_at_5: [f64; 2],
    pub ndcg_at_10: [f64; 2],
}

/// Why something relevant was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The corpus has no such tool: the label is from another time.
    LabelStale,
    /// The server does not have it now.
    NotInCatalogue,
    /// Nothing at all was answered.
    NoAnswer,
    /// It is among the first ten, and not among the first five.
    BelowFive,
    /// It comes later.
    RankedBelow,
    /// It is not among the ten that were asked for, and among the first ten when a hundred are.
    FoundWithMore,
    /// It is not even among a hundred.
    NotFound,
}

impl Why {
    pub fn words(self) -> &'static str {
        match self {
            Self::LabelStale => "the corpus has no such tool",
            Self::NotInCatalogue => "not in the live catalogue",
            Self::NoAnswer => "nothing was answered",
            Self::BelowFive => "ranked below the first five",
            Self::RankedBelow => "ranked below the first ten",
            Self::FoundWithMore => "found only when a hundred are asked for",
            Self::NotFound => "not found",
        }
    }
}

impl Metrics {
    pub fn recall(&self, cut: usize) -> f64 {
        self.recall_at.get(&cut.to_string()).copied().unwrap_or(0.0)
    }
}

/// What differs between a corpus and the catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// In the corpus, and not there.
    pub missing: Vec<String>,
    /// There, and not in the corpus.
    pub extra: Vec<String>,
    /// With another description.
    pub reworded: Vec<String>,
    /// With another schema.
    pub reshaped: Vec<String>,
}

impl Drift {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// In a line, such as `2 missing (a:x, a:y), 1 reworded (b:z)`.
    pub fn summary(&self) -> String {
        let parts = [
            ("missing", &self.missing),
            ("not in the corpus", &self.extra),
            ("reworded", &self.reworded),
            ("with another schema", &self.reshaped),
        ];
        let parts = parts.iter().filter(|(_, ids)| !ids.is_empty());
        let parts = parts.map(|(what, ids)| {
            let shown: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
            let more = if ids.len() > 3 { ", …" } else { "" };
            format!("{} {what} ({}{more})", ids.len(), shown.join(", "))
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}
