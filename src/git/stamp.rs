//! The state of a git repository, for the stamp of a run.

use std::path::Path;
use std::process::{Command, Stdio};

use git2::{DescribeFormatOptions, DescribeOptions, ErrorCode, Repository, StatusOptions};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::{open, unsupported};
use crate::model::{Git, GitCommit};

/// The repository around `path`, as it stands.
///
/// `ours` are folders mcp-eval writes to, such as the baselines: changes in them do not make the repository dirty, or recording
/// twice would give two different stamps. Never fails: a state that cannot be determined is [`Git::Unknown`], with a reason that
/// holds no absolute path.
pub fn stamp(path: &Path, ours: &[&Path]) -> Git {
    read(path, ours).map_or_else(|reason| Git::Unknown { reason }, Git::Known)
}

fn read(path: &Path, ours: &[&Path]) -> Result<GitCommit, String> {
    if !path.exists() {
        return Err("the folder does not exist".to_owned());
    }
    let repository = match open(path) {
        Ok(repository) => repository,
        Err(why) => {
            let commit = unsupported(path).and_then(|_| of_program(path));
            return commit.ok_or(why);
        }
    };
    let head = repository.head().map_err(|error| match error.code() {
        ErrorCode::UnbornBranch => "the repository has no commit yet".to_owned(),
        _ => "the repository has no readable head".to_owned(),
    })?;
    let commit = head
        .peel_to_commit()
        .map_err(|_| "the head of the repository is not a commit".to_owned())?;
    let id = commit.id().to_string();
    let short = commit
        .as_object()
        .short_id()
        .ok()
        .and_then(|it| it.as_str().ok().map(str::to_owned))
        .unwrap_or_else(|| id.chars().take(7).collect());
    let detached = repository.head_detached().unwrap_or(false);
    let branch = if detached {
        None
    } else {
        head.shorthand().ok().map(str::to_owned)
    };
    Ok(GitCommit {
        short,
        branch,
        describe: describe(&repository),
        subject: commit
            .summary_bytes()
            .map(|it| String::from_utf8_lossy(it).into_owned())
            .unwrap_or_default(),
        committed_at: committed_at(commit.time()),
        dirty: Some(is_dirty(&repository, ours)?),
        remote: remote(&repository),
        commit: id,
    })
}

/// What the program `git` says of a repository in a format that only it can read. Whether its files have changed is not asked, because that
/// may run what the repository's configuration names.
fn of_program(path: &Path) -> Option<GitCommit> {
    let ask = |arguments: &[&str]| {
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        // What is missing is fetched from nowhere.
        git.env("GIT_ALLOW_PROTOCOL", "none").stdin(Stdio::null());
        let said = git.arg("-C").arg(path).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&said.stdout).trim_end().to_owned();
        (said.status.success() && !text.is_empty()).then_some(text)
    };
    let format = "--format=%H%n%h%n%cI%n%s";
    let commit = ask(&["log", "-1", "--no-show-signature", format])?;
    let mut lines = commit.lines().map(str::to_owned);
    Some(GitCommit {
        commit: lines.next()?,
        short: lines.next()?,
        committed_at: lines.next()?,
        subject: lines.next().unwrap_or_default(),
        branch: ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
        describe: ask(&["describe", "--tags", "--abbrev=7"]),
        dirty: None,
        remote: ask(&["remote", "get-url", "origin"]).and_then(|it| without_access(&it)),
    })
}

/// Where the repository is fetched from: the remote of its branch, else `origin`, else the only one there is.
pub(super) fn remote(repository: &Repository) -> Option<String> {
    let of_branch = || {
        let head = repository.head().ok()?;
        let remote = repository.branch_upstream_remote(head.name().ok()?).ok()?;
        Some(remote.as_str().ok()?.to_owned())
    };
    let only = || {
        let names = repository.remotes().ok()?;
        let name = names.get(0).ok().flatten().filter(|_| names.len() == 1)?;
        Some(name.to_owned())
    };
    let named = |name: String| repository.find_remote(&name).ok();
    let remote = of_branch()
        .and_then(named)
        .or_else(|| named("origin".to_owned()))
        .or_else(|| only().and_then(named))?;
    without_access(remote.url().ok()?)
}

/// An address without user, password and query, which may give access; `None` for a path on this machine.
fn without_access(address: &str) -> Option<String> {
    let after_user = |authority: &str| {
        let host = authority.rsplit('@').next().unwrap_or_default();
        host.to_owned()
    };
    if let Some((scheme, rest)) = address.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        return matches!(scheme, "https" | "http" | "ssh" | "git")
            .then(|| format!("{scheme}://{}/{path}", after_user(authority)));
    }
    // `git@host:owner/repository`, as git writes it; one letter before the colon is a drive.
    let (authority, path) = address.split_once(':')?;
    let is_path = authority.contains(['/', '\\']) || authority.len() < 2;
    (!is_path).then(|| {
        format!(
            "ssh://{}/{}",
            after_user(authority),
            path.trim_start_matches('/')
        )
    })
}

fn describe(repository: &Repository) -> Option<String> {
    repository
        .describe(DescribeOptions::new().describe_tags())
        .ok()?
        .format(Some(DescribeFormatOptions::new().abbreviated_size(7)))
        .ok()
}

fn committed_at(time: git2::Time) -> String {
    let instant = Timestamp::from_second(time.seconds()).unwrap_or_default();
    let zone = Offset::from_seconds(time.offset_minutes() * 60).unwrap_or(Offset::UTC);
    let zoned = instant.to_zoned(TimeZone::fixed(zone));
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// Whether tracked files differ from the commit, outside the folders we write to.
fn is_dirty(repository: &Repository, ours: &[&Path]) -> Result<bool, String> {
    let root = repository
        .workdir()
        .ok_or("the repository has no work tree")?
        .to_path_buf();
    let root = root.canonicalize().unwrap_or(root);
    let ours: Vec<_> = ours
        .iter()
        .filter_map(|it| {
            it.canonicalize()
                .ok()?
                .strip_prefix(&root)
                .ok()
                .map(Path::to_owned)
        })
        .filter(|it| it != Path::new(""))
        .collect();
    let mut options = StatusOptions::new();
    options
        .include_untracked(false)
        .include_ignored(false)
        .exclude_submodules(true);
    let statuses = repository
        .statuses(Some(&mut options))
        .map_err(|_| "the state of the repository's files cannot be read".to_owned())?;
    Ok(statuses.iter().any(|entry| {
        let path = String::from_utf8_lossy(entry.path_bytes()).into_owned();
        !ours.iter().any(|it| Path::new(&path).starts_with(it))
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use git2::{Repository, Signature};

    use super::{stamp, without_access};
    use crate::model::{Git, GitCommit};

    fn known(path: &Path, ours: &[&Path]) -> GitCommit {
        match stamp(path, ours) {
            Git::Known(commit) => commit,
            Git::Unknown { reason } => panic!("unknown: {reason}"),
        }
    }

    #[test]
    fn what_only_git_itself_can_read_is_asked_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            let name = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let ran = git.arg("-C").arg(folder.path()).args(name);
            ran.args(arguments)
                .output()
                .is_ok_and(|it| it.status.success())
        };
        // Versions of git from before 2020 know one format.
        if !git(&["init", "--quiet", "--object-format=sha256", "-b", "main"]) {
            return;
        }
        assert!(git(&["commit", "--quiet", "--allow-empty", "-m", "one"]));
        let commit = known(folder.path(), &[]);
        assert_eq!(commit.commit.len(), 64);
        assert_eq!((commit.subject.as_str(), commit.dirty), ("one", None));
        assert_eq!(commit.branch.as_deref(), Some("main"));
    }

    fn unknown(path: &Path) -> String {
        match stamp(path, &[]) {
            Git::Known(commit) => panic!("known: {commit:?}"),
            Git::Unknown { reason } => reason,
        }
    }

    fn commit_all(repository: &Repository, message: &str) -> git2::Oid {
        let mut index = repository.index().unwrap();
        index
            .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
            .unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let time = git2::Time::new(1_700_000_000, 120);
        let who = Signature::new("someone", "someone@example.org", &time).unwrap();
        let parents: Vec<_> = repository
            .head()
            .ok()
            .and_then(|it| it.peel_to_commit().ok())
            .into_iter()
            .collect();
        let parents: Vec<_> = parents.iter().collect();
        repository
            .commit(Some("HEAD"), &who, &who, message, &tree, &parents)
            .unwrap()
    }

    #[test]
    fn a_repository_is_described() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let repository = Repository::init_opts(
            path,
            git2::RepositoryInitOptions::new().initial_head("trunk"),
        )
        .unwrap();
        assert_eq!(unknown(path), "the repository has no commit yet");

        fs::write(path.join("a"), "1").unwrap();
        fs::create_dir(path.join("baselines")).unwrap();
        fs::write(path.join("baselines/b"), "1").unwrap();
        let id = commit_all(&repository, "First words\n\nmore");
        let object = repository.find_object(id, None).unwrap();
        repository
            .tag_lightweight("v1.2.0", &object, false)
            .unwrap();

        let clean = known(&path.join("baselines"), &[]);
        assert_eq!(clean.commit, id.to_string());
        assert!(clean.commit.starts_with(&clean.short) && clean.short.len() >= 7);
        assert_eq!(clean.branch.as_deref(), Some("trunk"));
        assert_eq!(clean.describe.as_deref(), Some("v1.2.0"));
        assert_eq!(clean.subject, "First words");
        assert_eq!(clean.committed_at, "2023-11-15T00:13:20+02:00");
        assert_eq!(clean.dirty, Some(false));

        fs::write(path.join("new"), "untracked files are nobody's change").unwrap();
        fs::write(path.join("baselines/b"), "2").unwrap();
        assert_eq!(known(path, &[]).dirty, Some(true));
        assert_eq!(known(path, &[&path.join("baselines")]).dirty, Some(false));
        fs::write(path.join("a"), "2").unwrap();
        assert_eq!(known(path, &[&path.join("baselines")]).dirty, Some(true));

        repository.set_head_detached(id).unwrap();
        assert_eq!(known(path, &[]).branch, None);
    }

    #[test]
    fn a_remote_is_kept_without_what_gives_access() {
        for (address, kept) in [
            (
                "https://jane:secret@github.com/a/b.git",
                Some("https://github.com/a/b.git"),
            ),
            (
                "https://github.com/a/b?token=secret",
                Some("https://github.com/a/b"),
            ),
            (
                "git@gitlab.com:group/sub/b.git",
                Some("ssh://gitlab.com/group/sub/b.git"),
            ),
            ("ssh://git@host:2222/a/b", Some("ssh://host:2222/a/b")),
            ("/home/jane/b.git", None),
            ("../b", None),
            ("file:///home/jane/b", None),
            ("C:\\b", None),
        ] {
            assert_eq!(without_access(address).as_deref(), kept, "{address}");
        }
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        fs::write(folder.path().join("a"), "1").unwrap();
        commit_all(&repository, "First");
        assert_eq!(known(folder.path(), &[]).remote, None);
        repository
            .remote("other", "https://example.org/a/b")
            .unwrap();
        let only = known(folder.path(), &[]).remote;
        assert_eq!(only.as_deref(), Some("https://example.org/a/b"));
        repository
            .remote("origin", "git@github.com:a/b.git")
            .unwrap();
        let origin = known(folder.path(), &[]).remote;
        assert_eq!(origin.as_deref(), Some("ssh://github.com/a/b.git"));
    }

    #[test]
    fn an_unknown_commit_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            unknown(&folder.path().join("nowhere")),
            "the folder does not exist"
        );
        assert_eq!(unknown(folder.path()), "not in a git repository");
        let bare = folder.path().join("bare");
        Repository::init_bare(&bare).unwrap();
        assert_eq!(unknown(&bare), "the repository has no commit yet");
        let broken = folder.path().join("broken");
        Repository::init(&broken).unwrap();
        fs::write(broken.join(".git/HEAD"), "nonsense").unwrap();
        assert!(!unknown(&broken).is_empty());
    }
}
