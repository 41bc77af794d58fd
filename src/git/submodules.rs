//! The submodules of a version, as its `.gitmodules` names them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use git2::{Config, IndexEntry, IndexTime, ObjectType, Oid, Repository, Tree};

/// A submodule of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Submodule {
    name: String,
    /// Where it lies, from the folder of the repository.
    pub(super) path: PathBuf,
    /// The commit of it that belongs to the version.
    pub(super) commit: Oid,
    /// Whoever works with the repository has said that it is to be left out (`update = none`).
    is_unwanted: bool,
}

/// The submodules of the version that is laid out in the folder `root`, whose files are those of a tree.
pub(super) fn of(tree: &Tree<'_>, root: &Path) -> Result<Vec<Submodule>, git2::Error> {
    let file = root.join(".gitmodules");
    if tree.get_name(".gitmodules").is_none() || !file.is_file() {
        return Ok(Vec::new());
    }
    let declared = Config::open(&file)?;
    let mut all = Vec::new();
    let mut entries = declared.entries(Some(r"^submodule\..*\.path$"))?;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let (Ok(key), Ok(path)) = (entry.name(), entry.value()) else {
            continue;
        };
        let name = key
            .strip_prefix("submodule.")
            .and_then(|it| it.strip_suffix(".path"));
        let link = tree.get_path(Path::new(path));
        let link = link.ok().filter(|it| it.kind() == Some(ObjectType::Commit));
        if let (Some(name), Some(link)) = (name, link) {
            all.push(Submodule {
                name: name.to_owned(),
                path: path.into(),
                commit: link.id(),
                is_unwanted: is_unwanted(&declared, name),
            });
        }
    }
    Ok(all)
}

impl Submodule {
    /// The repository on this machine that has its commit; `None` where it is to be left out.
    ///
    /// # Errors
    ///
    /// When none has it, with what to do.
    pub(super) fn local(&self, of: &Repository) -> Result<Option<Repository>, String> {
        let is_unwanted = || of.config().is_ok_and(|it| is_unwanted(&it, &self.name));
        if self.is_unwanted || is_unwanted() {
            return Ok(None);
        }
        let there = of.workdir().map(|it| it.join(&self.path));
        // Beside the repository as git lays it out today; or in its own folder, as it once did.
        let kept = of.commondir().join("modules").join(&self.name);
        let places = [Some(kept), there.clone()];
        let known = places
            .into_iter()
            .flatten()
            .filter_map(|it| Repository::open(it).ok());
        let known: Vec<Repository> = known.collect();
        let is_known = !known.is_empty();
        let has_it = |it: &Repository| it.find_commit(self.commit).is_ok();
        if let Some(found) = known.into_iter().find(has_it) {
            return Ok(Some(found));
        }
        let (path, commit) = (self.path.display(), self.commit.to_string());
        let folder = of.workdir().unwrap_or(of.path()).display();
        Err(
            match there.filter(|it| is_known && it.join(".git").exists()) {
                Some(there) => format!(
                    "the submodule `{path}` does not have the commit {}: `git -C {} fetch origin {commit}` gets it",
                    &commit[..7],
                    there.display()
                ),
                None => format!(
                    "the submodule `{path}` is missing: `git -C {folder} submodule update --init --recursive` gets it if the checked-out version has it"
                ),
            },
        )
    }
}

fn is_unwanted(config: &Config, name: &str) -> bool {
    let update = config.get_string(&format!("submodule.{name}.update"));
    update.is_ok_and(|it| it == "none")
}

/// How every pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The longest pointer, in bytes, as its specification has it.
const LONGEST: u32 = 1024;

/// Puts the content of files in the place of their pointers in a version that is laid out, where the repository it is of has the content.
/// Returns the files that are still pointers.
pub(super) fn fill_in(
    of: &Repository,
    laid_out: &Repository,
    root: &Path,
) -> Result<Vec<PathBuf>, git2::Error> {
    let mut index = laid_out.index()?;
    let entries: Vec<IndexEntry> = index.iter().collect();
    let path = |it: &IndexEntry| PathBuf::from(String::from_utf8_lossy(&it.path).into_owned());
    let declares = |it: &&IndexEntry| {
        it.path.ends_with(b".gitattributes")
            && fs::read_to_string(root.join(path(it))).is_ok_and(|it| it.contains("filter=lfs"))
    };
    if !entries.iter().any(|it| declares(&it)) {
        return Ok(Vec::new());
    }
    let mut left = Vec::new();
    for mut entry in entries.into_iter().filter(|it| it.file_size <= LONGEST) {
        let (name, file) = (path(&entry), root.join(path(&entry)));
        let Some(hash) = fs::read(&file).ok().and_then(|it| hash(&it)) else {
            continue;
        };
        let kept = of
            .commondir()
            .join("lfs/objects")
            .join(&hash[..2])
            .join(&hash[2..4])
            .join(&hash);
        match put(&kept, &file) {
            Ok(metadata) => {
                // Git itself takes a file that is as it left it for unchanged.
                stamp(&mut entry, &metadata);
                index.add(&entry)?;
            }
            Err(_) => left.push(name),
        }
    }
    index.write()?;
    Ok(left)
}

/// The hash of the content that a pointer stands for; `None` where it is none.
fn hash(content: &[u8]) -> Option<String> {
    let rest = content.strip_prefix(POINTER)?;
    let rest = std::str::from_utf8(rest).ok()?;
    let hash = rest.lines().find_map(|it| it.strip_prefix("oid sha256:"))?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

/// Copies a content over a pointer, which keeps its rights.
fn put(content: &Path, pointer: &Path) -> io::Result<fs::Metadata> {
    let mut content = fs::File::open(content)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(pointer)?;
    io::copy(&mut content, &mut file)?;
    // A file that is as new as the index is looked into again.
    let before = file.metadata()?.modified()? - Duration::from_secs(2);
    file.set_modified(before)?;
    file.metadata()
}

fn stamp(entry: &mut IndexEntry, metadata: &fs::Metadata) {
    let time = |seconds: i64, nanoseconds: i64| {
        IndexTime::new(
            i32::try_from(seconds).unwrap_or_default(),
            u32::try_from(nanoseconds).unwrap_or_default(),
        )
    };
    entry.mtime = time(metadata.mtime(), metadata.mtime_nsec());
    entry.ctime = time(metadata.ctime(), metadata.ctime_nsec());
    // As in the file's format, the size is counted modulo 2^32.
    entry.file_size = u32::try_from(metadata.len() % (1 << 32)).unwrap_or_default();
}
