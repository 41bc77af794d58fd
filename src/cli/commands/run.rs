//! `mcp-eval run`: run scenarios against their own expectations.

use std::sync::Arc;

use crate::cli::args::{OutputArgs, RunArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::select;
use crate::cli::suite::{self, Bench, incomplete, result};
use crate::evaluate::{check_criteria, check_outcomes};
use crate::model::rules::Responses;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::score;

pub(in crate::cli) fn run(
    args: &RunArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let scenarios = select::select(&args.select, console)?;
    let finished = suite::run_suite(
        "run",
        &scenarios,
        &args.execute,
        output,
        console,
        &[],
        &async |scenario, bench| expect(scenario, bench, args).await,
    )?;
    let telling = Telling {
        format: args.execute.format,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
    };
    finish::finish(&finished, &telling, output, console)
}

async fn expect(scenario: &Scenario, bench: Bench<'_>, args: &RunArgs) -> ScenarioResult {
    let (trajectory, lost) = bench.execute(scenario).await;
    if let Some(result) = incomplete(scenario, &trajectory) {
        return result;
    }
    let mut checks = check_criteria(scenario, &trajectory);
    checks.extend(check_outcomes(scenario, &trajectory));
    let (expectation, comparison) = if scenario.expected_trajectory.is_empty() {
        (None, None)
    } else {
        let mut rules = suite::rules(scenario, &args.score);
        // An expectation names calls; it knows nothing of answers.
        rules.responses = Responses::Ignore;
        let expectation = score::expectation(scenario, &trajectory);
        let comparison = score::compare(&expectation, &trajectory, &rules);
        (Some(expectation), Some(comparison))
    };
    let passed =
        checks.iter().all(|it| it.passed) && comparison.as_ref().is_none_or(|it| it.verdict.passed);
    let mut notes: Vec<String> = lost
        .map(|error| format!("the run could not be kept: {error}"))
        .into_iter()
        .collect();
    if let Some(expectation) = &expectation {
        notes.extend(
            bench
                .runs
                .save_baseline(&scenario.id, expectation)
                .err()
                .map(|error| error.to_string()),
        );
    }
    ScenarioResult {
        duration_ms: trajectory.duration_ms,
        checks,
        comparison,
        baseline: expectation.map(Arc::new),
        current: Some(Arc::new(trajectory)),
        notes,
        ..result(
            scenario,
            if passed {
                Status::Passed
            } else {
                Status::Failed
            },
        )
    }
}
