//! Git repositories: their state, for stamps and for what is built from them; a version of them in a folder of its own; what is staged; what
//! has changed; what is ignored.

mod changed;
mod checkout;
mod lfs;
mod stamp;
mod submodules;

use std::path::{Path, PathBuf};

use git2::{Config, ErrorCode, Repository, StatusOptions};

pub use self::changed::{
    Changed, ChangedError, State, Worktree, changed, root, state, state_around, tracked,
};
pub use self::checkout::{Checkout, between, check_out, resolve};
pub use self::stamp::stamp;

/// The state of all files, but of what is ignored, and of what lies within submodules.
fn all_files() -> StatusOptions {
    let mut options = StatusOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_ignored(false)
        .exclude_submodules(false);
    options
}

/// Hands out the files that are staged and differ from the last commit: where they lie in the working tree, and their staged content.
///
/// # Errors
///
/// Why nothing can be read, in a few words.
pub fn staged(path: &Path, mut take: impl FnMut(&Path, &[u8])) -> Result<(), String> {
    let unreadable = |_| "what is staged cannot be read".to_owned();
    let repository = open(path)?;
    let folder = repository.workdir().unwrap_or(repository.path());
    // Before the first commit, everything is new.
    let last = repository.head().and_then(|it| it.peel_to_tree()).ok();
    let changes = repository.diff_tree_to_index(last.as_ref(), None, None);
    for change in changes.map_err(unreadable)?.deltas() {
        let file = change.new_file();
        // What is removed has no content, and a submodule is no file.
        let content = repository.find_blob(file.id());
        if let (Some(path), Ok(content)) = (file.path(), content) {
            take(&folder.join(path), content.content());
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<Repository, String> {
    Repository::discover(path).map_err(|error| match error.code() {
        ErrorCode::NotFound => "not in a git repository".to_owned(),
        ErrorCode::Owner => {
            "the repository belongs to another user: `git config --global --add safe.directory DIR`, with its folder, lets it be read"
                .to_owned()
        }
        _ => unsupported(path).map_or_else(
            || "the repository cannot be opened".to_owned(),
            |what| format!("the repository {what}, a format that cannot be read"),
        ),
    })
}

/// What about a repository is newer than what can be opened.
fn unsupported(path: &Path) -> Option<&'static str> {
    let mut folders = path.ancestors().map(|it| it.join(".git"));
    let config = Config::open(&folders.find(|it| it.is_dir())?.join("config")).ok()?;
    let is = |key: &str, value: &str| config.get_string(key).is_ok_and(|it| it == value);
    if is("extensions.objectformat", "sha256") {
        Some("has SHA-256 object ids")
    } else if is("extensions.refstorage", "reftable") {
        Some("keeps its references as reftable")
    } else {
        None
    }
}

/// A path without links in it, so that paths can be compared.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
