//! What the verdict of a comparison names: each of its reasons is a cause, or follows from one.

use std::collections::HashMap;

use model::call::full_name;
use model::change::starred;
use model::published::result::{
    CauseCall, CauseKind, Change, ChangeKind, Comparison, Reason, ReasonKind, Row, Whose, Why,
};

use super::draft::{Draft, What};
use super::ended;
use super::gather::{Gather, NotMade};
use super::key::Key;
use super::of_change::calls_of;
use super::of_reason::{Better, change_of, drifted, refused, said_better};

impl Gather<'_> {
    pub(super) fn reason(&mut self, comparison: &Comparison, reason: &Reason) {
        // The changes that the score or the strictness fails for say more.
        if matches!(reason.kind, ReasonKind::Threshold | ReasonKind::Strict) {
            return;
        }
        if self.ended.as_ref().is_some_and(|it| it.explains(reason)) {
            self.told_by_end(reason);
        } else if reason.kind == ReasonKind::Upstream && !reason.follows.is_empty() {
            self.behind(comparison, reason);
        } else {
            self.told(comparison, reason, &reason.follows);
        }
    }

    /// A call that the run did not come to, and what follows from that.
    fn told_by_end(&mut self, reason: &Reason) {
        let these = std::iter::once(reason).chain(&reason.follows);
        for it in these.filter(|it| it.kind != ReasonKind::Threshold) {
            let call = CauseCall::new(it.baseline, it.current);
            self.covered.insert(call);
            self.not_made.push(NotMade {
                call,
                said: self.follows(it),
                fails: self.fails,
            });
        }
    }

    /// What a reason says beneath another one.
    fn follows(&self, reason: &Reason) -> String {
        let ended = self.ended.as_ref().is_some_and(|it| it.explains(reason));
        let row = self.row(reason.baseline, reason.current);
        match (row, &reason.expected) {
            (_, Some(asked)) if ended => ended::sentence(asked),
            (Some(row), None) if ended => ended::sentence(&row.tool_name()),
            // What failed says why by itself, and the same of many calls is said once.
            (Some(row), _) if matches!(reason.why, Why::Failed(_)) => {
                reason.without_number(Some(&row.tool_name()))
            }
            (Some(row), _) => {
                let answered = self.answered_otherwise(reason, row);
                answered.unwrap_or_else(|| reason.to_string())
            }
            _ => reason.to_string(),
        }
    }

    /// What a call is answered otherwise, as a cause would say it.
    fn answered_otherwise(&self, reason: &Reason, row: &Row) -> Option<String> {
        let comparison = self.context.scenario.comparison.as_ref()?;
        if reason.kind != ReasonKind::ServerRegression || said_better(reason, Some(row)).is_some() {
            return None;
        }
        let (_, change) = change_of(comparison, reason)?;
        let is_place = |it: &Change| it.kind == ChangeKind::Answer && it.fails;
        if !is_place(change) {
            return None;
        }
        let said = self.context.of_change(change, Some(row)).finish().text;
        let call = change.call()?;
        Some(format!("{call}: {said}"))
    }

    /// The cause that a reason tells of, with what follows from it; returns where it was found.
    fn told(&mut self, comparison: &Comparison, reason: &Reason, follows: &[Reason]) -> usize {
        let (index, change) = change_of(comparison, reason).unzip();
        let row = self.row(reason.baseline, reason.current);
        let mut draft = match (reason.kind, change) {
            (ReasonKind::Drift, _) => self.drift(comparison, reason),
            (_, Some(change)) => self.context.of_change(change, row),
            (_, None) => self.plain(reason, row),
        };
        if let Some(said) = said_better(reason, row) {
            match said {
                Better::Failed(message) => {
                    // A server that fails in one way may do so in all its tools.
                    let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
                    draft.key = Key::failed(server, &message);
                    draft.kind = CauseKind::Error;
                    draft.what = What::Failed(message);
                }
                // That a member has another name now is told better by what it was and is.
                Better::Generalised(..)
                    if change.is_some_and(|it| self.context.renamed(it).is_some()) => {}
                Better::Generalised(said, has_values) => {
                    draft.key = Key::many(&said);
                    draft.path = draft.path.map(|it| starred(&it));
                    draft.values_differ = true;
                    draft.what = if has_values {
                        What::Whole(said)
                    } else {
                        What::Said(said)
                    };
                }
            }
        }
        if let (Some(change), What::Place(_)) = (change, &draft.what)
            && change.kind == ChangeKind::Answer
        {
            (self.answered).insert(calls_of(change), change.path.clone());
            // What the verdict puts beneath it because it is the same change of other calls may be one of several there, too.
            let same = |it: &&Change| {
                it.kind == change.kind
                    && (&it.tool, &it.path) == (&change.tool, &change.path)
                    && (&it.was, &it.now) == (&change.was, &change.now)
            };
            let others = follows.iter().filter_map(|it| change_of(comparison, it));
            (self.answered).extend(
                others
                    .map(|it| it.1)
                    .filter(same)
                    .map(|it| (calls_of(it), it.path.clone())),
            );
        }
        // Other places of the calls that follow are told as well.
        for it in follows
            .iter()
            .filter(|it| it.kind == ReasonKind::ServerRegression)
        {
            let change = change_of(comparison, it).map(|it| it.1);
            if let Some(change) = change.filter(|it| it.kind == ChangeKind::Answer) {
                (self.answered).insert(calls_of(change), change.path.clone());
            }
        }
        draft.fails = self.fails;
        let mut calls = vec![CauseCall::new(reason.baseline, reason.current)];
        calls.extend(
            follows
                .iter()
                .map(|it| CauseCall::new(it.baseline, it.current)),
        );
        if reason.kind == ReasonKind::Drift {
            calls.extend(refused(comparison, reason));
        }
        let follows = follows.iter();
        let follows = follows.filter(|it| it.kind != ReasonKind::Threshold);
        // That another call is answered otherwise in the same way, its number tells.
        let own = draft.text();
        let is_own = |it: &String| it.split_once(": ").is_some_and(|(_, said)| said == own);
        let follows = follows.map(|it| self.follows(it));
        draft.add_follows(follows.filter(|it| *it != own && !is_own(it)));
        self.covered.extend(calls.iter().copied());
        // Of a call of the baseline, what is known best: with the call that stands for it.
        let mut once: HashMap<usize, usize> = HashMap::new();
        let mut new: Vec<CauseCall> = Vec::new();
        for call in calls {
            let known = call.baseline.and_then(|it| once.get(&it).copied());
            if let Some(at) = known {
                new[at].current = new[at].current.or(call.current);
            } else {
                once.extend(call.baseline.map(|it| (it, new.len())));
                new.push(call);
            }
        }
        // Of many places that changed alike, each has to follow from it.
        let folded = change.filter(|it| match said_better(reason, row) {
            Some(Better::Generalised(..)) => all_follow(comparison, it),
            _ => true,
        });
        if let Some((change, at)) = folded.and_then(|it| Some((it, self.followed(it)?))) {
            self.put_beneath(at, change, draft, new);
            self.told.extend(index.map(|it| (it, at)));
            return at;
        }
        if let Some(at) = new.first().and_then(|it| self.by_script(&draft, *it)) {
            let said = draft.text();
            let cause = &mut self.found.drafts_mut()[at];
            cause.fails |= draft.fails;
            cause.add_calls(new);
            cause.add_follows(std::iter::once(said).chain(draft.follows));
            return at;
        }
        draft.add_calls(new);
        let at = self.found.add(draft);
        self.told.extend(index.map(|it| (it, at)));
        at
    }

    /// The verdict puts all that servers behind the one under test heard otherwise beneath the first of it. An argument that is left out
    /// and a header that is passed on have a cause each.
    fn behind(&mut self, comparison: &Comparison, reason: &Reason) {
        let is_own =
            |it: &&Reason| it.kind == ReasonKind::Upstream && change_of(comparison, it).is_some();
        let (own, follows): (Vec<&Reason>, Vec<&Reason>) = reason.follows.iter().partition(is_own);
        let at = self.told(comparison, reason, &[]);
        let follows = follows.into_iter();
        let follows = follows.filter(|it| it.kind != ReasonKind::Threshold);
        let follows: Vec<String> = follows.map(|it| self.follows(it)).collect();
        self.found.drafts_mut()[at].add_follows(follows);
        for it in own {
            self.reason(comparison, it);
        }
    }

    fn drift(&self, comparison: &Comparison, reason: &Reason) -> Draft {
        let draft = self
            .context
            .draft(CauseKind::Drift, Whose::Catalogue, reason.sentence());
        let (said, tools) = drifted(reason);
        let known = comparison.drift.iter();
        let known = known.clone().find(|it| it.what == said).or_else(|| {
            // One heading may stand for the same change of several tools.
            let mut known = known.clone();
            known.find(|it| tools.contains(&it.tool) && it.was == reason.expected)
        });
        let is_named = reason.expected.is_none() && reason.got.is_none();
        let (was, now) = match known {
            // A sentence about a name that is gone has the names in it.
            Some(known) if is_named => (known.was.clone(), known.now.clone()),
            _ => (reason.expected.clone(), reason.got.clone()),
        };
        let tool = known.map(|it| full_name(Some(&it.server), &it.tool));
        Draft {
            // The same as where no scenario fails for it.
            key: match (known, &tool) {
                (Some(known), Some(tool)) => {
                    Key::drift(tool, &known.what, (&known.was, &known.now))
                }
                _ => draft.key,
            },
            what: if is_named {
                What::Whole(reason.sentence())
            } else {
                What::Said(reason.sentence())
            },
            tool,
            path: known.map(|it| it.path.clone()).filter(|it| !it.is_empty()),
            was,
            now,
            ..draft
        }
    }

    /// A reason of which nothing more is known than what it says.
    fn plain(&self, reason: &Reason, row: Option<&Row>) -> Draft {
        let kind = match reason.kind {
            ReasonKind::ServerRegression => CauseKind::Answer,
            ReasonKind::EffectChange => CauseKind::Effect,
            ReasonKind::Slower => CauseKind::Slower,
            ReasonKind::Tokens => CauseKind::Tokens,
            ReasonKind::Upstream => CauseKind::Upstream,
            ReasonKind::Drift => CauseKind::Drift,
            ReasonKind::Match => CauseKind::Call,
            ReasonKind::Expectation => CauseKind::Expectation,
            ReasonKind::Threshold | ReasonKind::Strict => CauseKind::Score,
        };
        let whose = match kind {
            CauseKind::Answer | CauseKind::Slower => Some(Whose::Server),
            CauseKind::Upstream => Some(Whose::Behind),
            CauseKind::Effect | CauseKind::Call | CauseKind::Tokens => Some(Whose::Agent),
            _ => None,
        };
        let name = row.map(Row::tool_name);
        let said = reason.without_number(name.as_deref());
        let draft = self.context.draft(kind, whose, said);
        Draft {
            tools: name.into_iter().collect(),
            tool: row.and_then(|it| Some(full_name(Some(it.server.as_ref()?), it.tool.as_ref()?))),
            label: row.and_then(|it| it.label.clone()),
            was: reason.expected.clone(),
            now: reason.got.clone(),
            ..draft
        }
    }
}

/// Whether all places of a call that differ in nothing but an index follow from one change.
fn all_follow(comparison: &Comparison, change: &Change) -> bool {
    let place = |it: &Change| (calls_of(it), it.path.as_deref().map(starred));
    let (root, here) = (change.follows.map(|it| it.change), place(change));
    let mut alike = comparison.changes.iter().filter(|it| place(it) == here);
    alike.all(|it| it.follows.map(|it| it.change) == root)
}
