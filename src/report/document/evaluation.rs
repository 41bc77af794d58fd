//! What evaluators found, as it is published.

use crate::model::evaluation::{Evaluation, EvaluationStatus, Gate, Overall};
use crate::model::evaluator::Role;
use crate::model::points::finite;
use crate::published::result;

pub(super) fn evaluation(it: &Evaluation) -> result::Evaluation {
    result::Evaluation {
        name: it.name.clone(),
        kind: it.kind.to_owned(),
        role: match it.role {
            Role::Gating => result::EvaluatorRole::Gating,
            Role::Advisory => result::EvaluatorRole::Advisory,
        },
        weight: it.weight,
        status: match it.status {
            EvaluationStatus::Passed => result::EvaluationStatus::Passed,
            EvaluationStatus::Failed => result::EvaluationStatus::Failed,
            EvaluationStatus::Skipped => result::EvaluationStatus::Skipped,
            EvaluationStatus::Error => result::EvaluationStatus::Error,
        },
        score: it.score.and_then(finite),
        message: it.message.clone(),
        details: it.details.clone(),
        duration_ms: finite(it.duration_ms),
        line: it.line,
    }
}

pub(super) fn summary(it: Overall) -> result::EvaluationSummary {
    result::EvaluationSummary {
        score: it.score,
        threshold: it.threshold,
        passed: it.gate == Gate::Passes,
    }
}
