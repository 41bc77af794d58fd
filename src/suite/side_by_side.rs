//! Two versions of a system under test run side by side, one judged by the other.
//!
//! Where anything differs, each is run twice, both at the same time where nothing is shared, so that what varies by nature is known from
//! both and a slow moment slows both.

use std::sync::Arc;

use super::execute::Reads;
use super::judge::judge_executed;
use super::record::{check_run, reads, usual_takes};
use super::run_context::{Executed, RunContext};
use super::schedule::uses_what_outlives;
use super::{Settings, compare, evaluating, replay};
use crate::evaluate::Accepted;
use crate::model::rules::{Gate, Rules};
use crate::model::{
    Learned, Outcome, Problem, Redacted, ScenarioResult, Status, ToolCall, Trajectory, TwoAnswers,
    Unsteady, Variation, Varying,
};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;

pub(super) type Kept = Arc<Redacted<Trajectory>>;

/// What takes the part of the baseline.
#[derive(Debug, Clone)]
pub(super) enum OtherVersion {
    /// Another version, with its name.
    Live(Arc<Scenario>, String),
    /// A stored run.
    Stored(Kept, String),
}

/// How a scenario is compared with another version.
pub(super) struct Comparison<'a> {
    scenario: &'a Scenario,
    rules: Rules,
    allow_changed: bool,
    run_context: &'a RunContext,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        settings: &Settings,
        run_context: &'a RunContext,
    ) -> Self {
        Self {
            scenario,
            rules: settings.judging.scoring.over(&scenario.scoring),
            allow_changed: settings.judging.allow_changed,
            run_context,
        }
    }

    pub(super) async fn with(
        &self,
        other: &OtherVersion,
        replayed: Option<Kept>,
    ) -> ScenarioResult {
        match other {
            OtherVersion::Stored(stored, name) => {
                let result = self.run_against_stored(stored, replayed.as_ref()).await;
                self.finish(result, name)
            }
            OtherVersion::Live(other, name) => {
                let running = self.run_both(other, name, replayed.as_ref());
                let result = Box::pin(running).await;
                self.finish(result, name)
            }
        }
    }

    /// The result, with what it was compared with.
    fn finish(&self, mut result: ScenarioResult, name: &str) -> ScenarioResult {
        result.compared_with = Some(name.to_owned());
        result.notes.insert(0, format!("compared with {name}"));
        let scenario = self.scenario;
        self.run_context.keep_baseline(scenario, &mut result);
        result
    }

    /// Runs this version twice, and compares it with a stored run.
    async fn run_against_stored(&self, stored: &Kept, replayed: Option<&Kept>) -> ScenarioResult {
        let played = replayed.or(Some(stored));
        let (takes, reads) = self.how_often();
        let first = self.run_context.perform(self.scenario, played, reads).await;
        let mut again = Vec::new();
        if takes > 1 && first.incomplete().is_none() {
            again.push(self.run_context.play_again(self.scenario, played).await);
        }
        let mut accepted = (**stored).clone();
        let known = self.learn(&mut accepted, &[], (&first, &again), "the other run");
        match known {
            Ok(known) => self.judged_with(first, again, &accepted, known),
            Err(result) => *result,
        }
    }

    /// The result of this version's first run, in which nobody is blamed where a version answers in two ways.
    fn judged_with(
        &self,
        first: Executed,
        again: Vec<Executed>,
        accepted: &Redacted<Trajectory>,
        known: Known,
    ) -> ScenarioResult {
        let mut answers = known.in_two_ways;
        let mut result = self.judged(first, accepted);
        result.notes.extend(known.notes);
        if result.status == Status::Passed {
            answers.extend(known.varies_anew);
        } else {
            let varies = known.varies_anew.iter().map(ToString::to_string);
            result.notes.extend(varies);
        }
        let mut second = None;
        for (number, it) in (2..).zip(again) {
            let runs = self.run_context.runs.attempt(number);
            let unkept = runs.save(&self.scenario.id, &it.trajectory).err();
            result.notes.extend(unkept.map(|it| it.to_string()));
            second = Some(it).filter(|it| it.incomplete().is_none());
        }
        if let Some(second) = second.filter(|_| result.status == Status::Failed) {
            let found = compare::answers(&result, &self.judged(second, accepted), &self.rules);
            let version = Some(THIS_VERSION.to_owned());
            let found = found.into_iter().flatten();
            answers.extend(found.map(|it| TwoAnswers {
                version: version.clone(),
                ..it
            }));
        }
        if !answers.is_empty() && matches!(result.status, Status::Passed | Status::Failed) {
            let gates = self.rules.unsteady == Gate::Fail;
            compare::blame_nobody(&mut result, Unsteady { gates, answers });
        }
        result
    }

    /// Runs both versions, and compares this one with the other.
    async fn run_both(
        &self,
        other: &Scenario,
        name: &str,
        replayed: Option<&Kept>,
    ) -> ScenarioResult {
        let (takes, reads) = &self.how_often();
        let beside = self.run_context.beside();
        let context = &self.run_context.suite;
        let shared =
            uses_what_outlives(self.scenario, context) || uses_what_outlives(other, context);
        let run_other = || async {
            let ran = beside.perform_unkept(other, replayed, reads.clone()).await;
            beside.slot.release(false).await;
            ran
        };
        let run_own = |first: bool, replayed: Option<Kept>| async move {
            let context = self.run_context;
            let ran = if first {
                context
                    .perform(self.scenario, replayed.as_ref(), reads.clone())
                    .await
            } else {
                context
                    .perform_unkept(self.scenario, replayed.as_ref(), Reads::Once)
                    .await
            };
            if shared {
                context.slot.release(false).await;
            }
            ran
        };
        let known = |other: &Executed| {
            let other =
                (!self.scenario.agent.decides()).then(|| Arc::new(other.trajectory.clone()));
            replayed.cloned().or(other)
        };
        // Whoever replays plays what the other version was asked, which has to be known first.
        let waits = shared || matches!(self.scenario.agent, Agent::Replay { .. });
        let (other, mut first) = if waits {
            let other = run_other().await;
            let given = known(&other);
            let first = run_own(true, given).await;
            (other, first)
        } else {
            tokio::join!(run_other(), run_own(true, replayed.cloned()))
        };
        if let Some(result) = other.incomplete() {
            return other_not_run(result, name);
        }
        if first.incomplete().is_some() && !waits {
            // A server that died in a call which the other version answered has failed it.
            let last_words = first.blame(&other.trajectory);
            first.notes.extend(last_words);
        }
        if first.incomplete().is_some() && !waits && !self.scenario.agent.decides() {
            // A script that does not find a tool, or a value, may know it from the other version.
            first = run_own(true, known(&other)).await;
        }
        let mut besides: Vec<String> = Vec::new();
        let mut note = |of: &str, ran: &Executed| {
            let news = ran.notes.iter().filter(|it| !first.notes.contains(it));
            for it in news.map(|it| format!("{of}: {it}")) {
                if !besides.contains(&it) {
                    besides.push(it);
                }
            }
        };
        note("the other version", &other);
        let mut others = Vec::new();
        let mut again = Vec::new();
        // Where nothing differs at all, nothing has to be distinguished from what varies.
        let is_quiet = self.is_quiet(&other, &first);
        for _ in 1..*takes {
            if is_quiet || self.run_context.suite.is_interrupted() {
                others.push(other.trajectory.clone());
                continue;
            }
            self.run_context.between_takes(self.scenario).await;
            if first.incomplete().is_some() {
                // What the other version says by chance is of use all the same, to whoever looks for the commit that broke this one.
                let ran = run_other().await;
                if let Some(result) = ran.incomplete() {
                    return other_not_run(result, name);
                }
                others.push(ran.trajectory);
                continue;
            }
            let (a, b) = if shared {
                (run_other().await, run_own(false, known(&other)).await)
            } else {
                tokio::join!(run_other(), run_own(false, known(&other)))
            };
            if let Some(result) = a.incomplete() {
                return other_not_run(result, name);
            }
            note("the other version, run again", &a);
            note("run again", &b);
            others.push(a.trajectory);
            again.push(b);
        }
        let mut accepted = other.trajectory;
        let failing = check_run(&first.scenario, &first.trajectory, None, &first.evaluations)
            .map_or_else(|it| vec![it.message], |it| it.failing);
        let fails_on_both = !failing.is_empty() && other_fails(&accepted, &first.scenario);
        for (number, it) in (2..).zip(&others) {
            let runs = self.run_context.runs.attempt(number);
            let unkept = runs.save_baseline(&self.scenario.id, it).err();
            besides.extend(unkept.map(|it| it.to_string()));
        }
        match self.learn(&mut accepted, &others, (&first, &again), name) {
            Ok(known) => {
                let unseen = unseen(&accepted.learned);
                let mut result = self.judged_with(first, again, &accepted, known);
                result.notes.extend(besides);
                if result.status == Status::Passed && fails_on_both {
                    let why = format!("it fails on both versions: {}", failing.join("; "));
                    result.problem = Some(Problem::new(why));
                    result.status = Status::Error;
                } else if result.status == Status::Passed && !unseen.is_empty() {
                    let why = format!(
                        "the answer to call {} is different each time, so it cannot be compared",
                        unseen.join(", ")
                    );
                    result.problem = Some(Problem::new(why));
                    result.status = Status::Error;
                }
                result
            }
            Err(result) => *result,
        }
    }

    /// Whether both versions have answered the same to the letter.
    fn is_quiet(&self, other: &Executed, own: &Executed) -> bool {
        let compared = own.patience.spend_on(|is_unwanted| {
            score::compare_until(&other.trajectory, &own.trajectory, &self.rules, is_unwanted)
        });
        own.incomplete().is_none()
            && compared.is_ok_and(|it| it.verdict.passed && it.changes.is_empty())
    }

    /// How many takes there are of each version, and how often each asks its reads.
    fn how_often(&self) -> (u16, Reads) {
        let takes = usual_takes(self.scenario, self.run_context);
        (takes, reads(self.scenario, self.run_context))
    }

    /// Completes what is accepted with what both versions show to vary.
    fn learn(
        &self,
        accepted: &mut Redacted<Trajectory>,
        others: &[Redacted<Trajectory>],
        (first, again): (&Executed, &[Executed]),
        name: &str,
    ) -> Result<Known, Box<ScenarioResult>> {
        let learn = |takes: &[Redacted<Trajectory>]| {
            let patience = &first.patience;
            let learned = patience
                .spend_on(|is_unwanted| score::learn_until(takes, &self.rules, is_unwanted));
            learned.map_err(|it| Box::new(it.of(&first.scenario, &first.trajectory)))
        };
        let takes: Vec<_> = std::iter::once(accepted.clone())
            .chain(others.iter().cloned())
            .collect();
        let is_known = takes.len() < 2 && accepted.has_answers_received_twice();
        let mut of_other = learn(&takes)?;
        let mut known = Known {
            in_two_ways: in_two_ways(&of_other, name),
            ..Known::default()
        };
        if takes.len() > 1 && !are_independent(&of_other) {
            if of_other.left_behind.is_some() {
                known.notes.push(
                    "the other version gives different answers when asked again, because of earlier calls: nothing was learned from that"
                        .to_owned(),
                );
            }
            of_other = learn(&takes[..1])?;
        }
        let own = again.iter().filter(|it| it.incomplete().is_none());
        let own = own.map(|it| it.trajectory.clone());
        let own: Vec<_> = std::iter::once(first.trajectory.clone())
            .chain(own)
            .collect();
        let mut of_own = learn(&own)?;
        (known.in_two_ways).extend(in_two_ways(&of_own, THIS_VERSION));
        if own.len() > 1 && !are_independent(&of_own) {
            of_own.answers.clear();
        }
        accepted.refine(|it| {
            if !is_known {
                it.learned.clone_from(&of_other.answers);
                it.bindings.clone_from(&of_other.bindings);
            }
            if let (Some(lane), Some(own)) = (&mut it.upstream, &first.trajectory.upstream) {
                if !is_known {
                    of_other.upstream.keep_in(lane);
                }
                of_own.upstream.add_to(lane, own);
            }
            known.varies_anew = add_what_varies(it, &first.trajectory, &of_own.answers);
        });
        let bound = replay::bind(std::slice::from_mut(accepted), Some(self.scenario));
        known.notes.extend(bound.err().map(|it| it.message));
        Ok(known)
    }

    /// The result of a run of this version, measured by the other one.
    pub(super) fn judged(
        &self,
        executed: Executed,
        accepted: &Redacted<Trajectory>,
    ) -> ScenarioResult {
        if let Some(result) = executed.incomplete() {
            return result.with(|it| it.baseline = Some(Arc::new(accepted.clone())));
        }
        // What the other version offers is known only now.
        let before = evaluating::offered_in(accepted);
        let (scenario, run) = (&executed.scenario, &executed.trajectory);
        let evaluations = executed
            .evaluations
            .derive(|it| evaluating::looked_at_again(it, scenario, run, Some(&before)));
        let executed = Executed {
            evaluations,
            ..executed
        };
        let accepted = (std::slice::from_ref(accepted), Accepted::Version);
        judge_executed(executed, accepted, &self.rules, self.allow_changed)
    }
}

/// Whether a run does not meet what its own scenario expects of it.
fn other_fails(trajectory: &Trajectory, scenario: &Scenario) -> bool {
    let evaluations = evaluating::of_stored(scenario, trajectory, None);
    check_run(scenario, trajectory, None, &evaluations).map_or(true, |it| !it.failing.is_empty())
}

/// Whether takes differ by nature alone: not because one has left something behind for the next, and not in kind.
fn are_independent(learned: &score::Learned) -> bool {
    learned.left_behind.is_none() && learned.disagreements.is_empty()
}

/// How the version is called that is judged.
const THIS_VERSION: &str = "this version";

/// What a version answered in two ways, as far as that is no doing of an earlier take.
fn in_two_ways(learned: &score::Learned, version: &str) -> Vec<TwoAnswers> {
    let disagreements = learned.disagreements.iter();
    let by_chance = disagreements.filter(|_| learned.left_behind.is_none());
    let answers = by_chance.map(|it| TwoAnswers {
        version: Some(version.to_owned()),
        call: Some(it.call),
        tool: Some(it.tool.clone()),
        path: Some(format!("response{}", it.path)),
        recorded: None,
        first: it.found.first().cloned(),
        again: it.found.get(1).cloned(),
    });
    answers.collect()
}

/// The calls whose whole answer was another one each time, so that nothing can be said of it.
fn unseen(learned: &[Learned]) -> Vec<String> {
    let whole = learned.iter().filter(|it| {
        it.varies
            .iter()
            .any(|it| it.path.ends_with("/text") && it.is_unseen())
    });
    whole.map(|it| it.call.to_string()).collect()
}

/// The result where the other version could not be run: nothing is said of the one that is to be judged.
fn other_not_run(mut result: ScenarioResult, name: &str) -> ScenarioResult {
    if let Some(problem) = &mut result.problem {
        problem.message = format!("{name}: {}", problem.message);
    }
    if result.status == Status::Failed {
        result.status = Status::Error;
    }
    result.current = None;
    result
}

/// What several runs of both versions show.
#[derive(Default)]
struct Known {
    /// What a reader should know.
    notes: Vec<String>,
    /// What one of the versions answers in two ways.
    in_two_ways: Vec<TwoAnswers>,
    /// What varies in this version alone: a run that passes because of that says nothing.
    varies_anew: Vec<TwoAnswers>,
}

/// Adds the places that vary in the answers of the version under test, where it was asked the same; returns those that did not vary in the
/// other one's, and are in them.
fn add_what_varies(
    accepted: &mut Trajectory,
    own: &Trajectory,
    of_own: &[Learned],
) -> Vec<TwoAnswers> {
    let requests = |it: &Trajectory| -> Vec<(String, model::Object)> {
        it.calls()
            .map(|it| (it.tool.clone(), it.arguments.clone()))
            .collect()
    };
    let (theirs, ours) = (requests(accepted), requests(own));
    let once = accepted.answered_once();
    let mut of_other = std::mem::take(&mut accepted.learned);
    let calls: Vec<&ToolCall> = accepted.calls().collect();
    let mut anew = Vec::new();
    for learned in of_own {
        let at = learned.call.wrapping_sub(1);
        if theirs.get(at).is_none() || theirs.get(at) != ours.get(at) {
            continue;
        }
        let Some(known) = of_other.iter_mut().find(|it| it.call == learned.call) else {
            if once.binary_search(&learned.call).is_ok() {
                let only_places = Learned {
                    takes: 1,
                    ..learned.clone()
                };
                of_other.push(only_places);
            }
            continue;
        };
        for varying in &learned.varies {
            let is_within = |it: &str| {
                let rest = varying.path.strip_prefix(it);
                rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
            };
            if !known.paths().any(is_within) {
                let call = calls.get(at).filter(|_| known.is_stable());
                if let Some(call) = call
                    && let Outcome::Answer(answer) = &call.outcome
                    && score::varies_beyond_time(varying, answer)
                {
                    anew.push(two_answers(learned.call, call, varying));
                }
                known.varies.push(varying.clone());
            }
        }
    }
    of_other.sort_by_key(|it| it.call);
    accepted.learned = of_other;
    anew
}

/// What this version answered in two ways at a place that varies.
fn two_answers(number: usize, call: &ToolCall, varying: &Varying) -> TwoAnswers {
    let seen: Vec<String> = match varying.by {
        Variation::Tokens => (varying.parts.iter())
            .find_map(|it| (it.seen.len() > 1).then(|| it.seen.clone()))
            .unwrap_or_default(),
        _ if varying.seen.is_empty() => varying.heard.clone(),
        _ => varying.seen.iter().map(ToString::to_string).collect(),
    };
    let mut seen = seen.into_iter();
    TwoAnswers {
        version: Some(THIS_VERSION.to_owned()),
        call: Some(number),
        tool: Some(call.full_name()),
        path: Some(format!("response{}", varying.path)),
        recorded: None,
        first: seen.next(),
        again: seen.next(),
    }
}
