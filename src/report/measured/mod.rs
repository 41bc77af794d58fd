//! What is shown of measurements besides their page: by themselves, and among the results of a suite.

pub mod junit;
pub mod markdown;
pub mod terminal;
mod words;

pub use words::{lines, words};

use std::borrow::Borrow;

use crate::published::measured::retrieval::Metrics;
use crate::text::several;

/// So many queries, in words.
pub(in crate::report) fn queries(count: impl Borrow<usize>) -> String {
    several(*count.borrow(), "query", "queries")
}

/// The figures of the best or the worst case of equal scores, in a fragment.
pub(in crate::report) fn case(metrics: &Metrics) -> String {
    format!(
        "Recall@5 {:.4}, MRR {:.4}, nDCG@10 {:.4}",
        metrics.recall(5),
        metrics.mrr,
        metrics.ndcg_at_10
    )
}
