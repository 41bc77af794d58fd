//! The files of a project that begins, besides its scenarios: nothing that is there is changed, but for lines that are added. The files of CI go to the root of
//! the repository, wherever in it the scenarios are.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::cli::args::Workflow;
use crate::cli::exit::Failure;
use crate::{git, store};

/// A scenario that needs no server, to see how everything works.
pub(super) const EXAMPLE: &str = include_str!("first.yaml");

/// What is no part of a project's history.
const IGNORED: [&str; 3] = [".mcp-eval/", "reports/", "pending.json"];

/// What reviewers need not read, as the text beside it says the same.
const GENERATED: [&str; 2] = [
    "baselines/**/baseline.json linguist-generated",
    "baselines/_catalogues/*.json linguist-generated",
];

/// Adds the lines to `.gitignore` that are missing there; returns them.
///
/// # Errors
///
/// When the file cannot be read or written.
pub(super) fn ignore(folder: &Path) -> Result<Vec<&'static str>, Failure> {
    add(&folder.join(".gitignore"), &IGNORED)
}

/// The same of `.gitattributes`, by which the pages of a change fold what was generated.
///
/// # Errors
///
/// As there.
pub(super) fn fold_generated(folder: &Path) -> Result<Vec<&'static str>, Failure> {
    add(&folder.join(".gitattributes"), &GENERATED)
}

fn add(path: &Path, wanted: &[&'static str]) -> Result<Vec<&'static str>, Failure> {
    let before = match fs::read(path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let failure = format!("cannot read {}: {error}", path.display());
            return Err(Failure::incomplete(failure));
        }
    };
    let known = String::from_utf8_lossy(&before);
    let is_known = |wanted: &str| known.lines().any(|line| bare(line) == bare(wanted));
    let missing = wanted.iter().copied().filter(|it| !is_known(it));
    let missing: Vec<&str> = missing.collect();
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
    store::write(path, &after)?;
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

const ACTION: &str = include_str!("../../../../.github/actions/mcp-eval/action.yml");
const GITHUB: &str = include_str!("workflow.github.yml");
const JOB: &str = include_str!("../../../../.gitlab/mcp-eval.gitlab-ci.yml");
const GITLAB: &str = include_str!("workflow.gitlab.yml");

/// What has become of a file.
pub(super) struct Written {
    pub(super) path: PathBuf,
    /// It was there already and is another one: nothing is overwritten.
    pub(super) is_kept: bool,
}

/// Where this folder lies in its repository.
pub(super) struct Place {
    /// The folder as the root sees it: `.` or `a/b`.
    folder: String,
    /// The root as the folder sees it: nothing or `../..`.
    root: PathBuf,
    /// Why this folder is taken for the root, where no repository says so.
    pub(super) no_repository: Option<String>,
}

/// Finds the root of the repository; without one, this folder may become one.
///
/// # Errors
///
/// When the folder is gone.
pub(super) fn place() -> Result<Place, Failure> {
    let here = Path::new(".").canonicalize();
    let here = here.map_err(|error| Failure::incomplete(format!("the folder is gone: {error}")))?;
    let (root, no_repository) = match git::root(&here) {
        Ok(root) => (root, None),
        Err(why) => (here.clone(), Some(why)),
    };
    let below = here.strip_prefix(&root).unwrap_or(Path::new(""));
    let folder = match below.to_string_lossy() {
        it if it.is_empty() => ".".to_owned(),
        it => it.into_owned(),
    };
    let root = below.components().map(|_| "..").collect();
    Ok(Place {
        folder,
        root,
        no_repository,
    })
}

/// Writes the files of a workflow. What is there stays.
///
/// # Errors
///
/// When a file cannot be written.
pub(super) fn write(workflow: Workflow, place: &Place) -> Result<Vec<Written>, Failure> {
    // JSON is YAML.
    let folder = Value::from(place.folder.as_str()).to_string();
    let named = |text: &str| text.replace("{folder}", &folder);
    let files = match workflow {
        Workflow::Github => [
            (".github/actions/mcp-eval/action.yml", ACTION.to_owned()),
            (".github/workflows/mcp-eval.yml", named(GITHUB)),
        ],
        Workflow::Gitlab => [
            (".gitlab/mcp-eval.gitlab-ci.yml", JOB.to_owned()),
            (".gitlab-ci.yml", named(GITLAB)),
        ],
    };
    let mut written = Vec::new();
    for (name, text) in files {
        let path = place.root.join(name);
        let is_there = path.symlink_metadata().is_ok();
        if !is_there {
            store::write(&path, text.as_bytes())?;
        }
        let is_same = is_there && fs::read(&path).is_ok_and(|it| it == text.as_bytes());
        if !is_same {
            written.push(Written {
                path,
                is_kept: is_there,
            });
        }
    }
    Ok(written)
}

/// What is left to do by hand, in a sentence.
pub(super) fn next(workflow: Workflow, written: &[Written]) -> String {
    let source = "mcp-eval has to be on the path of the runner, or the variable MCP_EVAL_SOURCE names its source for `git clone`";
    let is_kept = |name: &str| {
        written
            .iter()
            .any(|it| it.is_kept && it.path.ends_with(name))
    };
    match workflow {
        Workflow::Gitlab if is_kept(".gitlab-ci.yml") => format!(
            "add to .gitlab-ci.yml: `include: {{ local: .gitlab/mcp-eval.gitlab-ci.yml }}`, and a job that extends `.mcp-eval`; {source}"
        ),
        _ => source.to_owned(),
    }
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
