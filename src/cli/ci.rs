//! What CI must not do, and others do.

use crate::cli::failure::Failure;
use crate::suite::ci::known_by;

/// Refuses to write baselines in a CI job, unless forced.
pub(super) fn refuse(force: bool) -> Result<(), Failure> {
    if let Some(variable) = known_by().filter(|_| !force) {
        return Err(Failure::usage(format!(
            "{variable} is set in the environment, and CI does not write baselines"
        ))
        .hint(format!(
            "write them on a development machine and commit the result, or pass --force{}",
            no_job(variable)
        )));
    }
    Ok(())
}

/// How to say that this is no CI job, where another variable than `CI` says that it is one.
fn no_job(variable: &str) -> &'static str {
    if variable == "CI" {
        ""
    } else {
        "; `CI=false` says that this is not a CI job"
    }
}
