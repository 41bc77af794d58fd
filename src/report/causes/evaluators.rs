//! Gating evaluators that fail, each a cause of its own.

use super::draft::{Draft, FAILS};
use super::gather::Gather;
use super::key::Key;
use model::published::result::{CauseKind, EvaluationSummary};
use model::text::masked;

/// What of a cause's key stands for the mean of all evaluators.
const SCORE: &str = "evaluation score";

impl Gather<'_> {
    pub(super) fn evaluators(&mut self) {
        let scenario = self.context.scenario;
        let failed = scenario.evaluators.iter().filter(|it| it.fails());
        let failures = failed.map(|it| {
            let (name, place) = (&it.name, it.place());
            let said = format!("the evaluator `{name}{FAILS}{}{place}", it.message);
            let message = masked(&it.message);
            (
                format!("evaluator {}", it.name),
                Some(message),
                said,
                it.line,
            )
        });
        let summary = scenario.evaluation.iter();
        let shortfall = summary.filter_map(EvaluationSummary::shortfall);
        let shortfall = shortfall.map(|it| (SCORE.to_owned(), None, it, None));
        for (name, asked, said, line) in failures.chain(shortfall) {
            let draft = self.context.draft(CauseKind::Expectation, None, said);
            self.found.add(Draft {
                key: Key::Expectation { name, asked },
                line,
                fails: !scenario.status.is_fine(),
                ..draft
            });
        }
    }
}
