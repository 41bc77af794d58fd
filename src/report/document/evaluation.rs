//! What evaluators found, as it is published.

use crate::model::evaluation::{Evaluation, Gate, Overall};
use crate::model::points::finite;
use crate::model::ruling::Ruling;
use crate::published::result;

pub(super) fn evaluation(it: &Evaluation) -> result::Evaluation {
    result::Evaluation {
        name: it.name.clone(),
        kind: it.kind.to_owned(),
        role: it.role,
        weight: it.weight,
        status: it.status,
        score: it.score.and_then(finite),
        message: it.message.clone(),
        details: it.details.clone(),
        duration_ms: finite(it.duration_ms),
        line: it.line,
        said_in: it.said_in.clone(),
        definition: it.definition.clone(),
        judges: it.rulings.iter().map(judge).collect(),
    }
}

/// What a model said.
fn judge(ruling: &Ruling) -> result::Judge {
    let verdict = ruling.verdict.as_ref().ok();
    let dimensions = verdict.iter().flat_map(|it| &it.dimensions);
    result::Judge {
        model: ruling.model.clone(),
        confidence: verdict.and_then(|it| it.confidence),
        reasoning: verdict.map(|it| it.reasoning.clone()),
        dimension_scores: dimensions
            .map(|(name, score)| result::DimensionScore {
                name: name.clone(),
                score: *score,
            })
            .collect(),
        tool_accuracy: verdict.and_then(|it| it.tool_accuracy),
        suggestions: verdict.map_or_else(Vec::new, |it| it.suggestions.clone()),
        votes: ruling.votes.iter().map(|it| it.clone().ok()).collect(),
        spread: ruling.spread().map(|(lowest, highest)| highest - lowest),
        cached_votes: ruling.cached,
        usage: ruling.took,
    }
}

pub(super) fn summary(it: Overall) -> result::EvaluationSummary {
    result::EvaluationSummary {
        score: it.score,
        threshold: it.threshold,
        passed: it.gate == Gate::Passes,
    }
}
