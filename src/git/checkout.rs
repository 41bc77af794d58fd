//! A version of a repository in a folder of its own.
//!
//! It is a repository by itself that borrows the objects of the other one (`objects/info/alternates`, gitrepository-layout(5)). So the
//! other one is not written to, a run that is killed leaves nothing in it, and what is built there sees the commit and the tags.

use std::fs;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{ErrorCode, ObjectType, Oid, Repository, Sort};

use super::stamp::remote;
use super::{lfs, open, submodules};
use crate::model::published::result::Commit;

/// A version of a repository in a folder of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The folder of the whole repository.
    pub root: PathBuf,
    /// What lies there where the folder that was asked for lies in its repository.
    pub folder: PathBuf,
    /// Files that are only pointers to their content, because that is not on this machine.
    pub pointers: Vec<PathBuf>,
}

/// The commit of this name (`v1.2`, `HEAD~3`, a branch, an identity) in the repository around a folder.
///
/// Git takes the tag where a branch is called the same; who compares two versions had better say which one is meant.
///
/// # Errors
///
/// Why there is none, in words.
pub fn resolve(path: &Path, name: &str) -> Result<Commit, String> {
    let repository = open(path)?;
    let several = called_so(&repository, name);
    if several
        .windows(2)
        .any(|it| it[0].1.commit != it[1].1.commit)
    {
        let several = several
            .iter()
            .map(|(reference, it)| format!("`{reference}` ({} {})", it.short, it.subject));
        let several: Vec<String> = several.collect();
        return Err(format!(
            "`{name}` is several commits, write one of {}",
            several.join(", ")
        ));
    }
    let found = repository
        .revparse_single(name)
        .and_then(|it| it.peel_to_commit())
        .map_err(|error| match error.code() {
            ErrorCode::Ambiguous => {
                format!("the identities of several commits begin with `{name}`")
            }
            _ => format!("the repository has no commit `{name}`"),
        })?;
    Ok(commit(&found))
}

/// The branches and tags that a name may mean, each with what it leads to.
fn called_so(repository: &Repository, name: &str) -> Vec<(String, Commit)> {
    // What follows leads from there to another commit.
    let end = name.find(['~', '^', '@', ':']).unwrap_or(name.len());
    let (name, further) = name.split_at(end);
    let kinds = ["refs/heads/", "refs/tags/", "refs/remotes/"];
    let references = kinds.iter().filter_map(|kind| {
        repository.find_reference(&format!("{kind}{name}")).ok()?;
        let reference = format!("{kind}{name}{further}");
        let found = repository.revparse_single(&reference).ok()?;
        Some((reference, commit(&found.peel_to_commit().ok()?)))
    });
    references.collect()
}

/// The commits that lead from one to another along first parents, the older one left out, the oldest first.
///
/// # Errors
///
/// When the one does not lead to the other.
pub fn between(path: &Path, good: &str, bad: &str) -> Result<Vec<Commit>, String> {
    let unreadable = |_| "the history of the repository cannot be read".to_owned();
    let repository = open(path)?;
    let id = |it: &str| Oid::from_str(it).map_err(unreadable);
    let (good, bad) = (id(good)?, id(bad)?);
    let is_older = repository
        .graph_descendant_of(bad, good)
        .map_err(unreadable)?;
    if !is_older {
        return Err("the good commit does not come before the bad one".to_owned());
    }
    let mut walk = repository.revwalk().map_err(unreadable)?;
    walk.simplify_first_parent().map_err(unreadable)?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)
        .map_err(unreadable)?;
    walk.push(bad).map_err(unreadable)?;
    walk.hide(good).map_err(unreadable)?;
    walk.map(|id| {
        let found = id.and_then(|id| repository.find_commit(id));
        found.map(|it| commit(&it)).map_err(unreadable)
    })
    .collect()
}

/// Puts a commit of the repository around `path` into the folder `root`, which may hold another version of it already: then files of a
/// build that git does not know stay.
///
/// # Errors
///
/// Why it cannot be done, in words.
pub fn check_out(path: &Path, id: &str, root: &Path) -> Result<Checkout, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the version cannot be laid out: {error}");
    let of = |error: git2::Error| failed(&error.message());
    let from = open(path)?;
    let workdir = from.workdir().ok_or("the repository has no work tree")?;
    let real = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
    let within = real(path);
    let within = within.strip_prefix(real(workdir)).unwrap_or(Path::new(""));
    let oid = Oid::from_str(id).map_err(of)?;
    let pointers = lay_out(&from, oid, root).map_err(|why| failed(&why))?;
    Ok(Checkout {
        root: root.to_owned(),
        folder: root.join(within),
        pointers,
    })
}

/// Puts a commit of a repository into a folder, with its submodules; returns the files that are only pointers.
fn lay_out(from: &Repository, commit: Oid, root: &Path) -> Result<Vec<PathBuf>, String> {
    let of = |error: git2::Error| error.message().to_owned();
    let to = match Repository::open(root) {
        Ok(there) => there,
        Err(_) => borrowing(from, root).map_err(|error| error.to_string())?,
    };
    let before = to.head().and_then(|it| it.peel_to_tree());
    let before = before.and_then(|it| submodules::of(&it, root));
    let commit = to.find_commit(commit).map_err(of)?;
    let tree = commit.tree().map_err(of)?;
    for gone in before.unwrap_or_default() {
        let link = tree.get_path(&gone.path).ok();
        if link.is_none_or(|it| it.kind() != Some(ObjectType::Commit)) {
            // Git leaves it, and takes it for files that it does not know.
            let _ = fs::remove_dir_all(root.join(&gone.path));
        }
    }
    to.set_head_detached(commit.id()).map_err(of)?;
    let mut how = CheckoutBuilder::new();
    how.force().remove_untracked(false);
    to.checkout_tree(commit.as_object(), Some(&mut how))
        .map_err(of)?;
    let mut pointers = lfs::fill_in(from, &to, root).map_err(of)?;
    for submodule in submodules::of(&tree, root).map_err(of)? {
        if let Some(local) = submodule.local(from)? {
            let below = lay_out(&local, submodule.commit, &root.join(&submodule.path))?;
            pointers.extend(below.into_iter().map(|it| submodule.path.join(it)));
        }
    }
    Ok(pointers)
}

/// A repository without files in a folder, with the objects and the tags of another one, and where that is fetched from.
fn borrowing(from: &Repository, root: &Path) -> std::io::Result<Repository> {
    let of = |error: git2::Error| std::io::Error::other(error.message().to_owned());
    let to = Repository::init(root).map_err(of)?;
    let objects = from.commondir().join("objects").canonicalize()?;
    let info = to.path().join("objects/info");
    fs::create_dir_all(&info)?;
    fs::write(info.join("alternates"), format!("{}\n", objects.display()))?;
    // Where its history was cut off, it ends for this one, too.
    let shallow = from.commondir().join("shallow");
    if shallow.exists() {
        fs::copy(shallow, to.path().join("shallow"))?;
    }
    // The objects of a repository that is open already are not looked for anew.
    let to = Repository::open(root).map_err(of)?;
    if let Some(address) = remote(from) {
        to.remote("origin", &address).map_err(of)?;
    }
    let tags = from.references_glob("refs/tags/*").map_err(of)?;
    for tag in tags.flatten() {
        if let (Ok(name), Some(target)) = (tag.name(), tag.target()) {
            to.reference(name, target, true, "").map_err(of)?;
        }
    }
    Ok(to)
}

fn commit(found: &git2::Commit<'_>) -> Commit {
    let id = found.id().to_string();
    let short = found.as_object().short_id().ok();
    let short = short.and_then(|it| it.as_str().ok().map(str::to_owned));
    let subject = found.summary_bytes().unwrap_or_default();
    Commit {
        short: short.unwrap_or_else(|| id.chars().take(7).collect()),
        subject: String::from_utf8_lossy(subject).into_owned(),
        commit: id,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use git2::{IndexAddOption, Oid, Repository, Signature};

    use super::{between, check_out, resolve};
    use crate::git::state;

    fn committed(repository: &Repository, content: &str) -> String {
        let folder = repository.workdir().unwrap().join("app");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a"), content).unwrap();
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("someone", "someone@example.org").unwrap();
        let parent = repository.head().and_then(|it| it.peel_to_commit()).ok();
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some("HEAD"), &who, &who, content, &tree, &parents);
        id.unwrap().to_string()
    }

    #[test]
    fn a_version_lies_in_a_folder_of_its_own_and_the_next_one_takes_its_place() {
        let (of, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let repository = Repository::init(of.path()).unwrap();
        let ids = ["one", "two", "three"].map(|it| committed(&repository, it));
        let from = "https://somebody@example.org/a/b";
        repository.remote("origin", from).unwrap();
        let first = resolve(of.path(), "HEAD~2").unwrap();
        assert_eq!((&first.commit, first.subject.as_str()), (&ids[0], "one"));
        let object = repository.revparse_single("HEAD~1").unwrap();
        repository.tag_lightweight("v2", &object, false).unwrap();

        let folder = of.path().join("app");
        let root = into.path().join("x");
        let there = check_out(&folder, &ids[0], &root).unwrap();
        assert_eq!(there.folder, root.join("app"));
        assert_eq!(fs::read_to_string(there.folder.join("a")).unwrap(), "one");
        let laid_out = Repository::open(&root).unwrap();
        let remote = laid_out.find_remote("origin").unwrap();
        assert_eq!(remote.url().unwrap(), "https://example.org/a/b");
        fs::write(there.folder.join("built"), "").unwrap();
        fs::write(there.folder.join("a"), "changed").unwrap();
        check_out(&folder, &resolve(of.path(), "v2").unwrap().commit, &root).unwrap();
        assert_eq!(fs::read_to_string(there.folder.join("a")).unwrap(), "two");
        assert!(there.folder.join("built").exists());
        assert_eq!(resolve(&root, "v2").unwrap().commit, ids[1]);
        assert_eq!(
            resolve(of.path(), "nowhere").unwrap_err(),
            "the repository has no commit `nowhere`"
        );

        // A branch and a tag of one name are no matter while both lead to the same commit.
        let last = repository.head().unwrap().peel_to_commit().unwrap();
        repository.branch("both", &last, false).unwrap();
        repository
            .tag_lightweight("both", last.as_object(), false)
            .unwrap();
        assert_eq!(resolve(of.path(), "both~1").unwrap().commit, ids[1]);
        repository.tag_lightweight("both", &object, true).unwrap();
        let why = resolve(of.path(), "both~1").unwrap_err();
        let named = |kind: &str, id: &str, subject: &str| {
            format!("`refs/{kind}/both~1` ({} {subject})", &id[..7])
        };
        let either = [
            named("heads", &ids[1], "two"),
            named("tags", &ids[0], "one"),
        ];
        assert_eq!(
            why,
            format!(
                "`both~1` is several commits, write one of {}",
                either.join(", ")
            )
        );
        assert_eq!(resolve(of.path(), "refs/tags/both").unwrap().commit, ids[1]);

        let leading = between(of.path(), &ids[0], &ids[2]).unwrap();
        let leading: Vec<_> = leading.into_iter().map(|it| it.commit).collect();
        assert_eq!(leading, ids[1..]);
        assert!(between(of.path(), &ids[2], &ids[0]).is_err());
    }

    /// Commits all files of a folder, and commits of the repositories below it as submodules.
    fn with_submodules(repository: &Repository, submodules: &[(&str, &str)]) -> String {
        let declared = submodules.iter().map(|(path, _)| {
            format!("[submodule \"of-{path}\"]\n\tpath = {path}\n\turl = ../{path}\n")
        });
        let declared: String = declared.collect();
        let root = repository.workdir().unwrap();
        fs::write(root.join(".gitmodules"), declared).unwrap();
        let mut index = repository.index().unwrap();
        index.clear().unwrap();
        let except: &mut git2::IndexMatchedPath<'_> =
            &mut |path, _| i32::from(submodules.iter().any(|(it, _)| path.starts_with(it)));
        let add = IndexAddOption::DEFAULT;
        index.add_all(["*"], add, Some(except)).unwrap();
        for (path, commit) in submodules {
            let mut link = index.get_path(Path::new(".gitmodules"), 0).unwrap();
            link.mode = 0o160_000;
            link.id = Oid::from_str(commit).unwrap();
            link.path = path.as_bytes().to_vec();
            index.add(&link).unwrap();
        }
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("someone", "someone@example.org").unwrap();
        let parent = repository.head().and_then(|it| it.peel_to_commit()).ok();
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some("HEAD"), &who, &who, "x", &tree, &parents);
        id.unwrap().to_string()
    }

    #[test]
    fn submodules_lie_in_the_version_as_it_has_them() {
        let (of, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let repository = Repository::init(of.path()).unwrap();
        let below = |path: &str| Repository::init(of.path().join(path)).unwrap();
        let (lib, deep) = (below("lib"), below("lib/deep"));
        let [old, new] = ["old", "new"].map(|it| committed(&deep, it));
        let libs = [&old, &new].map(|it| with_submodules(&lib, &[("deep", it)]));
        let ids = libs
            .each_ref()
            .map(|it| with_submodules(&repository, &[("lib", it)]));
        let without = {
            fs::rename(of.path().join("lib"), into.path().join("lib")).unwrap();
            fs::create_dir(of.path().join("lib")).unwrap();
            fs::write(of.path().join("lib/file"), "").unwrap();
            let id = with_submodules(&repository, &[]);
            fs::remove_dir_all(of.path().join("lib")).unwrap();
            id
        };
        fs::rename(into.path().join("lib"), of.path().join("lib")).unwrap();

        let root = into.path().join("before");
        let says = |root: &Path| fs::read_to_string(root.join("lib/deep/app/a")).unwrap();
        check_out(of.path(), &ids[1], &root).unwrap();
        assert_eq!(says(&root), "new");
        // As git itself keeps them, below the repository's own folder.
        let modules = of.path().join(".git/modules");
        fs::create_dir(&modules).unwrap();
        fs::rename(of.path().join("lib/.git"), modules.join("of-lib")).unwrap();
        fs::create_dir(modules.join("of-lib/modules")).unwrap();
        fs::rename(
            of.path().join("lib/deep/.git"),
            modules.join("of-lib/modules/of-deep"),
        )
        .unwrap();
        let root = into.path().join("x");
        for (id, text) in [(&ids[0], "old"), (&ids[1], "new")] {
            check_out(of.path(), id, &root).unwrap();
            assert_eq!(says(&root), text);
        }
        let clean = |it: &Path| {
            let repository = Repository::open(it).unwrap();
            let changed = repository.statuses(None).unwrap().len();
            changed == 0
        };
        assert!(clean(&root) && clean(&root.join("lib")));
        // A version that has files in the place of the submodule has nothing of it.
        check_out(of.path(), &without, &root).unwrap();
        let there: Vec<_> = fs::read_dir(root.join("lib")).unwrap().flatten().collect();
        assert_eq!(there.len(), 1, "{there:?}");

        let missing = "1234567890123456789012345678901234567890";
        let id = with_submodules(&repository, &[("lib", missing)]);
        let why = check_out(of.path(), &id, &root).unwrap_err();
        assert!(why.contains("the submodule `lib` is missing"), "{why}");
        assert!(why.contains("submodule update --init --recursive"), "{why}");
        fs::write(of.path().join("lib/.git"), "gitdir: ../.git/modules/of-lib").unwrap();
        let why = check_out(of.path(), &id, &root).unwrap_err();
        assert!(why.contains("does not have the commit 1234567"), "{why}");
        assert!(why.contains(&format!("fetch origin {missing}")), "{why}");
        // Whoever works without it gets versions without it.
        let mut config = repository.config().unwrap();
        config.set_str("submodule.of-lib.update", "none").unwrap();
        check_out(of.path(), &id, &root).unwrap();
        assert!(fs::read_dir(root.join("lib")).unwrap().next().is_none());
    }

    #[test]
    fn pointers_have_the_content_that_is_there_and_others_are_reported() {
        let (of, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let repository = Repository::init(of.path()).unwrap();
        let pointer = |hash: &str| {
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 5\n")
        };
        let (here, elsewhere) = ("ab".repeat(32), "cd".repeat(32));
        fs::write(of.path().join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
        fs::write(of.path().join("here.bin"), pointer(&here)).unwrap();
        fs::write(of.path().join("else.bin"), pointer(&elsewhere)).unwrap();
        let id = committed(&repository, "one");
        let kept = of.path().join(".git/lfs/objects/ab/ab");
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join(&here), "bytes").unwrap();
        let root = into.path().join("x");
        for _ in 0..2 {
            let there = check_out(of.path(), &id, &root).unwrap();
            assert_eq!(there.pointers, [Path::new("else.bin")]);
            let content = fs::read_to_string(root.join("here.bin")).unwrap();
            assert_eq!(content, "bytes");
            let laid_out = Repository::open(&root).unwrap();
            assert_eq!(
                laid_out.statuses(None).unwrap().len(),
                0,
                "nothing has changed"
            );
        }
    }

    #[test]
    fn a_repository_of_another_user_is_an_error_that_says_the_way_out() {
        let of = tempfile::tempdir().unwrap();
        committed(&Repository::init(of.path()).unwrap(), "one");
        let nobody = Some(65_534);
        let given = [of.path().to_owned(), of.path().join(".git")];
        let given = given
            .iter()
            .all(|it| std::os::unix::fs::chown(it, nobody, nobody).is_ok());
        // Only root can give a folder away.
        if given {
            let why = resolve(of.path(), "HEAD").unwrap_err();
            assert!(why.contains("belongs to another user"), "{why}");
            assert!(
                why.contains("git config --global --add safe.directory"),
                "{why}"
            );
        }
    }

    #[test]
    fn the_state_changes_with_the_files_that_git_does_not_ignore() {
        let of = tempfile::tempdir().unwrap();
        let repository = Repository::init(of.path()).unwrap();
        fs::write(of.path().join(".gitignore"), "*.o\n").unwrap();
        committed(&repository, "one");
        let now = |below: &str| state(&of.path().join(below), &[&of.path().join("ours")]).unwrap();
        let clean = now("");
        fs::write(of.path().join("x.o"), "").unwrap();
        fs::create_dir(of.path().join("ours")).unwrap();
        fs::write(of.path().join("ours/log"), "").unwrap();
        assert_eq!(now(""), clean);
        let within = now("app");
        fs::write(of.path().join("new"), "1").unwrap();
        let with_new = now("");
        assert_ne!(with_new.untracked, clean.untracked);
        assert_eq!(with_new.tracked, clean.tracked);
        assert_eq!(now("app"), within, "it lies elsewhere");
        fs::write(of.path().join("new"), "2").unwrap();
        assert_ne!(now(""), with_new);
        fs::remove_file(of.path().join("new")).unwrap();
        fs::write(of.path().join("app/a"), "two").unwrap();
        assert!(now("").tracked != clean.tracked && now("app").tracked != within.tracked);
        fs::write(of.path().join("app/a"), "one").unwrap();
        assert_eq!(now(""), clean);
    }
}
