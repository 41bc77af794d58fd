//! Groups what failed by what caused it, with one heading for each cause.
//!
//! The roots come first – a tool that was renamed or is gone, a changed contract, a call that failed – and beneath each what follows from
//! it. A call appears under one of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::catalogue::drift::Finding;
use crate::text::excerpt;
use crate::upstream::finding::Standing;
use model::binding::Binding;
use model::comparison::{Pair, Row};
use model::reason::{Reason, ReasonKind, Why};
use model::text::few;
use model::trajectory::{FailureKind, Outcome, ToolCall};

use super::evidence::Evidence;

/// The most tools a heading names.
const NAMED: usize = 5;

/// What failed, each cause once.
///
/// `reasons` are the conditions that failed, drift aside; `refusing` are the changes of the catalogue that would refuse recorded calls.
pub(super) fn grouped(
    evidence: &Evidence<'_, '_>,
    reasons: Vec<Reason>,
    refusing: &[&Finding],
) -> Vec<Reason> {
    let mut groups = Groups::new(evidence, refusing);
    let (causes, following): (Vec<_>, Vec<_>) = (evidence.heard.reasons())
        .filter(|_| !evidence.score_only)
        .partition(|(standing, _)| *standing == Standing::Cause);
    let (mut of_calls, mut others): (Vec<Reason>, Vec<Reason>) =
        once_each(evidence, reasons).into_iter().partition(|it| {
            matches!(
                it.kind,
                ReasonKind::ServerRegression | ReasonKind::EffectChange
            )
        });
    for it in &mut of_calls {
        evidence.heard.explain(it);
    }
    of_calls.extend(causes.into_iter().map(|it| it.1));
    // A new call stands where the baseline's next one would: after what may have caused it. What an equal call became behind the server
    // stands before what the call came to.
    of_calls.sort_by_key(|it| {
        let is_of_call = it.kind != ReasonKind::Upstream;
        (it.baseline.is_none(), it.baseline, it.current, is_of_call)
    });
    for it in &of_calls {
        groups.add(it);
    }
    for (standing, it) in following {
        groups.add_following(standing, it);
    }
    others.sort_by_key(|it| it.kind == ReasonKind::Threshold);
    for it in others {
        groups.add_other(it);
    }
    groups.finish()
}

/// Of several conditions that one pair of calls fails, keeps the one that explains the others: the request if it differs, else the answer.
fn once_each(evidence: &Evidence<'_, '_>, reasons: Vec<Reason>) -> Vec<Reason> {
    let mut of_pair: HashMap<(usize, usize), usize> = HashMap::new();
    let mut kept: Vec<Reason> = Vec::new();
    for it in reasons {
        let pair = it.baseline.zip(it.current).filter(|_| {
            matches!(
                it.kind,
                ReasonKind::ServerRegression | ReasonKind::EffectChange
            )
        });
        let Some(pair) = pair else {
            kept.push(it);
            continue;
        };
        let Some(at) = of_pair.get(&pair).copied() else {
            of_pair.insert(pair, kept.len());
            kept.push(it);
            continue;
        };
        let asked_otherwise = evidence.rows.iter().any(|row| match row {
            Row::Pair(row) => {
                (row.baseline, row.current) == pair && !evidence.calls.equal_pair(row)
            }
            _ => false,
        });
        let tells = if asked_otherwise {
            ReasonKind::EffectChange
        } else {
            ReasonKind::ServerRegression
        };
        if kept[at].kind != tells && it.kind == tells {
            kept[at] = it;
        }
    }
    kept
}

/// A cause and what follows from it.
struct Group {
    root: Reason,
    /// Whether the root is about a call itself, and not about the catalogue.
    is_call: bool,
    /// The server whose tools are concerned, and names they have now.
    server: String,
    names_now: BTreeSet<String>,
}

struct Groups<'e, 'a> {
    evidence: &'e Evidence<'e, 'a>,
    found: Vec<Group>,
    /// Which group has which call, by its number in the baseline, and in the run.
    of_baseline: HashMap<usize, usize>,
    of_current: HashMap<usize, usize>,
    /// Groups by what calls with one cause have in common: a message of a server, or a change of an answer.
    by_sign: HashMap<String, usize>,
    pairs: HashMap<usize, &'e Pair>,
    bindings: HashMap<usize, Vec<&'a Binding>>,
    /// The first of the baseline's calls at its end that the run did not make.
    tail: usize,
}

impl<'e, 'a> Groups<'e, 'a> {
    fn new(evidence: &'e Evidence<'e, 'a>, refusing: &[&Finding]) -> Self {
        let pairs: HashMap<usize, &Pair> = (evidence.rows.iter())
            .filter_map(|row| match row {
                Row::Pair(pair) => Some((pair.baseline, &**pair)),
                _ => None,
            })
            .collect();
        let mut bindings: HashMap<usize, Vec<&Binding>> = HashMap::new();
        for it in evidence.bindings {
            bindings.entry(it.call).or_default().push(it);
        }
        let tail = pairs.keys().max().map_or(0, |it| it + 1);
        let mut groups = Self {
            evidence,
            found: Vec::new(),
            of_baseline: HashMap::new(),
            of_current: HashMap::new(),
            by_sign: HashMap::new(),
            pairs,
            bindings,
            tail,
        };
        groups.add_drift(refusing);
        groups
    }

    /// Adds each change of the catalogue as one root, even if several tools have it.
    fn add_drift(&mut self, refusing: &[&Finding]) {
        let mut by_change: BTreeMap<(bool, usize), Vec<&Finding>> = BTreeMap::new();
        let mut first: HashMap<(&str, &str), usize> = HashMap::new();
        for (at, it) in refusing.iter().enumerate() {
            let key = (it.drift.server.as_str(), it.cause.as_str());
            let at = *first.entry(key).or_insert(at);
            by_change.entry((!it.is_gone, at)).or_default().push(it);
        }
        for findings in by_change.into_values() {
            let Some(one) = findings.first() else {
                continue;
            };
            let group = self.found.len();
            for number in findings.iter().flat_map(|it| &it.drift.refused) {
                self.of_baseline.entry(*number).or_insert(group);
            }
            let now = findings.iter().flat_map(|it| {
                let renamed = it.renamed.iter().map(|(_, now)| now);
                renamed.chain(&it.nearest).cloned()
            });
            let said = match findings.len() {
                1 => one.drift.what.clone(),
                _ => of_several(&findings),
            };
            let tools = findings.iter().map(|it| it.drift.tool.clone()).collect();
            let numbers: BTreeSet<usize> = findings
                .iter()
                .flat_map(|it| it.drift.refused.iter().copied())
                .collect();
            self.found.push(Group {
                root: Reason {
                    // The heading has a call's number only if it concerns a single call; else the calls are listed beneath it.
                    baseline: numbers.first().copied().filter(|_| numbers.len() == 1),
                    expected: one.drift.was.clone().filter(|_| !one.is_gone),
                    got: one.drift.now.clone().filter(|_| !one.is_gone),
                    ..Reason::new(ReasonKind::Drift, Why::Drifted { said, tools })
                },
                is_call: false,
                server: one.drift.server.clone(),
                names_now: now.collect(),
            });
        }
    }

    /// Puts a call that failed, changed, is missing or is new under its cause.
    fn add(&mut self, it: &Reason) {
        let group = self.cause_of(it);
        let sign = self.sign(it);
        let group = group.or_else(|| self.by_sign.get(&sign).copied());
        let at = if let Some(at) = group {
            self.found[at].root.follows.push(it.clone());
            at
        } else {
            self.found.push(Group {
                root: it.clone(),
                is_call: true,
                server: String::new(),
                names_now: BTreeSet::new(),
            });
            self.found.len() - 1
        };
        if self.found[at].is_call {
            self.by_sign.entry(sign).or_insert(at);
        }
        self.of_baseline.extend(it.baseline.map(|it| (it, at)));
        self.of_current.extend(it.current.map(|it| (it, at)));
    }

    fn cause_of(&self, it: &Reason) -> Option<usize> {
        match (it.baseline, it.current) {
            (Some(baseline), _) => {
                let known = self.of_baseline.get(&baseline).copied();
                known
                    .or_else(|| self.by_need(it.current?))
                    .or_else(|| self.by_binding(baseline))
                    .or_else(|| self.by_end(it, baseline))
            }
            (None, Some(current)) => self.by_name(current).or_else(|| self.by_retry(current)),
            (None, None) => None,
        }
    }

    /// The call was not made, because a value that it needs is not in an answer any more.
    fn by_need(&self, current: usize) -> Option<usize> {
        let Outcome::Failure(failure) = &self.evidence.calls.now(current).made.outcome else {
            return None;
        };
        let needs = failure.data.as_ref()?.get("needs")?.as_array()?;
        let needs = needs.iter().filter_map(Value::as_u64);
        let mut groups = needs.filter_map(|it| self.of_current.get(&usize::try_from(it).ok()?));
        (groups.next().copied()).filter(|_| failure.kind == FailureKind::NotSent)
    }

    /// A value that the call needs should have come from one that failed, changed, or was not made.
    fn by_binding(&self, baseline: usize) -> Option<usize> {
        let pair = self.pairs.get(&baseline);
        let bindings = self.bindings.get(&baseline)?;
        let is_missing = |it: &&&Binding| {
            let Some(pair) = pair else { return true };
            pair.bound
                .iter()
                .any(|bound| bound.path == it.path && bound.current.is_none())
        };
        let mut missing = bindings.iter().filter(is_missing);
        missing.find_map(|it| self.of_baseline.get(&it.from.call).copied())
    }

    /// The run ended with a call that failed, before it came to this one.
    fn by_end(&self, it: &Reason, baseline: usize) -> Option<usize> {
        if it.current.is_some() || baseline < self.tail {
            return None;
        }
        let last = self.pairs.get(&self.tail.checked_sub(1)?)?;
        self.evidence.failed_now(last)?;
        self.of_baseline.get(&last.baseline).copied()
    }

    /// A new call of a tool that is the renamed one, or that took its place.
    fn by_name(&self, current: usize) -> Option<usize> {
        let call = self.evidence.calls.now(current).made;
        self.found.iter().position(|it| {
            call.server.as_deref() == Some(it.server.as_str()) && it.names_now.contains(&call.tool)
        })
    }

    /// A new call that asks again what has failed.
    fn by_retry(&self, current: usize) -> Option<usize> {
        let key = self.evidence.calls.now(current).key;
        let mut failed = self.pairs.values().filter(|pair| {
            self.evidence.failed_now(pair).is_some()
                && self.evidence.calls.now(pair.current).key == key
        });
        failed.find_map(|pair| self.of_current.get(&pair.current).copied())
    }

    /// Adds what was heard behind the server beneath what the agent's call failed for, if it did.
    fn add_following(&mut self, standing: Standing, it: Reason) {
        let known = it.baseline.and_then(|it| self.of_baseline.get(&it));
        let known = known.or_else(|| it.current.and_then(|it| self.of_current.get(&it)));
        match known.copied() {
            Some(at) => self.found[at].root.follows.push(it),
            None if standing == Standing::Part => {}
            None => self.add(&it),
        }
    }

    /// What two calls have in common that failed for one cause: the server and its message, or the tool and the change of its answer.
    fn sign(&self, it: &Reason) -> String {
        if let Why::Heard { said, .. } = &it.why {
            return format!("upstream {}", without_numbers(said));
        }
        let pair = it
            .baseline
            .and_then(|it| self.pairs.get(&it))
            .filter(|_| it.current.is_some());
        let Some(pair) = pair else {
            return unlike(it);
        };
        let call = self.evidence.calls.now(pair.current).said;
        let server = call.server.as_deref().unwrap_or_default();
        match (self.evidence.failed_now(pair), &it.why) {
            (Some(_), _) if is_unreachable(call) => format!("unreachable {server}"),
            (Some(message), _) => format!("{server} {}", without_numbers(&message)),
            (None, Why::AnsweredOtherwise(what)) => {
                let or_none = |it: &Option<String>| it.clone().unwrap_or_default();
                format!(
                    "{server} {} {what} {} {}",
                    call.tool,
                    or_none(&it.expected),
                    or_none(&it.got)
                )
            }
            (None, _) => unlike(it),
        }
    }

    /// Adds a reason that concerns no single call: the way of matching, time, tokens, the score.
    fn add_other(&mut self, it: Reason) {
        let known = it.baseline.and_then(|it| self.of_baseline.get(&it));
        let known = known.or_else(|| it.current.and_then(|it| self.of_current.get(&it)));
        match known.copied() {
            _ if it.kind == ReasonKind::Threshold && !self.found.is_empty() => {
                // The places of lost points are cut off, because the causes name them.
                self.found[0].root.follows.push(Reason {
                    baseline: None,
                    current: None,
                    tool: None,
                    cause: None,
                    follows: Vec::new(),
                    why: match it.why {
                        Why::BelowThreshold(_) => Why::BelowThreshold(None),
                        why => why,
                    },
                    ..it
                });
            }
            Some(at) => self.found[at].root.follows.push(it),
            None => self.found.push(Group {
                is_call: false,
                server: String::new(),
                names_now: BTreeSet::new(),
                root: it,
            }),
        }
    }

    fn finish(self) -> Vec<Reason> {
        self.found.into_iter().map(|it| it.root).collect()
    }
}

/// A sign that nothing else has.
fn unlike(it: &Reason) -> String {
    format!("{:?} {:?} {:?}", it.kind, it.baseline, it.current)
}

/// The same change of several tools, as one.
fn of_several(findings: &[&Finding]) -> String {
    let tools: BTreeSet<&str> = findings.iter().map(|it| it.drift.tool.as_str()).collect();
    let named = few(tools.iter().map(|it| format!("`{it}`")), NAMED);
    let cause = findings.first().map_or("", |it| it.cause.as_str());
    format!(
        "{}, in {} tools: {named}",
        cause.replace('"', "`"),
        tools.len()
    )
}

/// The server could not be asked at all.
fn is_unreachable(call: &ToolCall) -> bool {
    match &call.outcome {
        Outcome::Answer(_) => false,
        Outcome::Failure(failure) => matches!(
            failure.kind,
            FailureKind::Disconnected | FailureKind::Transport | FailureKind::NotSent
        ),
    }
}

/// A message with its numbers masked, because messages that differ only in numbers have one cause.
fn without_numbers(message: &str) -> String {
    let mut plain = String::new();
    for it in excerpt::shorten(message).chars() {
        if !it.is_ascii_digit() {
            plain.push(it);
        } else if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain
}
