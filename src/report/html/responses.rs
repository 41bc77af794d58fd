//! Final responses of runs, for the cells of a matrix.

use std::collections::HashMap;

use model::call::Outcome;
use model::published::result::Scenario;
use model::text;
use model::trajectory::{Step, Trajectory};

/// Final responses, by the ids of scenarios.
pub type Responses = HashMap<String, String>;

/// The longest final response that a cell shows; the scenario's page has all of it.
const RESPONSE_CHARS: usize = 2000;

/// Keeps the final response of a run in a cell of a matrix: what the agent said last, or where it made calls alone, what the last of them
/// returned.
pub fn keep_response(responses: &mut Responses, scenario: &Scenario, run: Option<&Trajectory>) {
    let Some(run) = run.filter(|_| scenario.cell.is_some()) else {
        return;
    };
    let said = run.steps.iter().rev().find_map(|it| match it {
        Step::Assistant { text } => Some(text.clone()),
        Step::User { .. } | Step::ToolCall(_) => None,
    });
    let returned = || match &run.calls().last()?.outcome {
        Outcome::Answer(answer) => Some(answer.text()),
        Outcome::Failure(failure) => Some(failure.message.clone()),
    };
    if let Some(response) = said.filter(|it| !it.trim().is_empty()).or_else(returned) {
        let shown = text::shorten(&response, RESPONSE_CHARS).into_owned();
        responses.insert(scenario.id.clone(), shown);
    }
}
