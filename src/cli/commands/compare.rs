//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::args::{CompareArgs, OutputArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::judge::judge;
use crate::cli::offline;
use crate::cli::select;
use crate::cli::suite::{self, Bench, incomplete, result};
use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status};
use crate::store::{Baselines, StoreError};

pub(in crate::cli) fn run(
    args: &CompareArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if let Some(run) = &args.run {
        return offline::compare(args, run, output, console);
    }
    let scenarios = select::select(&args.select, console)?;
    let root = args
        .baseline
        .clone()
        .unwrap_or_else(|| PathBuf::from("baselines"));
    let finished = suite::run_suite(
        "compare",
        &scenarios,
        &args.execute,
        output,
        console,
        std::slice::from_ref(&root),
        &async |scenario, bench| {
            let baselines = baselines(&root, scenario, scenarios.len());
            compare(scenario, bench, baselines, args).await
        },
    )?;
    let telling = Telling {
        format: args.execute.format,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
    };
    finish::finish(&finished, &telling, output, console)
}

/// The folder given may be that of all baselines or, when one scenario is compared, its own.
fn baselines(root: &Path, scenario: &Scenario, selected: usize) -> Baselines {
    let all = Baselines::new(root);
    if selected == 1 && !all.path(&scenario.id).exists() && root.join("baseline.json").exists() {
        return Baselines::of_one_scenario(root);
    }
    all
}

async fn compare(
    scenario: &Scenario,
    bench: Bench<'_>,
    baselines: Baselines,
    args: &CompareArgs,
) -> ScenarioResult {
    let accepted = match baselines.load(&scenario.id) {
        Ok(accepted) if accepted.is_empty() => return without_baseline(scenario, &baselines),
        Ok(accepted) => accepted,
        Err(error) => return unreadable(scenario, &error),
    };
    let (trajectory, lost) = bench.execute(scenario).await;
    if let Some(result) = incomplete(scenario, &trajectory) {
        return result;
    }
    let rules = suite::rules(scenario, &args.score);
    let open = result(scenario, Status::Error);
    let Some(mut judged) = judge(
        open,
        Some(scenario),
        &accepted,
        Arc::new(trajectory),
        &rules,
    ) else {
        return without_baseline(scenario, &baselines);
    };
    judged
        .notes
        .extend(lost.map(|error| format!("the run could not be kept: {error}")));
    if let Some(baseline) = &judged.baseline {
        let unkept = bench.runs.save_baseline(&scenario.id, baseline).err();
        judged.notes.extend(unkept.map(|error| error.to_string()));
    }
    judged
}

fn without_baseline(scenario: &Scenario, baselines: &Baselines) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem {
            message: format!(
                "no baseline: {} does not exist",
                baselines.path(&scenario.id).display()
            ),
            hint: Some(format!(
                "record one with `mcp-eval record --scenario {}`",
                scenario.path.display()
            )),
            details: Vec::new(),
        }),
        ..result(scenario, Status::Error)
    }
}

fn unreadable(scenario: &Scenario, error: &StoreError) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            details: Vec::new(),
        }),
        ..result(scenario, Status::Error)
    }
}
