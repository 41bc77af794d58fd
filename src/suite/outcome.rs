//! The outcome of scenarios that have no verdict, of all scenarios as far as it is the same, and of a suite that could not be run at all.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use futures_util::FutureExt;

use crate::model::{NotRun, Problem, ScenarioResult, Status};
use crate::scenario_file::Scenario;
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

/// Goes on with a panic that was [`caught`], once what had to be done first is done.
pub(crate) fn panic_again(why: String) -> ! {
    PANIC.set(why);
    panic::resume_unwind(Box::new(()))
}

/// The result of a scenario whose run panicked, as `why` says. That is a bug of this program; the other scenarios keep their results.
pub(crate) fn broken(scenario: &Scenario, why: &str) -> ScenarioResult {
    result(scenario, Status::Error).with(|it| {
        it.problem = Some(
            Problem::new(format!("mcp-eval itself failed on this scenario: {why}"))
                .hint("this is a bug of mcp-eval: please report it with this message"),
        );
    })
}

/// What every result says of its scenario.
pub(crate) fn result(scenario: &Scenario, status: Status) -> ScenarioResult {
    let path = scenario.path.display().to_string();
    ScenarioResult::new(&scenario.id, &scenario.name, path, status).with(|it| {
        it.description.clone_from(&scenario.description);
        it.user_intent.clone_from(&scenario.user_intent);
        it.row_of.clone_from(&scenario.row_of);
        it.cell.clone_from(&scenario.cell);
        it.tags.clone_from(&scenario.tags);
        it.labels.clone_from(&scenario.labels);
        it.places.clone_from(&scenario.places);
    })
}

/// The result of a scenario of which nothing is known, as `why` says.
pub(crate) fn without_verdict(scenario: &Scenario, status: Status, why: String) -> ScenarioResult {
    result(scenario, status).with(|it| it.problem = Some(Problem::new(why)))
}

/// The result of a scenario that makes no sense for the command, or that cannot run here and need not.
pub(crate) fn unavailable(scenario: &Scenario, why: String) -> ScenarioResult {
    without_verdict(scenario, Status::Skipped, why)
        .with(|it| it.not_run = Some(NotRun::Unavailable))
}

/// The result of a scenario that its file has disabled.
pub(crate) fn disabled(scenario: &Scenario) -> ScenarioResult {
    match scenario.left_out {
        Some(why) => unavailable(scenario, why.to_owned()),
        None => without_verdict(
            scenario,
            Status::Skipped,
            "the scenario is disabled (`enabled: false`)".to_owned(),
        )
        .with(|it| it.not_run = Some(NotRun::Disabled)),
    }
}

/// The result of a scenario that the command did not come to.
pub(crate) fn not_started(
    scenario: &Scenario,
    status: Status,
    not_run: NotRun,
    why: &str,
) -> ScenarioResult {
    without_verdict(scenario, status, format!("not started: {why}"))
        .with(|it| it.not_run = Some(not_run))
}

/// Why scenarios could not be run at all: what failed, and what to try.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be fulfilled.
    #[error("{message}")]
    Invalid {
        message: String,
        hint: Option<String>,
    },
    /// Nothing is wrong with the request, but it could not be carried out.
    #[error("{message}")]
    Incomplete { message: String, hints: Vec<String> },
    /// Runs could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid {
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn incomplete(message: impl Into<String>) -> Self {
        Self::Incomplete {
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The same with what to try, where that is not said yet.
    #[must_use]
    pub(super) fn hint(self, hint: &str) -> Self {
        match self {
            Self::Invalid {
                message,
                hint: None,
            } => Self::Invalid {
                message,
                hint: Some(hint.to_owned()),
            },
            Self::Incomplete { message, mut hints } => {
                hints.push(hint.to_owned());
                Self::Incomplete { message, hints }
            }
            error => error,
        }
    }
}
