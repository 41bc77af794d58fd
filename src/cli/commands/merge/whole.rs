//! One result of several: its document, and a run of its own with all their trajectories.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::parts::{Hole, Part, Taken};
use crate::cli::finish::{self, Kept};
use crate::cli::paths::SeenFrom;
use crate::cli::reports::{Reports, Source};
use crate::cli::stored::Stored;
use crate::cli::{Exit, Failure, gates, links, pages};
use crate::model::{Called, Cell, NotRun, Problem, ScenarioResult, Status};
use crate::published::result::{
    Dataset, Link, Merged, MergedShard, ResultDocument, Scenario, Summary,
};
use crate::redact;
use crate::report::{causes, command, document};
use crate::store::{self, Runs, StoreError};
use crate::suite::{self, RUNS};
use crate::text::plural;

/// The result of all parts, and the run that their trajectories are kept in.
pub(super) struct Whole {
    stored: Stored,
    runs: Runs,
    /// Where its pages are, or, without pages, the document alone.
    folder: PathBuf,
    /// How many scenarios came without the trajectories that they were made of.
    without_runs: usize,
}

impl Whole {
    /// Makes one result of what is taken of the parts. What is missing is an error of its own for each scenario, or skipped where that is
    /// allowed.
    ///
    /// # Errors
    ///
    /// When its run cannot be kept.
    pub(super) fn new(
        parts: &[Part],
        taken: &Taken,
        holes: &[Hole],
        allow_missing: bool,
        reports: &Reports,
    ) -> Result<Self, Failure> {
        let runs = Runs::create(&RUNS, Timestamp::now())?;
        let first = &parts[0].result;
        let mut scenarios = Vec::new();
        let mut without_runs = 0;
        for (number, place) in taken.values() {
            let part = &parts[*number];
            let mut scenario = part.result.scenarios[*place].clone();
            without_runs += usize::from(!keep(&mut scenario, part, &runs)?);
            scenarios.push(scenario);
        }
        for hole in holes {
            let missing = missing(hole, first, allow_missing);
            scenarios.extend(missing);
        }
        scenarios.sort_by(|a, b| a.id.cmp(&b.id));
        let selected = scenarios.iter().filter(|it| it.was_to_run()).count();
        let (started_at, duration_ms) = span(parts);
        let mut result = ResultDocument {
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            run_id: runs.id().to_owned(),
            started_at,
            duration_ms,
            interrupted: parts.iter().any(|it| it.result.interrupted),
            // What waits for review there, and what was shown there, is not here.
            called: first.called.clone().map(|it| Called {
                keeps_pending: false,
                report: None,
                ..it
            }),
            links: all_links(parts),
            summary: Summary::of(&scenarios, selected),
            gate: None,
            problem: None,
            bisected: None,
            shard: None,
            shuffle_seed: shuffle_seed(parts),
            merged: Some(merged(parts, holes)),
            causes: causes::causes(&scenarios, &first.command),
            datasets: Dataset::all(&scenarios),
            scenarios,
            ..first.clone()
        };
        result.matrix = suite::matrix(&result.scenarios);
        gates::decide(&mut result);
        Ok(Self {
            stored: Stored::new(result, runs.folder().to_owned()),
            folder: finish::folder(&runs, reports),
            runs,
            without_runs,
        })
    }

    /// The code of all parts together. Where there was nothing to do for any of them, there was nothing to do.
    pub(super) fn exit(&self, strict_statistics: bool, strict: bool) -> Exit {
        let result = &self.stored.result;
        if result.scenarios.is_empty() {
            return Exit::Unchanged;
        }
        gates::exit(result, strict_statistics, strict)
    }

    /// What a reader should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let without = match self.without_runs {
            0 => return Vec::new(),
            count => plural(count, "scenario"),
        };
        vec![format!(
            "note: the trajectories of {without} do not lie beside the results, so no conversation is shown and nothing can be accepted there"
        )]
    }
}

/// Copies what a scenario's result speaks of into the run, and names it there. Returns whether its trajectories were all there.
fn keep(scenario: &mut Scenario, part: &Part, runs: &Runs) -> Result<bool, StoreError> {
    let seen = SeenFrom::new(runs.folder());
    let id = scenario.id.clone();
    let mut are_there = true;
    for (side, of) in [
        (
            &mut scenario.current,
            Runs::path as fn(&Runs, &str) -> PathBuf,
        ),
        (&mut scenario.baseline, Runs::baseline_path),
    ] {
        let Some(side) = side else { continue };
        let to = of(runs, &id);
        let is_there = copy_trajectory(part.folders.iter().map(|it| of(&Runs::at(it), &id)), &to)?;
        side.file = is_there.then(|| seen.path(&to));
        are_there &= is_there;
    }
    let attempts = scenario.repeated.iter_mut().flat_map(|it| &mut it.attempts);
    for (number, attempt) in (1..).zip(attempts) {
        let to = runs.attempt(number).path(&id);
        let from = part.folders.iter();
        let from = from.map(|it| Runs::at(it).attempt(number).path(&id));
        attempt.file = copy_trajectory(from, &to)?.then(|| seen.path(&to));
    }
    if scenario.container_log.is_some() {
        let mut from = part.folders.iter().map(|it| Runs::at(it).log_path(&id));
        let to = runs.log_path(&id);
        let log = from.find_map(|it| plain_file(&it));
        if let Some(log) = &log {
            store::write(&to, log)?;
        }
        scenario.container_log = log.map(|_| seen.path(&to));
    }
    Ok(are_there)
}

/// Copies the first of these files that is a trajectory. What is not one is never taken for it, wherever a folder from elsewhere leads.
fn copy_trajectory(from: impl IntoIterator<Item = PathBuf>, to: &Path) -> Result<bool, StoreError> {
    for file in from {
        if let Some(text) = plain_file(&file)
            && store::parse(&file, &text).is_ok()
        {
            store::write(to, &text)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a file holds that is no link.
fn plain_file(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    is_file.then(|| fs::read(path).ok()).flatten()
}

/// The results of scenarios that nothing is known of.
fn missing(hole: &Hole, first: &ResultDocument, allowed: bool) -> Vec<Scenario> {
    let status = if allowed {
        Status::Skipped
    } else {
        Status::Error
    };
    let (shard, scenarios) = (&hole.shard, hole.scenarios.iter());
    let results = scenarios.map(|planned| {
        ScenarioResult::new(&planned.id, &planned.id, &planned.path, status).with(|it| {
            it.not_run = Some(NotRun::MissingPart);
            it.problem = Some(
                Problem::new(format!("missing: no result of part {shard} has it")).hint(format!(
                    "run that part again: `{}`, with all else as it was",
                    command::part(first, shard)
                )),
            );
            it.cell = Cell::of_id(&planned.id).map(Box::new);
            it.row_of.clone_from(&planned.row_of);
        })
    });
    let results = results.map(|it| redact::environment().result(it));
    results
        .map(|it| document::of_scenario(&it, &first.command))
        .collect()
}

fn merged(parts: &[Part], holes: &[Hole]) -> Merged {
    let shards = parts.iter().map(|it| MergedShard {
        index: it.shard.index,
        count: it.shard.count,
        run_id: it.result.run_id.clone(),
        started_at: it.result.started_at.clone(),
        duration_ms: it.result.duration_ms,
        exit_code: it.result.gate.as_ref().map(|it| it.exit_code),
        scenarios: it.result.scenarios.len(),
    });
    let missing = holes.iter().flat_map(|it| &it.scenarios);
    let mut missing: Vec<String> = missing.map(|it| it.id.clone()).collect();
    missing.sort();
    Merged {
        shards: shards.collect(),
        missing,
    }
}

/// The number that made the order in which scenarios began, where it was one and the same in all parts.
fn shuffle_seed(parts: &[Part]) -> Option<u32> {
    let mut seeds = parts.iter().map(|it| it.result.shuffle_seed);
    let first = seeds.next()??;
    seeds.all(|it| it == Some(first)).then_some(first)
}

/// When the first part began, and how long it took from then until the last one had ended, in milliseconds.
fn span(parts: &[Part]) -> (String, Option<f64>) {
    let results = || parts.iter().map(|it| &it.result);
    let first = results().min_by(|a, b| a.started_at.cmp(&b.started_at));
    let first = first.map_or_else(String::new, |it| it.started_at.clone());
    let begun: Option<Timestamp> = first.parse().ok();
    let ends = results().map(|it| {
        let begun: Timestamp = it.started_at.parse().ok()?;
        let took = Duration::try_from_secs_f64(it.duration_ms? / 1000.0).ok()?;
        begun.checked_add(took).ok()
    });
    let ends: Option<Vec<Timestamp>> = ends.collect();
    let last = ends.and_then(|it| it.into_iter().max());
    let took = begun.zip(last);
    let took = took.map(|(begun, last)| last.duration_since(begun));
    (
        first,
        took.map(|it: SignedDuration| it.as_secs_f64() * 1000.0),
    )
}

/// The pages elsewhere that all parts name, and those of this command.
fn all_links(parts: &[Part]) -> Vec<Link> {
    let mut parts = parts.iter().map(|it| &it.result.links);
    let first = parts.next().cloned().unwrap_or_default();
    let mut shared: Vec<Link> = first;
    for links in parts {
        shared.retain(|it| links.contains(it));
    }
    links::add(&mut shared, &links::links());
    shared
}

impl Source for Whole {
    fn document(&mut self, folder: &Path) -> Cow<'_, ResultDocument> {
        if folder == self.runs.folder() {
            Cow::Borrowed(&self.stored.result)
        } else {
            Cow::Owned(self.stored.seen_from(folder))
        }
    }

    fn write_pages(&mut self, folder: &Path) -> Result<(), Failure> {
        let result = &self.stored.result;
        for scenario in &result.scenarios {
            let id = &scenario.id;
            let sides = [self.runs.path(id), self.runs.baseline_path(id)];
            let sides = sides.each_ref().map(|it| Some(it.as_path()));
            pages::copy_sides(folder, result, scenario, sides)?;
        }
        // Those that are gone have been reported.
        self.stored.write_pages(folder)?;
        Ok(())
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.folder == folder
    }
}

impl Kept for Whole {
    fn result_mut(&mut self) -> &mut ResultDocument {
        &mut self.stored.result
    }

    fn runs(&self) -> &Runs {
        &self.runs
    }
}
