//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::args::{CompareArgs, OutputArgs, ScoreArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::judge::judge;
use crate::cli::offline;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Bench, Plan, incomplete, result};
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
        .unwrap_or_else(|| PathBuf::from(BASELINES));
    let selected = scenarios.len();
    let plan = Plan {
        command: "compare",
        scenarios,
        execute: &args.execute,
        output,
        console,
        ours: Some(&root),
    };
    let score = args.score.clone();
    let folder = root.clone();
    let finished = suite::run_suite(plan, move |scenario, bench| {
        let baselines = baselines(&folder, &scenario, selected);
        let score = score.clone();
        async move { compare(&scenario, &bench, &baselines, &score).await }
    })?;
    let telling = Telling {
        format: args.execute.format,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
    };
    finish::finish(&finished, &telling, output, console)
}

/// What was given may be the folder of all baselines or, when one scenario is compared, its own folder or file.
fn baselines(root: &Path, scenario: &Scenario, selected: usize) -> Baselines {
    let all = Baselines::new(root);
    if selected == 1 && root.is_file() {
        return Baselines::of_one_scenario(root.parent().unwrap_or(Path::new("")));
    }
    if selected == 1 && !all.path(&scenario.id).exists() && root.join("baseline.json").exists() {
        return Baselines::of_one_scenario(root);
    }
    all
}

async fn compare(
    scenario: &Scenario,
    bench: &Bench,
    baselines: &Baselines,
    score: &ScoreArgs,
) -> ScenarioResult {
    let accepted = match baselines.load(&scenario.id) {
        Ok(accepted) if accepted.is_empty() => {
            return without_baseline(&bench.told(scenario), baselines);
        }
        Ok(accepted) => accepted,
        Err(error) => return unreadable(&bench.told(scenario), &error),
    };
    let executed = bench.execute(scenario).await;
    if let Some(result) = incomplete(&executed) {
        return result;
    }
    let rules = suite::rules(scenario, score);
    let open = ScenarioResult {
        notes: executed.notes,
        ..result(&executed.scenario, Status::Error)
    };
    let current = Arc::new(executed.trajectory);
    let Some(mut judged) = judge(open, Some(&executed.scenario), &accepted, current, &rules) else {
        return without_baseline(&executed.scenario, baselines);
    };
    if let Some(baseline) = &judged.baseline {
        let unkept = bench.runs.save_baseline(&scenario.id, baseline).err();
        judged.notes.extend(unkept.map(|error| error.to_string()));
    }
    judged
}

fn without_baseline(scenario: &Scenario, baselines: &Baselines) -> ScenarioResult {
    let path = baselines.path(&scenario.id);
    let mut command = format!("mcp-eval record --scenario {}", scenario.path.display());
    let usual = Baselines::new(BASELINES).path(&scenario.id);
    if let Some(folder) = path.parent().filter(|_| path != usual) {
        command = format!("{command} --output {}", folder.display());
    }
    ScenarioResult {
        problem: Some(Problem {
            message: format!("no baseline: {} does not exist", path.display()),
            hint: Some(format!("record one with `{command}`")),
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
