//! Links between failures: what a changed catalogue refuses, what needs a value of a call that failed, what fails as another call did.
//! Anything else that differs in a call that failed belongs to that.

use std::collections::HashMap;

use serde_json::Value;

use crate::text::excerpt;
use model::reason::{self, Answered, Reason, ReasonKind, Why};
use model::starred;
use model::text::masked;
use model::{
    Binding, Change, ChangeKind, FailureKind, Follows, How, Outcome, Pair, Row, ToolCall,
    ToolChange, What,
};

use super::evidence::Evidence;

/// The numbers of a call in the baseline and in the run.
type Numbers = (Option<usize>, Option<usize>);

/// Says of each reason which change it is about, and of each change of a call that failed what it comes from.
pub(crate) fn link(evidence: &Evidence<'_, '_>, reasons: &mut [Reason], changes: &mut [Change]) {
    let mut by_call: HashMap<Numbers, Vec<usize>> = HashMap::new();
    for (at, it) in changes.iter().enumerate() {
        by_call
            .entry((it.baseline, it.current))
            .or_default()
            .push(at);
    }
    let drifted = (0..changes.len()).filter(|at| changes[*at].kind == ChangeKind::Drift);
    let drifted: Vec<usize> = drifted.collect();
    for reason in reasons.iter_mut() {
        let here = by_call.get(&(reason.baseline, reason.current));
        reason.change = match &reason.why {
            // A change of the catalogue has no call of its own.
            Why::Drifted(drift) => drifted.iter().copied().find(|at| {
                let it = &changes[*at];
                matches!(&it.what, What::Catalogue(known) if known == drift)
                    && (drift.change.is_gone()
                        || (&it.was, &it.now) == (&reason.expected, &reason.got))
            }),
            _ => here.and_then(|it| change_of(reason, it, changes)),
        };
    }
    let mut links = Links::new(evidence);
    links.drift(changes);
    // They stand in the order in which one may come from another.
    let is_of_call = |it: &&Reason| it.kind.is_of_call() || it.kind == ReasonKind::Upstream;
    for reason in reasons.iter().filter(is_of_call) {
        links.add(reason, changes);
    }
    links.rest(&by_call, changes);
}

/// The change that a reason is about, of those of its call: the one at its place, the one whose values it quotes, or the first that fails.
fn change_of(reason: &Reason, of_call: &[usize], changes: &[Change]) -> Option<usize> {
    let fits = |it: &Change| match reason.kind {
        ReasonKind::ServerRegression => it.kind.is_of_answer(),
        ReasonKind::EffectChange | ReasonKind::Expectation => !matches!(
            it.kind,
            ChangeKind::Drift | ChangeKind::Slower | ChangeKind::Tokens | ChangeKind::Upstream
        ),
        ReasonKind::Upstream => match (&reason.why, &it.what) {
            (
                Why::Heard { when, said, .. },
                What::Heard {
                    when: then,
                    said: known,
                },
            ) => (when, said) == (then, known),
            _ => false,
        },
        ReasonKind::Slower => it.kind == ChangeKind::Slower,
        ReasonKind::Tokens => it.kind == ChangeKind::Tokens,
        ReasonKind::Match | ReasonKind::Drift | ReasonKind::Threshold | ReasonKind::Strict => false,
    };
    let place = place_of(&reason.why);
    let is_there = |it: &Change| place.is_some() && it.path == place;
    let is_quoted = |it: &Change| (&it.was, &it.now) == (&reason.expected, &reason.got);
    let here = || of_call.iter().copied().filter(|at| fits(&changes[*at]));
    here()
        .find(|at| is_there(&changes[*at]) && is_quoted(&changes[*at]))
        .or_else(|| here().find(|at| is_quoted(&changes[*at])))
        .or_else(|| here().find(|at| changes[*at].fails))
}

/// Where a reason says that something differs, as changes have it.
fn place_of(why: &Why) -> Option<String> {
    match why {
        Why::AnsweredOtherwise(answered) | Why::OtherResult(answered) => match answered {
            Answered::At(path) | Answered::Broke { path, .. } => Some(format!("response{path}")),
            Answered::Somehow | Answered::Many { .. } => None,
        },
        Why::MadeOtherwise { path, .. } => Some(format!("arguments{path}")),
        Why::CalledOtherwise(name) => Some(format!("arguments/{name}")),
        _ => None,
    }
}

/// What calls have in common that fail for one cause.
#[derive(PartialEq, Eq, Hash)]
enum Sign {
    /// The server could not be asked at all.
    Unreachable(String),
    /// The server's message, without its numbers.
    Failed(String, String),
    /// The same happened behind the server.
    Upstream(String),
    /// The same tool's answer changed in the same way.
    Answered(String, String, Option<String>, Option<String>),
}

struct Links<'e, 'a> {
    evidence: &'e Evidence<'e, 'a>,
    pairs: HashMap<usize, &'e Pair>,
    bindings: HashMap<usize, Vec<&'a Binding>>,
    /// The change that a call comes from in the end, by the call's number in the baseline, and in the run.
    of_baseline: HashMap<usize, usize>,
    of_current: HashMap<usize, usize>,
    by_sign: HashMap<Sign, usize>,
    /// The changes of the catalogue that refuse calls, by their numbers in the baseline, and what an answer names that refuses one.
    refused: HashMap<usize, (usize, String)>,
    /// What new calls of tools come from that were renamed or are the nearest, by their numbers in the run.
    names: HashMap<usize, Follows>,
    /// The last of the baseline's calls that the run has made, too.
    last_pair: usize,
    /// What tells of each call that failed.
    main: HashMap<Numbers, Main>,
}

/// The change that tells of a call which failed.
#[derive(Clone, Copy)]
struct Main {
    change: usize,
    tells: Tells,
}

/// What the change that is shown of a call stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tells {
    Place,
    /// All places that differ from it in nothing but an index.
    Places,
    All,
}

impl Main {
    /// Whether a change of the answer is of another place than the one that is shown.
    fn is_another(self, shown: &Change, other: &Change) -> bool {
        let starred = |it: &Change| it.path.as_deref().map(starred);
        match self.tells {
            Tells::Place => shown.path != other.path,
            Tells::Places => starred(shown) != starred(other),
            Tells::All => false,
        }
    }
}

impl<'e, 'a> Links<'e, 'a> {
    fn new(evidence: &'e Evidence<'e, 'a>) -> Self {
        let pairs = evidence.rows.iter().filter_map(Row::pair);
        let mut bindings: HashMap<usize, Vec<&Binding>> = HashMap::new();
        for it in evidence.bindings {
            bindings.entry(it.call).or_default().push(it);
        }
        let pairs: HashMap<usize, &Pair> = pairs.map(|it| (it.baseline, it)).collect();
        Self {
            evidence,
            last_pair: pairs.keys().copied().max().unwrap_or(0),
            pairs,
            bindings,
            of_baseline: HashMap::new(),
            of_current: HashMap::new(),
            by_sign: HashMap::new(),
            refused: HashMap::new(),
            names: HashMap::new(),
            main: HashMap::new(),
        }
    }

    /// Changes of the catalogue, in the order in which the list of changes has them: the same of several tools as one, with the recorded calls that they refuse and the calls that are made under
    /// a new name.
    fn drift(&mut self, changes: &mut [Change]) {
        let is_drift = |it: &Change| it.kind == ChangeKind::Drift;
        let first = changes.iter().position(is_drift).unwrap_or(changes.len());
        let mut of_kind: HashMap<_, usize> = HashMap::new();
        let mut names: HashMap<String, Follows> = HashMap::new();
        for (at, finding) in (first..).zip(self.evidence.reported_drift()) {
            let drift = &finding.drift;
            let root = match drift.alike() {
                Some(alike) => *of_kind.entry((alike, changes[at].fails)).or_insert(at),
                None => at,
            };
            if root != at {
                changes[at].follows = Some(Follows {
                    change: root,
                    how: How::Alike,
                });
            }
            if !changes[at].fails {
                continue;
            }
            for number in &drift.refused {
                (self.refused.entry(*number))
                    .or_insert_with(|| (root, name_of(&drift.what, &drift.tool)));
            }
            let renamed = finding.renamed.iter().map(|(_, now)| (now, How::NewName));
            let nearest = drift.what.nearest().map(|it| (it, How::Instead));
            for (name, how) in renamed.chain(nearest) {
                let full = format!("mcp__{}__{name}", drift.server);
                names.entry(full).or_insert(Follows { change: root, how });
            }
        }
        for change in changes.iter_mut() {
            let is_new_call = change.kind == ChangeKind::Call && change.baseline.is_none();
            let name = change.tool.as_ref().filter(|_| is_new_call);
            if let Some(follows) = name.and_then(|it| names.get(it)).copied() {
                change.follows = Some(follows);
                self.names.extend(change.current.map(|it| (it, follows)));
            }
        }
    }

    /// Puts a call that failed, changed, is missing or is new beneath what it comes from.
    fn add(&mut self, reason: &Reason, changes: &mut [Change]) {
        let Some(main) = reason.change else { return };
        let sign = self.sign(reason);
        let known = self.cause_of(reason, changes);
        let alike = || {
            let sign = sign.as_ref()?;
            // A server that cannot be asked any more says so in many ways.
            let how = match sign {
                Sign::Unreachable(_) => How::AfterFailed,
                _ => How::Alike,
            };
            Some((*self.by_sign.get(sign)?, how))
        };
        let from = known.or_else(alike).filter(|it| it.0 != main);
        let from = from.filter(|it| reason::root(changes, it.0) != main);
        if let Some((root, how)) = from {
            changes[main].follows = Some(Follows { change: root, how });
        }
        let root = from.map_or(main, |it| it.0);
        if let Some(sign) = sign.filter(|_| changes[root].kind != ChangeKind::Drift) {
            self.by_sign.entry(sign).or_insert(root);
        }
        if reason.kind != ReasonKind::Upstream {
            let tells = match &reason.why {
                _ if changes[main].kind != ChangeKind::Answer => Tells::All,
                Why::Failed(_) => Tells::All,
                Why::AnsweredOtherwise(Answered::Many { .. })
                | Why::OtherResult(Answered::Many { .. }) => Tells::Places,
                _ => Tells::Place,
            };
            let it = Main {
                change: main,
                tells,
            };
            self.main.insert((reason.baseline, reason.current), it);
        }
        if let Some(number) = reason.baseline {
            self.of_baseline.entry(number).or_insert(root);
        }
        if let Some(number) = reason.current {
            self.of_current.entry(number).or_insert(root);
        }
    }

    /// What the call of a reason comes from, where that is known, and how.
    fn cause_of(&self, reason: &Reason, changes: &[Change]) -> Option<(usize, How)> {
        let of_call = || {
            let named = reason.current.and_then(|it| self.names.get(&it));
            if let Some(named) = named.filter(|_| reason.baseline.is_none()) {
                return Some((named.change, named.how));
            }
            let refused = reason.baseline.and_then(|it| self.refused.get(&it));
            let refused = refused.filter(|it| self.is_refusal(reason, &it.1));
            let known = || reason.baseline.and_then(|it| self.of_baseline.get(&it));
            let known = || known().or_else(|| self.of_current.get(&reason.current?));
            let root = refused.map(|it| it.0).or_else(|| known().copied())?;
            let how = match changes[root].kind {
                ChangeKind::Drift => How::Refused,
                _ => How::Behind,
            };
            // What is passed on to the servers behind has a cause of its own each time.
            let is_apart =
                reason.kind == ReasonKind::Upstream && changes[root].kind == ChangeKind::Upstream;
            (!is_apart).then_some((root, how))
        };
        if reason.kind == ReasonKind::Upstream {
            return of_call();
        }
        // What is not even sent for want of a value is refused by nobody.
        let by_need = || Some((self.by_need(reason.current?)?, How::Needs));
        by_need()
            .or_else(of_call)
            .or_else(|| match (reason.baseline, reason.current) {
                (Some(baseline), current) => {
                    let needs = self.by_binding(baseline).map(|it| (it, How::Needs));
                    let is_missing = current.is_none();
                    let by_end = || Some((self.by_end(baseline)?, How::NotReached));
                    needs.or_else(|| by_end().filter(|_| is_missing))
                }
                (None, current) => Some((self.by_retry(current?)?, How::Retried)),
            })
    }

    /// Whether a call was not made, or failed with a message that names the tool or the parameter which changed: a server may fail for
    /// something else.
    fn is_refusal(&self, reason: &Reason, name: &str) -> bool {
        let pair = reason.baseline.and_then(|it| self.pairs.get(&it));
        let Some(pair) = pair.filter(|_| reason.current.is_some()) else {
            return true;
        };
        let call = self.evidence.calls.now(pair.current);
        call.failed() && call.message().to_lowercase().contains(name)
    }

    /// The run ended with a call that failed, before it came to this one.
    fn by_end(&self, baseline: usize) -> Option<usize> {
        let last = self
            .pairs
            .get(&self.last_pair)
            .filter(|_| baseline > self.last_pair)?;
        self.evidence.failed_now(last)?;
        self.of_baseline.get(&last.baseline).copied()
    }

    /// The call was not made, because a value that it needs is not in an answer any more.
    fn by_need(&self, current: usize) -> Option<usize> {
        let Outcome::Failure(failure) = &self.evidence.calls.now(current).made.outcome else {
            return None;
        };
        let needs = failure.data.as_ref()?.get("needs")?.as_array()?;
        let needs = needs.iter().filter_map(Value::as_u64);
        let mut roots = needs.filter_map(|it| self.of_current.get(&usize::try_from(it).ok()?));
        (roots.next().copied()).filter(|_| failure.kind == FailureKind::NotSent)
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
        missing.find_map(|it| {
            let known = self.of_baseline.get(&it.from.call).copied();
            known.or_else(|| Some(self.refused.get(&it.from.call)?.0))
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

    fn sign(&self, reason: &Reason) -> Option<Sign> {
        if let Why::Heard { said, .. } = &reason.why {
            return Some(Sign::Upstream(masked(said)));
        }
        let pair = self.pairs.get(&reason.baseline?)?;
        let call = self.evidence.calls.now(reason.current?).said;
        let server = call.server.clone().unwrap_or_default();
        match (self.evidence.failed_now(pair), &reason.why) {
            (Some(_), _) if is_unreachable(call) => Some(Sign::Unreachable(server)),
            (Some(message), _) => Some(Sign::Failed(server, masked(&excerpt::shorten(&message)))),
            (None, Why::AnsweredOtherwise(what)) => {
                let (expected, got) = (reason.expected.clone(), reason.got.clone());
                let answered = format!("{} {what}", call.full_name());
                Some(Sign::Answered(server, answered, expected, got))
            }
            (None, _) => None,
        }
    }

    /// What else differs in a call that failed belongs to that, but for other places that fail and for what is tolerated.
    fn rest(&self, by_call: &HashMap<Numbers, Vec<usize>>, changes: &mut [Change]) {
        for (call, of_call) in by_call {
            let refused = call.0.and_then(|it| self.refused.get(&it)).map(|it| it.0);
            let main = self.main.get(call).copied();
            let Some(to) = main.map(|it| it.change).or(refused) else {
                continue;
            };
            let how = if main.is_some() {
                How::SameCall
            } else {
                How::Refused
            };
            for at in of_call.iter().copied().filter(|at| *at != to) {
                let change = &changes[at];
                let is_tolerated = !change.fails
                    && matches!(
                        change.kind,
                        ChangeKind::Addition | ChangeKind::Slower | ChangeKind::Upstream
                    );
                let is_another_place = change.kind == ChangeKind::Answer
                    && change.fails
                    && main.is_some_and(|it| it.is_another(&changes[to], change));
                let is_drift = change.kind == ChangeKind::Drift;
                let is_behind = change.kind == ChangeKind::Upstream && change.fails;
                let is_root = reason::root(changes, to) == at;
                // That a recorded call would be refused explains that it is not made any more, and no answer.
                let is_answer = main.is_none() && change.kind != ChangeKind::Call;
                if is_tolerated || is_another_place || is_drift || is_behind || is_root || is_answer
                {
                    continue;
                }
                if how == How::SameCall || change.follows.is_none() {
                    changes[at].follows = Some(Follows { change: to, how });
                }
            }
        }
    }
}

/// What a message names that refuses a call for a change of the catalogue: the parameter, or the tool that is gone.
fn name_of(what: &ToolChange, tool: &str) -> String {
    match what {
        ToolChange::Input(it) => {
            let last = it.parameter.rsplit('.').next().unwrap_or_default();
            last.trim_end_matches("[]").to_lowercase()
        }
        _ => tool.to_lowercase(),
    }
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
