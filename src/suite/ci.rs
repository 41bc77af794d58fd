//! What CI must not do, and others do.

use crate::model::trajectory::Trajectory;
use crate::store::Baselines;

/// Whether this is a CI job, which is known by the variable they all set.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false" && it != "0")
}

/// Puts right what a program that was killed has left beside a scenario's baseline, whose main trajectory was loaded.
///
/// Also where a command only reads: what was accepted stays as it is, and a `trajectory.txt` of another recording would mislead whoever
/// reviews it. Not in CI, which looks at what was committed and changes nothing; and where it cannot be done, whoever reads is not held up.
pub(crate) fn mend(baselines: &Baselines, scenario: &str, main: Option<&Trajectory>) {
    if !is_ci() {
        let _ = baselines.mend(scenario, main);
    }
}
