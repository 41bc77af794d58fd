//! The results of scenarios that have no verdict, and what all results have in common.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use futures_util::FutureExt;

use crate::model::scenario::Scenario;
use crate::model::suite::{NotRun, Problem, ScenarioResult, Status};
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

/// The result of a scenario of which nothing is known, as `why` says.
pub(crate) fn without_verdict(scenario: &Scenario, status: Status, why: String) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem::new(why)),
        ..result(scenario, status)
    }
}

/// The result of a scenario that makes no sense for the command, or that cannot run here and need not.
pub(crate) fn unavailable(scenario: &Scenario, why: String) -> ScenarioResult {
    ScenarioResult {
        not_run: Some(NotRun::Unavailable),
        ..without_verdict(scenario, Status::Skipped, why)
    }
}

/// The result of a scenario that its file has disabled.
pub(crate) fn disabled(scenario: &Scenario) -> ScenarioResult {
    match scenario.left_out {
        Some(why) => unavailable(scenario, why.to_owned()),
        None => ScenarioResult {
            not_run: Some(NotRun::Disabled),
            ..without_verdict(
                scenario,
                Status::Skipped,
                "the scenario is disabled (`enabled: false`)".to_owned(),
            )
        },
    }
}

/// The result of a scenario that the command did not come to.
pub(crate) fn not_started(
    scenario: &Scenario,
    status: Status,
    not_run: NotRun,
    why: &str,
) -> ScenarioResult {
    ScenarioResult {
        not_run: Some(not_run),
        ..without_verdict(scenario, status, format!("not started: {why}"))
    }
}
