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
use crate::cli::judge::impossible_criteria;
use crate::cli::outcome::{incomplete, result};
use crate::cli::repeat::{Measure, repeat};
use crate::cli::replay;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::evaluate::{Basis, Checked, WrongOutcome, check_criteria, no_call, wrong_outcomes};
use crate::model::rules::Rules;
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{Check, ScenarioResult, Status};
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
    let Checked {
        mut checks,
        impossible,
    } = check_criteria(&told, &trajectory, Basis::Nothing);
    checks.extend(no_call(&told, &trajectory));
    let wrong = wrong_outcomes(&told, &trajectory, replayed.map(Arc::as_ref));
    checks.extend(wrong.iter().map(WrongOutcome::check));
    let compared = patience.spend_on(|is_unwanted| {
        score::compare_with_expectation(&told, &trajectory, rules, is_unwanted)
    });
    let (expectation, comparison) = match compared {
        Ok(compared) => compared.unzip(),
        Err(stopped) => return stopped.of(&told, &trajectory),
    };
    let passed =
        !checks.iter().any(Check::fails) && comparison.as_ref().is_none_or(|it| it.verdict.passed);
    let problem = impossible_criteria(&impossible);
    let status = match (passed, &problem) {
        (true, None) => Status::Passed,
        (true, Some(_)) => Status::Error,
        (false, _) => Status::Failed,
    };
    ScenarioResult {
        duration_ms: trajectory.duration_ms,
        problem,
        checks,
        comparison,
        baseline: expectation.map(Arc::new),
        idle_rules: score::idle_after(rules, &[&trajectory]),
        current: Some(Arc::new(trajectory)),
        notes,
        ..result(&told, status)
    }
}
