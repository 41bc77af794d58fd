//! A result that was stored by an earlier command.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::finish;
use crate::cli::runs::{self, RESULT};
use crate::cli::seen_from::SeenFrom;
use crate::input;
use crate::model::redacted::Redacted;
use crate::model::trajectory::Trajectory;
use crate::published::result::{self, ResultDocument, Side};
use crate::report::{causes, html};
use crate::store;
use crate::suite::RUNS;

/// A stored result and the folder its file names start from.
pub(super) struct Stored {
    pub(super) result: ResultDocument,
    folder: PathBuf,
}

/// The trajectories of the baseline and of the run, as far as they are there.
type Sides = (Option<Redacted<Trajectory>>, Option<Redacted<Trajectory>>);

/// A result as seen from a folder, and what its pages are made from.
struct Loaded {
    result: ResultDocument,
    /// The two trajectories of each scenario.
    sides: Vec<Sides>,
    /// Why others are not.
    gone: Vec<String>,
}

impl Stored {
    /// Opens the result of a run: by its id, its folder or its file; the latest without any.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read.
    pub(super) fn open(run: Option<&Path>) -> Result<Self, Failure> {
        let path = match run {
            None => runs::latest().map(|it| it.join(RESULT)).ok_or_else(|| {
                Failure::incomplete(format!("no result is stored in {RUNS}/"))
                    .hint("`mcp-eval compare` stores one")
            })?,
            Some(run) => [
                run.to_owned(),
                run.join(RESULT),
                Path::new(RUNS).join(run).join(RESULT),
            ]
            .into_iter()
            .find(|it| input::is_no_folder(it))
            .ok_or_else(|| {
                Failure::usage(format!("there is no stored result `{}`", run.display()))
                    .hint(format!("results are kept in {RUNS}/<run>/{RESULT}"))
            })?,
        };
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
        let mut gone = Vec::new();
        let seen = SeenFrom::new(folder);
        let mut result = self.result.clone();
        let mut sides = Vec::new();
        for scenario in &mut result.scenarios {
            let mut load = |side: &mut Option<Side>| -> Option<Redacted<Trajectory>> {
                let file = side.as_ref()?.file.clone()?;
                let path = self.folder.join(&file);
                match store::load(&path) {
                    Ok(trajectory) => {
                        side.as_mut()?.file = Some(seen.path(&path));
                        Some(trajectory)
                    }
                    Err(error) => {
                        gone.push(error.to_string());
                        None
                    }
                }
            };
            sides.push((load(&mut scenario.baseline), load(&mut scenario.current)));
            let log = scenario.container_log.take();
            let log = log.map(|it| self.folder.join(it));
            scenario.container_log = log.filter(|it| it.exists()).map(|it| seen.path(&it));
            let attempts = scenario.repeated.iter_mut().flat_map(|it| &mut it.attempts);
            for file in attempts.filter_map(|it| it.file.as_mut()) {
                *file = seen.path(&self.folder.join(&*file));
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
        let Loaded {
            result,
            sides,
            gone,
        } = self.loaded(folder);
        for (scenario, (baseline, current)) in result.scenarios.iter().zip(&sides) {
            let page = html::scenario(&result, scenario, baseline.as_ref(), current.as_ref());
            finish::write_page(folder, &scenario.id, &page)?;
        }
        store::write(&folder.join(RESULT), result::json(&result).as_bytes())?;
        store::write(&folder.join("index.html"), html::index(&result).as_bytes())?;
        Ok(gone)
    }

    /// Writes the index and all pages into one file. Returns the trajectories that are gone, and how many pages found no room.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(super) fn write_single_file(&self, file: &Path) -> Result<(Vec<String>, usize), Failure> {
        let Loaded {
            result,
            sides,
            gone,
        } = self.loaded(file.parent().unwrap_or(Path::new("")));
        let pages = result.scenarios.iter().zip(&sides);
        let pages: Vec<String> = pages
            .map(|(it, (baseline, current))| {
                html::scenario_alone(&result, it, baseline.as_ref(), current.as_ref())
            })
            .collect();
        let single = html::single(&result, &html::index(&result), &pages);
        store::write(file, single.html.as_bytes())?;
        Ok((gone, single.left_out))
    }
}
