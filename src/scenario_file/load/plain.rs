//! Files of YAML or JSON that hold something else than scenarios.

use std::path::Path;

use serde_json::Value;

use crate::scenario_file::yaml::finding::{Finding, Severity};

/// The value that a file holds.
///
/// # Errors
///
/// Why it cannot be read, with the place where there is one.
#[expect(
    clippy::result_large_err,
    reason = "it is made once for a file that cannot be used"
)]
pub fn plain_file(path: &Path) -> Result<Value, Finding> {
    let about = |why: String| Finding::about(path.display(), Severity::Error, why);
    let text =
        std::fs::read_to_string(path).map_err(|error| about(format!("cannot be read: {error}")))?;
    serde_yaml::from_str(&text).map_err(|error| {
        let finding = about(error.to_string());
        match error.location() {
            Some(place) => {
                let line = text.lines().nth(place.line().saturating_sub(1));
                finding.at(place.line(), place.column(), line.unwrap_or_default())
            }
            None => finding,
        }
    })
}
