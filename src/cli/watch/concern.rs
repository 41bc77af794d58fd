//! The scenarios that a change concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::watcher::{Files, Watcher, Written};
use crate::cli::args::SelectArgs;
use crate::cli::paths::named;
use crate::cli::select::{self, NonePicked, Purpose, is_baseline, is_code};
use crate::cli::{Console, Failure};
use crate::git::{self, Worktree};
use crate::input::real;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::Server;
use crate::store::{BASELINE, STATE};
use crate::suite::{Depends, REPORTS, depends, replay};

/// What has changed since it was last looked.
pub(super) enum Look {
    Nothing,
    /// Scenario files cannot be read, or there are none; what has changed counts when that is mended.
    Broken(Failure),
    Changed {
        /// The scenarios that are concerned, by id.
        ids: BTreeSet<String>,
        /// The files that concern them.
        files: BTreeSet<PathBuf>,
        /// The scenarios that are no longer there.
        gone: BTreeSet<String>,
    },
}

/// The scenarios that are watched, and all that they depend on.
pub(super) struct Concern<'a> {
    select: SelectArgs,
    purpose: Purpose<'a>,
    console: Console,
    /// What each scenario depended on when it was last read, by id.
    known: BTreeMap<String, Dependencies>,
    /// What all of them depend on: a file, or all in a folder.
    of_all: BTreeSet<PathBuf>,
    /// Where scenarios are looked for.
    roots: Vec<PathBuf>,
    /// Where no source is: scenarios, baselines, and what we write.
    no_source: Vec<PathBuf>,
    /// As it was when a change was last reported.
    reported: Files,
    /// As it was when it was last looked.
    seen: Files,
    written: Written,
}

/// What a scenario depends on.
#[derive(Debug, Clone)]
struct Dependencies {
    /// What it is read from.
    read: BTreeSet<PathBuf>,
    /// Files, or folders with all in them.
    source: BTreeSet<PathBuf>,
    /// Folders of its commands, of which the files count that git tracks.
    beside: BTreeSet<PathBuf>,
    /// The folder of its baseline.
    baseline: Option<PathBuf>,
    /// Commands make something of its source.
    is_prepared: bool,
}

impl<'a> Concern<'a> {
    /// `paths` are what all scenarios depend on, and `writes` what the command writes.
    pub(super) fn new(
        (select, purpose, console): (&SelectArgs, Purpose<'a>, Console),
        paths: &[PathBuf],
        writes: &[PathBuf],
    ) -> Self {
        let roots: Vec<PathBuf> = select.all_paths().iter().map(|it| literal(it)).collect();
        let ours = [REPORTS, STATE].map(PathBuf::from);
        let no_source = ours.iter().chain(writes).chain(&roots);
        let no_source = no_source.map(PathBuf::as_path).chain(purpose.baselines);
        let of_all = paths
            .iter()
            .map(PathBuf::as_path)
            .chain(purpose.files.iter().map(PathBuf::as_path));
        Self {
            select: select.whatever_came_of_them(),
            purpose,
            console: console.silenced(),
            known: BTreeMap::new(),
            of_all: of_all
                .map(|it| if it.is_dir() { real(it) } else { named(it) })
                .collect(),
            no_source: no_source.map(real).collect(),
            roots,
            reported: Files::default(),
            seen: Files::default(),
            written: Written::default(),
        }
    }

    /// All scenarios.
    pub(super) fn all(&self) -> BTreeSet<String> {
        self.known.keys().cloned().collect()
    }

    /// The sources that scenarios name, and what all depend on.
    pub(super) fn sources(&self) -> BTreeSet<&Path> {
        let folders = self.known.values().flat_map(|it| &it.source);
        let folders = folders.filter(|it| it.is_dir()).chain(&self.of_all);
        folders.map(PathBuf::as_path).collect()
    }

    /// Looks what has changed, and has the watcher follow. While a round goes on, what it writes itself does not count.
    ///
    /// # Errors
    ///
    /// When something cannot be watched.
    pub(super) fn look(&mut self, watcher: &mut Watcher, during: bool) -> Result<Look, Failure> {
        let mut files = self.files(watcher)?;
        if files == self.seen {
            return Ok(Look::Nothing);
        }
        self.seen = files.clone();
        let picked = match select::load(&self.select, self.purpose, self.console) {
            Ok(picked) => picked,
            Err(failure) => return Ok(Look::Broken(failure)),
        };
        if let Some(failure) = select::broken(&picked.findings) {
            return Ok(Look::Broken(failure));
        }
        if let Some(NonePicked::NoMatch(failure)) = picked.none {
            return Ok(Look::Broken(failure));
        }
        let config = self.purpose.mcp_config;
        let given = config.and_then(|it| scenario_file::servers::client_servers(it).ok());
        let given = given.map_or_else(Vec::new, |it| it.servers);
        let count = picked.scenarios.len();
        let now = picked.scenarios.into_iter();
        let now = now.map(|it| (it.id.clone(), self.dependencies(it, count, &given)));
        let now = now.collect();
        let before = std::mem::replace(&mut self.known, now);
        files = self.files(watcher)?;
        self.seen = files.clone();
        let then = std::mem::replace(&mut self.reported, files);
        let mut changed = self.reported.changed_since(&then);
        if during {
            changed.retain(|it| !self.is_written(it, &before, &then));
        }
        let both = || self.known.values().chain(before.values());
        let read: BTreeSet<&PathBuf> = both().flat_map(|it| &it.read).collect();
        let is_within = |it: &PathBuf, folder: &PathBuf| {
            let mut but_for = self.no_source.iter().filter(|no| no.starts_with(folder));
            let is_no_source = but_for.any(|no| no != folder && it.starts_with(no));
            it.starts_with(folder) && !is_no_source && !read.contains(it)
        };
        let is_of = |it: &PathBuf, all: &BTreeSet<PathBuf>| {
            let mut all = all.iter();
            all.any(|of| it == of || is_within(it, of))
        };
        let concerns = |it: &PathBuf, of: &Dependencies| {
            let mut baseline = of.baseline.iter();
            let mut beside = of.beside.iter().filter(|folder| it.starts_with(folder));
            of.read.contains(it)
                || is_of(it, &of.source)
                || beside.any(|folder| is_code(it, folder, &self.no_source) && !read.contains(it))
                || is_of(it, &self.of_all)
                || baseline.any(|folder| is_baseline(it, folder))
        };
        let (mut ids, mut because) = (BTreeSet::new(), BTreeSet::new());
        for (id, now) in &self.known {
            let both = [Some(now), before.get(id)];
            let files = changed.iter();
            let files = files.filter(|it| both.iter().flatten().any(|of| concerns(it, of)));
            let files: Vec<&PathBuf> = files.collect();
            if !files.is_empty() {
                ids.insert(id.clone());
                because.extend(files.into_iter().cloned());
            }
        }
        let gone = before.into_keys().filter(|it| !self.known.contains_key(it));
        Ok(Look::Changed {
            gone: gone.collect(),
            files: because,
            ids,
        })
    }

    /// Ends a round; the files that are from now on taken for the work of runs.
    pub(super) fn end_round(&mut self) -> Vec<PathBuf> {
        self.written.end_round()
    }

    /// Whether the round that goes on has probably written a file that has changed.
    fn is_written(
        &mut self,
        file: &Path,
        known: &BTreeMap<String, Dependencies>,
        then: &Files,
    ) -> bool {
        let mut known_to = known.values();
        let is_read = known_to.any(|it| {
            it.read.contains(file) || it.baseline.as_ref().is_some_and(|it| is_baseline(file, it))
        });
        let is_made = || {
            let folder = file.parent().unwrap_or(file);
            let is_prepared = known.values().any(|it| it.is_prepared);
            is_prepared && Worktree::around(folder).is_some_and(|it| !it.tracks(file))
        };
        // A new log is no new source, and what git does not know may just have been built.
        let is_likely = !is_read && (!then.holds(file) || is_made());
        self.written.takes(file, is_likely)
    }

    /// All that counts, as it is right now. Folders are followed before they are looked into, so that nothing in there is missed.
    fn files(&self, watcher: &mut Watcher) -> Result<Files, Failure> {
        loop {
            let mut files = Files::default();
            for root in &self.roots {
                files.scenarios(root);
            }
            let sources = self.known.values().flat_map(|it| &it.source);
            let sources: BTreeSet<&PathBuf> = sources.chain(&self.of_all).collect();
            for source in sources {
                files.tree(source, &self.no_source);
            }
            let beside: BTreeSet<&PathBuf> =
                self.known.values().flat_map(|it| &it.beside).collect();
            for folder in beside {
                let worktree = Worktree::around(folder).filter(|it| !it.ignores(folder));
                let tracked = worktree.map(|_| git::tracked(folder)).unwrap_or_default();
                let code = tracked
                    .iter()
                    .filter(|it| is_code(it, folder, &self.no_source));
                code.for_each(|it| files.file(it));
            }
            for known in self.known.values() {
                known.read.iter().for_each(|it| files.file(it));
                if let Some(folder) = &known.baseline {
                    files.file(&folder.join(BASELINE));
                    let beside = folder.read_dir().into_iter().flatten().flatten();
                    let beside = beside.map(|it| it.path());
                    let accepted = beside.filter(|it| is_baseline(it, folder));
                    accepted.for_each(|it| files.file(&it));
                }
            }
            if !watcher.follow(&files.folders)? {
                return Ok(files);
            }
        }
    }

    /// What one of `count` scenarios depends on. `given` are the servers of the command line.
    fn dependencies(&self, mut scenario: Scenario, count: usize, given: &[Server]) -> Dependencies {
        let needed = given
            .iter()
            .filter(|it| scenario_file::may_need(&scenario, &it.name));
        let needed: Vec<Server> = needed.cloned().collect();
        scenario.servers.extend(needed);
        let Depends {
            read,
            used,
            commands,
            made_from,
            is_prepared,
        } = depends(&scenario);
        let source = used.iter().map(|it| named(it));
        // A program that has gone is about to be built.
        let before = self.known.get(&scenario.id).into_iter();
        let before = before.flat_map(|it| &it.source).filter(|it| !it.exists());
        let baselines = self.purpose.baselines;
        let baselines = baselines.map(|it| replay::baselines(it, &scenario, count));
        let catalogues = baselines
            .iter()
            .flat_map(|it| it.catalogue_files(&scenario.id));
        Dependencies {
            read: (read.iter().map(|it| named(it)))
                .chain(catalogues.map(|it| named(&it)))
                .collect(),
            source: source
                .chain(made_from.iter().map(|it| real(it)))
                .chain(before.cloned())
                .collect(),
            beside: (commands.iter().flat_map(|it| &it.folders))
                .map(|it| real(it))
                .collect(),
            baseline: baselines.map(|it| real(&it.folder(&scenario.id))),
            is_prepared,
        }
    }
}

/// The part of a path before its first pattern, absolute.
fn literal(path: &Path) -> PathBuf {
    let is_name =
        |it: &std::path::Component<'_>| !it.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if path.exists() {
        return named(&path);
    }
    path.components().take_while(is_name).collect()
}
