//! `mcp-eval run`: run scenarios against their own expectations.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::agents;
use crate::cli::args::{OutputArgs, RunArgs, ScoreArgs};
use crate::cli::bench::{Bench, Executed};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::outcome::{incomplete, result};
use crate::cli::repeat::{Measure, repeat};
use crate::cli::replay;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::evaluate::{check_criteria, check_outcomes};
use crate::model::rules::{Responses, Rules};
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::score;
use crate::store::Baselines;

pub(in crate::cli) fn run(
    args: &RunArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let mut scenarios = select::select(&args.select, console)?;
    agents::choose(&mut scenarios, &args.execute)?;
    let root = args
        .baseline
        .clone()
        .unwrap_or_else(|| PathBuf::from(BASELINES));
    let selected = scenarios.len();
    let plan = Plan {
        command: "run",
        scenarios,
        execute: &args.execute,
        output,
        console,
        strict_statistics: false,
        ours: None,
    };
    let (score, times) = (args.score.clone(), args.execute.times());
    let finished = suite::run_suite(plan, move |scenario, bench| {
        let score = score.clone();
        let baselines = replay::baselines(&root, &scenario, selected);
        async move { expect(&scenario, bench, &baselines, &score, times).await }
    })?;
    let telling = Telling {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
        strict_statistics: false,
    };
    finish::finish(&finished, &telling, output, console)
}

async fn expect(
    scenario: &Scenario,
    bench: Bench,
    baselines: &Baselines,
    score: &ScoreArgs,
    times: u16,
) -> ScenarioResult {
    let bench = Arc::new(bench);
    let replayed = match &scenario.agent {
        Agent::Scripted { .. } | Agent::Model { .. } | Agent::Command { .. } => None,
        Agent::Replay { .. } => match replay::accepted(scenario, baselines) {
            Ok(accepted) => replay::replayed(scenario, &accepted),
            Err(problem) => {
                return ScenarioResult {
                    problem: Some(problem),
                    ..result(&bench.told(scenario), Status::Error)
                };
            }
        },
    };
    let rules = suite::rules(scenario, score);
    let measure = Measure {
        times,
        pass_threshold: rules.pass_threshold,
        baseline: None,
    };
    let (replayed, rules) = (replayed.as_ref(), &rules);
    let attempt = |bench| expect_once(scenario, bench, replayed, rules);
    let mut result = repeat(scenario, &bench, measure, attempt).await;
    if let Some(expectation) = &result.baseline {
        let unkept = bench.runs.save_baseline(&scenario.id, expectation).err();
        result.notes.extend(unkept.map(|error| error.to_string()));
    }
    result
}

async fn expect_once(
    scenario: &Scenario,
    bench: Arc<Bench>,
    replayed: Option<&Arc<Trajectory>>,
    rules: &Rules,
) -> ScenarioResult {
    let executed = bench.execute(scenario, replayed).await;
    if let Some(result) = incomplete(&executed) {
        return result;
    }
    let Executed {
        scenario: told,
        trajectory,
        notes,
        patience,
    } = executed;
    let mut checks = check_criteria(&told, &trajectory);
    checks.extend(check_outcomes(&told, &trajectory));
    let (expectation, comparison) = if told.expected_trajectory.is_empty() {
        (None, None)
    } else {
        let mut rules = rules.clone();
        // An expectation names calls; it knows nothing of answers.
        rules.responses = Responses::Ignore;
        let expectation = score::expectation(&told, &trajectory);
        let compared = patience.spend_on(|is_unwanted| {
            score::compare_until(&expectation, &trajectory, &rules, is_unwanted)
        });
        match compared {
            Ok(comparison) => (Some(expectation), Some(comparison)),
            Err(stopped) => return stopped.of(&told, &trajectory),
        }
    };
    let passed =
        checks.iter().all(|it| it.passed) && comparison.as_ref().is_none_or(|it| it.verdict.passed);
    ScenarioResult {
        duration_ms: trajectory.duration_ms,
        checks,
        comparison,
        baseline: expectation.map(Arc::new),
        current: Some(Arc::new(trajectory)),
        notes,
        ..result(
            &told,
            if passed {
                Status::Passed
            } else {
                Status::Failed
            },
        )
    }
}
