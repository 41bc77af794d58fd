//! Paths that can be compared with each other, and shown, and those that the names of scenarios stand for.
//!
//! Some are shown as seen from the root of the checkout: whoever reads a result beside a repository looks for files there, wherever in it the
//! command was started: GitHub for annotations, GitLab for the files of tests, and what reads CTRF or JUnit and links to a commit.

use std::path::{Component, Path, PathBuf};

use crate::cli::exit::Failure;
use crate::git;
use crate::input::real;
use crate::published::result::ResultDocument;
use crate::report::attention;

/// Where something is named, without links in the folders above it.
pub(super) fn named(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}

/// A path as it is seen from the folder that the program was started in.
pub(super) fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}

/// What GitHub and GitLab call the folder that they have checked out.
const CHECKOUTS: [&str; 2] = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"];

/// The folder that was checked out: what CI says it is, else the root of the repository around the working directory.
fn checkout() -> Option<PathBuf> {
    let named = CHECKOUTS.into_iter().filter_map(std::env::var_os);
    let mut named = named.filter(|it| !it.is_empty()).map(PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    let is_around = |it: &PathBuf| {
        let real = it.canonicalize();
        real.is_ok_and(|it| here.starts_with(it))
    };
    named
        .find(is_around)
        .or_else(|| git::root(Path::new(".")).ok())
}

/// The result with the paths of scenario files as seen from the root of the checkout.
pub(super) fn seen_from_checkout(result: &ResultDocument) -> ResultDocument {
    let mut result = result.clone();
    let Some(checkout) = checkout() else {
        return result;
    };
    let seen = SeenFrom::new(&checkout);
    if let Some(problem) = &mut result.problem {
        let lines = problem
            .message
            .lines()
            .map(|it| match attention::placed(it) {
                Some(placed) => {
                    let path = seen.path(Path::new(placed.file));
                    let rest = it.strip_prefix(placed.file).unwrap_or(it);
                    format!("{path}{rest}")
                }
                None => it.to_owned(),
            });
        problem.message = lines.collect::<Vec<_>>().join("\n");
    }
    for scenario in &mut result.scenarios {
        let path = seen.path(Path::new(&scenario.path));
        // What lies elsewhere has no better name.
        if !path.starts_with("..") {
            scenario.path = path;
        }
    }
    result
}

/// Paths as seen from a folder.
pub(super) struct SeenFrom {
    working_dir: PathBuf,
    folder: PathBuf,
}

impl SeenFrom {
    /// The folder may be relative to the working directory.
    pub(super) fn new(folder: &Path) -> Self {
        let working_dir = std::env::current_dir().unwrap_or_default();
        Self {
            folder: plain(&working_dir.join(folder)),
            working_dir,
        }
    }

    /// A path, which may be relative to the working directory, with `/`.
    pub(super) fn path(&self, to: &Path) -> String {
        let to = plain(&self.working_dir.join(to));
        let shared = self
            .folder
            .components()
            .zip(to.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = self
            .folder
            .components()
            .skip(shared)
            .map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(to.components().skip(shared)).collect();
        path.to_string_lossy().into_owned()
    }
}

/// The path without steps that lead nowhere (`.`) or back (`..`).
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            step => plain.push(step),
        }
    }
    plain
}

/// Where scenarios go.
pub(super) const SCENARIOS: &str = "scenarios";

/// A name that is a path below the folder of scenarios, without extension.
pub(super) fn scenario_name(name: &str) -> Result<String, Failure> {
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
pub(super) fn file_of_scenario(name: &str) -> PathBuf {
    Path::new(SCENARIOS).join(format!("{name}.yaml"))
}
