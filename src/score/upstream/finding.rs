//! Differences behind the server, in words, and those of headers.

use crate::pairing::call::Call;
use crate::text::excerpt;
use crate::values::mask;
use model::placeholder::{Alike, placeholders};
use model::reason::{Reason, ReasonKind, Why};
use model::{
    ArgumentDifference, Change, ChangeKind, Header, PassedOn, ToolCall, Upstream, UpstreamHeader,
    UpstreamLane, Verdict, What, When,
};

use super::moments::Moment;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Something that differs behind the server.
pub(crate) struct Finding {
    /// As a change of the agent's call, which fails where it is a condition that does.
    pub(super) change: Change,
    /// The same as a reason.
    why: Why,
    pub(super) standing: Standing,
    /// The rows that are concerned, by their positions.
    pub(super) rows: Vec<usize>,
}

/// How something that fails relates to what the agent's own calls fail for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The agent's call is the same on both sides: what else it fails for may follow from this.
    Cause,
    /// It may follow from what the agent's call fails for, and fails in any case.
    Consequence,
    /// It follows from the agent's call being there on one side only, and fails with that alone.
    Part,
}

impl Finding {
    /// Something that the servers behind received, such as `` `files` received `find` without `limit` ``.
    pub(super) fn received(moment: &Moment<'_, '_>, clause: &str) -> Self {
        let when = match moment.call() {
            Some(_) => When::Behind,
            None => When::BeforeFirst,
        };
        Self::new(moment, clause.to_owned(), Some(when))
    }

    /// What is said of a call as a whole, such as `` `authorization` is passed on to `files` now ``.
    pub(super) fn said(moment: &Moment<'_, '_>, what: String) -> Self {
        Self::new(moment, what, None)
    }

    fn new(moment: &Moment<'_, '_>, said: String, when: Option<When>) -> Self {
        let (baseline, current) = moment.numbers();
        Self {
            why: Why::Heard {
                tool: moment.call().map(|it| it.tool.clone()),
                when,
                said: said.clone(),
            },
            change: Change {
                baseline,
                current,
                tool: moment.call().map(ToolCall::full_name),
                ..Change::new(ChangeKind::Upstream, What::Heard { when, said })
            },
            standing: Standing::Cause,
            rows: Vec::new(),
        }
    }

    /// A place where the arguments of a call differ, given `` `files` received `find` ``.
    pub(super) fn of_argument(
        moment: &Moment<'_, '_>,
        received: &str,
        difference: &ArgumentDifference,
    ) -> Self {
        let place = difference.path.trim_start_matches('/');
        let place = place.replace("~1", "/").replace("~0", "~");
        let clause = match (&difference.was, &difference.now) {
            (Some(_), None) => format!("{received} without `{place}`"),
            (None, Some(_)) => format!("{received} with a new `{place}`"),
            _ if difference.worded => format!("{received} with `{place}` reworded"),
            _ => format!("{received} with a different `{place}`"),
        };
        let (was, now) = (difference.was.clone(), difference.now.clone());
        Self::received(moment, &clause).between(was, now)
    }

    /// A header that is passed on now, or was; it fails where it was not.
    pub(super) fn of_header(moment: &Moment<'_, '_>, header: &UpstreamHeader) -> Self {
        let UpstreamHeader { server, name, .. } = header;
        let what = match (&header.was, &header.now) {
            (None, _) => format!("`{name}` is passed on to `{server}` now"),
            (_, None) => format!("`{name}` is no longer passed on to `{server}`"),
            _ => format!("`{name}` is passed on to `{server}` with a different value"),
        };
        let shown = |it: &Option<String>| it.as_deref().map(excerpt::of_text);
        let mut finding = Self::said(moment, what).between(shown(&header.was), shown(&header.now));
        finding.change.fails = header.was.is_none();
        finding
    }

    /// The same, with what it was and what it is.
    pub(super) fn between(mut self, was: Option<String>, now: Option<String>) -> Self {
        (self.change.was, self.change.now) = (was, now);
        self
    }

    /// Where it stands among the rows; what concerns none comes last.
    pub(super) fn first_row(&self) -> usize {
        self.rows.first().copied().unwrap_or(usize::MAX)
    }

    /// The agent's call: its number in the baseline, and in the run.
    pub(super) fn numbers(&self) -> (Option<usize>, Option<usize>) {
        (self.change.baseline, self.change.current)
    }

    pub(super) fn reason(&self) -> Reason {
        Reason {
            baseline: self.change.baseline,
            current: self.change.current,
            tool: self.change.tool.clone(),
            expected: self.change.was.clone(),
            got: self.change.now.clone(),
            ..Reason::new(ReasonKind::Upstream, self.why.clone())
        }
    }

    /// Whether the run failed for it, where its verdict failed for these calls.
    fn has_failed(&self, failed: &HashSet<(Option<usize>, Option<usize>)>) -> bool {
        self.change.fails && failed.contains(&self.numbers())
    }
}

/// `` `files` received `write` 2 times, 1 before ``: how often a tool was called, given one of its calls.
pub(super) fn received_times(call: &Call<'_>, before: usize, now: usize) -> String {
    let received = received(call);
    let times = |count: usize| match count {
        1 => String::new(),
        _ => format!(" {count} times"),
    };
    match (before, now) {
        (_, 0) => {
            let named = call.named();
            let (server, tool) = (named.server, named.tool);
            format!("`{server}` did not receive `{tool}`{}", times(before))
        }
        (0, _) => format!("{received}{}, and did not before", times(now)),
        (_, 1) => format!("{received} once, {before} times before"),
        _ => format!("{received} {now} times, {before} before"),
    }
}

/// `` `files` received `find` ``.
pub(super) fn received(call: &Call<'_>) -> String {
    let named = call.named();
    format!("`{}` received `{}`", named.server, named.tool)
}

/// The headers that two calls to a server were passed on with and that differ, by name.
pub(super) fn of_calls(server: &str, was: &[Header], now: &[Header]) -> Vec<UpstreamHeader> {
    let all = |headers: &[Header]| -> Vec<PassedOn> {
        let headers = headers.iter().map(|Header { name, value }| PassedOn {
            server: server.to_owned(),
            name: name.clone(),
            value: value.clone(),
        });
        headers.collect()
    };
    differing(&all(was), &all(now))
}

/// The headers that differ, by server and name.
pub(super) fn differing(was: &[PassedOn], now: &[PassedOn]) -> Vec<UpstreamHeader> {
    let (was, now) = (by_name(was), by_name(now));
    let names: BTreeSet<(&str, &str)> = was.keys().chain(now.keys()).copied().collect();
    let differing = names.into_iter().filter_map(|(server, name)| {
        let (was, now) = (was.get(&(server, name)), now.get(&(server, name)));
        let is_same = was
            .zip(now)
            .is_some_and(|(was, now)| says_the_same(was, now));
        (!is_same).then(|| UpstreamHeader {
            server: server.to_owned(),
            name: name.to_owned(),
            was: was.cloned(),
            now: now.cloned(),
        })
    });
    differing.collect()
}

/// Which headers each server behind was passed, with calls or without; by server and name.
pub(super) fn known(lane: &UpstreamLane) -> HashSet<(&str, &str)> {
    let apart = lane.headers.iter();
    let apart = apart.map(|it| (it.server.as_str(), it.name.as_str()));
    let with_calls = lane.calls.iter().flat_map(|it| {
        let server = it.call.server.as_deref().unwrap_or_default();
        let names = it.headers.iter().map(|it| it.name.as_str());
        names.map(move |name| (server, name))
    });
    apart.chain(with_calls).collect()
}

/// The values of each header, joined as HTTP allows it.
fn by_name(headers: &[PassedOn]) -> BTreeMap<(&str, &str), String> {
    let mut all: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for it in headers {
        let value = all.entry((&it.server, &it.name)).or_default();
        if !value.is_empty() {
            value.push_str(", ");
        }
        value.push_str(&it.value);
    }
    all
}

/// Whether two values are the same but for secrets of one kind, and for ids and times such as those of a trace.
fn says_the_same(was: &str, now: &str) -> bool {
    let is_nameless = |it: &str| placeholders(it).any(|it| it.name.is_none());
    let how = if is_nameless(was) || is_nameless(now) {
        Alike::All
    } else {
        Alike::Names
    };
    let plain = |it: &str| {
        let alike = how.text(it).unwrap_or_else(|| it.to_owned());
        mask::text(&alike).into_owned()
    };
    was == now || plain(was) == plain(now)
}

/// The comparison of what reached the servers behind the one under test.
#[derive(Default)]
pub(crate) struct UpstreamFindings {
    /// `None` where nobody listened on one of the sides.
    pub(super) comparison: Option<Upstream>,
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
        let failing = self.findings.iter().filter(|it| it.change.fails);
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
        let changes = findings.map(|it| Change {
            fails: it.has_failed(&failed),
            ..it.change.clone()
        });
        warning.chain(changes).collect()
    }

    /// The comparison, with what the run failed for according to its verdict.
    pub(crate) fn into_comparison(self, verdict: &Verdict) -> Option<Upstream> {
        let failed = failed(verdict);
        let mut comparison = self.comparison?;
        for it in &self.findings {
            if it.has_failed(&failed) {
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
