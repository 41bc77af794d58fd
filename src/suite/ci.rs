//! What CI must not do, and others do.

use crate::model::trajectory::Trajectory;
use crate::store::Baselines;

/// Whether this is a CI job, which is known by the variable they all set.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false" && it != "0")
}

/// Puts right what a program that was killed has left beside a scenario's baseline, whose main trajectory was loaded.
///
/// Commands that only read do this too, because a `trajectory.txt` of another recording would mislead a reviewer; the accepted trajectory
/// itself is never changed. Nothing is done in CI, which must not change committed files. Failures are ignored, so that reading goes on.
pub(crate) fn mend(baselines: &Baselines, scenario: &str, main: Option<&Trajectory>) {
    if !is_ci() {
        let _ = baselines.mend(scenario, main);
    }
}
