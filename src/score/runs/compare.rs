//! The comparison as a whole.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::catalogue::drift;
use crate::ids::translate::translate;
use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::pairing::matching::{self, Matched};
use crate::scores::sides::Sides;
use crate::scores::{classic, losses, status};
use crate::upstream::compare::{self as upstream, Agent};
use crate::values::number::{count, share};
use crate::values::{exact, secrets};
use crate::verdict::evidence::Evidence;
use crate::verdict::{changes, follows, linked, reasons};
use crate::work::{Cancelled, Work};
use model::reason::{Reason, ReasonKind, Why};
use model::rules::{Preset, Rules, Slower, Tokens};
use model::text::several;
use model::usage::{tokens, total_usage};
use model::{
    Band, Change, ChangeKind, Comparison, ExecutionStatus, Loss, LossOf, RequestScore, Row, Scores,
    SlowerCall, Trajectory, Verdict,
};

/// Compares a run with its accepted trajectory.
///
/// Both must be complete (see [`model::Ending::is_complete`]): a run that did not finish has no
/// score, and callers must not ask for one.
pub fn compare(baseline: &Trajectory, current: &Trajectory, rules: &Rules) -> Comparison {
    compare_with(baseline, current, rules, &Work::uninterrupted())
}

/// The same, but cancelled when `is_unwanted`, which is asked every few thousand steps.
///
/// # Errors
///
/// [`Cancelled`] when `is_unwanted` was true before the end.
pub fn compare_until(
    baseline: &Trajectory,
    current: &Trajectory,
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Comparison, Cancelled> {
    let work = Work::until(is_unwanted);
    let comparison = compare_with(baseline, current, rules, &work);
    work.finish(comparison)
}

fn compare_with(
    baseline: &Trajectory,
    current: &Trajectory,
    rules: &Rules,
    work: &Work<'_>,
) -> Comparison {
    work.begin();
    let (baseline, current) = exact::both(baseline, current);
    let (baseline, current) = secrets::alike(baseline, current);
    let (baseline, current) = (baseline.as_ref(), current.as_ref());
    let terms = translate(baseline, current, rules, work);
    let is_classic = rules.preset == Preset::Classic;
    let sides = Sides::new(baseline, current, terms.as_ref(), rules, work);
    let calls = &sides.calls;
    let matched = if is_classic {
        Matched {
            pairs: matching::positional(calls),
            moved: Vec::new(),
            counted: calls.longer(),
            may_miss: false,
            may_add: false,
            all_or_nothing: None,
            any_count: true,
        }
    } else {
        matching::matched(calls, rules.matching)
    };
    let mut rows = sides.rows(&matched.pairs, &matched.moved);
    if let Some(terms) = &terms {
        terms.restore((baseline, current), &mut rows);
    }
    if is_classic {
        for row in &mut rows {
            score_classically(calls, row);
        }
    }

    let baseline_status = status_of(baseline, &calls.baseline);
    let current_status = status_of(current, &calls.current);
    let statuses = (baseline_status, current_status);
    let (scores, losses, formula) = if is_classic {
        let (scores, losses, formula) = classically(calls, &rows, (baseline, current), rules);
        (scores, losses, Some(formula))
    } else {
        let scores = scores(calls, &rows, &matched, rules, statuses);
        (scores, lost(calls, &rows, &matched, &scores), None)
    };
    let recorded = drift::recorded(baseline.calls());
    let drift = drift::findings(&baseline.catalogue, &current.catalogue, &recorded);
    let slower = slower(calls, &rows, &rules.slower);
    let unmatched = if is_classic {
        None
    } else {
        matching::unmatched(calls, rules.matching, &matched, &rows)
    };
    let tokens = more_tokens(baseline, current, &rules.tokens);
    let agent = Agent {
        calls,
        rows: &rows,
        terms: terms.as_ref(),
    };
    let upstream_findings = upstream::compare((baseline, current), &agent, (rules, work));
    let evidence = Evidence {
        calls,
        rows: &rows,
        scores: &scores,
        losses: &losses,
        drift: &drift,
        slower: &slower,
        tokens,
        rules,
        unmatched: unmatched.into_iter().collect(),
        bindings: &baseline.bindings,
        may_miss: matched.may_miss,
        may_add: matched.may_add,
        upstream: &upstream_findings,
        score_only: is_classic,
    };
    let mut verdict = reasons::verdict(&evidence);
    let mut changes = changes::changes(&evidence, &verdict);
    changes.extend(upstream_findings.changes(&verdict));
    follows::follow(calls, &rows, &mut changes);
    match formula {
        Some(formula) => verdict.warnings.push(not_looked_at(
            &formula,
            &mut changes,
            &verdict,
            upstream_findings.is_known(),
        )),
        None => changes::fail_all(&mut changes, rules, &mut verdict),
    }
    linked::link(&evidence, &mut verdict.reasons, &mut changes);
    let upstream = upstream_findings.into_comparison(&verdict);
    Comparison {
        band: band(&scores, &verdict, statuses),
        scores,
        baseline_status,
        current_status,
        improved: current_status > baseline_status,
        rows,
        losses,
        drift: drift.into_iter().map(|it| it.drift).collect(),
        slower,
        changes,
        verdict,
        variant: 1,
        upstream,
    }
}

/// The band of a score and its verdict.
fn band(
    scores: &Scores,
    verdict: &Verdict,
    (baseline, current): (ExecutionStatus, ExecutionStatus),
) -> Band {
    let band = Band::of(scores.overall);
    if verdict.passed {
        return band;
    }
    let breaks = |it: &Reason| it.kind.is_of_call() || it.kind == ReasonKind::Upstream;
    band.of_failed(current < baseline || verdict.reasons.iter().any(breaks))
}

/// Compares a run with each of several accepted trajectories; the best verdict wins, then the best overall score, then
/// the first. `None` if there is none to compare with.
///
/// # Errors
///
/// [`Cancelled`] when `is_unwanted`, which is asked every few thousand steps, was true before the end.
pub fn compare_variants<T: Borrow<Trajectory>>(
    variants: &[T],
    current: &Trajectory,
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Option<Comparison>, Cancelled> {
    let work = Work::until(is_unwanted);
    let compared = variants.iter().enumerate().map(|(at, it)| Comparison {
        variant: at + 1,
        ..compare_with(it.borrow(), current, rules, &work)
    });
    let best = compared.reduce(|best, it| {
        let verdict = it.verdict.passed.cmp(&best.verdict.passed);
        match verdict.then(it.scores.overall.total_cmp(&best.scores.overall)) {
            Ordering::Greater => it,
            Ordering::Less | Ordering::Equal => best,
        }
    });
    work.finish(best)
}

fn status_of(trajectory: &Trajectory, calls: &[Call<'_>]) -> ExecutionStatus {
    let failed: Vec<bool> = calls.iter().map(Call::failed).collect();
    status::of_calls(&trajectory.ending, &failed)
}

/// Scores a row by its arguments alone, with the original formulas. The differences of the answers are kept for display.
fn score_classically(calls: &Calls<'_>, row: &mut Row) {
    if let Row::Pair(pair) = row {
        let (b, c) = (calls.before(pair.baseline), calls.now(pair.current));
        pair.request = RequestScore {
            differences: std::mem::take(&mut pair.request.differences),
            ..classic::request(&b.said.arguments, &c.said.arguments)
        };
        pair.call = pair.request.similarity;
    }
}

/// The scores of the original tool with the points that are lost, and its formula in words.
fn classically(
    calls: &Calls<'_>,
    rows: &[Row],
    (baseline, current): (&Trajectory, &Trajectory),
    rules: &Rules,
) -> (Scores, Vec<Loss>, String) {
    let pairs = rows.iter().filter_map(Row::pair);
    let similarities = pairs.map(|it| it.request.similarity);
    let mean = share(similarities.sum(), calls.longer()).clamp(0.0, 1.0);
    let went = (classic::went(baseline), classic::went(current));
    let overall = classic::overall(mean, went, (calls.baseline.len(), calls.current.len()));
    let scores = Scores {
        overall: (overall.calls * overall.status_factor - overall.count_penalty).clamp(0.0, 1.0),
        trajectory: mean,
        calls: overall.calls,
        status_factor: overall.status_factor,
        count_penalty: overall.count_penalty,
        threshold: rules.threshold,
    };
    let Some(each) = overall.each else {
        return (
            scores,
            vec![losses::loss(1.0 - scores.overall, LossOf::Blocked)],
            overall.formula,
        );
    };
    // By these formulas, answers cost no points.
    let asked: Vec<Row> = (rows.iter().cloned())
        .map(|row| match row {
            Row::Pair(mut pair) => {
                pair.response.similarity = 1.0;
                pair.response.differences.clear();
                Row::Pair(pair)
            }
            alone => alone,
        })
        .collect();
    let mut lost = losses::losses(calls, &asked, &scores, calls.longer(), |_| false);
    for it in lost
        .iter_mut()
        .filter(|it| it.baseline.or(it.current).is_some())
    {
        it.points *= each;
    }
    (scores, lost, overall.formula)
}

/// A remark on what the original formulas ignore, and how much of it differs. Such differences do not fail.
fn not_looked_at(
    formula: &str,
    changes: &mut [Change],
    verdict: &Verdict,
    is_upstream_known: bool,
) -> Reason {
    let counted = |it: ChangeKind| it.is_of_request() || it == ChangeKind::Error;
    for it in changes.iter_mut() {
        it.fails = !verdict.passed && counted(it.kind);
    }
    let number = |kinds: &[ChangeKind]| {
        let found: BTreeSet<_> = (changes.iter().filter(|it| kinds.contains(&it.kind)))
            .map(|it| {
                (
                    it.baseline,
                    it.current,
                    it.path.as_deref().filter(|_| it.kind == ChangeKind::Drift),
                    &it.tool,
                )
            })
            .collect();
        match found.len() {
            0 => "none differs".to_owned(),
            count => several(count, "differs", "differ"),
        }
    };
    let behind = if is_upstream_known {
        let count = number(&[ChangeKind::Upstream]);
        format!(", the calls behind the server ({count})")
    } else {
        String::new()
    };
    Reason::new(
        ReasonKind::Threshold,
        Why::Described(format!(
            "scored by the preset `classic`, on arguments and failed calls alone: {formula}; what it does not look at: answers ({}), what \
             effects are made with ({}), the tool catalogue ({}){behind}",
            number(&[ChangeKind::Answer, ChangeKind::Addition, ChangeKind::Error]),
            number(&[ChangeKind::Effect]),
            number(&[ChangeKind::Drift])
        )),
    )
}

fn scores(
    of_both: &Calls<'_>,
    rows: &[Row],
    matched: &Matched,
    rules: &Rules,
    (baseline, current): (ExecutionStatus, ExecutionStatus),
) -> Scores {
    let pairs = || rows.iter().filter_map(Row::pair);
    let trajectory = share(
        pairs().map(|it| it.request.similarity).sum(),
        of_both.longer(),
    );
    let calls = share(pairs().map(|it| it.call).sum(), matched.counted).clamp(0.0, 1.0);
    let (calls, status_factor) = match matched.all_or_nothing {
        Some(holds) => (if holds { 1.0 } else { 0.0 }, 1.0),
        None => (calls, status::factor(baseline, current)),
    };
    let count_penalty = if matched.any_count {
        0.0
    } else {
        status::count_penalty(of_both.baseline.len(), of_both.current.len())
    };
    Scores {
        overall: (calls * status_factor - count_penalty).clamp(0.0, 1.0),
        trajectory: trajectory.clamp(0.0, 1.0),
        calls,
        status_factor,
        count_penalty,
        threshold: rules.threshold,
    }
}

/// The losses of a comparison. In a mode that is all or nothing, they are shared equally by the calls that break it.
fn lost(calls: &Calls<'_>, rows: &[Row], matched: &Matched, scores: &Scores) -> Vec<Loss> {
    match matched.all_or_nothing {
        None => losses::losses(calls, rows, scores, matched.counted, |row| match row {
            Row::Pair(_) => false,
            Row::Missing { .. } => matched.may_miss,
            Row::Extra { .. } => matched.may_add,
        }),
        Some(true) => Vec::new(),
        Some(false) => {
            let offending: Vec<&Row> = (rows.iter())
                .filter(|it| matching::offends(calls, matched, it))
                .collect();
            let each = 1.0 / count(offending.len().max(1));
            let mut lost: Vec<Loss> = (offending.iter())
                .map(|row| losses::whole_row(calls, row, each))
                .collect();
            if lost.is_empty() {
                lost.push(losses::loss(1.0, LossOf::Order));
            }
            lost
        }
    }
}

/// Pairs whose call took more than so many times as long as in the baseline, and at least so much longer.
fn slower(calls: &Calls<'_>, rows: &[Row], rule: &Slower) -> Vec<SlowerCall> {
    let compare = |row: &Row| {
        let Row::Pair(pair) = row else { return None };
        let baseline_ms = calls.before(pair.baseline).made.duration_ms?;
        let current_ms = calls.now(pair.current).made.duration_ms?;
        let floor_ms = rule.floor.as_secs_f64() * 1000.0;
        let is_slower =
            current_ms > rule.factor * baseline_ms && current_ms - baseline_ms >= floor_ms;
        is_slower.then_some(SlowerCall {
            baseline: pair.baseline,
            current: pair.current,
            baseline_ms,
            current_ms,
        })
    };
    rows.iter().filter_map(compare).collect()
}

/// The tokens of both sides, where the run used more than so many times as many as the baseline, and at least so many more.
fn more_tokens(baseline: &Trajectory, current: &Trajectory, rule: &Tokens) -> Option<(u64, u64)> {
    let used = |it: &Trajectory| total_usage(&it.requests).and_then(|it| it.total());
    let (before, now) = used(baseline).zip(used(current))?;
    let more = now.saturating_sub(before);
    let is_more = tokens(now) > rule.factor * tokens(before) && more >= u64::from(rule.floor);
    is_more.then_some((before, now))
}
