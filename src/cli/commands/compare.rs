//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::agents;
use crate::cli::args::{CompareArgs, OutputArgs, ScoreArgs};
use crate::cli::bench::Bench;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::judge::judge;
use crate::cli::offline;
use crate::cli::outcome::{incomplete, result};
use crate::cli::replay;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::store::Baselines;

pub(in crate::cli) fn run(
    args: &CompareArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if let Some(run) = &args.run {
        return offline::compare(args, run, output, console);
    }
    let mut scenarios = select::select(&args.select, console)?;
    agents::choose(&mut scenarios, &args.execute)?;
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
    let allow_changed = args.allow_changed;
    let finished = suite::run_suite(plan, move |scenario, bench| {
        let baselines = replay::baselines(&folder, &scenario, selected);
        let score = score.clone();
        async move { compare(&scenario, &bench, &baselines, &score, allow_changed).await }
    })?;
    let telling = Telling {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
    };
    finish::finish(&finished, &telling, output, console)
}

async fn compare(
    scenario: &Scenario,
    bench: &Bench,
    baselines: &Baselines,
    score: &ScoreArgs,
    allow_changed: bool,
) -> ScenarioResult {
    let accepted = match replay::accepted(scenario, baselines) {
        Ok(accepted) => accepted,
        Err(problem) => {
            return ScenarioResult {
                problem: Some(problem),
                ..result(&bench.told(scenario), Status::Error)
            };
        }
    };
    let replayed = replay::replayed(scenario, &accepted);
    let executed = bench.execute(scenario, replayed.as_ref()).await;
    if let Some(result) = incomplete(&executed) {
        return result;
    }
    let rules = suite::rules(scenario, score);
    let open = ScenarioResult {
        notes: executed.notes,
        ..result(&executed.scenario, Status::Error)
    };
    let current = Arc::new(executed.trajectory);
    let judged = judge(
        open.clone(),
        Some(&executed.scenario),
        &accepted,
        current,
        &rules,
        allow_changed,
    );
    let mut judged = judged.unwrap_or(open);
    if let Some(baseline) = &judged.baseline {
        let unkept = bench.runs.save_baseline(&scenario.id, baseline).err();
        judged.notes.extend(unkept.map(|error| error.to_string()));
    }
    judged
}
