//! What is shown of measurements besides their page: by themselves, and among the results of a suite.

pub mod junit;
pub mod markdown;
pub mod terminal;
mod words;

pub use words::{lines, words};

use std::borrow::Borrow;

use model::published::measured::retrieval::Metrics;
use model::text::several;

/// So many queries, in words.
pub(crate) fn queries(count: impl Borrow<usize>) -> String {
    several(*count.borrow(), "query", "queries")
}

/// The figures of the best or the worst case of equal scores, in a fragment.
pub(crate) fn case(metrics: &Metrics) -> String {
    format!(
        "Recall@5 {:.4}, MRR {:.4}, nDCG@10 {:.4}",
        metrics.recall(5),
        metrics.mrr,
        metrics.ndcg_at_10
    )
}
