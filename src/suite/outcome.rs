//! The results of scenarios that have no verdict, and what all results have in common.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use futures_util::FutureExt;

use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status};
use crate::store::StoreError;

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        Self {
            hint: error.hint().map(str::to_owned),
            ..Self::new(error.to_string())
        }
    }
}

thread_local! {
    /// Where this thread panicked last, and why.
    static PANIC: Cell<String> = const { Cell::new(String::new()) };
}

/// What comes of this work.
///
/// # Errors
///
/// Where it panicked, and why.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |it| {
            PANIC.set(it.to_string().replace('\n', " "));
            before(it);
        }));
    });
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|_| PANIC.take())
}

/// The result of a scenario whose run panicked, as `why` says. That is a bug of this program; the other scenarios keep their results.
pub(crate) fn broken(scenario: &Scenario, why: &str) -> ScenarioResult {
    ScenarioResult {
        problem: Some(
            Problem::new(format!("mcp-eval itself failed on this scenario: {why}"))
                .hint("this is a bug of mcp-eval: please report it with this message"),
        ),
        ..result(scenario, Status::Error)
    }
}

/// What every result says of its scenario.
pub(crate) fn result(scenario: &Scenario, status: Status) -> ScenarioResult {
    let path = scenario.path.display().to_string();
    ScenarioResult {
        description: scenario.description.clone(),
        user_intent: scenario.user_intent.clone(),
        row_of: scenario.row_of.clone(),
        cell: scenario.cell.clone(),
        tags: scenario.tags.clone(),
        labels: scenario.labels.clone(),
        places: scenario.places.clone(),
        ..ScenarioResult::new(&scenario.id, &scenario.name, path, status)
    }
}

/// Whether a result needs no attention.
pub(crate) fn is_fine(result: &ScenarioResult) -> bool {
    result.status.is_fine() || result.status == Status::Skipped
}

pub(crate) fn not_run(scenario: &Scenario, status: Status, why: String) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem::new(why)),
        ..result(scenario, status)
    }
}
