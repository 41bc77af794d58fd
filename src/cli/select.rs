//! Which scenarios a command is about.

use std::fmt::Write as _;

use crate::cli::advice;
use crate::cli::args::SelectArgs;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::model::scenario::Scenario;
use crate::scenario_file::{self, Finding, Found, Loaded, Options};

/// The scenarios the user selected, every one of them valid.
///
/// # Errors
///
/// All findings of all files when any of them is invalid, and when a tag selects nothing.
pub(super) fn select(args: &SelectArgs, console: Console) -> Result<Vec<Scenario>, Failure> {
    let (scenarios, findings) = load(args);
    let errors = findings.iter().filter(|it| it.is_error()).count();
    if errors > 0 {
        let mut message = format!("{} in scenario files", plural(errors, "error"));
        for finding in &findings {
            let _ = write!(message, "\n\n{finding}");
        }
        return Err(Failure::usage(message));
    }
    for finding in &findings {
        console.note(&finding.to_string());
    }
    if scenarios.is_empty() {
        let what = if args.tags.is_empty() {
            "there are no scenarios".to_owned()
        } else {
            format!("no scenario has the tag {}", args.tags.join(" or "))
        };
        return Err(Failure::incomplete(what).hint("`mcp-eval list` shows what there is"));
    }
    Ok(scenarios)
}

/// The selected scenarios that are valid, and everything that is wrong with any.
pub(super) fn load(args: &SelectArgs) -> (Vec<Scenario>, Vec<Finding>) {
    load_with(args, scenario_file::load)
}

/// The same for those who check files, and not only want to run them.
pub(super) fn check(args: &SelectArgs) -> (Vec<Scenario>, Vec<Finding>) {
    load_with(args, scenario_file::check)
}

fn load_with(
    args: &SelectArgs,
    load: fn(&[Found], &Options) -> Loaded,
) -> (Vec<Scenario>, Vec<Finding>) {
    let (found, mut findings) = scenario_file::find(&args.all_paths());
    let options = Options {
        variables: args.variables.clone(),
        ..Options::default()
    };
    let loaded = load(&found, &options);
    findings.extend(loaded.findings);
    let mut scenarios = loaded.scenarios;
    scenarios.retain(|it| {
        let unreadable = advice::unreadable_paths(it);
        let sound = unreadable.is_empty();
        findings.extend(unreadable);
        sound
    });
    scenario_file::sort(&mut findings);
    if !args.tags.is_empty() {
        scenarios.retain(|it| it.tags.iter().any(|tag| args.tags.contains(tag)));
    }
    (scenarios, findings)
}

pub(super) fn plural(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
