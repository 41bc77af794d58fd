//! What CI must not do, and others do.

use crate::cli::failure::Failure;
use crate::suite::ci::is_ci;

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
