//! A result that was stored by an earlier command.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::finish::{self, Sides};
use crate::cli::runs;
use crate::cli::seen_from::SeenFrom;
use crate::input;
use crate::model::redacted::Redacted;
use crate::model::trajectory::Trajectory;
use crate::published::result::{self, ResultDocument, Side};
use crate::report::{causes, html};
use crate::store::{self, RESULT, Runs};
use crate::suite::RUNS;

/// A stored result and the folder its file names start from.
pub(super) struct Stored {
    pub(super) result: ResultDocument,
    folder: PathBuf,
}

/// A result as seen from a folder, and what its pages are made from.
struct Loaded {
    result: ResultDocument,
    /// The trajectories of each scenario, as far as they are there: the baseline's, then the run's.
    sides: Vec<[Option<Redacted<Trajectory>>; 2]>,
    /// Why others are not.
    gone: Vec<String>,
}

impl Loaded {
    fn sides(&self) -> impl Iterator<Item = Sides<'_>> {
        let sides = self.sides.iter();
        sides.map(|[baseline, current]| (baseline.as_ref(), current.as_ref()))
    }
}

impl Stored {
    /// Opens the result of a run, by the name of its folder as [`runs::folder`] takes it, or by its file; the latest without any.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read.
    pub(super) fn open(run: Option<&Path>) -> Result<Self, Failure> {
        let nothing = || {
            Failure::incomplete(format!("no result is stored in {RUNS}/"))
                .hint("`mcp-eval compare` stores one")
        };
        let found = match run {
            None => runs::latest().ok_or_else(nothing)?,
            Some(run) => runs::folder(&run.to_string_lossy()).map_err(|why| {
                let is_any = runs::latest().is_some();
                if is_any {
                    Failure::usage(why)
                } else {
                    nothing()
                }
            })?,
        };
        let path = if found.is_dir() {
            found.join(RESULT)
        } else {
            found
        };
        if !input::is_no_folder(&path) {
            let asked = run.unwrap_or(&path);
            return Err(
                Failure::usage(format!("there is no stored result `{}`", asked.display()))
                    .hint(format!("results are kept in {RUNS}/<run>/{RESULT}")),
            );
        }
        let text = input::read_to_string(&path).map_err(|error| {
            Failure::incomplete(format!("cannot read {}: {error}", path.display()))
        })?;
        let mut result = result::parse(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        causes::complete(&mut result);
        Ok(Self {
            result,
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
        })
    }

    /// A result whose file names start from this folder.
    pub(super) fn new(result: ResultDocument, folder: PathBuf) -> Self {
        Self { result, folder }
    }

    /// The result with the names of its files as seen from a folder.
    pub(super) fn seen_from(&self, folder: &Path) -> ResultDocument {
        let seen = SeenFrom::new(folder);
        let mut result = self.result.clone();
        for scenario in &mut result.scenarios {
            let sides = [&mut scenario.baseline, &mut scenario.current].into_iter();
            let sides = sides.flatten().filter_map(|it| it.file.as_mut());
            let attempts = scenario.repeated.iter_mut().flat_map(|it| &mut it.attempts);
            let files = sides.chain(attempts.filter_map(|it| it.file.as_mut()));
            for file in files.chain(scenario.container_log.as_mut()) {
                *file = seen.path(&self.folder.join(&*file));
            }
        }
        result
    }

    /// The result as seen from a folder, with the trajectories that its pages are made from.
    fn loaded(&self, folder: &Path) -> Loaded {
        let mut result = self.seen_from(folder);
        let (mut sides, mut gone) = (Vec::new(), Vec::new());
        // Of a report that came from elsewhere, both sides lie beside the pages.
        let beside = Runs::at(&self.folder.join("trajectories"));
        let mut load = |side: &Option<Side>, copy: PathBuf| -> Option<Redacted<Trajectory>> {
            let file = self.folder.join(side.as_ref()?.file.as_ref()?);
            let file = if !file.exists() && copy.is_file() {
                copy
            } else {
                file
            };
            let loaded = store::load(&file);
            loaded.map_err(|error| gone.push(error.to_string())).ok()
        };
        for (scenario, shown) in self.result.scenarios.iter().zip(&mut result.scenarios) {
            let id = &scenario.id;
            sides.push([
                load(&scenario.baseline, beside.baseline_path(id)),
                load(&scenario.current, beside.path(id)),
            ]);
            let log = scenario.container_log.as_ref();
            if log.is_some_and(|it| !self.folder.join(it).exists()) {
                shown.container_log = None;
            }
        }
        Loaded {
            result,
            sides,
            gone,
        }
    }

    /// Writes the pages of the result to a folder and returns the trajectories that are gone.
    ///
    /// # Errors
    ///
    /// When a page cannot be written.
    pub(super) fn write_pages(&self, folder: &Path) -> Result<Vec<String>, Failure> {
        let loaded = self.loaded(folder);
        finish::write_pages(folder, &loaded.result, loaded.sides())?;
        Ok(loaded.gone)
    }

    /// Writes the index and all pages into one file. Returns the trajectories that are gone, and how many pages found no room.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(super) fn write_single_file(&self, file: &Path) -> Result<(Vec<String>, usize), Failure> {
        let loaded = self.loaded(file.parent().unwrap_or(Path::new("")));
        let result = &loaded.result;
        let pages = result.scenarios.iter().zip(loaded.sides());
        let pages: Vec<String> = pages
            .map(|(it, (baseline, current))| html::scenario_alone(result, it, baseline, current))
            .collect();
        let single = html::single(result, &html::index(result), &pages);
        store::write(file, single.html.as_bytes())?;
        Ok((loaded.gone, single.left_out))
    }
}
