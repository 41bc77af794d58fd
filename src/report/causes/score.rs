//! Scores, and verdicts of several runs, beneath the causes that explain them.

use model::number::{apart, fixed};
use model::points;
use model::published::result::{CauseCall, CauseKind, Loss, Reason, ReasonKind, Row};

use super::draft::{Draft, What};
use super::gather::Gather;
use super::key::Key;
use super::words;

impl Gather<'_> {
    /// What became of the score, of the several runs, beneath what explains it; a cause of its own where nothing does.
    pub(super) fn score(&mut self) {
        let scenario = self.context.scenario;
        let of_runs = scenario.repeated.as_ref().filter(|_| self.fails);
        if let Some(reason) = of_runs.and_then(|it| it.reason.clone()) {
            if let Some(cause) = self.found.drafts_mut().iter_mut().find(|it| it.fails) {
                cause.add_follows([reason]);
            } else {
                let draft = self.context.draft(CauseKind::Repeated, None, reason);
                self.found.add(Draft {
                    fails: true,
                    ..draft
                });
            }
        }
        let Some(comparison) = scenario.comparison.as_ref().filter(|_| self.fails) else {
            return;
        };
        let mut reasons = comparison.reasons.iter();
        let is_below = reasons.any(|it| it.kind == ReasonKind::Threshold);
        let scores = &comparison.scores;
        if !is_below {
            let of_answer = |it: &Reason| it.kind == ReasonKind::ServerRegression;
            let cause = self.found.drafts_mut().iter_mut().find(|it| it.fails);
            if let Some(cause) = cause.filter(|_| comparison.reasons.iter().any(of_answer)) {
                cause.add_follows([format!(
                    "fails regardless of score ({}): same request, different answer",
                    fixed(scores.overall, 2)
                )]);
            }
            return;
        }
        let [score, threshold] = apart(scores.overall, scores.threshold, 2);
        let said = format!("the score is {score}, below {threshold}");
        // What failed says why the score is low.
        if self.found.drafts().iter().any(|it| it.fails) {
            return;
        }
        let costly = comparison.losses.iter();
        let most = (costly.filter(|it| points::costs(it.points)))
            .max_by(|a, b| a.points.total_cmp(&b.points));
        let draft = self.context.draft(CauseKind::Score, None, said.clone());
        let draft = match most {
            Some(loss) => self.of_loss(draft, loss, said),
            None => draft,
        };
        self.found.add(Draft {
            fails: true,
            ..draft
        });
    }

    /// A score that is too low, explained by the place that cost most.
    fn of_loss(&self, draft: Draft, loss: &Loss, score: String) -> Draft {
        let row = self.row(loss.baseline, loss.current);
        let Some(name) = row.map(Row::tool_name).or_else(|| loss.tool.clone()) else {
            return Draft {
                what: What::Said(format!("{score}, because {}", loss.rule())),
                ..draft
            };
        };
        let place = loss.path.as_deref().map(words::place);
        let said = match (&place, &loss.expected, &loss.got) {
            (Some(place), Some(_) | None, Some(_)) | (Some(place), Some(_), None) => {
                format!("`{name}` differs in {place}")
            }
            (Some(place), None, None) => format!("`{name}` differs in {place}: {}", loss.rule()),
            (None, _, _) => format!("`{name}`: {}", loss.rule()),
        };
        let mut draft = Draft {
            key: Key::said(CauseKind::Score, &said),
            what: What::Said(said),
            tool: loss.tool.clone(),
            label: loss.label.clone(),
            path: loss.path.clone(),
            was: loss.expected.clone(),
            now: loss.got.clone(),
            follows: vec![(score, None)],
            ..draft
        };
        draft.add_calls([CauseCall::new(loss.baseline, loss.current)]);
        draft
    }
}
