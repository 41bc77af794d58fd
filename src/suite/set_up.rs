//! Commands that are run once before all scenarios of a suite, and once after them.

use tokio_util::sync::CancellationToken;

use super::hooks::Hooks;
use super::settings::Settings;
use crate::model::redacted::Redacted;
use crate::model::redaction::Redaction;
use crate::model::suite::Problem;
use crate::redact::{Redactor, Secrets};
use crate::run::SetupError;

/// The commands around all scenarios, the first of which have been run.
pub(super) struct SetUp {
    hooks: Option<Hooks>,
    /// Why no scenario can be run.
    problem: Option<Problem>,
    /// Knows what the commands were given.
    redactor: Redactor,
}

impl SetUp {
    /// Runs what comes before all scenarios.
    pub(super) async fn run(settings: &Settings, interrupt: &CancellationToken) -> Self {
        let mut secrets = Secrets::default();
        let program = settings.program.clone();
        let hooks = Hooks::around(&settings.around, &mut secrets, program, interrupt.clone());
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let tell = |_: &str| {};
        let (hooks, failed) = match hooks {
            Ok(mut hooks) => {
                let failed = hooks.before(&tell).await.err();
                (Some(hooks), failed)
            }
            Err(problem) => (None, Some(problem)),
        };
        Self {
            problem: failed.map(|it| redacted_problem(&it, &redactor)),
            hooks,
            redactor,
        }
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Runs what comes after them, also where what came before has failed. Returns what went wrong.
    pub(super) async fn tear_down(&mut self) -> Vec<Redacted<String>> {
        let Some(hooks) = self.hooks.take() else {
            return Vec::new();
        };
        let notes = hooks.after(&|_| {}).await;
        notes.iter().map(|it| self.redactor.text(it)).collect()
    }
}

/// The problem without secrets.
fn redacted_problem(problem: &SetupError, redactor: &Redactor) -> Problem {
    let clean = |text: &String| redactor.text(text).into_inner();
    let message = clean(&problem.message);
    Problem {
        record: None,
        message: format!("the suite cannot begin: {message}"),
        hint: None,
        details: problem.details.iter().map(clean).collect(),
    }
}
