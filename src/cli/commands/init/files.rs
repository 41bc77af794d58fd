//! The files of a project that begins, besides its scenarios: nothing that is there is changed, but for lines that are added.

use std::fs;
use std::io;
use std::path::Path;

use crate::cli::failure::Failure;
use crate::store;

/// A scenario that needs no server, to see how everything works.
pub(super) const EXAMPLE: &str = include_str!("first.yaml");

/// What is no part of a project's history.
const IGNORED: [&str; 3] = [".mcp-eval/", "reports/", "pending.json"];

/// Adds the lines to `.gitignore` that are missing there; returns them.
///
/// # Errors
///
/// When the file cannot be read or written.
pub(super) fn ignore(folder: &Path) -> Result<Vec<&'static str>, Failure> {
    let path = folder.join(".gitignore");
    let before = match fs::read(&path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let failure = format!("cannot read {}: {error}", path.display());
            return Err(Failure::incomplete(failure));
        }
    };
    let known = String::from_utf8_lossy(&before);
    let is_known = |wanted: &str| known.lines().any(|line| bare(line) == bare(wanted));
    let missing: Vec<&str> = IGNORED.into_iter().filter(|it| !is_known(it)).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    let newline = if known.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after = before.clone();
    if !after.is_empty() && !after.ends_with(b"\n") {
        after.extend_from_slice(newline.as_bytes());
    }
    for line in &missing {
        after.extend_from_slice(line.as_bytes());
        after.extend_from_slice(newline.as_bytes());
    }
    store::write(&path, &after)?;
    Ok(missing)
}

/// Nothing is overwritten.
pub(super) fn is_there(path: &Path) -> Failure {
    Failure::usage(format!("{} is there already", path.display())).hint(
        "choose another name with --name NAME; `mcp-eval record` records the existing one again",
    )
}

/// A line of `.gitignore` in the way that all spellings of it have in common. One that says the opposite counts: somebody meant it.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches('!');
    let line = line.strip_prefix("**/").unwrap_or(line);
    line.trim_matches('/')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::ignore;

    #[test]
    fn lines_are_added_once_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".gitignore");
        for (before, after) in [
            ("", ".mcp-eval/\nreports/\npending.json\n"),
            ("target", "target\n.mcp-eval/\nreports/\npending.json\n"),
            (
                "/reports\n# ours\n",
                "/reports\n# ours\n.mcp-eval/\npending.json\n",
            ),
            (
                "a\r\n**/pending.json\r\n",
                "a\r\n**/pending.json\r\n.mcp-eval/\r\nreports/\r\n",
            ),
            (
                "!reports/\n.mcp-eval\npending.json",
                "!reports/\n.mcp-eval\npending.json",
            ),
        ] {
            fs::write(&path, before).unwrap();
            ignore(folder.path()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
            assert!(ignore(folder.path()).unwrap().is_empty());
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
    }
}
