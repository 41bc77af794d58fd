//! The causes of one scenario: from its verdict, and from what changed without being part of that.

use std::collections::{HashMap, HashSet};

use model::published::result::{Call, CauseKind, Comparison, Row, Scenario, Whose};
use model::reason::{Answered, Reason, ReasonKind, Why};
use model::{
    CauseCall, Change, ChangeKind, ExperimentPart, How, Status, ToolChange, ToolDrift,
    What as Happened,
};
use model::{full_name, starred};

use super::draft::{Draft, Found, Same, Use, What};
use super::ended::{self, Ended};
use super::key::Key;
use super::of_change::{Context, calls_of};

use model::text::masked;

/// How many further places of one answer have a cause each; more than that are listed beneath the first.
const PLACES: usize = 4;

/// Everything that failed or changed in one scenario, with the changes that each cause tells of.
pub(super) fn of_scenario(scenario: &Scenario, command: &str) -> Vec<Draft> {
    let rows = rows(scenario);
    let mut of = Gather {
        context: Context::new(scenario, command),
        fails: matches!(scenario.status, Status::Failed | Status::Inconclusive),
        made: rows
            .keys()
            .filter_map(|it| Some((it.baseline?, *it)))
            .collect(),
        questions: HashMap::new(),
        rows,
        reasons: HashMap::new(),
        answered: HashMap::new(),
        ended: Ended::of(scenario),
        not_made: Vec::new(),
        script: Vec::new(),
        cause_of: HashMap::new(),
        entered: HashSet::new(),
        found: Found::default(),
    };
    of.experiment();
    of.problem();
    if let Some(comparison) = &scenario.comparison {
        of.comparison(comparison);
    }
    of.expectations();
    of.not_made();
    of.evaluators();
    of.score();
    let found = of.found.drafts.into_iter();
    found.map(Draft::of_one_scenario).collect()
}

pub(super) struct Gather<'a> {
    pub(super) context: Context<'a>,
    /// The scenario failed, so that what its verdict names are failures.
    pub(super) fails: bool,
    /// The rows by their calls.
    pub(super) rows: HashMap<CauseCall, &'a Row>,
    /// The calls by their numbers in the baseline.
    made: HashMap<usize, CauseCall>,
    /// The causes that tell of calls which are asked otherwise.
    questions: HashMap<CauseCall, usize>,
    /// What the verdict says of changes, by the places of these in the list.
    reasons: HashMap<usize, &'a Reason>,
    /// Of calls that are answered otherwise, the cause that is about the first place, and how many other places there are.
    answered: HashMap<CauseCall, (usize, usize)>,
    /// Where the run ended before it came to all its calls.
    pub(super) ended: Option<Ended>,
    /// The calls that it did not come to.
    not_made: Vec<NotMade>,
    /// The causes that tell of the calls of a script that are other ones, and which these are.
    script: Vec<(CauseCall, usize)>,
    /// The causes that tell of changes, by the places of these in the list.
    cause_of: HashMap<usize, usize>,
    /// The changes that were looked at.
    entered: HashSet<usize>,
    pub(super) found: Found,
}

/// A call that the run did not come to.
struct NotMade {
    call: CauseCall,
    /// In a sentence.
    said: String,
    fails: bool,
}

impl NotMade {
    fn new(call: CauseCall, asked: Option<String>, fails: bool) -> Self {
        let asked = asked.unwrap_or_default();
        Self {
            call,
            said: format!("`{asked}` was not called, because the run had ended before"),
            fails,
        }
    }
}

fn rows(scenario: &Scenario) -> HashMap<CauseCall, &Row> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
    rows.filter(|it| it.tool.is_some())
        .map(|row| {
            let call = CauseCall::new(number(&row.baseline), number(&row.current));
            (call, row)
        })
        .collect()
}

impl<'a> Gather<'a> {
    pub(super) fn row(&self, baseline: Option<usize>, current: Option<usize>) -> Option<&'a Row> {
        self.rows.get(&CauseCall::new(baseline, current)).copied()
    }

    fn experiment(&mut self) {
        let problem = self.context.scenario.problem.as_ref();
        for it in &self.context.scenario.experiment_changes {
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
            let draft =
                (self.context).draft(CauseKind::Experiment, Whose::Experiment, said.clone());
            let none = || "none".to_owned();
            let is_named = it.what != ExperimentPart::Scenario
                || it.baseline.is_some()
                || it.current.is_some();
            let value = |side: &Option<String>| is_named.then(|| side.clone().unwrap_or_else(none));
            let at = self.found.add(Draft {
                key: Key::Experiment {
                    said: masked(&said),
                    was: it.baseline.clone(),
                    now: it.current.clone(),
                },
                was: value(&it.baseline),
                now: value(&it.current),
                fails: self.context.scenario.status == Status::Error,
                hint: problem.and_then(|it| it.hint.clone()),
                ..draft
            });
            if let Some(call) = it.script {
                self.found.drafts[at].add_calls([call]);
                self.script.push((call, at));
            }
        }
    }

    /// The cause that tells of another script which asks otherwise in this call, and whether it says so of this very call. All that a
    /// changed script asks otherwise comes from that.
    fn of_script(&self, call: CauseCall) -> Option<(usize, bool)> {
        let is_same = |(known, _): &&(CauseCall, usize)| {
            let side = |one: Option<usize>, other| one.is_some() && one == other;
            side(known.current, call.current) || side(known.baseline, call.baseline)
        };
        let exact = self.script.iter().find(is_same);
        let first = || self.script.first().map(|it| (it.1, false));
        exact.map(|it| (it.1, true)).or_else(first)
    }

    /// The changed script that a cause follows from: the calls it makes, and what is answered to what it asks otherwise.
    fn by_script(&self, draft: &Draft, call: CauseCall) -> Option<usize> {
        let of_call = [CauseKind::Request, CauseKind::Effect, CauseKind::Call];
        let is_by_script = of_call.contains(&draft.kind)
            || (draft.kind.is_of_answer() && self.context.asked_otherwise.contains(&call));
        let (at, _) = self.of_script(call).filter(|_| is_by_script)?;
        Some(at)
    }

    /// What the verdict names first, then what changed besides.
    fn comparison(&mut self, comparison: &'a Comparison) {
        let reasons = comparison.reasons.iter();
        let reasons = reasons.filter_map(|it| Some((it.change?, it)));
        self.reasons.extend(reasons);
        for reason in &comparison.reasons {
            match reason.change {
                Some(at) => self.change(at),
                None => self.plain(reason),
            }
        }
        for at in 0..comparison.changes.len() {
            self.change(at);
        }
        // What changed in tools that the scenario does not use is no change of it, and reported once for the suite.
        let drifts = comparison.changes.iter();
        let drifts: Vec<&Change> = drifts.filter(|it| it.kind == ChangeKind::Drift).collect();
        for change in comparison.drift.iter().map(Change::of_drift) {
            let is_same = |it: &&Change| {
                (&it.tool, &it.path) == (&change.tool, &change.path)
                    && (&it.was, &it.now) == (&change.was, &change.now)
            };
            if !drifts.iter().any(is_same) {
                let draft = self.context.of_change(&change, None, None);
                self.found.add(Draft {
                    tool_is: Use::Unused,
                    ..draft
                });
            }
        }
    }

    /// A change: a cause of its own, unless it follows from another one.
    fn change(&mut self, at: usize) {
        let Some(change) = self.context.scenario.changes().get(at) else {
            return;
        };
        if !self.entered.insert(at) {
            return;
        }
        if let Some(gone) = self.context.old_name(at) {
            self.change(gone);
            self.belongs(at, gone);
            return;
        }
        if change.kind == ChangeKind::Call && self.is_by_end(change) {
            return;
        }
        let draft = self.draft_of(at, change);
        let call = calls_of(change);
        let script = self.by_script(&draft, call);
        let is_scripted = script.is_some() && change.kind.is_of_request();
        if let Some(follows) = change.follows.filter(|_| !is_scripted) {
            self.change(follows.change);
            if let Some(root) = self.cause_of.get(&follows.change).copied() {
                let is_same = self.found.drafts[root].key == draft.key;
                self.put_beneath(root, follows.how, draft);
                self.tells(root, at);
                if is_same {
                    self.found.drafts[root].named.push(at);
                }
                return;
            }
        }
        if let Some(script) = script {
            let is_named = self.reasons.contains_key(&at);
            self.of_changed_script(script, &draft, call, is_named);
            self.tells(script, at);
            return;
        }
        let question = self.questions.get(&call).copied();
        let beneath = question
            .filter(|_| change.kind.is_of_answer())
            .or_else(|| self.one_of_too_many(change, call));
        if let Some(root) = beneath {
            let said = draft.text();
            let cause = &mut self.found.drafts[root];
            cause.fails |= draft.fails;
            cause.add_follows([said]);
            self.tells(root, at);
            return;
        }
        let root = self.found.add(draft);
        if matches!(change.kind, ChangeKind::Request | ChangeKind::Effect) {
            self.questions.entry(call).or_insert(root);
        }
        if change.kind == ChangeKind::Answer && change.fails {
            self.answered.entry(call).or_insert((root, 0));
        }
        self.tells(root, at);
        self.found.drafts[root].named.push(at);
    }

    /// Notes that a cause tells of a change.
    fn tells(&mut self, cause: usize, at: usize) {
        self.cause_of.insert(at, cause);
        self.found.drafts[cause].changes.push(at);
    }

    /// Notes that a change is reported where another one is.
    fn belongs(&mut self, at: usize, to: usize) {
        if let Some(cause) = self.cause_of.get(&to).copied() {
            self.tells(cause, at);
            let cause = &mut self.found.drafts[cause];
            if cause.named.contains(&to) {
                cause.named.push(at);
            }
        }
    }

    /// The change as a cause of its own, in the words of the verdict where these say more.
    fn draft_of(&self, at: usize, change: &Change) -> Draft {
        let row = self.row(change.baseline, change.current);
        let mut draft = self
            .context
            .of_change(change, row, self.context.renamed(at));
        draft.fails = change.fails && self.fails;
        if let Happened::Catalogue(drift) = &change.what {
            let drifts = self.context.scenario.comparison.iter();
            let mut drifts = drifts.flat_map(|it| &it.drift);
            let known = drifts.find(|it| {
                (&it.server, &it.tool, &it.what) == (&drift.server, &drift.tool, &drift.change)
                    && it.path == draft.path()
            });
            let refused = known.map_or(&[][..], |it| &it.refused);
            draft.called_at.extend(self.called_at(drift, refused));
            draft.add_calls(refused.iter().map(|number| {
                let known = self.made.get(number).copied();
                known.unwrap_or(CauseCall::new(Some(*number), None))
            }));
        }
        let Some(reason) = self.reasons.get(&at) else {
            return draft;
        };
        match &reason.why {
            Why::Failed(message) => {
                // A server that fails in one way may do so in all its tools.
                let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
                draft.key = Key::failed(server, message);
                draft.kind = CauseKind::Error;
                draft.what = What::Failed(message.clone());
            }
            // The words on what changed in a catalogue have the names already.
            Why::Described(_) if change.kind == ChangeKind::Drift => {
                (draft.was, draft.now) = (reason.expected.clone(), reason.got.clone());
            }
            // That a member has another name now is better said by what it was and is.
            Why::AnsweredOtherwise(answered) | Why::OtherResult(answered)
                if self.context.renamed(at).is_none() =>
            {
                let Answered::Many {
                    places,
                    became,
                    has_values,
                } = answered
                else {
                    return draft;
                };
                let tool = row.map(Row::tool_name).or_else(|| reason.tool.clone());
                let said = format!("{places} of `{}` {became}", tool.unwrap_or_default());
                draft.key = Key::many(&said);
                draft.path = draft.path.map(|it| starred(&it));
                draft.values_differ = true;
                draft.what = if *has_values {
                    What::Whole(said)
                } else {
                    What::Said(said)
                };
            }
            _ => {}
        }
        draft
    }

    /// Where the scenario calls a tool that has another name now: `scenarios/a.yaml:12`.
    fn called_at(&self, drift: &ToolDrift, refused: &[usize]) -> Option<String> {
        if !matches!(drift.change, ToolChange::Renamed(_)) {
            return None;
        }
        let of_call = |it: &&&Reason| it.baseline.is_some_and(|it| refused.contains(&it));
        let reasons = self.reasons.values().filter(of_call);
        let line = reasons.filter_map(|it| it.line).min()?;
        Some(format!("{}:{line}", self.context.scenario.path))
    }

    /// Puts a change, which would be a cause by itself, beneath the one that it follows from.
    fn put_beneath(&mut self, root: usize, how: How, draft: Draft) {
        let cause = &mut self.found.drafts[root];
        cause.fails |= draft.fails;
        if matches!(how, How::SameValue | How::Derived) {
            let (was, now) = (draft.was.clone(), draft.now.clone());
            let same = Same { how, was, now };
            cause.same.entry(draft.key.clone()).or_insert(same);
        }
        if cause.key == draft.key {
            cause.merge(draft);
            return;
        }
        let calls = draft.places.last().map(|it| it.calls.clone());
        cause.add_calls(calls.unwrap_or_default());
        if how.is_plain() {
            cause.values_differ |=
                how == How::Alike && (&cause.was, &cause.now) != (&draft.was, &draft.now);
            return;
        }
        let said = draft.text();
        if said != cause.text() {
            cause.add_linked([(said, Some(how))]);
        }
    }

    /// What a changed script asks otherwise, and what is answered to that. What the verdict names is reported in any case.
    fn of_changed_script(&mut self, script: usize, draft: &Draft, call: CauseCall, is_named: bool) {
        // Where this is all that the call asks otherwise, the cause says it.
        let changes = self.context.scenario.changes().iter();
        let is_only = changes
            .filter(|it| calls_of(it) == call && it.kind.is_of_request())
            .count()
            == 1;
        let is_said = !is_named
            && !draft.kind.is_of_answer()
            && is_only
            && self.of_script(call) == Some((script, true));
        let said = draft.text();
        let cause = &mut self.found.drafts[script];
        cause.fails |= draft.fails;
        cause.add_calls([call]);
        if !is_said {
            cause.add_follows([said]);
        }
    }

    /// The cause that is about the first place of an answer, where many others fail besides.
    fn one_of_too_many(&mut self, change: &Change, call: CauseCall) -> Option<usize> {
        let is_place = change.kind == ChangeKind::Answer && change.fails;
        let (root, others) = self.answered.get_mut(&call).filter(|_| is_place)?;
        *others += 1;
        (*others > PLACES).then_some(*root)
    }

    /// Notes a call that the run did not come to; whether it is one.
    fn is_by_end(&mut self, change: &Change) -> bool {
        let call = ended::not_made(change);
        if !self.ended.as_ref().is_some_and(|it| it.is_before(call)) {
            return false;
        }
        let asked = change.was.clone().or_else(|| change.tool_name());
        let fails = change.fails && !self.context.scenario.status.is_fine();
        self.not_made.push(NotMade::new(call, asked, fails));
        true
    }

    /// A reason that is about no change: of which nothing more is known than what it says.
    fn plain(&mut self, reason: &Reason) {
        // The changes that the score or the strictness fails for say more.
        if matches!(reason.kind, ReasonKind::Threshold | ReasonKind::Strict) {
            return;
        }
        let call = CauseCall::new(reason.baseline, reason.current);
        let row = self.row(reason.baseline, reason.current);
        if self.ended.as_ref().is_some_and(|it| it.explains(reason)) {
            let asked = reason.expected.clone().or_else(|| row.map(Row::tool_name));
            self.not_made.push(NotMade::new(call, asked, self.fails));
            return;
        }
        let (kind, whose) = match reason.kind {
            ReasonKind::ServerRegression => (CauseKind::Answer, Some(Whose::Server)),
            ReasonKind::EffectChange => (CauseKind::Effect, Some(Whose::Agent)),
            ReasonKind::Slower => (CauseKind::Slower, Some(Whose::Server)),
            ReasonKind::Tokens => (CauseKind::Tokens, Some(Whose::Agent)),
            ReasonKind::Upstream => (CauseKind::Upstream, Some(Whose::Behind)),
            ReasonKind::Drift => (CauseKind::Drift, Some(Whose::Catalogue)),
            ReasonKind::Match => (CauseKind::Call, Some(Whose::Agent)),
            ReasonKind::Expectation => (CauseKind::Expectation, None),
            ReasonKind::Threshold | ReasonKind::Strict => (CauseKind::Score, None),
        };
        let name = row.map(Row::tool_name);
        let said = reason.without_number(name.as_deref());
        let draft = self.context.draft(kind, whose, said);
        let mut draft = Draft {
            tools: name.into_iter().collect(),
            tool: row.and_then(|it| Some(full_name(Some(it.server.as_ref()?), it.tool.as_ref()?))),
            label: row.and_then(|it| it.label.clone()),
            was: reason.expected.clone(),
            now: reason.got.clone(),
            fails: self.fails,
            ..draft
        };
        if let Some(script) = self.by_script(&draft, call) {
            self.of_changed_script(script, &draft, call, true);
            return;
        }
        draft.add_calls([call]);
        self.found.add(draft);
    }

    /// What stood in the way of a verdict. That a scenario is skipped or was interrupted has no cause that anybody could look for.
    fn problem(&mut self) {
        let scenario = self.context.scenario;
        let Some(problem) = &scenario.problem else {
            return;
        };
        let has_no_cause = scenario.status.is_left_out()
            || (scenario.status == Status::Error && !scenario.experiment_changes.is_empty());
        if has_no_cause {
            return;
        }
        let draft = self
            .context
            .draft(CauseKind::Problem, None, problem.message.clone());
        let key = match &problem.record {
            Some(_) => Key::NoBaseline,
            None => draft.key,
        };
        self.found.add(Draft {
            key,
            line: problem.line,
            fails: !scenario.status.is_fine(),
            hint: problem.hint.clone(),
            records: problem.record.iter().map(|it| (**it).clone()).collect(),
            ..draft
        });
    }

    /// Puts the calls that the run did not come to beneath what ended it.
    fn not_made(&mut self) {
        let not_made = std::mem::take(&mut self.not_made);
        let Some(ended) = self.ended.as_ref().filter(|_| !not_made.is_empty()) else {
            return;
        };
        let mut drafts = self.found.drafts.iter();
        let known = drafts.position(|it| it.kind == CauseKind::Error && it.is_of_call(ended.last));
        // The call that failed may be beneath what it comes from.
        let mut drafts = self.found.drafts.iter();
        let known = known.or_else(|| drafts.position(|it| it.fails && it.is_of_call(ended.last)));
        let at = known.unwrap_or_else(|| {
            let why = ended.why.as_deref().unwrap_or("a call failed");
            let said = format!("the run ended early: {why}");
            let draft = self.context.draft(CauseKind::Error, None, said);
            self.found.add(draft)
        });
        let cause = &mut self.found.drafts[at];
        cause.fails |= not_made.iter().any(|it| it.fails);
        cause.add_calls(not_made.iter().map(|it| it.call));
        cause.add_follows(not_made.into_iter().map(|it| it.said));
    }
}
