//! Scenarios that a change concerns, as git tells.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use crate::cli::exit::Failure;
use crate::cli::paths::named;
use crate::git::{self, Changed, ChangedError, Worktree};
use crate::input::real;
use crate::scenario_file::Scenario;
use crate::store::{Baselines, STATE};
use crate::suite::{BASELINES, REPORTS, depends, replay};

/// The scenarios that a change concerns.
#[derive(Debug)]
pub(super) struct Concerned {
    pub(super) scenarios: Vec<Scenario>,
    /// Since when, in words.
    pub(super) since: String,
    /// Commands that name no file of a repository, so that nobody knows whether their code has changed.
    pub(super) unknown: BTreeSet<String>,
}

/// What the scenarios of a command depend on besides their own files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// Where their baselines lie, where those count.
    pub(super) baselines: Option<&'a Path>,
    /// Files that all of them depend on.
    pub(super) files: &'a [PathBuf],
}

/// Those of the scenarios that something has changed of since the last commit, or since the last common ancestor with `reference`.
///
/// # Errors
///
/// When git does not tell.
pub(super) fn concerned(
    scenarios: Vec<Scenario>,
    reference: Option<&str>,
    beside: Beside<'_>,
) -> Result<Concerned, Failure> {
    let mut repositories = Repositories::default();
    let mut since = None;
    for scenario in &scenarios {
        let changed = repositories.open(&folder_of(&scenario.path), reference);
        let changed = changed.map_err(|error| failure(&error, scenario, reference))?;
        since = since.or_else(|| changed.since.clone());
    }
    let since = match (since, reference) {
        (Some(base), Some(reference)) => {
            format!(
                "since {} {}, the last commit in common with `{reference}`",
                base.short, base.subject
            )
        }
        _ => "since the last commit".to_owned(),
    };
    let mut ours: Vec<PathBuf> = [BASELINES, REPORTS, STATE]
        .map(|it| real(Path::new(it)))
        .into();
    ours.extend(beside.baselines.map(real));
    ours.extend(scenarios.iter().map(|it| real(&it.defaults_root)));
    let mut files = beside.files.iter();
    let all = files.any(|it| repositories.has_changed(it, &[]));
    let of_how_many = scenarios.len();
    let read: Vec<PathBuf> = scenarios
        .iter()
        .flat_map(|it| &it.read_from)
        .cloned()
        .collect();
    let mut unknown = BTreeSet::new();
    let mut is_concerned = |scenario: &Scenario| {
        let depends = depends(scenario);
        let mut files = depends.read.iter().chain(&depends.used);
        let mut made_from = depends.made_from.iter();
        let catalogues = beside.baselines.map(|root| {
            let baselines = replay::baselines(root, scenario, of_how_many);
            baselines.catalogue_files(&scenario.id)
        });
        let mut catalogues = catalogues.into_iter().flatten();
        let baselines = beside.baselines.into_iter();
        let mut baselines = baselines.flat_map(|it| baseline_folders(it, scenario, of_how_many));
        let mut of_commands = false;
        for command in &depends.commands {
            let mut folders = command.folders.iter().map(|it| real(it));
            let known: Vec<PathBuf> = (folders.by_ref())
                .filter(|it| repositories.holds(it))
                .collect();
            if known.is_empty() {
                unknown.insert(command.text.clone());
            }
            let beside = |it: &PathBuf| repositories.has_changed_beside(it, &ours, &read);
            of_commands |= known.iter().any(beside);
        }
        of_commands
            || files.any(|it| repositories.has_changed(it, &[]))
            || made_from.any(|it| repositories.has_changed(it, &ours))
            || baselines.any(|it| repositories.has_changed_directly_in(&it))
            || catalogues.any(|it| repositories.has_changed(&it, &[]))
    };
    let mut scenarios = scenarios;
    if !all {
        scenarios.retain(|it| is_concerned(it));
    }
    Ok(Concerned {
        scenarios,
        since,
        unknown,
    })
}

/// Where the baseline of a scenario lies, one of so many; where it is gone, all places that it may be gone from.
fn baseline_folders(root: &Path, scenario: &Scenario, of_how_many: usize) -> Vec<PathBuf> {
    let baselines = replay::baselines(root, scenario, of_how_many);
    let mut folders = vec![baselines.folder(&scenario.id)];
    if !baselines.path(&scenario.id).exists() {
        folders.extend(baselines.old_folders(&scenario.id));
        folders.push(root.to_owned());
    }
    folders
}

/// The repositories that scenarios, and what they depend on, lie in.
#[derive(Default)]
struct Repositories {
    /// What has changed, by the root of the repository.
    changed: HashMap<PathBuf, Changed>,
    /// The root of the repository around a folder, where there is one.
    roots: HashMap<PathBuf, Option<PathBuf>>,
    /// What git ignores, by the root of the repository.
    worktrees: HashMap<PathBuf, Option<Worktree>>,
}

impl Repositories {
    /// The repository around a folder.
    fn open(&mut self, folder: &Path, reference: Option<&str>) -> Result<&Changed, ChangedError> {
        let root = match self.roots.get(folder) {
            Some(Some(root)) => root.clone(),
            _ => git::root(folder).map_err(ChangedError::Repository)?,
        };
        self.roots.insert(folder.to_owned(), Some(root.clone()));
        if !self.changed.contains_key(&root) {
            let changed = git::changed(&root, reference)?;
            self.changed.insert(root.clone(), changed);
        }
        Ok(&self.changed[&root])
    }

    /// The repository that a path lies in. Of one that holds no scenario, nobody has said since when: there, the last commit counts.
    fn around(&mut self, path: &Path) -> Option<&Changed> {
        let mut folders = path.ancestors();
        let folder = folders.find(|it| it.is_dir())?.to_owned();
        if self.roots.get(&folder).is_some_and(Option::is_none) {
            return None;
        }
        if self.open(&folder, None).is_err() {
            self.roots.insert(folder, None);
            return None;
        }
        let root = self.roots.get(&folder)?.as_ref()?;
        self.changed.get(root)
    }

    /// Whether a file, or anything in a folder, has changed, but for what lies in some folders.
    fn has_changed(&mut self, path: &Path, but_for: &[PathBuf]) -> bool {
        // A link, and what it leads to.
        let (named, meant) = (named(path), real(path));
        let mut is_changed = |path: &Path| {
            let Some(changed) = self.around(path) else {
                return false;
            };
            let counts = |it: &PathBuf| !but_for.iter().any(|no| it.starts_with(no));
            let from = (Bound::Included(path.to_owned()), Bound::Unbounded);
            let mut within = changed
                .files
                .range(from)
                .take_while(|it| it.starts_with(path));
            // Of a repository within, git only says that it has changed.
            let mut around = path.ancestors().skip(1).filter(|it| *it != changed.root);
            within.any(counts) || around.any(|it| changed.files.contains(it))
        };
        is_changed(&meant)
            || (named != meant && is_changed(&named))
            || (meant.is_file() && self.is_ignored(&meant))
    }

    /// Whether a folder lies in a repository, and git does not ignore it.
    fn holds(&mut self, folder: &Path) -> bool {
        self.around(folder).is_some() && !self.is_ignored(folder)
    }

    /// Whether a file has changed in the folder of a command that git tracks, but for scenarios, baselines, reports and prose.
    fn has_changed_beside(&mut self, folder: &Path, ours: &[PathBuf], read: &[PathBuf]) -> bool {
        let Some(changed) = self.around(folder) else {
            return false;
        };
        let mut within = changed.files.iter().filter(|it| it.starts_with(folder));
        within.any(|it| {
            !changed.untracked.contains(it) && !read.contains(it) && is_code(it, folder, ours)
        })
    }

    /// Whether git ignores a file, and so does not tell whether it has changed, such as a server that is built.
    fn is_ignored(&mut self, file: &Path) -> bool {
        let Some(root) = self.around(file).map(|it| it.root.clone()) else {
            return false;
        };
        let worktree = self.worktrees.entry(root);
        let worktree = worktree.or_insert_with_key(|it| Worktree::around(it));
        worktree.as_ref().is_some_and(|it| it.ignores(file))
    }

    /// Whether a baseline in a folder has changed.
    fn has_changed_directly_in(&mut self, folder: &Path) -> bool {
        let folder = real(folder);
        let Some(changed) = self.around(&folder) else {
            return false;
        };
        let from = (Bound::Included(folder.clone()), Bound::Unbounded);
        let within = changed
            .files
            .range(from)
            .take_while(|it| it.starts_with(&folder));
        within.filter(|it| is_baseline(it, &folder)).count() > 0
    }
}

/// Whether a file in the folder of a command may be read by it: all but prose, and what lies in folders of ours within.
pub(in crate::cli) fn is_code(file: &Path, folder: &Path, ours: &[PathBuf]) -> bool {
    let mut within = ours
        .iter()
        .filter(|it| *it != folder && it.starts_with(folder));
    file.extension().is_none_or(|it| it != "md") && !within.any(|it| file.starts_with(it))
}

fn failure(error: &ChangedError, scenario: &Scenario, reference: Option<&str>) -> Failure {
    let path = scenario.path.display();
    let failure = Failure::usage(format!(
        "`--changed` cannot tell what has changed around {path}: {error}"
    ));
    let reference = reference.unwrap_or_default();
    match error {
        ChangedError::Repository(_) => failure.hint("it needs the scenarios in a git repository; `-k` and `--tag` do not"),
        ChangedError::Reference(_) => {
            let branch = reference.strip_prefix("origin/").unwrap_or(reference);
            failure.hint(format!(
                "`git fetch origin {branch}` gets a branch; in CI, the checkout must have it (`fetch-depth: 0`)"
            ))
        }
        ChangedError::NoMergeBase { .. } => failure.hint(
            "`git fetch --unshallow` gets the whole history; in CI, check it out with `fetch-depth: 0`",
        ),
    }
}

/// Whether a file in the folder of a scenario's baseline is an accepted one.
pub(in crate::cli) fn is_baseline(file: &Path, folder: &Path) -> bool {
    file.parent() == Some(folder) && Baselines::is_accepted(file)
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|it| *it != Path::new(""));
    real(folder.unwrap_or(Path::new(".")))
}
