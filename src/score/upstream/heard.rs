//! All that was heard otherwise behind the server, for the verdict.

use std::collections::{HashMap, HashSet};

use model::change::{Change, ChangeKind, What};
use model::comparison::{UpstreamComparison, Verdict};
use model::reason::{Reason, ReasonKind};

use super::finding::{Finding, Standing};

/// What the servers behind the one under test heard, side by side.
#[derive(Default)]
pub(crate) struct Heard {
    /// `None` where nobody listened on one of the sides.
    pub(super) comparison: Option<UpstreamComparison>,
    /// In the order of the calls behind; what concerns none comes last.
    pub(super) findings: Vec<Finding>,
    /// Servers that answered otherwise what they were asked alike, by the numbers of the agent's two calls.
    pub(super) answered: HashMap<(usize, usize), String>,
    /// Servers that answered the same what they were asked alike, by the same numbers.
    pub(super) held: HashMap<(usize, usize), String>,
    /// Calls of the agent behind which something was asked otherwise.
    pub(super) unclear: HashSet<(usize, usize)>,
    /// What a reader should know of the lanes.
    pub(super) warning: Option<Reason>,
}

impl Heard {
    /// What fails, with how it relates to what the agent's own calls fail for.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = (Standing, Reason)> {
        let failing = self.findings.iter().filter(|it| it.fails);
        failing.map(|it| (it.standing, it.reason()))
    }

    /// Says of an answer that the agent got otherwise whose doing it is, where a server behind did so, too.
    pub(crate) fn explain(&self, reason: &mut Reason) {
        if reason.kind != ReasonKind::ServerRegression || reason.cause.is_some() {
            return;
        }
        let calls = reason.baseline.zip(reason.current);
        let Some(calls) = calls else { return };
        if let Some(server) = self.answered.get(&calls) {
            reason.cause = Some(format!(
                "the server behind it, `{server}`, answered otherwise, too"
            ));
        } else if let Some(server) = self.held.get(&calls)
            && !self.unclear.contains(&calls)
        {
            reason.cause = Some(format!(
                "the server behind it, `{server}`, answered as before"
            ));
        }
    }

    /// The comparison and its changes, with what the run failed for according to its verdict.
    pub(crate) fn settled(self, verdict: &Verdict) -> (Option<UpstreamComparison>, Vec<Change>) {
        let reasons = verdict.all_reasons();
        let failed: HashSet<_> = reasons
            .filter(|it| it.kind == ReasonKind::Upstream)
            .map(|it| (it.baseline, it.current))
            .collect();
        let mut comparison = self.comparison;
        let mut changes = Vec::with_capacity(self.findings.len());
        changes.extend(
            (self.warning.as_ref())
                .map(|it| Change::new(ChangeKind::Upstream, What::Described(it.sentence()))),
        );
        for it in &self.findings {
            let fails = it.fails && failed.contains(&it.numbers());
            changes.push(it.change(fails));
            if let Some(comparison) = comparison.as_mut().filter(|_| fails) {
                for row in &it.rows {
                    comparison.rows[*row].fails = true;
                }
            }
        }
        (comparison, changes)
    }
}
