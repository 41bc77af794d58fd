//! `mcp-eval explain`: every number and rule that led to a score.

use crate::cli::args::ExplainArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::stored::Stored;
use crate::report::explain::explain;

pub(in crate::cli) fn run(args: &ExplainArgs, console: Console) -> Result<Exit, Failure> {
    let run = Some(args.run.as_path()).filter(|it| *it != std::path::Path::new("latest"));
    let result = Stored::open(run)?.result;
    let chosen: Vec<_> = result
        .scenarios
        .iter()
        .filter(|it| {
            args.scenario
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
            return Err(
                Failure::usage("the run has no such scenario").hint(format!("it has {}", names()))
            );
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
