//! `mcp-eval validate`: check scenario files, all findings at once.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::cli::args::{ResultFormat, ValidateArgs};
use crate::cli::select::{self, NonePicked, Picked};
use crate::cli::to_run::today;
use crate::cli::{Console, Exit, Failure, advice, suite_file};
use crate::mock::{self, Mock};
use crate::scenario_file::{self, Finding, Scenario, Severity};
use crate::store::{self, Baselines};
use crate::text::plural;
use crate::{json, suite};

/// What `--format json` prints, version 1.
#[derive(Serialize)]
pub(in crate::cli) struct FindingsDocument<'a, T> {
    format_version: u32,
    valid: bool,
    #[serde(flatten)]
    checked: T,
    errors: usize,
    warnings: usize,
    findings: &'a [Finding],
}

impl<'a, T> FindingsDocument<'a, T> {
    /// `checked` says how much there is that has no error.
    pub(in crate::cli) fn new(checked: T, findings: &'a [Finding]) -> Self {
        let errors = findings.iter().filter(|it| it.is_error()).count();
        Self {
            format_version: 1,
            valid: errors == 0,
            checked,
            errors,
            warnings: findings.len() - errors,
            findings,
        }
    }

    /// How many findings there are of each severity, for people.
    pub(in crate::cli) fn counts(&self) -> [String; 2] {
        [
            plural(self.errors, "error"),
            plural(self.warnings, "warning"),
        ]
    }

    pub(in crate::cli) fn is_valid(&self) -> bool {
        self.valid
    }
}

/// What is wrong with the data sets of a scenario.
fn measurement(scenario: &Scenario) -> Vec<Finding> {
    let found = suite::check_measurement(scenario).into_iter();
    let found = found.map(|found| match scenario.places.search {
        // What is wrong with how a search is asked has its place in the scenario.
        Some(place) if found.line.is_none() && !Path::new(&found.path).exists() => {
            Finding::at_place(&scenario.path, place, found.severity, &found.message)
        }
        _ => found,
    });
    found.collect()
}

/// That the dialogue beside a scenario's baseline is not of it. What is wrong with the baseline itself, `compare` says.
fn dialogue(scenario: &Scenario) -> Option<Finding> {
    let baselines = Baselines::new(suite::BASELINES);
    let accepted = store::load(&baselines.path(&scenario.id)).ok()?;
    let why = baselines.check_dialogue(&scenario.id, &accepted).err()?;
    let severity = if suite::ci::is_ci() {
        Severity::Error
    } else {
        Severity::Warning
    };
    let path = baselines.folder(&scenario.id).join("trajectory.txt");
    let finding = Finding::about(
        path.display(),
        severity,
        "it is not of the baseline beside it",
    );
    Some(finding.with_hint(why.hint()))
}

pub(in crate::cli) fn run(args: &ValidateArgs, console: Console) -> Result<Exit, Failure> {
    let Picked {
        scenarios,
        mut findings,
        none,
    } = select::check(&args.select, console)?;
    for scenario in &scenarios {
        findings.extend(measurement(scenario));
        findings.extend(dialogue(scenario));
        findings.extend(advice::idle_rules(scenario));
        findings.extend(advice::sweeping_rules(scenario));
        for (name, declared) in scenario.interactions.iter() {
            // The loader has checked every part; together they make a server or the loader has missed something.
            Mock::new(name, declared.clone(), mock::Options::default()).map_err(|problem| {
                Failure::usage(format!("{}: {problem}", scenario.path.display()))
            })?;
        }
    }
    // Of single files, nobody asks what else there is.
    let paths = args.select.all_paths();
    if !args.select.picks() && paths.iter().all(|it| it.is_dir()) {
        findings.extend(suite_file::check(&args.select, today()));
    }
    scenario_file::sort(&mut findings);
    let checked = json!({ "scenarios": scenarios.len() });
    let document = FindingsDocument::new(checked, &findings);
    match args.printed.format {
        ResultFormat::Json => Console::document(&json::pretty(&document)),
        ResultFormat::Terminal => {
            for finding in &findings {
                console.result(&format!("{finding}\n"));
            }
            let valid = plural(scenarios.len(), "valid scenario");
            console.result(&format!("{valid}, {}", document.counts().join(", ")));
        }
    }
    if !document.is_valid() {
        return Ok(Exit::Usage);
    }
    match none {
        None => Ok(Exit::Passed),
        Some(NonePicked::NoMatch(failure)) => Err(failure),
        Some(NonePicked::Unchanged(sentence)) => {
            console.note(&sentence);
            Ok(Exit::Unchanged)
        }
    }
}
