//! What runs the scenarios in CI: files for the root of the repository, wherever in it the scenarios are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::args::Workflow;
use crate::cli::failure::Failure;
use crate::git;
use crate::store;

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
        let is_same = is_there && std::fs::read(&path).is_ok_and(|it| it == text.as_bytes());
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
