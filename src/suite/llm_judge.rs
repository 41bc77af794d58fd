//! The model that judges the runs of a scenario, with what it needs from outside: its key, money, and the answers it gave before.

use std::path::Path;
use std::sync::Arc;

use super::agents::{JUDGE, reach_model};
use super::{Error, SuiteContext};
use crate::evaluate::judge::{Judge, Memory};
use crate::git;
use crate::model::ruling::Ruling;
use crate::model::usage::tokens;
use crate::model::{Object, Redaction};
use crate::redact::{Redactor, Secrets};
use crate::run::{Budget, SetupError};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Criterion;
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind};
use crate::scenario_file::judge::{JudgeSettings, LoadedJudge};
use crate::store::Cache;

/// Where a scenario has no judge: what to do.
pub(crate) const NO_JUDGE: &str =
    "no judge is configured: give the scenario a section `judge`, or name one with `--judge FILE`";

/// Gives the scenarios the judge that was named on the command line.
pub fn appoint(scenarios: &mut [Scenario], judge: &LoadedJudge) {
    for scenario in scenarios.iter_mut().filter(|it| it.measurement.is_none()) {
        scenario.judge = Some(Box::new(judge.settings.clone()));
        scenario.redaction.marked.extend(judge.marked.clone());
    }
}

/// Whether what judges cost can be kept within a budget.
///
/// # Errors
///
/// The first scenario of which nobody knows what its judge costs.
pub fn check_budget(scenarios: &[Scenario], option: &str) -> Result<(), Error> {
    let unpriced = scenarios.iter().find(|it| {
        let judge = it.judge.as_ref();
        it.enabled && asks(it) && judge.is_some_and(|it| it.asked.price.is_none())
    });
    unpriced.map_or(Ok(()), |scenario| {
        let message = format!(
            "{}: {option} cannot be kept, because the price of the judge is unknown",
            scenario.path.display()
        );
        Err(Error::invalid(message).hint("give its price under `judge.price`"))
    })
}

/// Whether a scenario's judge may be asked: by an evaluator, or about criteria that may turn out to be prose.
pub(super) fn asks(scenario: &Scenario) -> bool {
    let evaluators = Evaluator::with_inner(&scenario.evaluators);
    let is_judge = |it: &&Evaluator| matches!(it.kind, EvaluatorKind::LlmJudge(_));
    let mut criteria = scenario.success_criteria.iter();
    scenario.judge.is_some()
        && (evaluators.iter().any(is_judge) || criteria.any(|it| matches!(it, Criterion::Text(_))))
}

/// What the instructions take in the prompt of a judge, at most, in characters, besides the run and what it is judged by.
const INSTRUCTIONS: usize = 8_000;

/// How often a judge is asked for one vote at most: once more where its answer has no form that can be read.
const ASKED: f64 = 2.0;

/// What judging one run may cost at most, with a token for each character that the judge is shown: nothing where none is asked. `None` where
/// nothing bounds it.
pub fn most_judging_costs(scenario: &Scenario) -> Option<f64> {
    if !asks(scenario) {
        return Some(0.0);
    }
    let judge = scenario.judge.as_deref()?;
    let price = judge.asked.price.as_ref()?;
    let answer = f64::from(judge.asked.max_tokens?);
    let once = |standard: usize| {
        let shown = judge.max_input_chars + INSTRUCTIONS + standard;
        let shown = tokens(u64::try_from(shown).unwrap_or(u64::MAX));
        let dearest = price.cache_write.unwrap_or(price.input).max(price.input);
        ASKED * (shown * dearest + answer * price.output) / 1e6
    };
    let evaluators = Evaluator::with_inner(&scenario.evaluators);
    let of_evaluators = evaluators.into_iter().filter_map(|it| match &it.kind {
        EvaluatorKind::LlmJudge(it) => {
            let standard = it.clone().texts_mut().iter().map(|it| it.len()).sum();
            Some(f64::from(it.votes) * once(standard))
        }
        _ => None,
    });
    // All criteria that turn out to be prose are asked about at once.
    let prose = scenario.success_criteria.iter().filter_map(|it| match it {
        Criterion::Text(text) => Some(text.len()),
        _ => None,
    });
    let prose: Vec<usize> = prose.collect();
    let of_prose = (!prose.is_empty()).then(|| once(prose.iter().sum()));
    Some(of_evaluators.chain(of_prose).sum())
}

/// Answers that are kept on disk, without secrets.
struct OnDisk {
    cache: Cache,
    redactor: Redactor,
}

impl Memory for OnDisk {
    fn recall(&self, key: &str) -> Option<Object> {
        self.cache.load(key)
    }

    fn keep(&self, key: &str, answer: &Object) {
        // Where it cannot be kept, the judge is asked again next time.
        let _ = self
            .cache
            .save(key, &self.redactor.fresh().object(answer.clone()));
    }
}

/// A judge that can be asked, and the secrets that it is given.
///
/// # Errors
///
/// What it lacks.
pub(super) fn reach(
    settings: &JudgeSettings,
    redaction: &Redaction,
    budget: Option<Arc<Budget>>,
    cache: Option<&Path>,
) -> Result<(Judge, Secrets), SetupError> {
    let mut secrets = Secrets::given_to(redaction);
    let (asked, key) = reach_model(&settings.asked, JUDGE, &mut secrets)?;
    let settings = JudgeSettings {
        asked,
        ..settings.clone()
    };
    // What git knows came with the checkout: no answer in there need be one that a judge has given.
    let cache = cache.filter(|it| git::tracked(it).is_empty());
    let memory = cache.map(|folder| {
        let on_disk = OnDisk {
            cache: Cache::new(folder),
            redactor: Redactor::new(&secrets, redaction),
        };
        Arc::new(on_disk) as Arc<dyn Memory>
    });
    let judge = Judge::new(settings, key.as_ref(), budget, memory).map_err(SetupError::from)?;
    Ok((judge, secrets))
}

/// What a judge says may repeat what it was never given: secrets go, whoever says them.
pub(super) fn without_secrets(mut ruling: Ruling, redactor: &Redactor) -> Ruling {
    let clean = |text: &mut String| *text = redactor.text(text).into_inner();
    match &mut ruling.verdict {
        Ok(verdict) => {
            clean(&mut verdict.reasoning);
            verdict.suggestions.iter_mut().for_each(clean);
        }
        Err(unruled) => {
            clean(&mut unruled.message);
            unruled.details.iter_mut().for_each(clean);
        }
    }
    for why in ruling.votes.iter_mut().filter_map(|it| it.as_mut().err()) {
        clean(why);
    }
    ruling
}

impl SuiteContext {
    /// The judge of a scenario.
    ///
    /// # Errors
    ///
    /// That there is none, or what it lacks.
    pub(super) fn llm_judge(&self, scenario: &Scenario) -> Result<Judge, SetupError> {
        let settings = scenario.judge.as_deref();
        let settings = settings.ok_or_else(|| SetupError::new(NO_JUDGE))?;
        let budget = self.judges.budget.clone();
        let cache = self.judges.cache.as_deref();
        let (judge, _) = reach(settings, &scenario.redaction, budget, cache)?;
        Ok(judge)
    }
}
