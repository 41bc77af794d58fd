//! All differences behind the server, for the verdict.

use std::collections::{HashMap, HashSet};

use model::change::{Change, ChangeKind, What};
use model::comparison::{UpstreamComparison, Verdict};
use model::reason::{Reason, ReasonKind};

use super::finding::{Finding, Standing};

/// The comparison of what reached the servers behind the one under test.
#[derive(Default)]
pub(crate) struct UpstreamFindings {
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

impl UpstreamFindings {
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

    /// Whether somebody listened on both sides.
    pub(crate) fn is_known(&self) -> bool {
        self.comparison.is_some()
    }

    /// What differs, with what the run failed for according to its verdict.
    pub(crate) fn changes(&self, verdict: &Verdict) -> Vec<Change> {
        let failed = failed(verdict);
        let warning = self.warning.iter();
        let warning =
            warning.map(|it| Change::new(ChangeKind::Upstream, What::Described(it.sentence())));
        let findings = self.findings.iter();
        let changes = findings.map(|it| it.change(it.fails && failed.contains(&it.numbers())));
        warning.chain(changes).collect()
    }

    /// The comparison, with what the run failed for according to its verdict.
    pub(crate) fn into_comparison(self, verdict: &Verdict) -> Option<UpstreamComparison> {
        let failed = failed(verdict);
        let mut comparison = self.comparison?;
        for it in &self.findings {
            if it.fails && failed.contains(&it.numbers()) {
                for row in &it.rows {
                    comparison.rows[*row].fails = true;
                }
            }
        }
        Some(comparison)
    }
}

/// The calls behind which something failed.
fn failed(verdict: &Verdict) -> HashSet<(Option<usize>, Option<usize>)> {
    let reasons = verdict.reasons.iter();
    let failed = reasons.filter(|it| it.kind == ReasonKind::Upstream);
    failed.map(|it| (it.baseline, it.current)).collect()
}
