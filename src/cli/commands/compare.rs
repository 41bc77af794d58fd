//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::agents;
use crate::cli::args::{CompareArgs, OutputArgs, ServersChoice};
use crate::cli::bench::Bench;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::judge::judge;
use crate::cli::offline;
use crate::cli::outcome::{incomplete, result};
use crate::cli::recorded;
use crate::cli::repeat::{Measure, repeat};
use crate::cli::replay;
use crate::cli::select;
use crate::cli::stray;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
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
    if args.servers == ServersChoice::Recorded {
        scenarios = scenarios
            .into_iter()
            .map(recorded::without_container)
            .collect();
    }
    let root = args
        .baseline
        .clone()
        .unwrap_or_else(|| PathBuf::from(BASELINES));
    let selected = scenarios.len();
    let ids: Vec<String> = scenarios.iter().map(|it| it.id.clone()).collect();
    let plan = Plan {
        command: "compare",
        scenarios,
        execute: &args.execute,
        output,
        console,
        strict_statistics: args.strict_statistics,
        ours: Some(&root),
    };
    let (of_tasks, folder) = (args.clone(), root.clone());
    let finished = suite::run_suite(plan, move |scenario, bench| {
        let baselines = replay::baselines(&folder, &scenario, selected);
        let args = of_tasks.clone();
        async move { compare(scenario, bench, &baselines, &args).await }
    })?;
    stray::tell(&args.select, &Baselines::new(&root), &ids, console);
    let telling = Telling {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
        strict_statistics: args.strict_statistics,
    };
    finish::finish(&finished, &telling, output, console)
}

async fn compare(
    scenario: Arc<Scenario>,
    bench: Bench,
    baselines: &Baselines,
    args: &CompareArgs,
) -> ScenarioResult {
    let bench = Arc::new(bench);
    let ready = replay::accepted(&scenario, baselines).and_then(|accepted| {
        let held = match (args.servers, accepted.first()) {
            (ServersChoice::Recorded, Some(main)) => {
                let path = baselines.path(&scenario.id);
                Arc::new(recorded::hold_still(&scenario, main, &path)?)
            }
            _ => Arc::clone(&scenario),
        };
        Ok((accepted, held))
    });
    let (accepted, scenario) = match ready {
        Ok(ready) => ready,
        Err(problem) => {
            return ScenarioResult {
                problem: Some(problem),
                ..result(&bench.told(&scenario), Status::Error)
            };
        }
    };
    let scenario = scenario.as_ref();
    let rules = suite::rules(scenario, &args.score);
    let measure = Measure {
        times: args.execute.times(),
        pass_threshold: rules.pass_threshold,
        baseline: accepted.first().and_then(|it| it.repeated),
    };
    let replayed = replay::replayed(scenario, &accepted);
    let (accepted, replayed, rules) = (&accepted, replayed.as_ref(), &rules);
    let attempt = |bench| {
        compare_once(
            scenario,
            bench,
            accepted,
            replayed,
            rules,
            args.allow_changed,
        )
    };
    let mut result = repeat(scenario, &bench, measure, attempt).await;
    if let Some(baseline) = &result.baseline {
        let unkept = bench.runs.save_baseline(&scenario.id, baseline).err();
        result.notes.extend(unkept.map(|error| error.to_string()));
    }
    result
}

async fn compare_once(
    scenario: &Scenario,
    bench: Arc<Bench>,
    accepted: &[Trajectory],
    replayed: Option<&Arc<Trajectory>>,
    rules: &Rules,
    allow_changed: bool,
) -> ScenarioResult {
    let mut executed = bench.execute(scenario, replayed).await;
    (executed.notes).extend(recorded::unanswered(&executed.trajectory));
    if let Some(result) = incomplete(&executed) {
        return result;
    }
    let open = ScenarioResult {
        notes: executed.notes,
        ..result(&executed.scenario, Status::Error)
    };
    let current = Arc::new(executed.trajectory);
    let scoring = (rules, &executed.patience);
    let judged = judge(
        open.clone(),
        Some(&executed.scenario),
        accepted,
        current,
        scoring,
        allow_changed,
    );
    judged.unwrap_or(open)
}
