//! Measurements that are commands of their own, `retrieval` and `security`: each is a scenario that no file holds, runs as others do, and
//! writes its outcome to its folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::args::DatabaseArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::progress::{SuiteObserver, SuiteProgress};
use crate::cli::reports::Reports;
use crate::cli::suite::base;
use crate::cli::{Console, Exit, Failure, database, runtime};
use crate::model::Redacted;
use crate::published::measured::{Measured as Document, Status};
use crate::redact::Redactor;
use crate::run::{self, Progress};
use crate::scenario_file::agent::Agent;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::{self, Finding, Found, Options, Scenario};
use crate::suite::{self, Against, Jobs, Observer, ScenarioObserver, Settings, Suite};
use crate::{json, store, text};

/// The files of a measurement.
const DOCUMENT: &str = "report.json";
const PAGE: &str = "report.html";
const COMMENT: &str = "report.md";
const TESTS: &str = "junit.xml";

/// What is written beside the document.
pub(super) struct Forms {
    pub(super) page: String,
    pub(super) comment: String,
    pub(super) tests: String,
}

/// A report without secrets: of every text in it, what is known for sure to be one is taken out.
///
/// # Errors
///
/// When it cannot be read again, which no report of ours does.
pub(super) fn clean<T: Serialize + DeserializeOwned>(
    report: &T,
    redactor: &Redactor,
) -> Result<Redacted<T>, Failure> {
    let failed = |error: serde_json::Error| {
        Failure::incomplete(format!("the report cannot be written: {error}"))
    };
    let value = serde_json::to_value(report).map_err(failed)?;
    let clean = redactor.document(value);
    let read = T::deserialize(&*clean).map_err(failed)?;
    Ok(clean.derive(|_| read))
}

/// Writes a report in all its forms; returns the line that names the first two.
///
/// # Errors
///
/// When one of them cannot be written.
pub(super) fn write(
    folder: &Path,
    document: &Redacted<impl Serialize>,
    forms: &Forms,
) -> Result<String, Failure> {
    let text = document.derive(json::pretty);
    let files = [
        (DOCUMENT, text.as_str()),
        (PAGE, &forms.page),
        (COMMENT, &forms.comment),
        (TESTS, &forms.tests),
    ];
    for (name, text) in files {
        store::write_following_links(&folder.join(name), text.as_bytes())?;
    }
    let [document, page] = [DOCUMENT, PAGE].map(|it| folder.join(it).display().to_string());
    Ok(format!("Reports: {document} , {page}\n"))
}

/// Says what a measurement came to, in full where more was asked for or it has not passed; returns the exit code of its status.
pub(super) fn tell(
    mut text: String,
    more: impl FnOnce() -> String,
    status: Status,
    problems: &[String],
    console: Console,
) -> Exit {
    if !console.is_quiet() || status != Status::Passed {
        text.push_str(&more());
    }
    console.result(&text::block(&text));
    if !problems.is_empty() {
        console.failure(&Failure::incomplete(problems.join("\n")));
    }
    match status {
        Status::Passed | Status::NoGate => Exit::Passed,
        Status::Failed => Exit::Failed,
        Status::Incomplete => Exit::Incomplete,
    }
}

/// Refuses, before anything is measured, to write over a file that is measured with: the next measurement would be held against this one.
///
/// # Errors
///
/// Which file it is, and the way out.
pub(super) fn spare(
    folders: &[PathBuf],
    inputs: &[(&'static str, Option<&Path>)],
) -> Result<(), Failure> {
    let files = [DOCUMENT, PAGE, COMMENT, TESTS];
    let written: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files.map(|it| folder.join(it)))
        .collect();
    let written: Vec<&Path> = written.iter().map(PathBuf::as_path).collect();
    spare_files(&written, inputs).map_err(|it| {
        it.hint("keep a copy of it elsewhere, or write to another folder with `--out-dir`")
    })
}

/// The same of files that are written by themselves.
///
/// # Errors
///
/// Which file it is.
pub(super) fn spare_files(
    written: &[&Path],
    inputs: &[(&'static str, Option<&Path>)],
) -> Result<(), Failure> {
    // A file may be named in many ways, and what is not there yet is nobody's input.
    let real: Vec<PathBuf> = written
        .iter()
        .filter_map(|it| it.canonicalize().ok())
        .collect();
    for (given_as, path) in inputs {
        let path = path.and_then(|it| Some((it, it.canonicalize().ok()?)));
        if let Some((path, same)) = path
            && real.contains(&same)
        {
            let shown = path.display();
            return Err(Failure::usage(format!(
                "{shown} is given as {given_as}, and would be written over"
            )));
        }
    }
    Ok(())
}

/// Replaces what an earlier measurement left in a folder, where it did, by one that could not even begin: nothing that stands there is to be
/// taken for this one.
///
/// # Errors
///
/// When one of the files cannot be written.
pub(super) fn outdate<T: Serialize + DeserializeOwned>(
    folder: &Path,
    report: &T,
    forms: fn(&T) -> Forms,
    redactor: &Redactor,
) -> Result<(), Failure> {
    if !folder.join(DOCUMENT).exists() {
        return Ok(());
    }
    let report = clean(report, redactor)?;
    write(folder, &report, &forms(&report)).map(drop)
}

/// Refuses a folder that cannot be written to, before anything is measured.
///
/// # Errors
///
/// Which file cannot be written.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    store::check_writable(&folder.join(DOCUMENT)).map_err(Failure::from)
}

/// A measurement may take as long as it takes.
const WHOLE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A scenario in which nothing happens.
const BLANK: &str = "{ \"name\": \"measurement\", \"expected_trajectory\": [] }";

/// How something is measured.
pub(super) struct With<'a> {
    pub(super) command: &'static str,
    /// Another version of the system under test, which takes the part of the baseline.
    pub(super) against: Option<&'a Against>,
    pub(super) database: &'a DatabaseArgs,
    /// How many runs and reports stay.
    pub(super) keep: usize,
    /// Whether containers are left alone.
    pub(super) no_docker: bool,
}

/// A scenario without a system under test, which is said to come from this file.
///
/// # Errors
///
/// When it cannot be read, which ours can.
pub(super) fn blank(path: &Path) -> Result<Scenario, Failure> {
    // No defaults reach it, nor the servers of a client's configuration.
    let nowhere = PathBuf::from("/dev/null");
    let found = Found::below(nowhere, PathBuf::from("measurement.yaml")).holding(BLANK);
    Ok(Scenario {
        path: path.to_owned(),
        servers: Vec::new(),
        usual_servers: None,
        ..first(&[found], "measurement")?
    })
}

/// The scenario of a file, whose servers are asked.
///
/// # Errors
///
/// Everything that is wrong with it.
pub(super) fn read(path: &Path) -> Result<Scenario, Failure> {
    let (found, findings) = scenario_file::find(&[PathBuf::from(path)]);
    right(&findings)?;
    first(&found, &path.display().to_string())
}

/// That nothing is wrong.
fn right(findings: &[Finding]) -> Result<(), Failure> {
    let errors = findings.iter().filter(|it| it.is_error());
    let errors: Vec<Finding> = errors.cloned().collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Failure::invalid(&errors))
    }
}

fn first(found: &[Found], shown: &str) -> Result<Scenario, Failure> {
    // Nobody plays it: its servers are asked by the measurement itself.
    let options = Options {
        agent_given: true,
        ..Options::default()
    };
    let loaded = scenario_file::load(found, &options);
    right(&loaded.findings)?;
    let first = loaded.scenarios.into_iter().next();
    first.ok_or_else(|| Failure::usage(format!("{shown} holds no scenario")))
}

/// A scenario with the same system under test that measures something.
pub(super) fn measuring(
    base: &Scenario,
    measurement: Measurement,
    id: String,
    name: String,
) -> Scenario {
    let mut scenario = Scenario {
        id,
        name,
        enabled: true,
        left_out: None,
        description: None,
        user_intent: None,
        turns: Vec::new(),
        tags: Vec::new(),
        row_of: None,
        agent: Agent::Scripted { calls: Vec::new() },
        measurement: Some(measurement),
        judge: None,
        expected_trajectory: Vec::new(),
        success_criteria: Vec::new(),
        evaluators: Vec::new(),
        ..base.clone()
    };
    scenario.timeouts.scenario = WHOLE;
    scenario
}

/// Measures one scenario after the other, keeps what comes of them among the runs, and gives it to `finish`, for each scenario, in order.
///
/// # Errors
///
/// Why nothing could be measured at all.
pub(super) fn measure(
    scenarios: Vec<Scenario>,
    with: &With<'_>,
    console: Console,
    finish: impl FnOnce(Vec<Document>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let settings = Settings {
        jobs: Jobs::AtMost(1),
        containers: !with.no_docker,
        database: database::of(with.database)?,
        ..base()?
    };
    let runtime = runtime::running(settings.jobs, scenarios.len())?;
    let finished = runtime.block_on(async {
        let observer: Arc<dyn Observer> = if console.draws_progress() {
            let progress = SuiteProgress::new((with.command, scenarios.len()), console);
            Arc::new(SuiteObserver(progress))
        } else {
            Arc::new(Waiting(console))
        };
        let suite = Suite {
            scenarios,
            observer,
            interrupt: runtime::interruption(),
        };
        match with.against {
            None => suite::measure_alone(with.command, suite, &settings).await,
            Some(version) => suite::compare_against(with.command, suite, &settings, version).await,
        }
    });
    runtime.shutdown_background();
    let finished = finished?;
    let reports = Reports::none();
    let options = ReportOptions::of(&reports, with.keep, &settings.baselines);
    let document = finish::keep_with_notes(&finished, &options, console)?;
    // What could not even be begun has no report.
    let lacking = document.scenarios.iter().find(|it| it.measured.is_none());
    if let Some(lacking) = lacking.filter(|_| !document.interrupted) {
        let problem = lacking.problem.as_ref();
        let message = problem.map_or("nothing was measured", |it| &it.message);
        let details = problem.iter().flat_map(|it| &it.details);
        let failure = Failure::incomplete(message.to_owned());
        return Err(details.fold(failure, |failure, it| failure.hint(it.clone())));
    }
    let scenarios = document.scenarios.into_iter();
    let exit = finish(scenarios.filter_map(|it| it.measured).collect())?;
    Ok(if document.interrupted {
        Exit::Interrupted
    } else {
        exit
    })
}

/// Says in a log what is waited for, and nothing else.
struct Waiting(Console);

impl Observer for Waiting {
    fn begins(&self, _: &Scenario) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self(self.0))
    }
}

impl run::Observer for Waiting {
    fn progress(&self, progress: Progress<'_>) {
        if let Progress::Preparing { doing } = progress
            && doing.starts_with("waiting")
        {
            self.0.note(doing);
        }
    }
}

impl ScenarioObserver for Waiting {
    fn attempt(&self, _: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self(self.0))
    }
}
