//! The end of a suite: the document, what is printed, the exit code.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::cli::args::Format;
use crate::cli::pages::{copy_sides, point_latest, write_pages};
use crate::cli::paths::SeenFrom;
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::{Console, Exit, Failure, ci, database, gates, links, runtime, shuffle};
use crate::model::Called;
use crate::published::result::{Bisected, ResultDocument, Shard};
use crate::redact;
use crate::report::advice;
use crate::report::command::{quoted, review};
use crate::scenario_file::suites::SuiteFile;
use crate::store::database::RunHead;
use crate::store::{self, RESULT, Retention, RunLine, Runs};
use crate::suite::ci::is_ci;
use crate::suite::{
    self, BASELINES, BISECT_STATE, Files, Finished, REPORTS, Scored, Sides, scored_sides,
};

/// How a suite's result is reported.
pub(super) struct ReportOptions<'a> {
    /// Where it goes, and in which forms.
    pub(super) reports: &'a Reports,
    /// The threshold given on the command line.
    pub(super) threshold: Option<f64>,
    /// How many runs and reports stay.
    pub(super) keep: usize,
    /// The folder of baselines, which may name runs that stay.
    pub(super) baselines: &'a Path,
    /// What is inconclusive has not passed.
    pub(super) strict_statistics: bool,
    /// Whatever changed has failed, and what passed on a later try alone.
    pub(super) strict: bool,
    /// The suite file that the command followed, and the day by which its quarantine ends or goes on.
    pub(super) suite: Option<(&'a SuiteFile, Date)>,
    /// The part of a suite that this is, where it is one.
    pub(super) shard: Option<ShardOf<'a>>,
    /// The number that made the order in which scenarios began.
    pub(super) shuffle_seed: Option<u32>,
    /// What a search has found whose last comparison this is.
    pub(super) bisected: Option<Bisected>,
    /// How many runs wait for review.
    pub(super) pending: usize,
}

impl<'a> ReportOptions<'a> {
    /// With nothing asked for beyond where the report goes, how many runs stay, and which folder of baselines names some.
    pub(super) fn of(reports: &'a Reports, keep: usize, baselines: &'a Path) -> Self {
        Self {
            reports,
            keep,
            baselines,
            threshold: None,
            strict_statistics: false,
            strict: false,
            suite: None,
            shard: None,
            shuffle_seed: None,
            bisected: None,
            pending: 0,
        }
    }
}

/// The part of a suite that a result is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShardOf<'a> {
    pub(super) shard: &'a Shard,
    /// What there is to tell where this part has nothing to do.
    pub(super) idle: Option<Exit>,
}

/// A result whose runs are kept.
pub(super) trait Kept: Source {
    fn result_mut(&mut self) -> &mut ResultDocument;

    /// The folder of its runs.
    fn runs(&self) -> &Runs;

    /// Keeps the document beside the runs it speaks of.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn keep(&mut self) -> Result<(), Failure> {
        let folder = self.runs().folder().to_owned();
        store::write_json(&folder.join(RESULT), &*self.document(&folder))?;
        self.runs().remove_ended();
        Ok(())
    }
}

/// Writes the report of a suite, prints its result and returns the exit code.
///
/// # Errors
///
/// When the report cannot be written; the result is printed all the same.
pub(super) fn finish(
    finished: &Finished,
    options: &ReportOptions<'_>,
    console: Console,
) -> Result<Exit, Failure> {
    // They are about what is not kept.
    for note in &finished.notes {
        console.warning(&format!("note: {note}"));
    }
    let mut found = Found {
        result: ResultDocument::from(finished),
        runs: &finished.runs,
        files: &finished.files,
        sides: &|it| finished.sides(it),
        folder: folder(&finished.runs, options.reports),
    };
    let published = found.finish(options, console);
    if let Some(database) = &finished.database {
        // What became of the whole is known by now.
        database.head(finished.suite.derive(|_| RunHead::ended(&found.result)));
        database::tell(&runtime::here()?.block_on(database.flush()), console);
    }
    published
}

/// The same of stored runs that were scored.
///
/// # Errors
///
/// As [`finish`].
pub(super) fn finish_scored(
    scored: Scored,
    options: &ReportOptions<'_>,
    console: Console,
) -> Result<Exit, Failure> {
    let mut found = Found {
        result: scored.result,
        runs: &scored.runs,
        files: &scored.files,
        sides: &|it| scored_sides(&scored.files[it]),
        folder: folder(&scored.runs, options.reports),
    };
    found.finish(options, console)
}

/// Completes the document of a suite that was not run from a command line, keeps it, and returns it. What goes wrong there is reported, and
/// spoils no result.
pub(super) fn keep(
    finished: &Finished,
    options: &ReportOptions<'_>,
    console: Console,
) -> ResultDocument {
    let mut result = ResultDocument::from(finished);
    result.mark_within_gates();
    let exit = if result.interrupted {
        Exit::Interrupted
    } else {
        gates::exit(&result, options.strict_statistics, options.strict)
    };
    set_gate(&mut result, exit, options);
    let mut found = Found {
        result,
        runs: &finished.runs,
        files: &finished.files,
        sides: &|it| finished.sides(it),
        folder: finished.runs.folder().to_owned(),
    };
    if let Err(failure) = found.keep() {
        console.note(&format!("note: {}", failure.message));
    }
    tidy(&mut found, options, console);
    found.result
}

/// The same of a command that shows in a way of its own what came of its scenarios.
///
/// # Errors
///
/// When there is no waiting for the database.
pub(super) fn keep_with_notes(
    finished: &Finished,
    options: &ReportOptions<'_>,
    console: Console,
) -> Result<ResultDocument, Failure> {
    for note in &finished.notes {
        console.warning(&format!("note: {note}"));
    }
    let document = keep(finished, options, console);
    if let Some(database) = &finished.database {
        database.head(finished.suite.derive(|_| RunHead::ended(&document)));
        database::tell(&runtime::here()?.block_on(database.flush()), console);
    }
    Ok(document)
}

/// Where the pages of a result go, or, without pages, the document alone.
pub(super) fn folder(runs: &Runs, reports: &Reports) -> PathBuf {
    match &reports.output {
        Some(folder) => folder.clone(),
        None if reports.pages => Path::new(REPORTS).join(runs.id()),
        None => runs.folder().to_owned(),
    }
}

/// Keeps a result that has come to this code, writes its report, prints it, and returns the code that all that has come to.
///
/// # Errors
///
/// When the report cannot be written; the result is printed all the same.
pub(super) fn publish(
    found: &mut dyn Kept,
    exit: Exit,
    options: &ReportOptions<'_>,
    console: Console,
) -> Result<Exit, Failure> {
    let reports = options.reports;
    if let Some(seed) = options.shuffle_seed.filter(|_| exit.code() != 0) {
        // Without it, nobody can look for what failed in this order alone.
        console.said_to_quiet(&shuffle::words(seed));
    }
    let folder = folder(found.runs(), reports);
    found.result_mut().mark_within_gates();
    set_gate(found.result_mut(), exit, options);
    let called = found.result_mut().called.as_mut();
    if let Some(called) = called.filter(|_| reports.pages) {
        let shown = folder.to_string_lossy();
        called.report = Some(redact::environment().text(&shown).into_inner());
    }
    if reports.pages && reports.output.is_none() {
        // Where that cannot be, the pages cannot be written either, which is reported.
        let _ = store::make_unversioned(Path::new(REPORTS));
    }
    let written = if reports.pages {
        found.write_pages(&folder).and_then(|()| {
            if reports.output.is_none() {
                // Without the mark, the folder stays when its time has come.
                let _ = store::mark(&folder, found.runs().id());
                point_latest(&folder);
            }
            found.keep()
        })
    } else {
        found.keep()
    };
    let written = written.and_then(|()| reports.write(Some(&folder), found, console));
    let runs = found.runs().folder().to_owned();
    if written.is_ok() {
        tidy(found, options, console);
    }
    let shown = found.document(&folder);
    add_to_summary(&shown, console);
    let Err(failure) = written else {
        // Seen from its runs, what was kept is what is printed: of many scenarios, it is made once.
        let is_kept = reports.printed == Format::Json && folder == runs;
        match File::open(runs.join(RESULT)) {
            Ok(kept) if is_kept => Console::copy(kept),
            _ => print(&shown, reports.printed, console),
        }
        if reports.printed == Format::Json {
            // A program reads it, perhaps with what is said beside it; the document says where all of it lies.
            return Ok(exit);
        }
        if reports.pages {
            console.note(&format!("Report: {}", folder.join(INDEX).display()));
        } else {
            console.note(&format!("Result: {}", folder.join(RESULT).display()));
        }
        if let Some(next) = next_step(&shown, options) {
            console.note(&next);
        }
        return Ok(exit);
    };
    drop(shown);
    let exit = exit.and(failure.exit);
    set_gate(found.result_mut(), exit, options);
    // Kept all the same, where that is possible: the report can be rendered again from there.
    let _ = found.keep();
    tidy(found, options, console);
    print(&found.document(&folder), reports.printed, console);
    Err(Failure {
        exit,
        is_printed: true,
        ..failure
    })
}

/// What to type next: to decide on what waits for review, else to see what failed or changed. `None` where nothing did.
fn next_step(result: &ResultDocument, options: &ReportOptions<'_>) -> Option<String> {
    let compared = result.scenarios.iter().filter(|it| it.comparison.is_some());
    let failed = compared.clone().find(|it| !it.status.is_fine());
    let to_explain = failed.or_else(|| compared.clone().find(|it| it.is_changed()));
    let explain = to_explain.map(|it| format!("`mcp-eval explain {}`", quoted(&it.id)));
    let show = "`mcp-eval report --open`";
    let has_pages = options.reports.pages && options.reports.output.is_none() && !is_ci();
    match (options.pending, explain) {
        (0, Some(explain)) if has_pages => Some(format!("Next: {show}, or {explain}")),
        (0, Some(explain)) => Some(format!("Next: {explain}")),
        (0, None) => {
            let is_fine = result
                .scenarios
                .iter()
                .all(|it| it.status.is_fine() || it.status.is_left_out());
            (has_pages && !is_fine).then(|| format!("Next: {show}"))
        }
        _ if advice::names_review(result) => None,
        (1, _) => Some(format!(
            "Next: `{}` accepts or rejects the run",
            review(result)
        )),
        (pending, _) => Some(format!(
            "Next: `{}` accepts or rejects {pending} runs",
            review(result)
        )),
    }
}

/// Removes runs and reports that need not stay, and notes in the index what there is: this run as its document says by now. What goes
/// wrong there spoils no result.
fn tidy(of: &mut dyn Kept, options: &ReportOptions<'_>, console: Console) {
    let result = of.result_mut();
    let line = RunLine::from(&*result);
    let is_of_stored = result.called.as_ref().is_some_and(Called::is_of_stored);
    let Some(runs) = of.runs().folder().parent() else {
        return;
    };
    let mut named_in = vec![
        options.baselines.to_owned(),
        BASELINES.into(),
        BISECT_STATE.clone(),
    ];
    // The stored run that was judged has the trajectories that this one speaks of.
    named_in.extend(is_of_stored.then(|| of.runs().folder().join(RESULT)));
    let retention = Retention {
        keep: options.keep,
        runs: runs.to_owned(),
        reports: REPORTS.into(),
        named_in,
    };
    retention.tidy();
    if let Err(error) = store::index(runs, line) {
        console.note(&format!("note: {error}"));
    }
}

/// A result that a command has just found.
struct Found<'a> {
    result: ResultDocument,
    runs: &'a Runs,
    /// Where the trajectories lie, for each scenario of the result.
    files: &'a [Files],
    sides: &'a (dyn Fn(usize) -> Sides + Sync),
    /// Where its pages are, or, without pages, the document alone.
    folder: PathBuf,
}

impl Found<'_> {
    /// Completes the document, and publishes it.
    ///
    /// # Errors
    ///
    /// As [`publish`].
    fn finish(&mut self, options: &ReportOptions<'_>, console: Console) -> Result<Exit, Failure> {
        let result = &mut self.result;
        result.bisected.clone_from(&options.bisected);
        result.shard = options.shard.map(|it| it.shard.clone());
        result.shuffle_seed = options.shuffle_seed;
        result.links = links::links();
        result.matrix = suite::matrix(&result.scenarios);
        if let Some((suite, today)) = options.suite {
            gates::follow(result, suite, today);
        }
        let idle = options.shard.and_then(|it| it.idle);
        let exit = match (&options.bisected, idle) {
            (Some(bisected), _) if bisected.first_bad.len() == 1 => Exit::Passed,
            (Some(_), _) => Exit::Incomplete,
            (None, _) if result.interrupted => Exit::Interrupted,
            (None, Some(exit)) => exit,
            (None, None) => gates::exit(result, options.strict_statistics, options.strict),
        };
        publish(self, exit, options, console)
    }
}

impl Source for Found<'_> {
    fn document(&mut self, folder: &Path) -> Cow<'_, ResultDocument> {
        name_files(&mut self.result, self.files, folder);
        Cow::Borrowed(&self.result)
    }

    fn write_pages(&mut self, folder: &Path) -> Result<(), Failure> {
        let (files, sides) = (self.files, self.sides);
        let document = self.document(folder);
        for (scenario, files) in document.scenarios.iter().zip(files) {
            let sides = [files.current.as_deref(), files.baseline.as_deref()];
            copy_sides(folder, &document, scenario, sides)?;
        }
        Ok(write_pages(folder, &document, sides)?)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.folder == folder
    }
}

impl Kept for Found<'_> {
    fn result_mut(&mut self) -> &mut ResultDocument {
        &mut self.result
    }

    fn runs(&self) -> &Runs {
        self.runs
    }
}

fn set_gate(result: &mut ResultDocument, exit: Exit, options: &ReportOptions<'_>) {
    let strict = (options.strict_statistics, options.strict);
    gates::set(result, exit, options.threshold, strict);
}

/// Adds the result to the summary of a job, where this is a step of one. It is for people, and decides nothing.
pub(super) fn add_to_summary(result: &ResultDocument, console: Console) {
    if let Err(error) = ci::add_to_summary(result) {
        console.note(&format!(
            "note: the summary of this job lacks the result: {error}"
        ));
    }
}

/// Prints a result to stdout.
pub(super) fn print(result: &ResultDocument, format: Format, console: Console) {
    let text = format.render(result, console.style());
    match format {
        // Nothing to tell is nothing, and no empty line.
        Format::Github if text.is_empty() => {}
        Format::Terminal => console.result(&text),
        _ => Console::document(&text),
    }
}

/// Gives the document the paths of the trajectories it speaks of, as seen from its own folder.
fn name_files(result: &mut ResultDocument, files: &[Files], folder: &Path) {
    let seen = SeenFrom::new(folder);
    for (published, files) in result.scenarios.iter_mut().zip(files) {
        published.container_log = files.container_log.as_deref().map(|it| seen.path(it));
        for (side, file) in [
            (&mut published.current, &files.current),
            (&mut published.baseline, &files.baseline),
        ] {
            if let Some(side) = side {
                side.file = file.as_deref().map(|it| seen.path(it));
            }
        }
        let attempts = published
            .repeated
            .iter_mut()
            .flat_map(|it| &mut it.attempts);
        for (attempt, file) in attempts.zip(&files.attempts) {
            attempt.file = file.as_deref().map(|it| seen.path(it));
        }
    }
}
