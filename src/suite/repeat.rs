//! Several runs of one scenario, one after another, and one result of them all.

use crate::evaluate::{self, CallTimes, Subject};
use crate::model::points::finite;
use crate::model::reason::Reason;
use crate::model::repeated::{self, Tally};
use crate::model::usage::TotalUse;
use crate::model::{Gate, Problem, Retried, ScenarioResult, Status};
use crate::run::Progress;
use crate::scenario_file::Scenario;
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind};
use crate::score;
use crate::suite::outcome::without_verdict;
use crate::suite::{RunContext, evaluating};
use crate::text::shorten;

/// The longest reason that is kept with an attempt; its trajectory and its page have the whole.
pub(crate) const REASON_CHARS: usize = 300;

/// What several runs are measured by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    /// How often a scenario is run; with 1, the result is that of the single run.
    pub(crate) times: u16,
    /// The lowest share that passes, 0 to 1.
    pub(crate) pass_threshold: f64,
    /// How often the baseline was reproduced when it was recorded, where that is known.
    pub(crate) baseline: Option<Tally>,
}

/// One way to run a scenario and to judge what came of it.
pub(crate) trait Attempt: Sync {
    /// Runs the scenario once.
    fn once(&self, run_context: &RunContext) -> impl Future<Output = ScenarioResult> + Send;
}

/// Makes the attempts at a scenario, each with a run context of its own, and gates on what all of them came to.
///
/// The result shows the attempt most worth a look. After one that was interrupted no other is made, and there is no verdict.
pub(crate) async fn repeat(
    scenario: &Scenario,
    run_context: &RunContext,
    measure: Measure,
    work: &impl Attempt,
) -> ScenarioResult {
    if measure.times <= 1 {
        return once(scenario, run_context, work).await;
    }
    let of = measure.times;
    let look = may_be_kept(scenario, 1, of, true);
    let first = attempt(scenario, run_context, 1, of, look, work).await;
    // There is no verdict against the baseline of another experiment, so further runs would be of no use.
    if first.status == Status::Error && !first.experiment_changes.is_empty() {
        let shown = run_context.show(&first.id, 1);
        return first.with(|it| {
            it.notes.splice(0..0, shown);
        });
    }
    let mut over = first.status == Status::Interrupted;
    let mut made = Made::new(&scenario.evaluators, first);
    for number in 2..=of {
        if over {
            break;
        }
        let look = may_be_kept(scenario, number, of, made.all_are_fine());
        let next = attempt(scenario, run_context, number, of, look, work).await;
        over = next.status == Status::Interrupted;
        made.add(next);
    }
    let show = |id: &str, number| run_context.show(id, number);
    made.result(Some(scenario), show, measure)
}

/// Runs a scenario once, and where something stood in the way that may be gone the next time, again.
async fn once(
    scenario: &Scenario,
    run_context: &RunContext,
    work: &impl Attempt,
) -> ScenarioResult {
    let suite = &run_context.suite;
    let mut retried: Vec<Retried> = Vec::new();
    for number in 1.. {
        let mut result = work.once(run_context).await;
        result.judging = judging(&result);
        let again = suite.retries.as_ref().filter(|it| {
            let may_pass = result
                .trouble
                .is_some_and(|trouble| it.on.contains(&trouble));
            let is_spent = number > it.times || run_context.exhausted(scenario).is_some();
            may_pass && !is_spent && !suite.is_interrupted()
        });
        if let Some((retries, trouble)) = again.zip(result.trouble) {
            let pause = retries.pause(number);
            let name = trouble.name();
            let doing = &format!("waiting {pause:?} until it is run again ({name})");
            run_context.progress.progress(Progress::Preparing { doing });
            let reason = reason(&result).unwrap_or_default();
            retried.push(Retried {
                status: result.status,
                trouble,
                reason: shorten(&reason, REASON_CHARS).into_owned(),
                duration_ms: result.duration_ms,
                usage: together(of_agent(&result), result.judging),
            });
            tokio::select! {
                // It was not run again, so that this is its last try.
                () = suite.interrupt.cancelled() => { retried.pop(); }
                () = tokio::time::sleep(pause) => continue,
            }
        }
        let tries = (1..).zip(&retried);
        let tries = tries.map(|(number, it)| {
            let name = it.trouble.name();
            format!("try {number}: {}; it was run again ({name})", it.reason)
        });
        result.notes.extend(tries);
        result.retried = retried;
        return result;
    }
    unreachable!("no number of retries is without an end")
}

/// What asking judges took for one run.
fn judging(result: &ScenarioResult) -> Option<TotalUse> {
    let judges = result.evaluators.iter().flat_map(|it| &it.judges);
    judges.map(|it| it.usage).reduce(TotalUse::and)
}

/// What the model took that made the calls of one run.
fn of_agent(result: &ScenarioResult) -> Option<TotalUse> {
    TotalUse::of(&result.current.as_ref()?.requests)
}

fn together(one: Option<TotalUse>, other: Option<TotalUse>) -> Option<TotalUse> {
    one.into_iter().chain(other).reduce(TotalUse::and)
}

/// Whether the container of an attempt may be kept for a look, should it not pass: one container is enough, and one with a fixed port
/// would block the next attempt.
pub(crate) fn may_be_kept(
    scenario: &Scenario,
    number: u16,
    of: u16,
    others_are_fine: bool,
) -> bool {
    let mut containers = scenario.containers.iter();
    if containers.any(|it| it.host_port.is_some()) {
        number == of
    } else {
        others_are_fine
    }
}

/// Makes one attempt, given its number and of how many, with a `look` at its container should it not pass. Once the budget is spent, it
/// is not made, and the result says so.
async fn attempt(
    scenario: &Scenario,
    run_context: &RunContext,
    number: u16,
    of: u16,
    look: bool,
    work: &impl Attempt,
) -> ScenarioResult {
    if let Some(why) = run_context.exhausted(scenario) {
        let redacted = run_context.redacted(scenario);
        return without_verdict(&redacted, Status::Error, format!("not made: {why}"));
    }
    let mut attempt = run_context.attempt(number, of);
    attempt.is_repeated = true;
    let mut result = once(scenario, &attempt, work).await;
    let interrupted = result.status == Status::Interrupted;
    let look = look && !interrupted && !result.status.is_fine_or_skipped();
    result.notes.extend(attempt.slot.release(look).await);
    if !interrupted {
        run_context.progress.attempted(number, of, result.status);
    }
    result
}

/// The attempts made so far. There may be a thousand, so only what the result shows of them is kept.
pub(crate) struct Made {
    attempts: Vec<repeated::Attempt>,
    /// The index of the attempt most worth a look.
    shown: usize,
    /// Its result, without its notes.
    result: ScenarioResult,
    /// The number of the first attempt without a verdict, and why it has none.
    obstacle: Option<(usize, Problem)>,
    /// The evaluators, and how long the calls took that they limit.
    evaluators: Vec<Evaluator>,
    call_times: CallTimes,
    /// What asking judges took in all of them.
    judging: Option<TotalUse>,
    /// The tries of all of them that could not be run or judged.
    retried: Vec<Retried>,
    /// Their notes, each kept once, with the indexes of the attempts that had it.
    notes: Vec<(String, Vec<usize>)>,
}

impl Made {
    pub(crate) fn new(evaluators: &[Evaluator], first: ScenarioResult) -> Self {
        let mut made = Self {
            attempts: Vec::new(),
            shown: 0,
            result: first.clone(),
            obstacle: None,
            evaluators: evaluators.to_owned(),
            call_times: CallTimes::default(),
            judging: None,
            retried: Vec::new(),
            notes: Vec::new(),
        };
        made.add(first);
        made
    }

    pub(crate) fn add(&mut self, mut result: ScenarioResult) {
        let index = self.attempts.len();
        let attempt = kept(&result);
        self.judging = together(self.judging, result.judging);
        self.retried.append(&mut result.retried);
        if let Some(run) = result.current.as_ref().filter(|it| it.ending.is_complete()) {
            self.call_times.add(&self.evaluators, run);
        }
        for note in std::mem::take(&mut result.notes) {
            match self.notes.iter_mut().find(|(said, _)| *said == note) {
                Some((_, by)) => by.push(index),
                None => self.notes.push((note, vec![index])),
            }
        }
        let has_verdict = matches!(attempt.status, Status::Passed | Status::Failed);
        if let Some(problem) = result.problem.as_ref().filter(|_| !has_verdict) {
            self.obstacle
                .get_or_insert_with(|| (index + 1, problem.clone()));
        }
        let shown = self.attempts.get(self.shown);
        if shown.is_none_or(|it| score::is_more_relevant(&attempt, it)) {
            (self.shown, self.result) = (index, result);
        }
        self.attempts.push(attempt);
    }

    fn all_are_fine(&self) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.all(|it| it.status == Status::Passed)
    }

    /// The result of all attempts. `show` makes the one with this number the one that the run shows, and tells what went wrong with that.
    pub(crate) fn result(
        self,
        scenario: Option<&Scenario>,
        show: impl FnOnce(&str, usize) -> Option<String>,
        measure: Measure,
    ) -> ScenarioResult {
        let call_times = self.call_times;
        let (shown, mut result) = (self.shown, self.result);
        let last = self.attempts.len();
        let interrupted = (self.attempts.last()).is_some_and(|it| it.status == Status::Interrupted);
        let (status, repeated) = if interrupted {
            let made = score::summarise(self.attempts, shown + 1);
            (Status::Interrupted, made)
        } else {
            let (threshold, baseline) = (measure.pass_threshold, measure.baseline);
            score::gate(self.attempts, shown + 1, threshold, baseline)
        };
        let with_attempt = |(note, by): (String, Vec<usize>)| match by.first() {
            Some(first) if !by.contains(&shown) => format!("attempt {}: {note}", first + 1),
            _ => note,
        };
        result.notes = self.notes.into_iter().map(with_attempt).collect();
        let note = show(&result.id, shown + 1);
        result.notes.extend(note);
        result.problem = match status {
            Status::Passed => None,
            Status::Inconclusive if repeated.pass_rate.is_some() => None,
            Status::Failed => result.problem.take(),
            Status::Interrupted => {
                let times = measure.times;
                Some(Problem::new(format!(
                    "interrupted in attempt {last} of {times}"
                )))
            }
            _ => self.obstacle.map(|(number, problem)| Problem {
                record: None,
                line: None,
                message: format!(
                    "{} of {} runs could not be run or judged: attempt {number}: {}",
                    repeated.incomplete,
                    repeated.attempts.len(),
                    problem.message
                ),
                ..problem
            }),
        };
        result.judging = self.judging;
        result.retried = self.retried;
        result.status = status;
        result.duration_ms = repeated.total_duration();
        result.repeated = Some(Box::new(repeated));
        if let Some(scenario) = scenario {
            judge_call_times(&mut result, scenario, &call_times);
        }
        result
    }
}

/// Judges how long the calls of all attempts took, where evaluators limit that: a scenario whose attempts all pass may fail for it.
fn judge_call_times(result: &mut ScenarioResult, scenario: &Scenario, times: &CallTimes) {
    let has_limit = |it: &Evaluator| matches!(&it.kind, EvaluatorKind::Within(it) if it.call_duration.is_some());
    let is_complete = result.evaluators.len() == scenario.evaluators.len();
    if !is_complete || !scenario.evaluators.iter().any(has_limit) {
        return;
    }
    let Some(run) = result.current.clone() else {
        return;
    };
    let shown = Subject {
        scenario,
        trajectory: &run,
        said: None,
        around: None,
        is_repeated: false,
        before: None,
    };
    times.judge(&scenario.evaluators, &mut result.evaluators, shown);
    result.overall = evaluate::overall(&result.evaluators, scenario.evaluation_threshold);
    let gate = result.overall.map(|it| it.gate);
    if result.status == Status::Passed && gate == Some(Gate::Fails) {
        result.status = Status::Failed;
    }
}

/// What is kept of an attempt.
pub(crate) fn kept(result: &ScenarioResult) -> repeated::Attempt {
    let reason = (result.status != Status::Passed).then(|| {
        let reason = reason(result).unwrap_or_default();
        shorten(&reason, REASON_CHARS).into_owned()
    });
    repeated::Attempt {
        status: result.status,
        score: result
            .comparison
            .as_ref()
            .map(|it| it.scores.overall)
            .and_then(finite),
        duration_ms: result.duration_ms.and_then(finite),
        reason: reason.filter(|it| !it.is_empty()),
        changes: (result.comparison.as_ref()).map_or(0, |it| it.changes.len()),
        file: None,
        usage: of_agent(result),
    }
}

/// The first thing that speaks against a result.
fn reason(result: &ScenarioResult) -> Option<String> {
    let problem = result.problem.iter().map(|it| it.message.clone());
    let verdict = result.comparison.iter().flat_map(|it| &it.verdict.reasons);
    let unmet = result.checks.iter().filter(|it| it.fails());
    problem
        .chain(verdict.map(Reason::whole))
        .chain(unmet.map(|it| format!("{}: {}", it.name, it.message)))
        .chain(evaluating::reasons(&result.evaluators, result.overall))
        .next()
}
