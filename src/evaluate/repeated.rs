//! Evaluators that judge several runs of a scenario together.

use super::engine::as_evaluation;
use super::kinds::within::{self, Times};
use super::subject::Subject;
use crate::model::evaluation::{Evaluation, EvaluationStatus};
use crate::model::evaluator::{Evaluator, EvaluatorKind};
use crate::model::trajectory::Trajectory;

/// The times of calls that evaluators limit, gathered over several runs: for each evaluator all times of the calls that it means.
#[derive(Debug, Clone, Default)]
pub struct CallTimes {
    of: Vec<Vec<f64>>,
    runs: usize,
}

impl CallTimes {
    /// Adds those of one run.
    pub fn add(&mut self, evaluators: &[Evaluator], run: &Trajectory) {
        self.of.resize(evaluators.len(), Vec::new());
        self.runs += 1;
        for (times, evaluator) in self.of.iter_mut().zip(evaluators) {
            if let EvaluatorKind::Within(it) = &evaluator.kind
                && it.call_duration.is_some()
            {
                times.extend(within::durations(it, run));
            }
        }
    }

    /// Judges the times of all runs, and puts what comes of that in the place of what the run that is shown alone could not say.
    pub fn judge(
        &self,
        evaluators: &[Evaluator],
        evaluations: &mut [Evaluation],
        shown: Subject<'_>,
    ) {
        let all = evaluators.iter().zip(evaluations).zip(&self.of);
        for ((evaluator, evaluation), times) in all {
            // One that names a tool which nobody knows has nothing to judge in any run.
            if let EvaluatorKind::Within(it) = &evaluator.kind
                && it.call_duration.is_some()
                && evaluation.status != EvaluationStatus::Error
            {
                let found = within::look_at(it, shown, Times::OfAll(times, self.runs));
                *evaluation = as_evaluation(evaluator, found, evaluation.duration_ms);
            }
        }
    }
}
