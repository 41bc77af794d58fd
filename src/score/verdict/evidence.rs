//! The evidence that a verdict and its causes are drawn from.

use crate::catalogue::drift::Finding;
use crate::pairing::calls::Calls;
use crate::text::excerpt;
use crate::upstream::finding::UpstreamFindings;
use model::reason::Reason;
use model::rules::{Gate, Rules};
use model::{Binding, Loss, Pair, Row, Scores, SlowerCall};

/// What a verdict looks at.
pub(crate) struct Evidence<'e, 'a> {
    pub(crate) calls: &'e Calls<'a>,
    pub(crate) rows: &'e [Row],
    pub(crate) scores: &'e Scores,
    pub(crate) losses: &'e [Loss],
    pub(crate) drift: &'e [Finding],
    pub(crate) slower: &'e [SlowerCall],
    /// The tokens of both sides, where there are many more now.
    pub(crate) tokens: Option<(u64, u64)>,
    pub(crate) rules: &'e Rules,
    /// Why a way of matching that is all or nothing does not hold.
    pub(crate) unmatched: Vec<Reason>,
    /// What calls of the baseline take from earlier answers.
    pub(crate) bindings: &'a [Binding],
    /// Whether calls without a partner may be there: in the baseline, in the run.
    pub(crate) may_miss: bool,
    pub(crate) may_add: bool,
    /// What differs behind the server under test.
    pub(crate) upstream: &'e UpstreamFindings,
    /// Only the score gates, as with scores that know arguments alone.
    pub(crate) score_only: bool,
}

impl Evidence<'_, '_> {
    /// The changes of the catalogue that are changes of this scenario: of tools that it uses, and what fails.
    pub(crate) fn reported_drift(&self) -> Vec<&Finding> {
        let is_reported = |it: &&Finding| {
            it.drift.used || self.rules.strict || (it.narrows && self.rules.drift == Gate::Fail)
        };
        self.drift.iter().filter(is_reported).collect()
    }

    /// What a call says went wrong that went well in the baseline, be it in an answer that is said to be fine.
    pub(super) fn failed_now(&self, pair: &Pair) -> Option<String> {
        let (before, now) = (
            self.calls.before(pair.baseline),
            self.calls.now(pair.current),
        );
        if before.failed() || !now.failed() {
            return None;
        }
        let message = now.message();
        let mut lines = message.lines().map(str::trim).filter(|it| !it.is_empty());
        let first = lines.next().unwrap_or("it gives no reason");
        Some(excerpt::shorten(first))
    }
}
