//! The submodules of a version, as its `.gitmodules` names them.

use std::path::{Path, PathBuf};

use git2::{Config, ObjectType, Oid, Repository, Tree};

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
