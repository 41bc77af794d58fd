//! What the files of a repository hold right now, as one hash.

use std::path::{Path, PathBuf};

use git2::{Index, Repository, Status};
use sha2::{Digest, Sha256};

use super::changed::name;
use super::{all_files, open, real};

/// What a folder of a repository holds, as hashes in hexadecimal. Ignored files do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Its last commit, and what differs from it of the files that git knows.
    pub tracked: String,
    /// The files that git does not know.
    pub untracked: String,
}

/// What the whole repository around a folder holds right now, its submodules included. `ours` are files and folders that do not count.
///
/// # Errors
///
/// Why it is not known, in a few words.
pub fn state_around(path: &Path, ours: &[&Path]) -> Result<State, String> {
    let repository = open(path)?;
    let root = repository
        .workdir()
        .ok_or("the repository has no work tree")?;
    state(root, ours)
}

/// The files below a folder that are committed, or about to be, whoever owns the repository; none where there is no repository, or its index
/// cannot be read.
pub fn tracked(folder: &Path) -> Vec<PathBuf> {
    let folder = real(folder);
    let root = folder.ancestors().find(|it| it.join(".git").exists());
    let found = Repository::discover_path(&folder, [""; 0]);
    let index = found.and_then(|it| Index::open(&it.join("index")));
    let (Some(root), Ok(index)) = (root, index) else {
        return Vec::new();
    };
    let files = index.iter().map(|it| root.join(name(&it.path)));
    files.filter(|it| it.starts_with(&folder)).collect()
}

/// What a folder of a repository holds right now. `ours` are files and folders that do not count.
///
/// # Errors
///
/// Why it is not known, in a few words.
pub fn state(path: &Path, ours: &[&Path]) -> Result<State, String> {
    let unreadable = |_| "the state of the repository's files cannot be read".to_owned();
    let repository = open(path)?;
    let root = repository
        .workdir()
        .ok_or("the repository has no work tree")?;
    let root = real(root);
    let below = real(path);
    let ours: Vec<PathBuf> = ours.iter().map(|it| real(it)).collect();
    let statuses = repository
        .statuses(Some(&mut all_files()))
        .map_err(unreadable)?;
    let (mut tracked, mut untracked) = (Sha256::new(), Sha256::new());
    tracked.update(committed(&repository, &below, &root));
    for entry in statuses.iter().filter(|it| it.status() != Status::CURRENT) {
        let name = String::from_utf8_lossy(entry.path_bytes()).into_owned();
        let file = root.join(&name);
        if !file.starts_with(&below) || ours.iter().any(|it| file.starts_with(it)) {
            continue;
        }
        let hash = if entry.status().contains(Status::WT_NEW) {
            &mut untracked
        } else {
            &mut tracked
        };
        hash.update(name.as_bytes());
        hash.update([0]);
        // One that was removed has no content; a submodule has what its own repository holds.
        let within = is_submodule(&file).then(|| state(&file, &[]).ok());
        match within.flatten() {
            Some(within) => {
                hash.update(within.tracked.as_bytes());
                hash.update(within.untracked.as_bytes());
            }
            None => hash.update(hash_of(&file).as_bytes()),
        }
    }
    Ok(State {
        tracked: hex::encode(tracked.finalize()),
        untracked: hex::encode(untracked.finalize()),
    })
}

/// The identity of what is committed of a folder: a change elsewhere in the repository is none of it.
fn committed(repository: &Repository, below: &Path, root: &Path) -> String {
    let Ok(tree) = repository.head().and_then(|it| it.peel_to_tree()) else {
        return String::new();
    };
    let within = below.strip_prefix(root).unwrap_or(Path::new(""));
    if within == Path::new("") {
        return tree.id().to_string();
    }
    let id = tree.get_path(within).map(|it| it.id().to_string());
    id.unwrap_or_default()
}

fn is_submodule(path: &Path) -> bool {
    path.is_dir() && path.join(".git").exists()
}

/// The content of a file, or where a link leads, as a hash; empty for what is neither.
fn hash_of(path: &Path) -> String {
    let content = match path.symlink_metadata() {
        Ok(it) if it.is_symlink() => std::fs::read_link(path)
            .map(|it| it.to_string_lossy().into_owned().into_bytes())
            .ok(),
        Ok(it) if it.is_file() => std::fs::read(path).ok(),
        _ => None,
    };
    content.map_or_else(String::new, |it| hex::encode(Sha256::digest(it)))
}
