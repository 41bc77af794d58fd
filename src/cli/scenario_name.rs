//! What scenarios that are made here are called, and where they go.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;

/// Where scenarios go.
pub(super) const SCENARIOS: &str = "scenarios";

/// A name that is a path below the folder of scenarios, without extension.
pub(super) fn named(name: &str) -> Result<String, Failure> {
    let is_plain = |part: &str| {
        let allowed = |it: char| it.is_alphanumeric() || "-_.".contains(it);
        !part.is_empty() && !part.starts_with(['.', '_']) && part.chars().all(allowed)
    };
    if name.split('/').all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(
        Failure::usage(format!("`{name}` cannot be the name of a scenario"))
            .hint("use letters, digits, `-`, `_` and `.`, and `/` between folders"),
    )
}

/// The file of a scenario of this name.
pub(super) fn file(name: &str) -> PathBuf {
    Path::new(SCENARIOS).join(format!("{name}.yaml"))
}
