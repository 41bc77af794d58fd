//! The scenarios that a command is about.
//!
//! Paths say where they lie. Of those, `--tag`, `-k` (`expression`), `--changed` (`changed`) and `--last-failed` (`last_failed`) pick, in
//! this order: each picks from what the one before has left.

mod changed;
pub(in crate::cli) mod expression;
mod last_failed;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use self::changed::{Beside, concerned};
use self::expression::{Expression, Subject};
use self::last_failed::LastRuns;
use crate::cli::args::{Axis, ExecuteArgs, SelectArgs};
use crate::cli::paths::from_here;
use crate::cli::{Console, Failure, advice, matrix, runs};
use crate::input::real;
use crate::model::Selection;
use crate::scenario_file::{self, Finding, Found, Loaded, Options, Scenario};
use crate::suite::RUNS;
use crate::text::nearest::did_you_mean;
use crate::text::{few, plural};

pub(super) use self::changed::{is_baseline, is_code};

/// What scenarios are selected for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Purpose<'a> {
    /// The command whose earlier runs tell what did not pass; `None` for any.
    pub(super) command: Option<&'a str>,
    /// Where the baselines lie, where a changed one matters.
    pub(super) baselines: Option<&'a Path>,
    /// The servers of the command line.
    pub(super) mcp_config: Option<&'a Path>,
    /// Files that all scenarios depend on, that one included.
    pub(super) files: &'a [PathBuf],
    /// The axes of a matrix, in whose cells every scenario is run: what is picked are cells then.
    pub(super) matrix: &'a [Axis],
    /// Who asks is said on the command line, or nobody does.
    pub(super) agent_given: bool,
}

impl<'a> Purpose<'a> {
    /// That a command runs them so.
    pub(super) fn running(command: &'a str, how: &'a ExecuteArgs, files: &'a [PathBuf]) -> Self {
        Self {
            command: Some(command),
            baselines: None,
            mcp_config: how.mcp_config.as_deref(),
            files,
            matrix: &how.matrix,
            agent_given: how.gives_agent(),
        }
    }
}

/// The scenarios the user selected.
pub(super) enum Selected {
    /// Some, every one of them valid.
    Scenarios(Chosen),
    /// None, because nothing has changed. That is no failure, and is said in this sentence.
    Unchanged(String),
}

/// Scenarios to run, and what they are chosen from.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) scenarios: Vec<Scenario>,
    /// The ids of all that there are, without disabled ones.
    all: Vec<String>,
}

impl Chosen {
    /// What part of all scenarios this is; `None` for all of them. `command` is the one whose earlier runs tell what did not pass.
    pub(super) fn selection(&self, command: &str) -> Option<Selection> {
        let chosen: HashSet<&str> = enabled(&self.scenarios).collect();
        let others = self.all.iter().map(String::as_str);
        let others: Vec<&str> = others.filter(|it| !chosen.contains(it)).collect();
        if others.is_empty() {
            return None;
        }
        let last = LastRuns::find(&RUNS, Some(command), &others);
        Some(Selection {
            chosen: chosen.len(),
            of: chosen.len() + others.len(),
            not_passed: others.iter().filter(|it| last.has_failed(it)).count(),
        })
    }
}

fn enabled(scenarios: &[Scenario]) -> impl Iterator<Item = &str> {
    let enabled = scenarios.iter().filter(|it| it.enabled);
    enabled.map(|it| it.id.as_str())
}

/// What there is of what the user selected.
pub(super) struct Picked {
    pub(super) scenarios: Vec<Scenario>,
    /// Everything that is wrong with any file, picked or not.
    pub(super) findings: Vec<Finding>,
    /// Why nothing was picked of what there is.
    pub(super) none: Option<NonePicked>,
}

/// Why nothing was picked.
#[derive(Debug)]
pub(super) enum NonePicked {
    /// Nothing fits what was asked for.
    NoMatch(Failure),
    /// Nothing has changed.
    Unchanged(String),
}

/// The scenarios the user selected, every one of them valid.
///
/// # Errors
///
/// All findings of all files when any of them is invalid, and when nothing fits what was asked for.
pub(super) fn select(
    args: &SelectArgs,
    purpose: Purpose<'_>,
    console: Console,
) -> Result<Selected, Failure> {
    let (scenarios, findings) = load_with(args, scenario_file::load, purpose.agent_given);
    if let Some(failure) = broken(&findings) {
        return Err(failure);
    }
    for finding in &findings {
        console.note(&finding.to_string());
    }
    if scenarios.is_empty() {
        let failure = Failure::incomplete("there are no scenarios");
        return Err(failure.hint("`mcp-eval list` shows what there is"));
    }
    let scenarios = matrix::spread(scenarios, purpose.matrix)?;
    let all = all(args, purpose.matrix, &scenarios)?;
    match pick(scenarios, args, purpose, console)? {
        (scenarios, None) => Ok(Selected::Scenarios(Chosen { scenarios, all })),
        (_, Some(NonePicked::NoMatch(failure))) => {
            Err(failure.hint("`mcp-eval list` shows what there is"))
        }
        (_, Some(NonePicked::Unchanged(sentence))) => Ok(Selected::Unchanged(sentence)),
    }
}

/// The ids of all scenarios that there are, or of their cells. Who names some files or folders below the usual one has the others there, too.
fn all(args: &SelectArgs, axes: &[Axis], named: &[Scenario]) -> Result<Vec<String>, Failure> {
    let usual = SelectArgs {
        variables: args.variables.clone(),
        ..SelectArgs::default()
    };
    let folders = usual.all_paths();
    let is_below = |it: &Scenario| {
        folders
            .iter()
            .any(|folder| real(&it.path).starts_with(real(folder)))
    };
    if args.are_default() || !named.iter().all(is_below) {
        return Ok(enabled(named).map(str::to_owned).collect());
    }
    let (there, _) = of_paths(&usual);
    let there = matrix::spread(there, axes)?;
    Ok(enabled(&there).map(str::to_owned).collect())
}

/// All that is wrong with scenario files, where any of it is an error.
pub(super) fn broken(findings: &[Finding]) -> Option<Failure> {
    let errors = findings.iter().filter(|it| it.is_error()).count();
    if errors == 0 {
        return None;
    }
    let mut message = format!("{} in scenario files", plural(errors, "error"));
    for finding in findings {
        let _ = write!(message, "\n\n{finding}");
    }
    Some(Failure::usage(message))
}

/// The scenarios of paths, whatever else is picked by and whoever asks in them.
pub(super) fn of_paths(args: &SelectArgs) -> (Vec<Scenario>, Vec<Finding>) {
    load_with(args, scenario_file::load, true)
}

/// A scenario as its file has it now; `None` where it is no valid scenario any more.
pub(super) fn again(args: &SelectArgs, scenario: &Scenario) -> Option<Scenario> {
    let (mut found, _) = scenario_file::find(&args.all_paths());
    found.retain(|it| scenario.has_id(&it.id) && it.path == scenario.path);
    let loaded = scenario_file::load(&found, &options(args, true)).scenarios;
    let cell = scenario.cell.as_ref();
    let id = cell.map_or(&scenario.id, |it| &it.scenario);
    let it = loaded.into_iter().find(|it| it.id == *id)?;
    match cell {
        None => Some(it),
        Some(cell) => matrix::resolved(&it, cell),
    }
}

fn options(args: &SelectArgs, agent_given: bool) -> Options {
    Options {
        agent_given,
        variables: args.variables.clone(),
        environment: args.environment.clone(),
        ..Options::default()
    }
}

/// The selected scenarios that are valid, and everything that is wrong with any.
///
/// # Errors
///
/// When it is not known what has changed.
pub(super) fn load(
    args: &SelectArgs,
    purpose: Purpose<'_>,
    console: Console,
) -> Result<Picked, Failure> {
    picked(args, scenario_file::load, purpose, console)
}

/// The same for those who check files, and not only want to run them.
///
/// # Errors
///
/// When it is not known what has changed.
pub(super) fn check(args: &SelectArgs, console: Console) -> Result<Picked, Failure> {
    picked(args, scenario_file::check, Purpose::default(), console)
}

fn picked(
    args: &SelectArgs,
    load: fn(&[Found], &Options) -> Loaded,
    purpose: Purpose<'_>,
    console: Console,
) -> Result<Picked, Failure> {
    let (scenarios, findings) = load_with(args, load, purpose.agent_given);
    let scenarios = matrix::spread(scenarios, purpose.matrix)?;
    // Where there is nothing to pick from, that is said by who asked.
    let (scenarios, none) = if scenarios.is_empty() {
        (scenarios, None)
    } else {
        pick(scenarios, args, purpose, console)?
    };
    Ok(Picked {
        scenarios,
        findings,
        none,
    })
}

fn load_with(
    args: &SelectArgs,
    load: fn(&[Found], &Options) -> Loaded,
    agent_given: bool,
) -> (Vec<Scenario>, Vec<Finding>) {
    let (found, mut findings) = scenario_file::find(&args.all_paths());
    let loaded = load(&found, &options(args, agent_given));
    findings.extend(loaded.findings);
    let mut scenarios = loaded.scenarios;
    scenarios.retain(|it| {
        let unreadable = advice::unreadable_paths(it);
        let sound = unreadable.is_empty();
        findings.extend(unreadable);
        sound
    });
    scenario_file::sort(&mut findings);
    (scenarios, findings)
}

/// Picks from scenarios, of which there are some. Says what was picked where the user cannot know.
fn pick(
    mut scenarios: Vec<Scenario>,
    args: &SelectArgs,
    purpose: Purpose<'_>,
    console: Console,
) -> Result<(Vec<Scenario>, Option<NonePicked>), Failure> {
    if !args.tags.is_empty() {
        let known: BTreeSet<String> = scenarios.iter().flat_map(|it| it.tags.clone()).collect();
        scenarios.retain(|it| it.tags.iter().any(|tag| args.tags.contains(tag)));
        if scenarios.is_empty() {
            let what = format!("no scenario has the tag {}", args.tags.join(" or "));
            let hints = args.tags.iter();
            let hints = hints.filter_map(|it| did_you_mean(it, known.iter().map(String::as_str)));
            let failure = hints.fold(Failure::incomplete(what), Failure::hint);
            return Ok((scenarios, Some(NonePicked::NoMatch(failure))));
        }
    }
    if let Some(expression) = &args.expression
        && let Some(failure) = match_expression(&mut scenarios, expression, console)
    {
        return Ok((Vec::new(), Some(NonePicked::NoMatch(failure))));
    }
    if let Some(reference) = &args.changed {
        let before = scenarios.len();
        let beside = Beside {
            baselines: purpose.baselines,
            files: purpose.files,
        };
        let found = concerned(scenarios, reference.as_deref(), beside)?;
        let since = found.since;
        let unknown = unknown(&found.unknown);
        scenarios = found.scenarios;
        if scenarios.is_empty() {
            let sentence = format!(
                "Nothing to do: none of {}, nor anything that {} on, has changed {since}{unknown}.",
                plural(before, "scenario"),
                if before == 1 {
                    "it depends"
                } else {
                    "they depend"
                },
            );
            return Ok((scenarios, Some(NonePicked::Unchanged(sentence))));
        }
        console.note(&format!(
            "{} of {before} {} changed {since}{unknown}",
            scenarios.len(),
            if scenarios.len() == 1 { "has" } else { "have" },
        ));
    }
    if args.last_failed {
        runs::look_at_runs(&RUNS, console);
        let ids: Vec<&str> = scenarios.iter().map(|it| it.id.as_str()).collect();
        let last = LastRuns::find(&RUNS, purpose.command, &ids);
        let ran = match purpose.command {
            Some(command) => format!("when `mcp-eval {command}` ran them last"),
            None => "when they were run last".to_owned(),
        };
        let failed = ids.iter().filter(|it| last.has_failed(it)).count();
        let note = match (&last.latest, failed) {
            (None, _) => {
                let run = purpose
                    .command
                    .map_or_else(|| "run".to_owned(), |it| format!("`mcp-eval {it}`"));
                format!(
                    "--last-failed: no earlier {run} of these scenarios is stored, so all are taken"
                )
            }
            (Some(_), 0) => format!(
                "--last-failed: {} passed {ran}, so all are taken",
                match last.known() {
                    known if known == scenarios.len() => "all".to_owned(),
                    known => format!("{known} of {}, all that are known of,", scenarios.len()),
                }
            ),
            (Some(latest), _) => {
                let all = scenarios.len();
                scenarios.retain(|it| last.has_failed(&it.id));
                format!("--last-failed: {failed} of {all} did not pass {ran} ({latest})")
            }
        };
        console.note(&note);
    }
    settle_usual_servers(&mut scenarios, purpose, console);
    Ok((scenarios, None))
}

/// Tells which file gave servers to scenarios that name none. Where the command line names servers, these are in their place.
fn settle_usual_servers(scenarios: &mut [Scenario], purpose: Purpose<'_>, console: Console) {
    let mut given: BTreeMap<PathBuf, (usize, Vec<String>)> = BTreeMap::new();
    for scenario in scenarios {
        let Some(path) = scenario.usual_servers.clone() else {
            continue;
        };
        if purpose.mcp_config.is_some() {
            scenario.servers.clear();
            scenario.usual_servers = None;
            continue;
        }
        let names = scenario.servers.iter().map(|it| it.name.clone()).collect();
        given.entry(path).or_insert((0, names)).0 += 1;
    }
    for (path, (count, names)) in given {
        let (names_none, gets) = if count == 1 {
            ("names", "gets")
        } else {
            ("name", "get")
        };
        console.note(&format!(
            "{} {names_none} no servers, and {gets} those of {}: {}",
            plural(count, "scenario"),
            from_here(&path).display(),
            names.join(", ")
        ));
    }
}

/// The most commands that are named of which nobody knows whether they have changed.
const NAMED: usize = 3;

/// That commands name no file here, so that it is not known whether what they run has changed.
fn unknown(commands: &BTreeSet<String>) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let named = few(commands.iter().map(|it| format!("`{it}`")), NAMED);
    format!(" (the code of {named} is not known: no file of a repository is named)")
}

/// Leaves the scenarios that an expression is about; why there are none, where that is so.
fn match_expression(
    scenarios: &mut Vec<Scenario>,
    expression: &Expression,
    console: Console,
) -> Option<Failure> {
    let ids: HashSet<String> = scenarios.iter().flat_map(ids_of_parts).collect();
    let expression = &expression.with_whole(&ids);
    let subjects: Vec<Subject> = scenarios.iter().map(subject).collect();
    let unknown = expression.words().into_iter();
    let unknown = unknown.filter(|word| !subjects.iter().any(|it| word.is_of(it)));
    let known = words(scenarios);
    let hint_at = |word: &str| {
        let near = did_you_mean(word, known.iter().map(String::as_str));
        near.or_else(|| Some(format!("did you mean `{}`?", begun(word, scenarios)?)))
    };
    let mut unknown: Vec<(&str, Option<String>)> = unknown
        .map(|it| (it.text.as_str(), hint_at(&it.text)))
        .collect();
    unknown.sort();
    unknown.dedup();
    let mut subjects = subjects.into_iter();
    scenarios.retain(|_| subjects.next().is_some_and(|it| expression.is_met_by(&it)));
    let nothing = |(word, hint): &(&str, Option<String>)| {
        let hint = hint
            .as_ref()
            .map_or_else(String::new, |it| format!("; {it}"));
        format!("nothing here is called or tagged `{word}`{hint}")
    };
    if scenarios.is_empty() {
        let failure =
            Failure::incomplete(format!("no scenario matches `-k {}`", quoted(expression)));
        return Some(if unknown.is_empty() {
            failure.hint("each of its words matches some, and no scenario matches all of it")
        } else {
            unknown.iter().map(nothing).fold(failure, Failure::hint)
        });
    }
    for unknown in &unknown {
        console.note(&format!("-k: {}", nothing(unknown)));
    }
    None
}

/// The shortest tag that somebody may have begun to write, as an expression has it: a part of a tag matches nothing, one of a name does.
fn begun(word: &str, scenarios: &[Scenario]) -> Option<String> {
    let word = word.to_lowercase();
    let tags = scenarios.iter().flat_map(|it| &it.tags);
    let begun = tags.filter(|it| it.to_lowercase().starts_with(&word));
    let tag = begun.min_by_key(|it| it.len())?;
    Some(if Expression::parse(tag).is_ok() {
        tag.clone()
    } else {
        format!("'{tag}'")
    })
}

/// An expression as it is written for a shell.
fn quoted(expression: &Expression) -> String {
    let written = expression.to_string();
    if written.contains([' ', '(', '\'', '"']) {
        format!("\"{written}\"")
    } else {
        written
    }
}

/// What `-k` looks at: the name, the path below the folder of scenarios, the tags. A word with `/` may be a part of the path as seen from
/// here, too; other words would match all that lies in a folder above, or none, by chance.
fn subject(scenario: &Scenario) -> Subject {
    let extension = scenario.path.extension().unwrap_or_default();
    let below = |id: &String| format!("{id}.{}", extension.display());
    // What a cell is of is called as it is without a matrix.
    let of_cell = scenario.cell.as_ref().map(|it| below(&it.scenario));
    let names = [scenario.name.clone(), below(&scenario.id)];
    let path = from_here(&scenario.path).display().to_string();
    Subject {
        names: names
            .iter()
            .chain(&of_cell)
            .map(|it| it.to_lowercase())
            .collect(),
        ids: ids_of_parts(scenario).collect(),
        path: path.to_lowercase(),
        tags: scenario.tags.iter().map(|it| it.to_lowercase()).collect(),
    }
}

/// The ids of the row and of the cell that a scenario is, in small letters.
fn ids_of_parts(scenario: &Scenario) -> impl Iterator<Item = String> {
    let cell = scenario.cell.as_ref();
    let of_cell = cell.map(|_| &scenario.id);
    let of_row = cell.map_or(&scenario.id, |it| &it.scenario);
    let of_row = scenario.row_of.as_ref().map(|_| of_row);
    of_cell
        .into_iter()
        .chain(of_row)
        .map(|it| it.to_lowercase())
}

/// What somebody may have meant who mistyped a word: tags, names, parts of paths, and the words in those.
fn words(scenarios: &[Scenario]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for scenario in scenarios {
        let parts = scenario.id.split('/').map(str::to_owned);
        let all = parts
            .chain(scenario.tags.clone())
            .chain([scenario.name.clone()]);
        for text in all {
            let split = text.split(|it: char| !it.is_alphanumeric());
            words.extend(split.filter(|it| !it.is_empty()).map(str::to_lowercase));
            words.insert(text.to_lowercase());
        }
    }
    words
}
