//! Which scenarios a change concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::watched::Watched;
use crate::cli::args::SelectArgs;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::finish::REPORTS;
use crate::cli::paths::{named, real};
use crate::cli::select::{self, Picked, Purpose, is_baseline};
use crate::model::scenario::Scenario;
use crate::store::Baselines;
use crate::suite::{BASELINES, Depends, STATE, depends};

/// What a change concerns.
pub(super) enum Concerned {
    Nothing,
    /// Scenario files that are wrong: nothing can be run before they are mended.
    Broken(Failure),
    Scenarios {
        /// Those that are concerned.
        ids: BTreeSet<String>,
        /// The files that concern them.
        files: BTreeSet<PathBuf>,
        /// How many are selected.
        of: usize,
    },
}

/// What the selected scenarios depend on.
pub(super) struct Concern<'a> {
    select: &'a SelectArgs,
    purpose: Purpose<'a>,
    /// Where scenarios are looked for.
    roots: Vec<PathBuf>,
    /// What all scenarios depend on.
    of_all: Vec<PathBuf>,
    /// What concerns nothing, because we write it.
    ours: Vec<PathBuf>,
    /// What each scenario depended on when it was last read.
    known: BTreeMap<String, Dependencies>,
    /// What changed and was not run yet, because something was broken.
    owed: BTreeSet<PathBuf>,
}

/// What a scenario depends on, as it is told of when it changes.
#[derive(Debug, Clone, Default)]
struct Dependencies {
    files: BTreeSet<PathBuf>,
    /// Folders, of whose files those count that are nobody's scenarios, baselines or reports.
    made_from: Vec<PathBuf>,
    /// The folder of its baseline.
    baseline: Option<PathBuf>,
}

impl<'a> Concern<'a> {
    /// # Errors
    ///
    /// When a path that is to be watched is not there.
    pub(super) fn new(
        select: &'a SelectArgs,
        purpose: Purpose<'a>,
        paths: &[PathBuf],
        writes: &[PathBuf],
    ) -> Result<Self, Failure> {
        for path in paths {
            if !path.exists() {
                return Err(Failure::usage(format!(
                    "there is no {} to watch",
                    path.display()
                )));
            }
        }
        let ours = [REPORTS, STATE].map(PathBuf::from);
        let ours = ours.iter().chain(writes).map(|it| real(it)).collect();
        let all = paths.iter().map(PathBuf::as_path).chain(purpose.mcp_config);
        Ok(Self {
            select,
            purpose,
            roots: select.all_paths().iter().map(|it| real(&literal(it))).collect(),
            of_all: all.flat_map(|it| [real(it), named(it)]).collect(),
            ours,
            known: BTreeMap::new(),
            owed: BTreeSet::new(),
        })
    }

    /// Watches all that the scenarios depend on.
    ///
    /// # Errors
    ///
    /// When something cannot be watched.
    pub(super) fn watch(&mut self, watched: &mut Watched) -> Result<(), Failure> {
        if let Ok((_, known)) = self.read() {
            self.known = known;
        }
        for root in self.roots.clone() {
            if root.is_dir() {
                watched.tree(&root)?;
            } else {
                watched.folder(above(&root))?;
            }
        }
        for path in &self.of_all {
            if path.is_dir() {
                watched.tree(path)?;
            } else {
                watched.folder(above(path))?;
            }
        }
        for dependencies in self.known.values() {
            for file in &dependencies.files {
                if file.is_dir() {
                    watched.tree(file)?;
                } else {
                    watched.folder(above(file))?;
                }
            }
            for folder in &dependencies.made_from {
                if folder.is_dir() {
                    watched.tree(folder)?;
                } else {
                    watched.folder(above(folder))?;
                }
            }
            if let Some(folder) = &dependencies.baseline {
                // Before the first recording, it is not there.
                let there = folder.ancestors().find(|it| it.is_dir());
                watched.folder(there.unwrap_or(folder))?;
            }
        }
        Ok(())
    }

    /// Whether a file counts by its own name, wherever it lies.
    pub(super) fn names(&self, file: &Path) -> bool {
        let mut all = self.of_all.iter();
        all.any(|it| file.starts_with(it)) || self.known.values().any(|it| it.files.contains(file))
    }

    /// What a change of these files concerns.
    pub(super) fn of(&mut self, changed: &BTreeSet<PathBuf>) -> Concerned {
        let is_ours = |it: &&PathBuf| self.ours.iter().any(|our| it.starts_with(our));
        let mut changed: BTreeSet<PathBuf> =
            changed.iter().filter(|it| !is_ours(it)).cloned().collect();
        changed.append(&mut self.owed);
        let before = std::mem::take(&mut self.known);
        let read = self.read();
        let (known, failure) = match read {
            Ok((picked, known)) => (known, broken(&picked)),
            Err(failure) => (before.clone(), Some(failure)),
        };
        let all = changed.iter().any(|it| self.of_all.iter().any(|all| it.starts_with(all)));
        let scenario_roots: Vec<PathBuf> = self.roots.clone();
        let no_source: Vec<&Path> = self
            .ours
            .iter()
            .chain(&scenario_roots)
            .map(PathBuf::as_path)
            .collect();
        let baselines = real(self.purpose.baselines.unwrap_or(Path::new(BASELINES)));
        let concerns = |it: &PathBuf, of: &Dependencies| {
            let is_no_source =
                it.starts_with(&baselines) || no_source.iter().any(|no| it.starts_with(no));
            let mut files = of.files.iter();
            files.any(|file| it.starts_with(file))
                || (!is_no_source && of.made_from.iter().any(|from| it.starts_with(from)))
                || of.baseline.as_ref().is_some_and(|folder| is_baseline(it, folder))
        };
        let mut ids = BTreeSet::new();
        let mut files = BTreeSet::new();
        for (id, now) in &known {
            // What a scenario no longer depends on has made it another one.
            let both = [Some(now), before.get(id)];
            let concerned = |it: &&PathBuf| all || both.iter().flatten().any(|of| concerns(it, of));
            let because: Vec<&PathBuf> = changed.iter().filter(concerned).collect();
            if !because.is_empty() {
                ids.insert(id.clone());
                files.extend(because.into_iter().cloned());
            }
        }
        self.known = known;
        if let Some(failure) = failure {
            let is_scenario = |it: &PathBuf| {
                let is_yaml = it.extension().is_some_and(|it| it == "yaml" || it == "yml");
                is_yaml && self.roots.iter().any(|root| it.starts_with(root))
            };
            let is_relevant = !ids.is_empty() || changed.iter().any(is_scenario);
            self.owed = changed;
            return if is_relevant {
                Concerned::Broken(failure)
            } else {
                Concerned::Nothing
            };
        }
        if ids.is_empty() {
            return Concerned::Nothing;
        }
        Concerned::Scenarios {
            of: self.known.len(),
            ids,
            files,
        }
    }

    /// What is selected now, with what it depends on.
    fn read(&self) -> Result<(Picked, BTreeMap<String, Dependencies>), Failure> {
        let picked = select::load(self.select, self.purpose, Console::silent())?;
        let known = picked.scenarios.iter();
        let known = known.map(|it| (it.id.clone(), self.dependencies(it))).collect();
        Ok((picked, known))
    }

    fn dependencies(&self, scenario: &Scenario) -> Dependencies {
        let Depends {
            read,
            used,
            made_from,
        } = depends(scenario);
        let files = read.iter().chain(&used);
        let baseline = self.purpose.baselines;
        Dependencies {
            files: files.flat_map(|it| [named(it), real(it)]).collect(),
            made_from: made_from.iter().map(|it| real(it)).collect(),
            baseline: baseline.map(|it| real(&Baselines::new(it).folder(&scenario.id))),
        }
    }
}

/// What is wrong with scenario files.
fn broken(picked: &Picked) -> Option<Failure> {
    select::refuse_errors(&picked.findings).err()
}

fn above(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// The part of a path before its first pattern.
fn literal(path: &Path) -> PathBuf {
    let is_name = |it: &std::path::Component<'_>| {
        !it.as_os_str().to_string_lossy().contains(['*', '?', '['])
    };
    let literal: PathBuf = path.components().take_while(is_name).collect();
    if literal == Path::new("") {
        PathBuf::from(".")
    } else {
        literal
    }
}
