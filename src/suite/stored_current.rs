//! `run --run`: what a stored run made, in the place of what would be run, and judged by what scenarios expect now.

use std::path::PathBuf;

use crate::evaluate::{self, Subject};
use crate::model::usage::TotalUse;
use crate::model::{
    Ending, Evaluation, EvaluationStatus, Found, Problem, Redacted, Servers, Status, ToolCall,
    Trajectory,
};
use crate::redact::Redactor;
use crate::run;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::{Agent, Limits};
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind};
use crate::score;
use crate::store::{self, Runs};
use crate::suite::assemble::redactor;
use crate::suite::evaluating::{self, Evaluating};
use crate::suite::execute::FinishedRun;
use crate::suite::run_context::RunContext;
use crate::suite::run_environment::Around;
use crate::suite::stored_run::{self, StoredRun};

impl StoredRun {
    /// Where the trajectory of a scenario lies, or that of one of several attempts, counted from 1.
    pub(super) fn file(&self, scenario: &str, attempt: Option<u16>) -> PathBuf {
        let runs = Runs::at(&self.folder);
        match attempt {
            Some(number) => runs.attempt(number.into()).path(scenario),
            None => runs.path(scenario),
        }
    }

    /// How often a scenario was run in it to be judged as often; 1 where it was run once.
    pub(super) fn times(&self, scenario: &str) -> u16 {
        let several = self.of_scenario(scenario).and_then(stored_run::repeated);
        several.map_or(1, |it| u16::try_from(it.attempts.len()).unwrap_or(u16::MAX))
    }

    /// What it made of a scenario, where a run of that scenario as it is now would have made it, too.
    ///
    /// # Errors
    ///
    /// Why it cannot be judged.
    fn trajectory(
        &self,
        scenario: &Scenario,
        baseline: Option<&Trajectory>,
        attempt: Option<u16>,
    ) -> Result<Redacted<Trajectory>, Problem> {
        let file = self.file(&scenario.id, attempt);
        let Some(stored) = self.of_scenario(&scenario.id) else {
            let folder = self.folder.display();
            return Err(Problem::new(format!(
                "{folder} has no run of this scenario"
            )));
        };
        if !file.exists() {
            let then = stored.repeated.as_deref().zip(attempt);
            let then = then.and_then(|(all, number)| all.attempts.get(usize::from(number) - 1));
            let gone = stored_run::without(stored, &file, then);
            let why = gone.problem.clone();
            return Err(why.unwrap_or_else(|| Problem::new("nothing is known of it")));
        }
        let trajectory = store::load(&file).map_err(|it| Problem::from(&it))?;
        if trajectory.scenario != scenario.id {
            let (file, of) = (file.display(), &trajectory.scenario);
            return Err(Problem::new(format!(
                "{file} is of another scenario: `{of}`"
            )));
        }
        match another_experiment(scenario, baseline, &trajectory) {
            None => Ok(trajectory),
            Some(why) => Err(Problem::new(format!(
                "this run does not tell how the scenario does as it is now: {why}"
            ))
            .hint("run the scenario again")),
        }
    }
}

/// What of a scenario is another than when a run of it was made: what is asked, or who asks.
fn another_experiment(
    scenario: &Scenario,
    baseline: Option<&Trajectory>,
    run: &Trajectory,
) -> Option<String> {
    let (agent, stamp) = (scenario.agent.kind(), &run.stamp);
    if stamp.agent != agent {
        return Some(format!(
            "it was made by the agent `{}`, and the scenario's is `{agent}` (`--agent` chooses another)",
            stamp.agent
        ));
    }
    if let (Some(model), Some(then)) = (scenario.agent.model_name(), &stamp.model)
        && model != then
    {
        return Some(format!(
            "it was made with the model `{then}`, and not with `{model}`"
        ));
    }
    if stamp.servers == Servers::Recorded {
        return Some("recorded servers answered in it".to_owned());
    }
    if let (Agent::Replay { .. }, Some(baseline)) = (&scenario.agent, baseline)
        && plays_otherwise(baseline, run)
    {
        return Some("the baseline that is replayed has changed since".to_owned());
    }
    if matches!(run.ending, Ending::LimitReached { .. })
        && !Used::by(run, &scenario.agent).reaches(&scenario.limits)
    {
        return Some("a limit ended it, and the limits have changed since".to_owned());
    }
    let hash = scenario_file::agent_hash(&scenario.agent, &scenario.redaction);
    let is_other = score::scenario_has_changed(run, Some(&scenario.hash), agent, hash.as_deref());
    is_other.then(|| match scenario.agent {
        Agent::Scripted { .. } => "its messages or its calls have changed since".to_owned(),
        _ => "its messages, or what its agent is given, have changed since".to_owned(),
    })
}

/// Whether a replay would make other calls than a run of it has made: what comes from earlier answers is another value in each run.
fn plays_otherwise(baseline: &Trajectory, run: &Trajectory) -> bool {
    let (played, made): (Vec<_>, Vec<_>) = (baseline.calls().collect(), run.calls().collect());
    let is_other = |(played, made): (&&ToolCall, &&ToolCall)| {
        (&played.server, &played.tool) != (&made.server, &made.tool)
            || baseline.bindings.is_empty() && played.arguments != made.arguments
    };
    made.len() > played.len()
        || baseline.stamp.recorded_at > run.stamp.recorded_at
        || played.iter().zip(&made).any(is_other)
}

/// What a run used of what limits bound.
struct Used {
    steps: usize,
    tokens: Option<u64>,
    cost: Option<f64>,
    seconds: f64,
}

impl Used {
    fn by(run: &Trajectory, agent: &Agent) -> Self {
        let used = TotalUse::of(&run.requests);
        Self {
            steps: match agent {
                Agent::Model { .. } => run.requests.len(),
                _ => run.calls().count(),
            },
            tokens: used.as_ref().and_then(|it| it.tokens.total_tokens),
            cost: used.as_ref().and_then(|it| it.cost),
            seconds: run.duration_ms.unwrap_or_default() / 1000.0,
        }
    }

    /// Whether one of these may have ended it.
    fn reaches(&self, limits: &Limits) -> bool {
        limits
            .max_steps
            .is_some_and(|most| self.steps >= most as usize)
            || limits
                .max_total_tokens
                .zip(self.tokens)
                .is_some_and(|(most, used)| used >= most)
            || limits
                .max_cost
                .zip(self.cost)
                .is_some_and(|(most, cost)| cost >= most)
            || limits
                .max_duration
                .is_some_and(|most| self.seconds >= most.as_secs_f64())
    }
}

/// How a scenario's limits would have ended a run; `None` of one that is within them.
fn over_limits(scenario: &Scenario, run: &Trajectory) -> Option<Ending> {
    let (limits, used) = (&scenario.limits, Used::by(run, &scenario.agent));
    let over = |name: &str, what: String| {
        let message = format!("`limits.{name}`: {what}");
        Some(Ending::LimitReached { message })
    };
    let steps = used.steps;
    if let Some(most) = limits.max_steps.filter(|it| steps > *it as usize) {
        return over("max_steps", format!("{steps} steps were made of {most}"));
    }
    let tokens = limits.max_total_tokens.zip(used.tokens);
    if let Some((most, used)) = tokens.filter(|(most, used)| used > most) {
        return over(
            "max_total_tokens",
            format!("{used} tokens were used of {most}"),
        );
    }
    let cost = limits.max_cost.zip(used.cost);
    if let Some((most, cost)) = cost.filter(|(most, cost)| cost > most) {
        return over("max_cost", format!("the run cost {cost} of {most}"));
    }
    let seconds = used.seconds;
    if let Some(most) = limits.max_duration.filter(|it| seconds > it.as_secs_f64()) {
        return over("max_duration", format!("{seconds:.1} s passed of {most:?}"));
    }
    let most = scenario.timeouts.scenario;
    (seconds > most.as_secs_f64()).then(|| Ending::TimedOut {
        message: format!("{seconds:.1} s passed, and a run of the scenario may take {most:?}"),
    })
}

impl StoredRun {
    /// What evaluators found in the run of a scenario. Of several, it is known of the one that is shown, and of the others only whether they
    /// passed.
    fn found(&self, scenario: &str, attempt: Option<u16>) -> Option<Vec<Found>> {
        let stored = self.of_scenario(scenario)?;
        let mut found = stored_run::found(stored);
        if let (Some(all), Some(number)) = (&stored.repeated, attempt.map(usize::from))
            && number != all.shown
        {
            let then = all.attempts.get(number - 1).map(|it| it.status);
            for it in &mut found {
                it.score = None;
                if then == Some(Status::Passed) {
                    it.status = EvaluationStatus::Passed;
                } else {
                    it.status = EvaluationStatus::Error;
                    "what it found in this attempt was not kept".clone_into(&mut it.message);
                }
            }
        }
        Some(found)
    }
}

impl RunContext {
    /// What a stored run made of a scenario, as if it had just been made.
    pub(super) async fn taken_from(
        &self,
        stored: &StoredRun,
        scenario: &Scenario,
        baseline: Option<&Trajectory>,
        evaluating: Evaluating<'_>,
    ) -> FinishedRun {
        let shown = self.redacted(scenario);
        let redactor = redactor(&self.suite.remembered(scenario), scenario);
        let attempt = self.attempt;
        let loaded = tokio::task::block_in_place(|| stored.trajectory(scenario, baseline, attempt));
        let mut trajectory = loaded.unwrap_or_else(|problem| {
            let ending = Ending::Error {
                message: problem.message,
                details: problem.details.into_iter().chain(problem.hint).collect(),
                trouble: None,
            };
            run::not_begun(&shown, self.suite.stamp(scenario), ending, &redactor)
        });
        trajectory.refine(score::mark_breaches);
        let mut evaluations = Redacted::default();
        if trajectory.ending.is_complete() {
            let found = self.found_again(stored, scenario, &trajectory, &redactor, evaluating);
            evaluations = found.await;
            if let Some(ending) = over_limits(scenario, &trajectory) {
                trajectory.refine(|it| it.ending = ending);
            }
        }
        FinishedRun {
            trajectory,
            redactor,
            evaluations,
            notes: Vec::new(),
            log: None,
        }
    }

    /// What evaluators find in a stored run. Judges are asked again; what others found around it then, they still find.
    async fn found_again(
        &self,
        stored: &StoredRun,
        scenario: &Scenario,
        trajectory: &Redacted<Trajectory>,
        redactor: &Redactor,
        evaluating: Evaluating<'_>,
    ) -> Redacted<Vec<Evaluation>> {
        let Evaluating::They {
            among_others,
            before,
        } = evaluating
        else {
            return Redacted::default();
        };
        let filled = evaluating::redacted_scenario(scenario, trajectory, redactor);
        let found = stored.found(&scenario.id, self.attempt);
        let known = (found.as_deref(), before);
        let mut found = evaluating::with_found(&filled, trajectory, known, among_others);
        let mut judges: Vec<(&mut Evaluation, Evaluator)> = Vec::new();
        let all = filled.evaluators.iter().zip(&mut found);
        for (evaluator, it) in all.filter(|(_, it)| it.is_gone) {
            if matches!(evaluator.kind, EvaluatorKind::LlmJudge(_)) {
                judges.push((it, evaluator.clone()));
            } else if evaluate::is_hidden(evaluator) {
                // What it asked for then, and what it asks for now, look alike.
                it.status = EvaluationStatus::Error;
                evaluate::HIDDEN.clone_into(&mut it.message);
            }
        }
        if !judges.is_empty() {
            let around = Around::of_stored(self.suite.interrupt.clone());
            let around = around.with_judge(scenario, || self.suite.llm_judge(scenario));
            let judging = filled.derive(|it| Scenario {
                evaluators: judges.iter().map(|(_, it)| it.clone()).collect(),
                ..it.clone()
            });
            let around = around.of_run(&judging, trajectory, &self.slot, redactor);
            let ruled = evaluate::evaluate(Subject {
                scenario: &judging,
                trajectory,
                said: None,
                around: Some(&around),
                is_repeated: among_others,
                before,
            });
            for ((found, _), ruled) in judges.into_iter().zip(ruled.await) {
                *found = ruled;
            }
        }
        redactor.evaluations(found)
    }
}
