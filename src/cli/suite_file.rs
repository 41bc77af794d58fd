//! The suite file that a command follows: found by its name, laid over the selected scenarios, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use jiff::civil::Date;

use crate::cli::args::{ExecuteArgs, PlanArgs, SelectArgs};
use crate::cli::select::{self, broken};
use crate::cli::{Console, Failure};
use crate::model::Cell;
use crate::scenario_file::suites::{LoadedSuite, SaidBelow, SuiteFile, SuiteFound};
use crate::scenario_file::{self, Finding, SUITES, Scenario, Severity};
use crate::suite;
use crate::text::nearest::did_you_mean;
use crate::text::plural;

/// The suite of this name, among those that lie beside scenarios that are selected. What `validate` would say of it is said here, too: what is
/// an error there is refused, as of any other file, and what is a warning there is a note.
///
/// # Errors
///
/// When there is none, or something is wrong with it.
pub(super) fn load(
    name: &str,
    select: &SelectArgs,
    today: Date,
    console: Console,
) -> Result<SuiteFile, Failure> {
    let found = scenario_file::suites::find_suites(&select.all_paths());
    let Some(wanted) = found.iter().find(|it| it.name == name) else {
        return Err(unknown(name, &found));
    };
    let LoadedSuite {
        suite,
        mut findings,
        ..
    } = scenario_file::suite(wanted);
    if let Some(suite) = suite.as_ref().filter(|it| !it.said.is_empty()) {
        let (scenarios, wrong) = beside(&suite.path, select);
        // What a file that cannot be read would be called is not known.
        if !wrong.iter().any(Finding::is_error) {
            findings.extend(doubts(suite, &scenarios, today));
            scenario_file::sort(&mut findings);
        }
    }
    if let Some(failure) = broken(&findings) {
        return Err(failure);
    }
    for finding in &findings {
        console.note(&finding.to_string());
    }
    suite.ok_or_else(|| Failure::usage(format!("{} is not a suite", wanted.path.display())))
}

/// The files that all scenarios of a command depend on: those that its options name, the suite file, and the programs that this runs around
/// all.
pub(super) fn files_of_all(
    select: &SelectArgs,
    execute: &ExecuteArgs,
    plan: Option<&PlanArgs>,
) -> Vec<PathBuf> {
    let named = [&execute.mcp_config, &execute.judging.judge];
    let mut files: Vec<PathBuf> = named.into_iter().flatten().cloned().collect();
    if let Some(name) = plan.and_then(|it| it.suite.as_deref()) {
        let found = scenario_file::suites::find_suites(&select.all_paths());
        for it in found.into_iter().filter(|it| it.name == name).take(1) {
            let around = scenario_file::suite(&it).suite.map(|it| it.around);
            let around = around.unwrap_or_default();
            files.extend(suite::started_by(
                around.setup.iter().chain(&around.teardown),
            ));
            files.push(it.path);
        }
    }
    files
}

fn unknown(name: &str, found: &[SuiteFound]) -> Failure {
    let failure = Failure::usage(format!("there is no suite `{name}`"));
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    match did_you_mean(name, names.iter().copied()) {
        Some(hint) => failure.hint(hint),
        None if names.is_empty() => {
            failure.hint(format!("a suite is a file `scenarios/{SUITES}/NAME.yaml`"))
        }
        None => failure.hint(format!("there are: {}", names.join(", "))),
    }
}

/// Leaves the scenarios of a suite, by their tags, and puts ids in the place of the names that its quarantine has.
///
/// # Errors
///
/// When none is left, and when a name is one of several scenarios.
pub(super) fn pick(suite: &mut SuiteFile, scenarios: &mut Vec<Scenario>) -> Result<(), Failure> {
    for it in &mut suite.quarantine {
        match &meant(&it.name, scenarios)[..] {
            [] => {}
            [id] => it.name = (*id).to_owned(),
            several => {
                let why = ambiguous(&it.name, several);
                let place = format!("{}:{}", suite.path.display(), it.line);
                return Err(Failure::usage(format!("{place}: {why}")).hint(USE_AN_ID));
            }
        }
    }
    let before = scenarios.len();
    let has = |it: &Scenario, tags: &[String]| it.tags.iter().any(|tag| tags.contains(tag));
    scenarios.retain(|it| {
        let is_in = suite.tags_in.is_empty() || has(it, &suite.tags_in);
        is_in && !has(it, &suite.tags_out)
    });
    if scenarios.is_empty() && before > 0 {
        let of = plural(before, "selected scenario");
        let why = format!("none of {of} belongs to the suite `{}`", suite.name);
        return Err(Failure::incomplete(why)
            .hint(format!("`tags` in {} says which do", suite.path.display())));
    }
    Ok(())
}

/// The ids of the scenarios that a name means: an id means that one, whatever others are called.
fn meant<'a>(name: &'a str, scenarios: &'a [Scenario]) -> Vec<&'a str> {
    if scenarios.iter().any(|it| it.has_id(name)) {
        return vec![name];
    }
    let called_so = scenarios.iter().filter(|it| it.name == name);
    called_so.map(|it| it.id.as_str()).collect()
}

const USE_AN_ID: &str = "an id names one scenario, or the rows of one";

fn ambiguous(name: &str, ids: &[&str]) -> String {
    format!("several scenarios are called `{name}`: {}", ids.join(", "))
}

/// The ids of scenarios in the order in which a suite begins them.
pub(super) fn order(suite: &SuiteFile, scenarios: &[Scenario]) -> Vec<String> {
    if suite.order.is_empty() {
        return Vec::new();
    }
    let mut ordered: Vec<String> = Vec::new();
    for pattern in &suite.order {
        let matching = scenarios.iter().filter(|it| is_meant(pattern, it));
        for it in matching {
            if !ordered.contains(&it.id) {
                ordered.push(it.id.clone());
            }
        }
    }
    let rest = scenarios.iter().map(|it| it.id.clone());
    let rest: Vec<String> = rest.filter(|it| !ordered.contains(it)).collect();
    ordered.extend(rest);
    ordered
}

/// Whether a pattern means a scenario, or the one whose row or cell it is.
fn is_meant(pattern: &str, scenario: &Scenario) -> bool {
    let of_cell = scenario.cell.as_ref().map(|it| it.scenario.as_str());
    let of_row = scenario.row_of.as_deref();
    let ids = [Some(scenario.id.as_str()), of_cell, of_row];
    ids.into_iter().flatten().any(|it| matches(pattern, it))
}

fn matches(pattern: &str, id: &str) -> bool {
    let options = MatchOptions {
        require_literal_separator: true,
        ..MatchOptions::new()
    };
    pattern == id || Pattern::new(pattern).is_ok_and(|it| it.matches_with(id, options))
}

/// The ids of scenarios that decide nothing on this day.
pub(super) fn quarantined(
    suite: &SuiteFile,
    scenarios: &[Scenario],
    today: Date,
) -> BTreeSet<String> {
    let is_quarantined = |scenario: &&Scenario| {
        let mut quarantine = suite.quarantine.iter();
        quarantine.any(|it| it.until >= today && scenario.has_id(&it.name))
    };
    let quarantined = scenarios.iter().filter(is_quarantined);
    quarantined.map(|it| it.id.clone()).collect()
}

/// All that is wrong with the suites that lie beside scenarios that are selected.
pub(super) fn check(select: &SelectArgs, today: Date) -> Vec<Finding> {
    let found = scenario_file::suites::find_suites(&select.all_paths());
    let mut known: BTreeMap<Option<&Path>, Vec<Scenario>> = BTreeMap::new();
    let mut findings = Vec::new();
    for it in &found {
        let loaded = scenario_file::suite(it);
        findings.extend(loaded.findings);
        if let Some(suite) = loaded.readable {
            let folder = known.entry(it.path.parent());
            let scenarios = folder.or_insert_with(|| beside(&it.path, select).0);
            findings.extend(doubts(&suite, scenarios, today));
        }
    }
    findings
}

/// All scenarios that a suite file lies beside, selected or not, and what is wrong with any.
fn beside(suite: &Path, select: &SelectArgs) -> (Vec<Scenario>, Vec<Finding>) {
    let folder = suite.parent().and_then(Path::parent);
    let folder = folder.filter(|it| !it.as_os_str().is_empty());
    let all = SelectArgs {
        paths: vec![folder.unwrap_or(Path::new(".")).to_owned()],
        environment: select.environment.clone(),
        variables: select.variables.clone(),
        ..SelectArgs::default()
    };
    select::of_paths(&all)
}

/// Whether a word is the id of a cell of one of these scenarios, which is there where a matrix has it.
fn is_cell(word: &str, ids: &[&str]) -> bool {
    Cell::of_id(word).is_some_and(|it| ids.contains(&it.scenario.as_str()))
}

/// What a suite says of scenarios and tags that there are none of, and what it says no more.
fn doubts(suite: &SuiteFile, scenarios: &[Scenario], today: Date) -> Vec<Finding> {
    let ids: Vec<&str> = scenarios.iter().map(|it| it.id.as_str()).collect();
    let tags: BTreeSet<&str> = scenarios
        .iter()
        .flat_map(|it| it.tags.iter().map(String::as_str))
        .collect();
    let at = |severity, message: String, (below, word): (SaidBelow, &str)| {
        // Of what is said twice, the later one is too much.
        let mut said = suite.said.iter().rev();
        let said = said.find(|it| it.below == below && it.word == word);
        match said {
            Some(said) => Finding::at_place(&suite.path, said.place, severity, message),
            None => Finding::about(suite.path.display(), severity, message),
        }
    };
    let mut findings = Vec::new();
    let gated = suite.gates.tags.iter().map(|(tag, _)| tag);
    for tag in suite.tags_in.iter().chain(&suite.tags_out).chain(gated) {
        if !tags.contains(tag.as_str()) {
            let message = format!("no scenario has the tag `{tag}`");
            let hint = did_you_mean(tag, tags.iter().copied());
            let tag = (SaidBelow::Tags, tag.as_str());
            findings.push(at(Severity::Warning, message, tag).with_hint(hint));
        }
    }
    for pattern in &suite.order {
        let is_known = scenarios.iter().any(|it| is_meant(pattern, it));
        if !is_known && !is_cell(pattern, &ids) {
            let message = format!("`{pattern}` is not the id of a scenario, and matches none");
            let hint = did_you_mean(pattern, ids.iter().copied());
            let pattern = (SaidBelow::Order, pattern.as_str());
            findings.push(at(Severity::Warning, message, pattern).with_hint(hint));
        }
    }
    let names = scenarios.iter().map(|it| it.name.as_str());
    let known: Vec<&str> = ids.iter().copied().chain(names).collect();
    let mut quarantined = BTreeSet::new();
    for it in &suite.quarantine {
        let meant = meant(&it.name, scenarios);
        let name = (SaidBelow::Quarantine, it.name.as_str());
        if let [id] = meant[..]
            && !quarantined.insert(id)
        {
            let message = format!("`{id}` is quarantined twice: the later of both days counts");
            findings.push(at(Severity::Warning, message, name));
        }
        if meant.len() > 1 {
            let message = ambiguous(&it.name, &meant);
            let finding = at(Severity::Error, message, name);
            findings.push(finding.with_hint(Some(USE_AN_ID)));
        } else if meant.is_empty() && !is_cell(&it.name, &ids) {
            let message = format!("`{}` is neither id nor name of a scenario", it.name);
            let hint = did_you_mean(&it.name, known.iter().copied());
            findings.push(at(Severity::Error, message, name).with_hint(hint));
        } else if it.until < today {
            let message = format!(
                "the quarantine of `{}` ended with {}: it decides again",
                it.name, it.until
            );
            let hint = Some("repair it and take the entry away, or name a later day");
            let until = it.until.to_string();
            let until = (SaidBelow::Until, until.as_str());
            findings.push(at(Severity::Warning, message, until).with_hint(hint));
        }
    }
    findings
}
