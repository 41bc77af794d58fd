//! What CI must not do.

use crate::cli::failure::Failure;

/// Refuses to write baselines in a CI job, which is known by the variable they all set, unless forced.
pub(super) fn refuse(force: bool) -> Result<(), Failure> {
    let in_ci =
        std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false" && it != "0");
    if in_ci && !force {
        return Err(Failure::usage(
            "CI is set in the environment, and CI does not write baselines",
        )
        .hint("write them on a development machine and commit the result, or pass --force"));
    }
    Ok(())
}
