//! A result that was stored by an earlier command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::cli::paths::SeenFrom;
use crate::cli::{Failure, pages, runs};
use crate::input;
use crate::published::result::{self, ResultDocument};
use crate::report::{causes, html};
use crate::store::{self, RESULT};
use crate::suite::{RUNS, stored_sides};

/// A stored result and the folder its file names start from.
pub(super) struct Stored {
    pub(super) result: ResultDocument,
    folder: PathBuf,
}

impl Stored {
    /// Opens the result of a run, by the name of its folder as [`runs::folder`] takes it, or by its file; the latest without any.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be read.
    pub(super) fn open(run: Option<&Path>) -> Result<Self, Failure> {
        let nothing = || {
            Failure::incomplete(format!("no result is stored in {}/", RUNS.display()))
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
                Failure::usage(format!("there is no stored result `{}`", asked.display())).hint(
                    format!("results are kept in {}/<run>/{RESULT}", RUNS.display()),
                ),
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

    /// The result as seen from a folder, without the names of logs that are gone.
    fn shown_from(&self, folder: &Path) -> ResultDocument {
        let mut result = self.seen_from(folder);
        for (scenario, shown) in self.result.scenarios.iter().zip(&mut result.scenarios) {
            let log = scenario.container_log.as_ref();
            if log.is_some_and(|it| !self.folder.join(it).exists()) {
                shown.container_log = None;
            }
        }
        result
    }

    /// Writes the pages of the result to a folder and returns the trajectories that are gone.
    ///
    /// # Errors
    ///
    /// When a page cannot be written.
    pub(super) fn write_pages(&self, folder: &Path) -> Result<Vec<String>, Failure> {
        let gone: Mutex<BTreeMap<usize, Vec<String>>> = Mutex::default();
        let sides = |number: usize| {
            let mut own = Vec::new();
            let sides = stored_sides(&self.folder, &self.result.scenarios[number], &mut own);
            gone.lock().insert(number, own);
            sides
        };
        pages::write_pages(folder, &self.shown_from(folder), &sides)?;
        Ok(gone.into_inner().into_values().flatten().collect())
    }

    /// Writes the index and all pages into one file. Returns the trajectories that are gone, and how many pages found no room.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(super) fn write_single_file(&self, file: &Path) -> Result<(Vec<String>, usize), Failure> {
        let mut gone = Vec::new();
        let result = &self.shown_from(file.parent().unwrap_or(Path::new("")));
        // What the result names is seen from its own folder.
        let both = self.result.scenarios.iter().zip(&result.scenarios);
        let mut responses = html::Responses::new();
        let pages = both.map(|(scenario, shown)| {
            let sides = stored_sides(&self.folder, scenario, &mut gone);
            let [baseline, current] = sides.each_ref().map(Option::as_deref);
            html::keep_response(&mut responses, shown, current.map(|it| &**it));
            html::scenario_alone(result, shown, baseline, current)
        });
        let pages: Vec<String> = pages.collect();
        let index = html::index_with(result, &responses);
        let single = html::single(result, &index, &pages);
        store::write_following_links(file, single.html.as_bytes())?;
        Ok((gone, single.left_out))
    }
}
