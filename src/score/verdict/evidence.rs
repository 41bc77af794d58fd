//! What a verdict and its causes are drawn from.

use crate::model::binding::Binding;
use crate::model::comparison::{Loss, Pair, Reason, Row, Scores, SlowerCall};
use crate::model::rules::Rules;
use crate::score::catalogue::drift::Finding;
use crate::score::pairing::calls::Calls;
use crate::score::text::excerpt;
use crate::score::upstream::heard::Heard;

/// What a verdict looks at.
pub(in crate::score) struct Evidence<'e, 'a> {
    pub(in crate::score) calls: &'e Calls<'a>,
    pub(in crate::score) rows: &'e [Row],
    pub(in crate::score) scores: &'e Scores,
    pub(in crate::score) losses: &'e [Loss],
    pub(in crate::score) drift: &'e [Finding],
    pub(in crate::score) slower: &'e [SlowerCall],
    /// The tokens of both sides, where there are many more now.
    pub(in crate::score) tokens: Option<(u64, u64)>,
    pub(in crate::score) rules: &'e Rules,
    /// Why a way of matching that is all or nothing does not hold.
    pub(in crate::score) unmatched: Vec<Reason>,
    /// What calls of the baseline take from earlier answers.
    pub(in crate::score) bindings: &'a [Binding],
    /// Whether calls without a partner may be there: in the baseline, in the run.
    pub(in crate::score) may_miss: bool,
    pub(in crate::score) may_add: bool,
    /// What the servers behind the one under test heard.
    pub(in crate::score) heard: &'e Heard,
    /// Only the score gates, as with scores that know arguments alone.
    pub(in crate::score) score_only: bool,
}

impl Evidence<'_, '_> {
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
