//! Paths as seen from the root of the checkout. Whoever reads a result beside a repository looks for files there, wherever in it the
//! command was started: GitHub for annotations, GitLab for the files of tests, and what reads CTRF or JUnit and links to a commit.

use std::path::{Path, PathBuf};

use crate::cli::seen_from::SeenFrom;
use crate::git;
use crate::published::result::ResultDocument;
use crate::report::attention;

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
