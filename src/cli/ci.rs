//! What CI must not do, and others do.

use crate::cli::failure::Failure;
use crate::model::trajectory::Trajectory;
use crate::store::Baselines;

/// Whether this is a CI job, which is known by the variable they all set.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false" && it != "0")
}

/// Refuses to write baselines in a CI job, unless forced.
pub(super) fn refuse(force: bool) -> Result<(), Failure> {
    if is_ci() && !force {
        return Err(Failure::usage(
            "CI is set in the environment, and CI does not write baselines",
        )
        .hint("write them on a development machine and commit the result, or pass --force"));
    }
    Ok(())
}

/// Puts right what a program that was killed has left beside a scenario's baseline, whose main trajectory was loaded.
///
/// Also where a command only reads: what was accepted stays as it is, and a `trajectory.txt` of another recording would mislead whoever
/// reviews it. Not in CI, which looks at what was committed and changes nothing; and where it cannot be done, whoever reads is not held up.
pub(super) fn mend(baselines: &Baselines, scenario: &str, main: Option<&Trajectory>) {
    if !is_ci() {
        let _ = baselines.mend(scenario, main);
    }
}
