//! Requests to the model, one by one.

use crate::duration;
use model::published::result::{RequestUse, Side};
use model::usage::{Attempt, cost_words};

/// One request, its numbers as text.
#[derive(Debug)]
pub(super) struct RequestView {
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) stop_reason: String,
    pub(super) tokens: String,
    pub(super) cost: String,
    /// One line each.
    pub(super) attempts: Vec<String>,
}

/// The requests of a run; none for an agent without a model.
pub(super) fn requests(side: Option<&Side>) -> Vec<RequestView> {
    let usage = side.and_then(|it| it.usage.as_ref());
    let requests = usage.into_iter().flat_map(|it| &it.requests).enumerate();
    requests.map(|(index, it)| view(index + 1, it)).collect()
}

fn view(number: usize, request: &RequestUse) -> RequestView {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    RequestView {
        number,
        model: known(&request.model),
        stop_reason: known(&request.stop_reason),
        tokens: request.tokens.words(),
        cost: request
            .cost
            .map_or_else(|| "unknown".to_owned(), cost_words),
        attempts: request.attempts.iter().map(attempt).collect(),
    }
}

fn attempt(attempt: &Attempt) -> String {
    let took = duration::words(attempt.duration_ms);
    match &attempt.problem {
        None => format!("answered in {took}"),
        Some(problem) => format!("{problem} ({took})"),
    }
}
