//! `mcp-eval explain`: every number and rule that led to a score.

use crate::cli::args::ExplainArgs;
use crate::cli::stored::Stored;
use crate::cli::{Console, Exit, Failure, runs};
use crate::published::result::{ResultDocument, Scenario};
use crate::report::explain::explain;

pub(in crate::cli) fn run(args: &ExplainArgs, console: Console) -> Result<Exit, Failure> {
    let (result, wanted) = asked(args)?;
    let chosen: Vec<_> = result
        .scenarios
        .iter()
        .filter(|it| {
            wanted
                .as_ref()
                .is_none_or(|wanted| it.id == *wanted || it.name == *wanted)
        })
        .collect();
    let names = || {
        let ids: Vec<&str> = result.scenarios.iter().map(|it| it.id.as_str()).collect();
        match ids.as_slice() {
            [] => "none".to_owned(),
            ids => ids.join(", "),
        }
    };
    match (chosen.as_slice(), args.call) {
        ([], _) => {
            let failure = Failure::usage("the run has no such scenario");
            return Err(if result.scenarios.is_empty() {
                failure.hint("it has none: no scenario was run to its end")
            } else {
                failure.hint(format!("it has {}", names()))
            });
        }
        ([_, _, ..], Some(_)) => {
            return Err(Failure::usage("a call's number needs its scenario")
                .hint(format!("--scenario takes one of {}", names())));
        }
        _ => {}
    }
    if let ([scenario], Some(call)) = (chosen.as_slice(), args.call) {
        let sides = [&scenario.baseline, &scenario.current];
        let most = sides
            .into_iter()
            .flatten()
            .map(|it| it.calls)
            .max()
            .unwrap_or(0);
        if call == 0 || call > most {
            return Err(Failure::usage(format!("the scenario has no call {call}"))
                .hint(format!("its calls are numbered from 1 to {most}")));
        }
    }
    for scenario in chosen {
        console.result(&explain(scenario, args.call));
    }
    Ok(Exit::Passed)
}

/// The result that is asked for, and the scenario of it. What names no run is taken as a scenario of the latest one.
fn asked(args: &ExplainArgs) -> Result<(ResultDocument, Option<String>), Failure> {
    let by_name = || {
        let name = args.run.to_string_lossy().into_owned();
        let is_name = |it: &Scenario| it.id == name || it.name == name;
        let latest = Stored::open(None).ok().filter(|_| args.scenario.is_none());
        let latest = latest.filter(|it| it.result.scenarios.iter().any(is_name));
        latest.map(|it| (it.result, Some(name)))
    };
    // A name goes before the beginning of an id.
    let is_run = runs::is_stored(&args.run) || args.run.exists();
    if let Some(found) = by_name().filter(|_| !is_run) {
        return Ok(found);
    }
    match Stored::open(Some(&args.run)) {
        Ok(stored) => Ok((stored.result, args.scenario.clone())),
        Err(failure) => by_name().ok_or(failure),
    }
}
