//! The expectations of a scenario that are not met: a cause each, unless a cause is known that they follow from.
//!
//! Gating evaluators that fail, each a cause of its own.
//!
//! Scores, and verdicts of several runs, beneath the causes that explain them.

use model::published::result::{CauseKind, EvaluationSummary, Row, Whose};
use model::reason::{Reason, ReasonKind};
use model::{Asked, CauseCall, Check, Loss};

use super::draft::{Draft, FAILS, What};
use super::gather::Gather;
use super::key::Key;

use model::number::{apart, fixed};
use model::points;
use model::text::masked;

use super::words;

impl Gather<'_> {
    /// First the calls that failed, because they may be what other expectations fail for.
    pub(super) fn expectations(&mut self) {
        let scenario = self.context.scenario;
        let failing = scenario.checks.iter().filter(|it| it.fails());
        let (of_calls, others): (Vec<&Check>, Vec<&Check>) =
            failing.partition(|it| it.call.is_some());
        for check in of_calls {
            self.call_that_failed(check);
        }
        for check in others {
            let said = sentence(check);
            let known = self.broken_by(check);
            if let Some(cause) = known.and_then(|at| self.found.drafts.get_mut(at)) {
                cause.add_follows([said]);
                continue;
            }
            self.expectation(check, said);
        }
    }

    fn expectation(&mut self, check: &Check, said: String) {
        let draft = self.context.draft(CauseKind::Expectation, None, said);
        self.found.add(Draft {
            key: Key::Expectation {
                name: check.name.clone(),
                asked: check.asked.as_ref().and_then(|it| match it {
                    Asked::Answer(expected) => Some(expected.clone()),
                    Asked::Text(_) | Asked::Success(_) => None,
                }),
            },
            line: check.line,
            fails: !self.context.scenario.status.is_fine(),
            ..draft
        });
    }

    /// A call that did not succeed, or succeeded although it was meant to fail: the cause that is about it, or a new one.
    fn call_that_failed(&mut self, check: &Check) {
        let Some(number) = check.call else { return };
        let fails = !self.context.scenario.status.is_fine();
        let mut found = self.found.drafts.iter_mut();
        let known = found.find(|it| it.kind == CauseKind::Error && it.is_of_call(number));
        if let Some(cause) = known {
            cause.fails |= fails;
            return;
        }
        let Some(tool) = check.failed_tool() else {
            return self.expectation(check, sentence(check));
        };
        let row = self.rows.iter().find(|(it, _)| it.current == Some(number));
        let call = row.map_or(CauseCall::new(None, Some(number)), |(call, _)| *call);
        let row = row.map(|(_, row)| *row);
        let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
        let draft = self
            .context
            .draft(CauseKind::Error, Whose::Server, String::new());
        let mut draft = Draft {
            key: Key::failed(server, &check.message),
            what: What::Failed(check.message.clone()),
            tools: [row.map_or_else(|| bare(tool), Row::tool_name)].into(),
            tool: Some(tool.to_owned()),
            label: row.and_then(|it| it.label.clone()),
            fails,
            ..draft
        };
        draft.add_calls([call]);
        self.found.add(draft);
    }

    /// The cause that has taken away what an expectation asks for: an answer that had the text and no longer has it, or else a call that
    /// failed.
    fn broken_by(&self, check: &Check) -> Option<usize> {
        if !check.asks_for_more {
            return None;
        }
        let text = match &check.asked {
            Some(Asked::Text(text)) => text,
            _ => &check.name,
        };
        let text = text.to_lowercase();
        let has = |it: &Option<String>| {
            let it = it.as_deref().unwrap_or_default();
            it.to_lowercase().contains(&text)
        };
        let failing = || {
            let drafts = self.found.drafts.iter().enumerate();
            drafts.filter(|(_, it)| it.fails)
        };
        let lost = failing().find(|(_, it)| {
            let of_answer = matches!(it.kind, CauseKind::Answer | CauseKind::Error);
            of_answer && has(&it.was) && !has(&it.now)
        });
        let refuses = |it: &Draft| {
            it.kind == CauseKind::Drift && it.places.iter().any(|it| !it.calls.is_empty())
        };
        let failed = || failing().find(|(_, it)| matches!(it.what, What::Failed(_)) || refuses(it));
        lost.or_else(failed).map(|it| it.0)
    }
}

/// The name of a tool for people, where nothing but its full name is known.
fn bare(tool: &str) -> String {
    tool.rsplit("__").next().unwrap_or(tool).to_owned()
}

fn sentence(check: &Check) -> String {
    let (name, message) = (&check.name, &check.message);
    if matches!(check.asked, Some(Asked::Answer(_))) {
        return format!("{name} is not as expected: {message}");
    }
    // What names a tool in back quotes is a sentence already.
    if name.contains('`') {
        format!("the scenario expects that {name}: {message}")
    } else {
        format!("the scenario expects `{name}`: {message}")
    }
}

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

impl Gather<'_> {
    /// What became of the score, of the several runs, beneath what explains it; a cause of its own where nothing does.
    pub(super) fn score(&mut self) {
        let scenario = self.context.scenario;
        let of_runs = scenario.repeated.as_ref().filter(|_| self.fails);
        if let Some(reason) = of_runs.and_then(|it| it.reason.clone()) {
            if let Some(cause) = self.found.drafts.iter_mut().find(|it| it.fails) {
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
            let cause = self.found.drafts.iter_mut().find(|it| it.fails);
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
        if self.found.drafts.iter().any(|it| it.fails) {
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
