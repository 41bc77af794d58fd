//! `mcp-eval import`: recordings of other tools become baselines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use walkdir::WalkDir;

use crate::cli::args::{ImportArgs, ImportedTool, ResultFormat};
use crate::cli::paths::SCENARIOS;
use crate::cli::{Console, Exit, Failure, ci};
use crate::model::{Redacted, Redaction, Step, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::{self, Options, Scenario};
use crate::store::Baselines;
use crate::suite::BASELINES;
use crate::text::{self, plural};
use crate::{import, input, json, score};

/// The file the original tool keeps a recording in.
const LOG: &str = "detailed_log.json";

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct ImportDocument {
    format_version: u32,
    imported: usize,
    failed: usize,
    recordings: Vec<Recording>,
}

#[derive(Default, Serialize)]
struct Recording {
    /// The recording, as found.
    path: String,
    /// The name of the baseline.
    id: String,
    /// The file of the scenario it belongs to; `null` where none was found.
    scenario: Option<String>,
    /// What shows that it belongs there.
    because: Option<&'static str>,
    /// Scored calls.
    calls: usize,
    /// Calls of tools that are no MCP tools: kept, not scored.
    other_calls: usize,
    /// Where it went; `null` when it was not imported.
    baseline: Option<String>,
    /// Why it was not imported.
    problem: Option<String>,
}

/// Something that may be a recording.
struct Found {
    id: String,
    path: PathBuf,
    /// Why it cannot be one.
    refusal: Option<Failure>,
}

pub(in crate::cli) fn run(args: &ImportArgs, console: Console) -> Result<Exit, Failure> {
    // The only tool there is so far; another is another arm.
    let ImportedTool::Original = args.tool;
    ci::refuse(args.force)?;
    let baselines = Baselines::new(
        args.output
            .clone()
            .unwrap_or_else(|| PathBuf::from(BASELINES)),
    );
    let found = find(&args.path)?;
    let scenarios = Scenarios::here();
    let mut read: Vec<Read> = found.into_iter().map(|it| of(it, &scenarios)).collect();
    // Where several recordings claim one scenario, it is of the one with the strongest evidence, and not of the one that was found first.
    let mut order: Vec<usize> = (0..read.len()).collect();
    order.sort_by_key(|at| read[*at].evidence.map_or((1, None), |it| (0, Some(it))));
    let mut taken = HashMap::new();
    let mut exit = Exit::Passed;
    for at in order {
        exit = exit.and(read[at].keep((&baselines, args.force), &mut taken));
    }
    baselines.settle();
    let recordings: Vec<Recording> = read.into_iter().map(|it| it.recording).collect();
    let failed = recordings.iter().filter(|it| it.problem.is_some()).count();
    let document = ImportDocument {
        format_version: 1,
        imported: recordings.len() - failed,
        failed,
        recordings,
    };
    match args.printed.format {
        ResultFormat::Json => {
            Console::document(&json::pretty(&document));
        }
        ResultFormat::Terminal => {
            for recording in &document.recordings {
                console.result(&line(recording));
            }
            let lost = document
                .recordings
                .iter()
                .filter(|it| it.scenario.is_none());
            let lost = lost.filter(|it| it.baseline.is_some()).count();
            if lost > 0 && !scenarios.known.is_empty() {
                let subject = plural(lost, "recording");
                console.note(&format!(
                    "{subject} found no scenario, by folder, name or what was asked: the baseline is used when a scenario has its name (`mcp-eval list` shows which have none)"
                ));
            }
            console.result(&format!(
                "Imported {} of {}",
                document.imported,
                plural(document.recordings.len(), "recording")
            ));
        }
    }
    Ok(exit)
}

fn line(recording: &Recording) -> String {
    let id = text::line(&recording.id);
    match (&recording.baseline, &recording.problem) {
        (Some(baseline), _) => {
            let of = match (&recording.scenario, recording.because) {
                (Some(scenario), Some(because)) => {
                    format!(", the baseline of {} by {because}", text::line(scenario))
                }
                _ => String::new(),
            };
            format!(
                "● {id}: {}, {} of tools that are not scored, kept as {}{of}",
                plural(recording.calls, "call"),
                recording.other_calls,
                text::line(baseline)
            )
        }
        (None, problem) => format!(
            "✗ {id}: {}: {}",
            text::line(&recording.path),
            text::line(problem.as_deref().unwrap_or("not imported"))
        ),
    }
}

/// The recordings below a folder with the names of their baselines. What cannot be read is among them, with the reason.
fn find(path: &Path) -> Result<Vec<Found>, Failure> {
    if input::is_no_folder(path) {
        let folder = path
            .parent()
            .filter(|it| *it != Path::new(""))
            .unwrap_or(Path::new("."));
        return Ok(vec![recording(&own_name(folder), path.to_owned())]);
    }
    if !path.exists() {
        return Err(Failure::usage(format!("there is no {}", path.display())));
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(path).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() && entry.file_name() == LOG => {
                let folder = entry.path().parent().unwrap_or(path);
                let id = match folder.strip_prefix(path) {
                    Ok(below) if below != Path::new("") => below.to_owned(),
                    _ => own_name(path),
                };
                found.push(recording(&id, entry.into_path()));
            }
            Ok(_) => {}
            Err(error) => {
                let at = error.path().unwrap_or(path).to_owned();
                found.push(Found {
                    refusal: Some(Failure::incomplete(format!("cannot be read: {error}"))),
                    ..recording(at.strip_prefix(path).unwrap_or(&at), at.clone())
                });
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(format!("{} holds no {LOG}", path.display()))
            .hint("give the folder of a recording, a folder of such folders, or the file itself"));
    }
    Ok(found)
}

/// The name of a folder itself, also of one that is called `.`.
fn own_name(folder: &Path) -> PathBuf {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole
        .file_name()
        .map_or_else(|| PathBuf::from("imported"), PathBuf::from)
}

/// A recording whose baseline is named like this folder.
fn recording(folder: &Path, path: PathBuf) -> Found {
    // With replacement characters in them, two names could become one.
    let refusal = folder
        .to_str()
        .is_none()
        .then(|| Failure::usage("the name of its folder is not UTF-8"));
    Found {
        id: folder.to_string_lossy().into_owned(),
        path,
        refusal,
    }
}

/// A recording that was read.
struct Read {
    recording: Recording,
    /// What shows which scenario it belongs to; `None` where nothing does.
    evidence: Option<Evidence>,
    trajectory: Result<Redacted<Trajectory>, Failure>,
    redactor: Redactor,
}

fn of(found: Found, scenarios: &Scenarios) -> Read {
    let redactor = Redactor::new(&Secrets::of_environment(), &Redaction::default());
    let mut recording = Recording {
        path: redactor.text(&found.path.to_string_lossy()).into_inner(),
        id: redactor.text(&own_folder(&found.id)).into_inner(),
        ..Recording::default()
    };
    let mut evidence = None;
    let trajectory = match found.refusal {
        Some(refusal) => Err(refusal),
        None => read(&found, &mut recording, &mut evidence, scenarios),
    };
    Read {
        recording,
        evidence,
        trajectory,
        redactor,
    }
}

impl Read {
    /// Keeps it as a baseline, and says so in the recording; or says why not, and returns what that means for the exit code.
    fn keep(
        &mut self,
        (baselines, force): (&Baselines, bool),
        taken: &mut HashMap<String, String>,
    ) -> Exit {
        let recording = &mut self.recording;
        let kept = match &self.trajectory {
            Ok(trajectory) => keep(trajectory, &recording.path, (baselines, force), taken)
                .map(|saved| (saved, trajectory)),
            Err(refusal) => Err(Failure {
                exit: refusal.exit,
                ..Failure::usage(&refusal.message)
            }),
        };
        match kept {
            Ok((saved, trajectory)) => {
                let all = trajectory
                    .steps
                    .iter()
                    .filter(|it| matches!(it, Step::ToolCall(_)))
                    .count();
                recording.calls = trajectory.calls().count();
                recording.other_calls = all - recording.calls;
                recording.baseline = Some(saved.display().to_string());
                Exit::Passed
            }
            Err(refusal) => {
                // Messages quote the file, which nothing has been taken out of.
                recording.problem = Some(self.redactor.text(&refusal.message).into_inner());
                refusal.exit
            }
        }
    }
}

/// The trajectory of a recording, without what is secret by itself or by its scenario. Says which scenario that is.
fn read(
    found: &Found,
    imported: &mut Recording,
    evidence: &mut Option<Evidence>,
    scenarios: &Scenarios,
) -> Result<Redacted<Trajectory>, Failure> {
    let bytes = input::read(&found.path)
        .map_err(|error| Failure::incomplete(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage("it is not UTF-8 text"))?;
    let mut recorded =
        import::original(&text, &imported.id).map_err(|error| Failure::usage(error.to_string()))?;
    let intent = recorded.steps.iter().find_map(|it| match it {
        Step::User { text } => Some(text.as_str()),
        _ => None,
    });
    let belonging = scenarios.of(&Recorded {
        folder: &found.id,
        name: Some(&recorded.name),
        intent,
    });
    let mut redaction = Redaction::default();
    if let Some(belonging) = belonging {
        belonging.id.clone_into(&mut imported.id);
        imported.scenario = Some(belonging.path.display().to_string());
        imported.because = Some(belonging.because.words());
        *evidence = Some(belonging.because);
        redaction = belonging.redaction;
    }
    recorded.scenario.clone_from(&imported.id);
    let redactor = Redactor::new(&Secrets::of_environment(), &redaction);
    let mut trajectory = redactor.trajectory(recorded);
    trajectory.refine(|it| it.bindings = score::find_bindings(it));
    Ok(trajectory)
}

/// Keeps a trajectory as a baseline and returns its file.
fn keep(
    trajectory: &Redacted<Trajectory>,
    path: &str,
    (baselines, force): (&Baselines, bool),
    taken: &mut HashMap<String, String>,
) -> Result<PathBuf, Failure> {
    let id = &trajectory.scenario;
    if !trajectory.ending.is_complete() {
        let why = trajectory.ending.reason().unwrap_or("it was interrupted");
        return Err(Failure::incomplete(format!(
            "not kept, because the run did not complete: {why}"
        )));
    }
    if let Some(other) = taken.get(id) {
        return Err(Failure::usage(format!(
            "another recording has become the baseline `{id}` just now: {other}"
        )));
    }
    let saved = baselines.path(id);
    if saved.exists() && !force {
        return Err(Failure::usage(format!(
            "{} is there already (--force replaces it)",
            saved.display()
        )));
    }
    let saved = baselines
        .save(id, trajectory)
        .map_err(|error| Failure::incomplete(error.to_string()))?;
    taken.insert(id.clone(), path.to_owned());
    Ok(saved)
}

/// How the original tool ends the name of a baseline's folder.
const BASELINE: &str = "_baseline";

/// The scenarios that recordings may belong to.
#[derive(Default)]
struct Scenarios {
    known: Vec<Known>,
}

struct Known {
    id: String,
    path: PathBuf,
    /// `None` where the file is not valid: then its name alone is known.
    scenario: Option<Scenario>,
}

/// What a recording says of itself.
struct Recorded<'a> {
    /// The folder it lies in, as seen from where recordings were looked for.
    folder: &'a str,
    name: Option<&'a str>,
    intent: Option<&'a str>,
}

/// The scenario that a recording belongs to.
struct Belonging<'a> {
    id: &'a str,
    path: &'a Path,
    redaction: Redaction,
    /// What shows it.
    because: Evidence,
}

/// What shows that a recording belongs to a scenario, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    NameAndIntent,
    Folder,
    Name,
    Intent,
}

impl Evidence {
    fn words(self) -> &'static str {
        match self {
            Self::NameAndIntent => "its name and what it asks",
            Self::Folder => "the name of its folder",
            Self::Name => "its name",
            Self::Intent => "what it asks",
        }
    }
}

impl Scenarios {
    /// Those of the working directory, if it has any.
    fn here() -> Self {
        if !Path::new(SCENARIOS).is_dir() {
            return Self::default();
        }
        let (found, _) = scenario_file::find(&[PathBuf::from(SCENARIOS)]);
        let loaded = scenario_file::load(&found, &Options::default());
        let mut scenarios = loaded.scenarios;
        let known = found.into_iter().map(|found| {
            let at = scenarios.iter().position(|it| it.id == found.id);
            Known {
                scenario: at.map(|at| scenarios.swap_remove(at)),
                id: found.id,
                path: found.path,
            }
        });
        Self {
            known: known.collect(),
        }
    }

    /// The scenario of a recording: the only one with its name and what it asks, else the one whose file is called like its folder, else the
    /// only one with its name, or that asks the same.
    fn of(&self, recorded: &Recorded<'_>) -> Option<Belonging<'_>> {
        let is_called = |it: &Scenario| {
            recorded
                .name
                .is_some_and(|name| name.trim() == it.name.trim())
        };
        let asks = |it: &Scenario| {
            let asked = it.user_intent.as_deref().map(words);
            asked.is_some() && asked == recorded.intent.map(words)
        };
        let with = |fits: &dyn Fn(&Scenario) -> bool| {
            self.only(&|it| it.scenario.as_ref().is_some_and(fits))
        };
        let folder = own_folder(recorded.folder);
        let of_folder = || {
            self.only(&|it| it.id == folder)
                .or_else(|| self.only(&|it| last(&it.id) == last(&folder)))
        };
        let (known, because) = with(&|it| is_called(it) && asks(it))
            .map(|it| (it, Evidence::NameAndIntent))
            .or_else(|| Some((of_folder()?, Evidence::Folder)))
            .or_else(|| Some((with(&is_called)?, Evidence::Name)))
            .or_else(|| Some((with(&asks)?, Evidence::Intent)))?;
        Some(Belonging {
            id: &known.id,
            path: &known.path,
            redaction: (known.scenario.as_ref())
                .map(|it| it.redaction.clone())
                .unwrap_or_default(),
            because,
        })
    }

    /// The scenario that fits, where no other does.
    fn only(&self, fits: &dyn Fn(&Known) -> bool) -> Option<&Known> {
        let mut fitting = self.known.iter().filter(|it| fits(it));
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// The folder of a recording as its scenario may be called: `x_baseline/x_baseline`, as the original tool has it, becomes `x`.
fn own_folder(folder: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    if let [.., above, last] = parts.as_slice()
        && above == last
    {
        parts.pop();
    }
    if let Some(last) = parts.last_mut() {
        let bare = last.strip_suffix(BASELINE).filter(|it| !it.is_empty());
        *last = bare.unwrap_or(last);
    }
    parts.join("/")
}

fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// A text as people read it: line breaks and spaces make no difference.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::own_folder;

    #[test]
    fn folders_of_the_original_tool_are_called_as_their_scenarios() {
        for (folder, scenario) in [
            ("search_baseline/search_baseline", "search"),
            ("search/search", "search"),
            ("search", "search"),
            ("team/search_baseline", "team/search"),
            ("_baseline", "_baseline"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(own_folder(folder), scenario);
        }
    }
}
