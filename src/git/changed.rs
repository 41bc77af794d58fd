//! The files of a repository: those that have changed, and what they hold right now, as one hash.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::{DiffOptions, ErrorCode, Index, Repository, Status};
use sha2::{Digest, Sha256};

use super::{all_files, checkout, open, real};
use crate::model::published::result::Commit;

/// The files of a repository that have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The folder of its work tree, without links.
    pub root: PathBuf,
    /// Where they lie, or lay before they were removed, without links in `root`. A submodule counts as one of them, and so does a repository
    /// within that git does not know.
    pub files: BTreeSet<PathBuf>,
    /// Those of them that git does not track.
    pub untracked: BTreeSet<PathBuf>,
    /// What was compared with; `None` for the last commit.
    pub since: Option<Commit>,
}

/// Why it is not known what has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangedError {
    /// There is no repository, or it cannot be read.
    #[error("{0}")]
    Repository(String),
    /// There is no such commit.
    #[error("{0}")]
    Reference(String),
    /// The commit and the last one have nothing in common, as far as is known here.
    #[error("the last commit and `{reference}` have no common ancestor{}", if *.shallow { ", as far as this shallow clone knows" } else { "" })]
    NoMergeBase { reference: String, shallow: bool },
}

/// What has changed in the repository around a folder: in its work tree and its index since the last commit, untracked files included and
/// ignored ones not; and with a `reference`, also what was committed since the last common ancestor with that.
///
/// # Errors
///
/// Why it is not known.
pub fn changed(path: &Path, reference: Option<&str>) -> Result<Changed, ChangedError> {
    let repository = open(path).map_err(ChangedError::Repository)?;
    let bare = || ChangedError::Repository("the repository has no work tree".to_owned());
    let root = real(repository.workdir().ok_or_else(bare)?);
    let since = reference
        .map(|it| merge_base(&repository, path, it))
        .transpose()?;
    let unreadable = |error: git2::Error| {
        let why = format!("what has changed cannot be read: {}", error.message());
        ChangedError::Repository(why)
    };
    let (mut names, untracked) = uncommitted(&repository).map_err(unreadable)?;
    if let Some(since) = &since {
        names.extend(committed_since(&repository, since).map_err(unreadable)?);
    }
    Ok(Changed {
        files: names.iter().map(|it| root.join(it)).collect(),
        untracked: untracked.iter().map(|it| root.join(it)).collect(),
        root,
        since,
    })
}

/// The folder of the work tree that a folder lies in, without links.
///
/// # Errors
///
/// Why there is none, in a few words.
pub fn root(path: &Path) -> Result<PathBuf, String> {
    let repository = open(path)?;
    let root = repository.workdir();
    Ok(real(root.ok_or("the repository has no work tree")?))
}

fn merge_base(
    repository: &Repository,
    path: &Path,
    reference: &str,
) -> Result<Commit, ChangedError> {
    let wanted = checkout::resolve(path, reference).map_err(ChangedError::Reference)?;
    let unborn = |_| ChangedError::Repository("the repository has no commit yet".to_owned());
    let head = repository.head().and_then(|it| it.peel_to_commit());
    let head = head.map_err(unborn)?.id();
    let base = git2::Oid::from_str(&wanted.commit)
        .and_then(|it| repository.merge_base(head, it))
        .map_err(|error| match error.code() {
            ErrorCode::NotFound => ChangedError::NoMergeBase {
                reference: reference.to_owned(),
                shallow: repository.is_shallow(),
            },
            // A shallow clone lacks the commits on the way.
            _ => ChangedError::Repository(format!(
                "the history of the repository cannot be read: {}",
                error.message()
            )),
        })?;
    checkout::resolve(path, &base.to_string()).map_err(ChangedError::Reference)
}

/// Names below the root of what differs between the last commit, the index and the work tree, and of those the ones that git does not track.
fn uncommitted(
    repository: &Repository,
) -> Result<(BTreeSet<PathBuf>, BTreeSet<PathBuf>), git2::Error> {
    let statuses = repository.statuses(Some(&mut all_files()))?;
    let changed = || statuses.iter().filter(|it| it.status() != Status::CURRENT);
    let untracked = changed().filter(|it| it.status() == Status::WT_NEW);
    let untracked = untracked.map(|it| name(it.path_bytes())).collect();
    Ok((
        changed().map(|it| name(it.path_bytes())).collect(),
        untracked,
    ))
}

/// The same of what differs between a commit and the last one. What was taken back since counts as unchanged, unless it has changed again.
fn committed_since(
    repository: &Repository,
    since: &Commit,
) -> Result<BTreeSet<PathBuf>, git2::Error> {
    let before = git2::Oid::from_str(&since.commit)?;
    let before = repository.find_commit(before)?.tree()?;
    let now = repository.head()?.peel_to_tree()?;
    let mut options = DiffOptions::new();
    let changes = repository.diff_tree_to_tree(Some(&before), Some(&now), Some(&mut options))?;
    let sides = changes.deltas().flat_map(|it| {
        let sides = [it.old_file().path_bytes(), it.new_file().path_bytes()];
        sides.map(|it| it.map(name))
    });
    Ok(sides.flatten().collect())
}

/// A name as git has it: that of a repository within ends with `/`.
pub(super) fn name(bytes: &[u8]) -> PathBuf {
    let name = bytes.strip_suffix(b"/").unwrap_or(bytes);
    PathBuf::from(OsStr::from_bytes(name))
}

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

/// The work tree around a folder, as git looks at its files.
pub struct Worktree {
    repository: Repository,
    root: PathBuf,
}

impl Worktree {
    /// `None` where there is no repository.
    pub fn around(folder: &Path) -> Option<Self> {
        let repository = open(folder).ok()?;
        let root = real(repository.workdir()?);
        Some(Self { repository, root })
    }

    /// Whether a path is ignored, and is not there all the same because somebody has added it. It must be without links.
    pub fn ignores(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root);
        below.is_ok_and(|it| {
            let is_ignored = self.repository.is_path_ignored(it).unwrap_or(false);
            is_ignored && !self.tracks(path)
        })
    }

    /// Whether a file is one of those that are committed, or about to be. Its path must be without links.
    pub fn tracks(&self, path: &Path) -> bool {
        let index = self.repository.index();
        let entry = path.strip_prefix(&self.root).ok().zip(index.ok());
        entry.is_some_and(|(below, index)| index.get_path(below, 0).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature};

    use super::{ChangedError, changed};

    fn commit(repository: &Repository, message: &str) -> git2::Oid {
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("someone", "someone@example.org").unwrap();
        let parent = repository.head().and_then(|it| it.peel_to_commit()).ok();
        let parents: Vec<_> = parent.iter().collect();
        let head = Some("HEAD");
        repository
            .commit(head, &who, &who, message, &tree, &parents)
            .unwrap()
    }

    #[track_caller]
    fn names(path: &Path, reference: Option<&str>) -> Vec<String> {
        let changed = changed(path, reference).unwrap();
        let below = |it: &PathBuf| {
            it.strip_prefix(&changed.root)
                .unwrap()
                .display()
                .to_string()
        };
        changed.files.iter().map(below).collect()
    }

    #[test]
    fn work_tree_index_and_commits_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let none = changed(path, None).unwrap_err();
        assert_eq!(none.to_string(), "not in a git repository");
        let mut first = RepositoryInitOptions::new();
        let repository = Repository::init_opts(path, first.initial_head("main")).unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            fs::write(path.join(name), text).unwrap();
        };
        for name in [
            "kept",
            "staged",
            "edited",
            "removed",
            "sub/committed",
            "back",
        ] {
            write(name, "1");
        }
        write(".gitignore", "ignored\n");
        // Before the first commit, everything is new.
        assert_eq!(names(path, None).len(), 7);
        assert!(matches!(
            changed(path, Some("main")),
            Err(ChangedError::Reference(_))
        ));
        let base = commit(&repository, "Base");
        assert!(names(path, None).is_empty());

        let of_base = repository.find_commit(base).unwrap();
        repository.branch("topic", &of_base, false).unwrap();
        write("sub/of main", "1");
        commit(&repository, "Main goes on");
        repository.set_head("refs/heads/topic").unwrap();
        let mut all = git2::build::CheckoutBuilder::new();
        repository
            .checkout_head(Some(all.force().remove_untracked(true)))
            .unwrap();
        write("sub/committed", "2");
        write("back", "2");
        commit(&repository, "Topic");
        write("back", "1");
        commit(&repository, "Take one back");

        write("staged", "2");
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("staged")).unwrap();
        index.write().unwrap();
        write("edited", "2");
        write("new/file", "1");
        write("ignored", "1");
        fs::remove_file(path.join("removed")).unwrap();
        let uncommitted = ["edited", "new/file", "removed", "staged"];
        assert_eq!(names(&path.join("sub"), None), uncommitted);
        let since_main = ["edited", "new/file", "removed", "staged", "sub/committed"];
        assert_eq!(names(path, Some("main")), since_main);
        assert_eq!(
            changed(path, Some("main")).unwrap().since.unwrap().subject,
            "Base"
        );
        assert_eq!(names(path, Some("HEAD")), uncommitted);
        let unknown = changed(path, Some("nowhere")).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "the repository has no commit `nowhere`"
        );
    }

    #[test]
    fn histories_without_a_common_ancestor_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        fs::write(folder.path().join("a"), "1").unwrap();
        let first = commit(&repository, "One");
        let tree = repository.find_commit(first).unwrap().tree().unwrap();
        let who = Signature::now("someone", "someone@example.org").unwrap();
        let other = Some("refs/heads/other");
        repository
            .commit(other, &who, &who, "Other", &tree, &[])
            .unwrap();
        let error = changed(folder.path(), Some("other")).unwrap_err();
        let ChangedError::NoMergeBase { shallow, .. } = &error else {
            panic!("{error:?}");
        };
        assert!(!shallow);
        assert_eq!(
            error.to_string(),
            "the last commit and `other` have no common ancestor"
        );
    }
}
