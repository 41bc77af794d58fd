//! Everything that differs between the two sides, whether it fails the gate or not.

use std::collections::HashSet;

use crate::pairing::call::asked;
use crate::pairing::calls::Calls;
use crate::text::excerpt;
use crate::values::path::escape;
use crate::verdict::evidence::Evidence;
use model::reason::{Reason, ReasonKind, Why};
use model::rules::{Gate, Rules};
use model::{
    Change, ChangeKind, Difference, Drift, Pair, ParameterScore, Row, ToolDrift, Verdict, What,
};

/// The changes in the order of the calls; what concerns no call comes last.
pub(crate) fn changes(evidence: &Evidence<'_, '_>, verdict: &Verdict) -> Vec<Change> {
    let (calls, rules) = (evidence.calls, evidence.rules);
    let failed = Failed::new(verdict);
    let mut changes = Vec::new();
    for row in evidence.rows {
        match row {
            Row::Pair(pair) => of_pair(calls, pair, &failed, &mut changes),
            Row::Missing { baseline, .. } => {
                let call = calls.before(*baseline).made;
                changes.push(Change {
                    baseline: Some(*baseline),
                    tool: Some(call.full_name()),
                    was: Some(asked(call)),
                    fails: failed.call(Some(*baseline), None),
                    ..Change::new(ChangeKind::Call, What::NotMade)
                });
            }
            Row::Extra { current, .. } => {
                let call = calls.now(*current);
                changes.push(Change {
                    current: Some(*current),
                    tool: Some(call.made.full_name()),
                    now: Some(asked(call.said)),
                    fails: failed.call(None, Some(*current)),
                    ..Change::new(ChangeKind::Call, What::New)
                });
            }
        }
    }
    for it in evidence.reported_drift() {
        changes.push(Change {
            fails: failed.drift(&it.drift),
            ..Change::of_drift(&it.drift)
        });
    }
    let slower = evidence.slower.iter();
    for it in slower.filter(|_| rules.slower.gate != Gate::Ignore) {
        changes.push(Change {
            baseline: Some(it.baseline),
            current: Some(it.current),
            tool: Some(calls.before(it.baseline).made.full_name()),
            was: Some(format!("{:.0} ms", it.baseline_ms)),
            now: Some(format!("{:.0} ms", it.current_ms)),
            fails: failed.kind(ReasonKind::Slower),
            ..Change::new(ChangeKind::Slower, What::Slower)
        });
    }
    let tokens = evidence.tokens;
    if let Some((before, now)) = tokens.filter(|_| rules.tokens.gate != Gate::Ignore) {
        changes.push(Change {
            was: Some(before.to_string()),
            now: Some(now.to_string()),
            fails: failed.kind(ReasonKind::Tokens),
            ..Change::new(ChangeKind::Tokens, What::Tokens)
        });
    }
    changes
}

/// Makes every change fail, except those with a gate of their own. There is one reason for each call, and one for what concerns no call.
pub(crate) fn fail_all(changes: &mut [Change], rules: &Rules, verdict: &mut Verdict) {
    if !rules.strict {
        return;
    }
    let gated = |it: &Change| matches!(it.kind, ChangeKind::Slower | ChangeKind::Tokens);
    let mut open: Vec<&mut Change> = (changes.iter_mut())
        .filter(|it| !it.fails && !gated(it))
        .collect();
    for it in &mut open {
        it.fails = true;
    }
    for of_call in open.chunk_by(|a, b| (a.baseline, a.current) == (b.baseline, b.current)) {
        let first = &of_call[0];
        let why = Why::Strict {
            change: first.kind,
            what: first.what.clone(),
            path: first.path.clone(),
            more: of_call.len() - 1,
        };
        verdict.reasons.push(Reason {
            baseline: first.baseline,
            current: first.current,
            tool: first.tool.clone(),
            expected: first.was.clone(),
            got: first.now.clone(),
            ..Reason::new(ReasonKind::Strict, why)
        });
    }
    verdict.passed = verdict.reasons.is_empty();
}

/// What the run failed for.
struct Failed<'v> {
    kinds: HashSet<ReasonKind>,
    /// The same with the calls.
    at: HashSet<(ReasonKind, Option<usize>, Option<usize>)>,
    /// What reasons tell of the catalogue.
    drift: HashSet<&'v ToolDrift>,
}

impl<'v> Failed<'v> {
    fn new(verdict: &'v Verdict) -> Self {
        let all = || verdict.reasons.iter();
        Self {
            kinds: all().map(|it| it.kind).collect(),
            at: all().map(|it| (it.kind, it.baseline, it.current)).collect(),
            drift: all()
                .filter_map(|it| match &it.why {
                    Why::Drifted(drift) => Some(drift),
                    _ => None,
                })
                .collect(),
        }
    }

    fn kind(&self, kind: ReasonKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether it failed for its score or its way of matching, so that every loss of points contributed.
    fn points(&self) -> bool {
        self.kind(ReasonKind::Threshold) || self.kind(ReasonKind::Match)
    }

    fn call(&self, baseline: Option<usize>, current: Option<usize>) -> bool {
        self.points() || self.at(ReasonKind::EffectChange, baseline, current)
    }

    fn at(&self, kind: ReasonKind, baseline: Option<usize>, current: Option<usize>) -> bool {
        self.at.contains(&(kind, baseline, current))
    }

    fn drift(&self, drift: &Drift) -> bool {
        self.drift.contains(&drift.of_tool())
    }
}

fn of_pair(calls: &Calls<'_>, pair: &Pair, failed: &Failed<'_>, changes: &mut Vec<Change>) {
    let other_try = calls.other_try(pair.baseline, pair.current);
    if !pair.moved
        && other_try.is_none()
        && pair.request.similarity >= 1.0
        && pair.request.differences.is_empty()
        && pair.response.differences.is_empty()
    {
        return;
    }
    let (b, c) = (calls.before(pair.baseline), calls.now(pair.current));
    let numbers = (Some(pair.baseline), Some(pair.current));
    let here = |kind: ChangeKind, what: What| Change {
        baseline: numbers.0,
        current: numbers.1,
        tool: Some(b.made.full_name()),
        ..Change::new(kind, what)
    };
    let answer_fails = failed.at(ReasonKind::ServerRegression, numbers.0, numbers.1)
        || failed.at(ReasonKind::EffectChange, numbers.0, numbers.1);
    if pair.moved {
        changes.push(Change {
            was: Some(format!("call {}", pair.baseline)),
            now: Some(format!("call {}", pair.current)),
            fails: failed.points(),
            ..here(ChangeKind::Call, What::Moved)
        });
    }
    if pair.effect {
        for it in &pair.request.differences {
            changes.push(Change {
                path: Some(format!("arguments{}", it.path)),
                was: it.was.clone(),
                now: it.now.clone(),
                fails: !it.worded,
                ..here(
                    ChangeKind::Effect,
                    if it.worded {
                        What::WordedOtherwise
                    } else {
                        What::MadeOtherwise
                    },
                )
            });
        }
    }
    let is_listed = |name: &str| {
        let path = format!("/{}", escape(name));
        let paths = pair.request.differences.iter().map(|it| it.path.as_str());
        let mut under = paths.filter_map(|it| it.strip_prefix(path.as_str()));
        under.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let differs = |it: &&ParameterScore| it.similarity.is_some_and(|it| it < 1.0);
    for it in pair.request.parameters.iter().filter(differs) {
        if pair.effect && is_listed(&it.name) {
            continue;
        }
        let (was, now) = excerpt::of_both(
            b.said.arguments.get(&it.name),
            c.said.arguments.get(&it.name),
        );
        // In effects, the same value in another notation, such as a number as text, is no other request.
        let (kind, what) = if pair.effect {
            (ChangeKind::Effect, What::WrittenOtherwise)
        } else {
            (ChangeKind::Request, What::AskedOtherwise)
        };
        changes.push(Change {
            path: Some(format!("arguments/{}", it.name)),
            was,
            now,
            fails: failed.points() && it.loss > 0.0,
            ..here(kind, what)
        });
    }
    if let Some((was, now)) = other_try {
        changes.push(Change {
            path: Some("response".to_owned()),
            was: Some(was),
            now: Some(now),
            ..here(ChangeKind::Answer, What::OtherTry)
        });
    }
    let is_broken = pair.response.is_broken();
    let differences = pair.response.differences.iter();
    let is_all_that_costs =
        (differences.filter(|it| it.loss > 0.0)).all(|it| kind_of(it) == ChangeKind::Addition);
    for it in &pair.response.differences {
        let breaks = it.breaks.is_some();
        let counts = !is_broken || breaks;
        let costs = failed.points() && it.loss > 0.0;
        let kind = kind_of(it);
        // An addition is tolerated beside what fails the call, unless it is of what had to stay, or nothing else cost points.
        let fails = match kind {
            ChangeKind::Addition => (answer_fails && breaks) || (costs && is_all_that_costs),
            _ => (answer_fails && counts) || costs,
        };
        changes.push(Change {
            path: Some(format!("response{}", it.path)),
            was: it.expected.clone(),
            now: it.got.clone(),
            fails,
            ..here(kind, What::Answer(it.edit.clone()))
        });
    }
}

fn kind_of(difference: &Difference) -> ChangeKind {
    if difference.edit.is_of_error() {
        ChangeKind::Error
    } else if difference.expected.is_none() && difference.got.is_some() {
        ChangeKind::Addition
    } else {
        ChangeKind::Answer
    }
}
