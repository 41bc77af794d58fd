//! The causes of one scenario: from its verdict, and from what changed without being part of that.

use std::collections::{HashMap, HashSet};

use crate::model::number::fixed;
use crate::model::points;
use crate::published::result::{
    Call, CauseCall, CauseKind, Change, ChangeKind, Comparison, ExperimentPart, Loss, Reason,
    ReasonKind, Row, Scenario, Status, Whose,
};

use super::draft::{Draft, What, masked};
use super::words::{self, Verb};

/// How many further places of one answer have a cause each; more than that are told beneath the first.
const PLACES: usize = 4;

/// Everything that failed or changed in one scenario.
pub(super) fn of_scenario(scenario: &Scenario, command: &str) -> Vec<Draft> {
    let mut of = Gather {
        scenario,
        command,
        fails: matches!(scenario.status, Status::Failed | Status::Inconclusive),
        rows: rows(scenario),
        asked_otherwise: asked_otherwise(scenario),
        covered: HashSet::new(),
        answered: HashMap::new(),
        more_places: HashMap::new(),
        found: Vec::new(),
        by_key: HashMap::new(),
    };
    of.experiment();
    of.problem();
    if let Some(comparison) = &scenario.comparison {
        for reason in &comparison.reasons {
            of.reason(comparison, reason);
        }
        for change in &comparison.changes {
            of.change(change);
        }
    }
    of.expectations();
    of.score();
    of.found
}

struct Gather<'a> {
    scenario: &'a Scenario,
    command: &'a str,
    /// The scenario failed, so that what its verdict names are failures.
    fails: bool,
    /// The rows by their calls.
    rows: HashMap<CauseCall, &'a Row>,
    /// The calls that the agent made with other arguments.
    asked_otherwise: HashSet<CauseCall>,
    /// The calls that causes are about already.
    covered: HashSet<CauseCall>,
    /// Of calls that are answered otherwise, the place that a cause is about.
    answered: HashMap<CauseCall, Option<String>>,
    /// How many other places of such an answer have been found.
    more_places: HashMap<CauseCall, usize>,
    found: Vec<Draft>,
    /// Where in `found` the cause of a key is.
    by_key: HashMap<String, usize>,
}

fn rows(scenario: &Scenario) -> HashMap<CauseCall, &Row> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
    rows.filter(|it| it.tool.is_some())
        .map(|row| {
            let call = CauseCall {
                baseline: number(&row.baseline),
                current: number(&row.current),
            };
            (call, row)
        })
        .collect()
}

fn asked_otherwise(scenario: &Scenario) -> HashSet<CauseCall> {
    let requests = scenario.changes().iter();
    let requests =
        requests.filter(|it| matches!(it.kind, ChangeKind::Request | ChangeKind::Effect));
    requests.map(calls_of).collect()
}

fn calls_of(change: &Change) -> CauseCall {
    CauseCall {
        baseline: change.baseline,
        current: change.current,
    }
}

impl<'a> Gather<'a> {
    fn draft(&self, kind: CauseKind, whose: impl Into<Option<Whose>>, said: String) -> Draft {
        Draft::new(&self.scenario.id, kind, whose, said)
    }

    /// Adds a cause, or merges it with one of the same key.
    fn add(&mut self, draft: Draft) {
        if let Some(at) = self.by_key.get(&draft.key) {
            self.found[*at].merge(draft);
        } else {
            self.by_key.insert(draft.key.clone(), self.found.len());
            self.found.push(draft);
        }
    }

    fn row(&self, baseline: Option<usize>, current: Option<usize>) -> Option<&'a Row> {
        self.rows.get(&CauseCall { baseline, current }).copied()
    }

    fn experiment(&mut self) {
        for it in &self.scenario.experiment_changes {
            let said = match (it.what, &it.part) {
                (ExperimentPart::Model, _) => "another model was asked".to_owned(),
                (ExperimentPart::Agent, _) => "another kind of agent made the calls".to_owned(),
                (ExperimentPart::Scenario, None) => {
                    "the scenario asks something else than when its baseline was recorded"
                        .to_owned()
                }
                (ExperimentPart::Scenario, Some(part)) => {
                    format!("{part} has changed since the baseline was recorded")
                }
            };
            let draft = self.draft(CauseKind::Experiment, Whose::Experiment, said);
            let none = || "none".to_owned();
            let is_named = it.what != ExperimentPart::Scenario
                || it.baseline.is_some()
                || it.current.is_some();
            let value = |side: &Option<String>| is_named.then(|| side.clone().unwrap_or_else(none));
            self.add(Draft {
                key: format!("{} {:?} {:?}", draft.key, it.baseline, it.current),
                was: value(&it.baseline),
                now: value(&it.current),
                fails: self.scenario.status == Status::Error,
                hint: self
                    .scenario
                    .problem
                    .as_ref()
                    .and_then(|it| it.hint.clone()),
                ..draft
            });
        }
    }

    /// What stood in the way of a verdict. That a scenario is skipped or was interrupted has no cause that anybody could look for.
    fn problem(&mut self) {
        let scenario = self.scenario;
        let Some(problem) = &scenario.problem else {
            return;
        };
        let is_told = scenario.status.is_left_out()
            || (scenario.status == Status::Error && !scenario.experiment_changes.is_empty());
        if is_told {
            return;
        }
        let draft = self.draft(CauseKind::Problem, None, problem.message.clone());
        self.add(Draft {
            fails: !scenario.status.is_fine(),
            hint: problem.hint.clone(),
            ..draft
        });
    }

    fn reason(&mut self, comparison: &Comparison, reason: &Reason) {
        // The changes that the score or the strictness fails for say more.
        if matches!(reason.kind, ReasonKind::Threshold | ReasonKind::Strict) {
            return;
        }
        if reason.kind == ReasonKind::Upstream && !reason.follows.is_empty() {
            self.behind(comparison, reason);
            return;
        }
        let change = change_of(comparison, reason);
        let row = self.row(reason.baseline, reason.current);
        let mut draft = match (reason.kind, change) {
            (ReasonKind::Drift, _) => self.drift(comparison, reason),
            (_, Some(change)) => self.of_change(change, row),
            (_, None) => self.plain(reason, row),
        };
        if let Some(said) = said_better(reason, row) {
            match said {
                Better::Failed(message) => {
                    // A server that fails in one way may do so in all its tools.
                    let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
                    draft.key = format!("Failed {server} {}", masked(&message));
                    draft.kind = CauseKind::Error;
                    draft.what = What::Failed(message);
                }
                Better::Generalised(said) => {
                    draft.key = format!("Many {}", masked(&said));
                    draft.path = draft.path.map(|it| words::starred(&it));
                    draft.values_differ = true;
                    draft.what = if said.contains(" instead of ") {
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
        }
        draft.fails = self.fails;
        let mut calls = vec![CauseCall {
            baseline: reason.baseline,
            current: reason.current,
        }];
        calls.extend(reason.follows.iter().map(|it| CauseCall {
            baseline: it.baseline,
            current: it.current,
        }));
        if reason.kind == ReasonKind::Drift {
            calls.extend(refused(comparison, reason));
        }
        let follows = reason.follows.iter();
        let follows = follows.filter(|it| it.kind != ReasonKind::Threshold);
        draft.add_follows(follows.map(ToString::to_string));
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
        draft.add_calls(new);
        self.add(draft);
    }

    /// The verdict puts all that servers behind the one under test heard otherwise beneath the first of it. An argument that is left out
    /// and a header that is passed on have a cause each.
    fn behind(&mut self, comparison: &Comparison, reason: &Reason) {
        let is_own =
            |it: &&Reason| it.kind == ReasonKind::Upstream && change_of(comparison, it).is_some();
        let (own, follows): (Vec<&Reason>, Vec<&Reason>) = reason.follows.iter().partition(is_own);
        let own: Vec<Reason> = own.into_iter().cloned().collect();
        let first = Reason {
            follows: Vec::new(),
            ..reason.clone()
        };
        self.reason(comparison, &first);
        if let Some(at) = self.found.len().checked_sub(1) {
            let follows = follows.iter().filter(|it| it.kind != ReasonKind::Threshold);
            self.found[at].add_follows(follows.map(ToString::to_string));
        }
        for it in &own {
            self.reason(comparison, it);
        }
    }

    fn drift(&self, comparison: &Comparison, reason: &Reason) -> Draft {
        let draft = self.draft(CauseKind::Drift, Whose::Catalogue, reason.text.clone());
        let known = comparison.drift.iter();
        let known = known.clone().find(|it| it.what == reason.text).or_else(|| {
            // One heading may stand for the same change of several tools.
            known.clone().find(|it| {
                reason.text.contains(&format!("`{}`", it.tool)) && it.was == reason.expected
            })
        });
        let is_named = reason.expected.is_none() && reason.got.is_none();
        let (was, now) = match known {
            // A sentence about a name that is gone has the names in it.
            Some(known) if is_named => (known.was.clone(), known.now.clone()),
            _ => (reason.expected.clone(), reason.got.clone()),
        };
        let tool = known.map(|it| full_name(&it.server, &it.tool));
        Draft {
            // The same as where no scenario fails for it.
            key: match (known, &tool) {
                (Some(known), Some(tool)) => drift_key(tool, &known.what, (&known.was, &known.now)),
                _ => draft.key,
            },
            what: if is_named {
                What::Whole(reason.text.clone())
            } else {
                What::Said(reason.text.clone())
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
        let draft = self.draft(kind, whose, without_number(&reason.text, row));
        Draft {
            tool: row.and_then(|it| Some(full_name(it.server.as_ref()?, it.tool.as_ref()?))),
            label: row.and_then(|it| it.label.clone()),
            was: reason.expected.clone(),
            now: reason.got.clone(),
            ..draft
        }
    }

    /// A change that no cause is about yet.
    fn change(&mut self, change: &Change) {
        let call = calls_of(change);
        let is_of_call = call.baseline.or(call.current).is_some();
        let refused = CauseCall {
            baseline: call.baseline,
            current: None,
        };
        let is_covered = self.covered.contains(&call) || self.covered.contains(&refused);
        let is_tolerated = !change.fails
            && matches!(
                change.kind,
                ChangeKind::Addition | ChangeKind::Slower | ChangeKind::Upstream
            );
        let is_told = match change.kind {
            ChangeKind::Drift => {
                self.found.iter().any(|it| {
                    it.kind == CauseKind::Drift
                        && (it.was.is_some() || it.now.is_some())
                        && (&it.was, &it.now) == (&change.was, &change.now)
                        && (change.fails
                            || matches!(&it.what, What::Said(said) if *said == change.what))
                }) || (change.fails && self.found.iter().any(|it| it.kind == CauseKind::Drift))
            }
            ChangeKind::Tokens => self.found.iter().any(|it| it.kind == CauseKind::Tokens),
            ChangeKind::Call if call.baseline.is_none() => is_covered || self.is_renamed(change),
            _ => is_of_call && is_covered && !is_tolerated && !self.is_another_place(change),
        };
        if is_told {
            return;
        }
        let row = self.row(change.baseline, change.current);
        // What a server answers to another question follows from that.
        let is_answer = matches!(
            change.kind,
            ChangeKind::Answer | ChangeKind::Addition | ChangeKind::Error
        );
        let mut draft = self.of_change(change, row);
        draft.fails = change.fails && !self.scenario.status.is_fine();
        if is_covered && self.is_another_place(change) {
            let more = self.more_places.entry(call).or_default();
            *more += 1;
            let mut found = self.found.iter_mut();
            let cause = found.find(|it| it.places.iter().any(|it| it.calls.contains(&call)));
            if let Some(cause) = cause.filter(|_| *more > PLACES) {
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        if is_answer && self.asked_otherwise.contains(&call) {
            let cause = self.found.iter_mut().find(|it| {
                matches!(it.kind, CauseKind::Request | CauseKind::Effect)
                    && it.places.iter().any(|it| it.calls.contains(&call))
            });
            if let Some(cause) = cause {
                cause.fails |= draft.fails;
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        self.add(draft);
    }

    /// Whether a change is of another place of an answer than the cause that is about its call: a place that fails is never left untold.
    fn is_another_place(&self, change: &Change) -> bool {
        let told = self.answered.get(&calls_of(change));
        change.kind == ChangeKind::Answer
            && change.fails
            && told.is_some_and(|it| *it != change.path)
    }

    /// Whether a new call is of a tool that a cause names as what another has become.
    fn is_renamed(&self, change: &Change) -> bool {
        let Some(tool) = &change.tool else {
            return false;
        };
        let drifts = self.found.iter().filter(|it| it.kind == CauseKind::Drift);
        let mut said = drifts.filter_map(|it| match &it.what {
            What::Said(said) | What::Whole(said) => Some(said),
            What::Failed(_) | What::Place(_) => None,
        });
        said.any(|said| {
            let mut named = said.split('`').skip(1).step_by(2);
            named.any(|it| !it.is_empty() && tool.ends_with(&format!("__{it}")))
        })
    }

    fn of_change(&self, change: &Change, row: Option<&Row>) -> Draft {
        let verb = Verb::new(change, self.command);
        let kind = kind_of(change.kind);
        let name = row.map(Row::tool_name).or_else(|| change.tool_name());
        let path = change.path.as_deref();
        // A change of the catalogue is a sentence that names its place, and is the same wherever it is met.
        let what = match change.kind {
            ChangeKind::Drift | ChangeKind::Tokens => What::Said(change.what.clone()),
            _ => What::Place(verb.clone()),
        };
        let key = match change.kind {
            ChangeKind::Drift => drift_key(
                change.tool.as_deref().unwrap_or_default(),
                &change.what,
                (&change.was, &change.now),
            ),
            _ => format!(
                "{kind:?} {} {}",
                // What is passed on behind all tools is one cause; a sentence about one tool names it.
                (change.tool.as_deref())
                    .filter(|_| change.kind != ChangeKind::Upstream)
                    .unwrap_or_default(),
                masked(&verb.said(
                    name.as_deref().unwrap_or_default(),
                    path.map(words::starred).as_deref()
                ))
            ),
        };
        let mut draft = self.draft(kind, self.whose(change, row), String::new());
        draft.add_calls([calls_of(change)]);
        Draft {
            key,
            what,
            tools: name.into_iter().collect(),
            tool: change.tool.clone(),
            label: change.label.clone(),
            path: path.filter(|it| !it.is_empty()).map(str::to_owned),
            was: change.was.clone(),
            now: change.now.clone(),
            ..draft
        }
    }

    fn whose(&self, change: &Change, row: Option<&Row>) -> Whose {
        match change.kind {
            ChangeKind::Drift => Whose::Catalogue,
            ChangeKind::Upstream => Whose::Behind,
            ChangeKind::Call | ChangeKind::Request | ChangeKind::Effect | ChangeKind::Tokens => {
                Whose::Agent
            }
            ChangeKind::Answer | ChangeKind::Addition | ChangeKind::Error | ChangeKind::Slower => {
                let is_of_agent = self.scenario.has_recorded_servers()
                    || (change.kind != ChangeKind::Slower
                        && self.asked_otherwise.contains(&calls_of(change)));
                if is_of_agent {
                    Whose::Agent
                } else if row.is_some_and(|it| self.is_answered_otherwise_behind(it)) {
                    Whose::Behind
                } else {
                    Whose::Server
                }
            }
        }
    }

    fn is_answered_otherwise_behind(&self, row: &Row) -> bool {
        let upstream = self.scenario.comparison.as_ref();
        let Some(upstream) = upstream.and_then(|it| it.upstream.as_ref()) else {
            return false;
        };
        let behind = row.behind.iter();
        let mut behind = behind.filter_map(|it| upstream.rows.get(it.checked_sub(1)?));
        behind.any(|it| it.answered_otherwise)
    }

    fn expectations(&mut self) {
        for check in self.scenario.checks.iter().filter(|it| it.fails()) {
            let said = format!("the scenario expects `{}`: {}", check.name, check.message);
            let draft = self.draft(CauseKind::Expectation, None, said);
            self.add(Draft {
                // What is expected is not the same where only a number in it is.
                key: format!("Expectation {} {}", check.name, masked(&check.message)),
                fails: !self.scenario.status.is_fine(),
                ..draft
            });
        }
    }

    /// What became of the score, of the several runs, beneath what explains it; a cause of its own where nothing does.
    fn score(&mut self) {
        let scenario = self.scenario;
        let of_runs = scenario.repeated.as_ref().filter(|_| self.fails);
        if let Some(reason) = of_runs.and_then(|it| it.reason.clone()) {
            if let Some(cause) = self.found.iter_mut().find(|it| it.fails) {
                cause.add_follows([reason]);
            } else {
                let draft = self.draft(CauseKind::Repeated, None, reason);
                self.add(Draft {
                    fails: true,
                    ..draft
                });
            }
        }
        let Some(comparison) = scenario.comparison.as_ref().filter(|_| self.fails) else {
            return;
        };
        let mut reasons = (comparison.reasons.iter())
            .flat_map(|it| std::iter::once(it).chain(&it.follows))
            .filter(|it| it.kind == ReasonKind::Threshold);
        let scores = &comparison.scores;
        if reasons.next().is_none() {
            let of_answer = |it: &Reason| it.kind == ReasonKind::ServerRegression;
            let cause = self.found.iter_mut().find(|it| it.fails);
            if let Some(cause) = cause.filter(|_| comparison.reasons.iter().any(of_answer)) {
                cause.add_follows([format!(
                    "fails whatever the score, which is {}: the same question got another answer",
                    fixed(scores.overall, 2)
                )]);
            }
            return;
        }
        let said = format!(
            "the score is {}, below {}",
            fixed(scores.overall, 2),
            fixed(scores.threshold, 2)
        );
        if let Some(cause) = self.found.iter_mut().find(|it| it.fails) {
            cause.add_follows([said]);
            return;
        }
        let costly = comparison.losses.iter();
        let most = (costly.filter(|it| points::costs(it.points)))
            .max_by(|a, b| a.points.total_cmp(&b.points));
        let draft = self.draft(CauseKind::Score, None, said.clone());
        let draft = match most {
            Some(loss) => self.of_loss(draft, loss, said),
            None => draft,
        };
        self.add(Draft {
            fails: true,
            ..draft
        });
    }

    /// A score that is too low, told by the place that cost most.
    fn of_loss(&self, draft: Draft, loss: &Loss, score: String) -> Draft {
        let row = self.row(loss.baseline, loss.current);
        let Some(name) = row.map(Row::tool_name).or_else(|| loss.tool.clone()) else {
            return Draft {
                what: What::Said(format!("{score}, because {}", loss.rule)),
                ..draft
            };
        };
        let place = loss.path.as_deref().map(words::place);
        let said = match (&place, &loss.expected, &loss.got) {
            (Some(place), Some(_) | None, Some(_)) | (Some(place), Some(_), None) => {
                format!("`{name}` differs in {place}")
            }
            (Some(place), None, None) => format!("`{name}` differs in {place}: {}", loss.rule),
            (None, _, _) => format!("`{name}`: {}", loss.rule),
        };
        let mut draft = Draft {
            key: format!("Score {}", masked(&said)),
            what: What::Said(said),
            tool: loss.tool.clone(),
            label: loss.label.clone(),
            path: loss.path.clone(),
            was: loss.expected.clone(),
            now: loss.got.clone(),
            follows: vec![score],
            ..draft
        };
        draft.add_calls([CauseCall {
            baseline: loss.baseline,
            current: loss.current,
        }]);
        draft
    }
}

fn kind_of(kind: ChangeKind) -> CauseKind {
    match kind {
        ChangeKind::Call => CauseKind::Call,
        ChangeKind::Request => CauseKind::Request,
        ChangeKind::Effect => CauseKind::Effect,
        ChangeKind::Answer => CauseKind::Answer,
        ChangeKind::Addition => CauseKind::Addition,
        ChangeKind::Error => CauseKind::Error,
        ChangeKind::Drift => CauseKind::Drift,
        ChangeKind::Slower => CauseKind::Slower,
        ChangeKind::Tokens => CauseKind::Tokens,
        ChangeKind::Upstream => CauseKind::Upstream,
    }
}

/// The same for a change of the catalogue wherever it is met.
fn drift_key(tool: &str, what: &str, (was, now): (&Option<String>, &Option<String>)) -> String {
    format!("Drift {tool} {} {was:?} {now:?}", masked(what))
}

fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The change that a reason is about: the one whose values it quotes, else the first of its calls that fails.
fn change_of<'c>(comparison: &'c Comparison, reason: &Reason) -> Option<&'c Change> {
    let numbers = (reason.baseline, reason.current);
    let fits = |it: &&Change| {
        let is_fit = match reason.kind {
            ReasonKind::ServerRegression => {
                matches!(
                    it.kind,
                    ChangeKind::Answer | ChangeKind::Error | ChangeKind::Addition
                )
            }
            ReasonKind::Upstream => {
                it.kind == ChangeKind::Upstream && reason.text.ends_with(&it.what)
            }
            ReasonKind::Slower => it.kind == ChangeKind::Slower,
            ReasonKind::Tokens => it.kind == ChangeKind::Tokens,
            ReasonKind::EffectChange | ReasonKind::Expectation => !matches!(
                it.kind,
                ChangeKind::Drift | ChangeKind::Slower | ChangeKind::Tokens | ChangeKind::Upstream
            ),
            ReasonKind::Match | ReasonKind::Drift | ReasonKind::Threshold | ReasonKind::Strict => {
                false
            }
        };
        is_fit && (it.baseline, it.current) == numbers
    };
    let here = || comparison.changes.iter().filter(fits);
    let quoted = here().find(|it| (&it.was, &it.now) == (&reason.expected, &reason.got));
    quoted.or_else(|| here().find(|it| it.fails))
}

/// The calls of the baseline that a change of the catalogue refuses.
fn refused(comparison: &Comparison, reason: &Reason) -> Vec<CauseCall> {
    let drift = comparison.drift.iter().filter(|it| {
        it.what == reason.text
            || (it.breaking && reason.text.contains(&format!("`{}`", it.tool)))
            || (it.breaking && comparison.reasons.len() == 1)
    });
    let numbers = drift.flat_map(|it| &it.refused);
    numbers
        .map(|number| {
            let mut rows = comparison.rows.iter();
            let row = rows.find(|it| it.baseline.as_ref().is_some_and(|it| it.number == *number));
            let current = row.and_then(|it| it.current.as_ref());
            CauseCall {
                baseline: Some(*number),
                current: current.map(|it| it.number),
            }
        })
        .collect()
}

/// What the verdict says better than the change it quotes.
enum Better {
    /// The message of a call that failed.
    Failed(String),
    /// Many places that changed in one way.
    Generalised(String),
}

fn said_better(reason: &Reason, row: Option<&Row>) -> Option<Better> {
    if !matches!(
        reason.kind,
        ReasonKind::ServerRegression | ReasonKind::EffectChange
    ) {
        return None;
    }
    let (tool, what) = parts(&reason.text, row)?;
    if let Some(message) = what.strip_prefix("failed: ") {
        return Some(Better::Failed(message.to_owned()));
    }
    let change = what
        .strip_prefix("asked the same and got another answer: ")
        .or_else(|| what.strip_prefix("changes something and had another result: "))?;
    // What a generalised change is about stands in back quotes after one word: "every `tools/*/name` …", "3 of 5 `name` …".
    let (end, _) = change.match_indices('`').nth(1)?;
    let (place, rest) = change.split_at(end + 1);
    is_generalised(change).then(|| Better::Generalised(format!("{place} of `{tool}`{rest}")))
}

fn is_generalised(change: &str) -> bool {
    let begins = change.split('`').next().unwrap_or_default().trim_end();
    let begins = begins.strip_prefix("at least ").unwrap_or(begins);
    begins == "every" || begins.split(" of ").all(|it| it.parse::<usize>().is_ok())
}

/// The tool and what is said of it, where the sentence begins with a call: `call 3 (now 4), mcp__p__t, …`.
fn parts<'r>(text: &'r str, row: Option<&Row>) -> Option<(String, &'r str)> {
    let (call, rest) = text.split_once(", ")?;
    let call = call.strip_prefix("new ").unwrap_or(call);
    let number = call.strip_prefix("call ")?;
    if !number.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let (named, what) = rest.split_once([',', ' '])?;
    let what = what.trim_start();
    let tool = row.map_or_else(|| named.to_owned(), Row::tool_name);
    // The label of the call goes with its tool's name.
    let label = row.and_then(|it| it.label.as_deref());
    let rest = label.and_then(|it| what.strip_prefix("→ ")?.strip_prefix(it));
    let what = rest.map_or(what, |it| it.trim_start_matches(',').trim_start());
    Some((tool, what))
}

/// The sentence without the number of its call, which differs between scenarios: ``` `search` was not made ```.
fn without_number(text: &str, row: Option<&Row>) -> String {
    match parts(text, row) {
        Some((tool, what)) => format!("`{tool}` {what}"),
        None => text.to_owned(),
    }
}
