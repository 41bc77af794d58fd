//! `--dry-run`: what would be run, and what it may cost.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::cli::args::{ExecuteArgs, Format, PlanArgs, ReportingArgs};
use crate::cli::suite::judge_budget;
use crate::cli::to_run::ToRun;
use crate::cli::{Console, Exit, Failure};
use crate::model::usage::cost_words;
use crate::published::result::Shard;
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::servers::Transport;
use crate::text::{self, plural, several};
use crate::{json, suite};

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct PlanDocument<'a> {
    format_version: u32,
    command: &'a str,
    /// In the order in which they begin.
    scenarios: Vec<Planned>,
    /// What all requests to models may cost at most; `null` where something has no bound.
    max_cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a Shard>,
}

/// One scenario.
#[derive(Serialize)]
struct Planned {
    id: String,
    name: String,
    path: String,
    /// A disabled one is reported as skipped.
    enabled: bool,
    /// Of what is measured, the kind: `retrieval` or `security`.
    agent: &'static str,
    /// What is measured, in words; absent for a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    measures: Option<String>,
    model: Option<String>,
    servers: Vec<PlannedServer>,
    /// The tools that are called, in order; `null` where nobody knows before.
    calls: Option<Vec<String>>,
    /// How many criteria its runs must meet, besides what is compared.
    criteria: usize,
    /// The evaluators that look at its runs.
    evaluators: Vec<PlannedEvaluator>,
    /// The model that judges its runs; `null` where none is asked.
    judge: Option<String>,
    /// What that may cost at most, in all runs; `null` without a bound.
    judge_max_cost: Option<f64>,
    /// How often it is run.
    runs: u16,
    /// What its agent's may cost at most.
    #[serde(skip)]
    agent_max_cost: Option<f64>,
    /// What its requests to models may cost at most, in all runs and with its judge; `null` without a bound.
    max_cost: Option<f64>,
}

#[derive(Serialize)]
struct PlannedEvaluator {
    /// As scenario files spell it.
    r#type: &'static str,
    name: String,
    /// `gating` or `advisory`.
    role: &'static str,
}

#[derive(Serialize)]
struct PlannedServer {
    name: String,
    /// `stdio`, `http`, `mock` or `recorded`.
    kind: &'static str,
}

/// Refuses what a plan has no use for: nothing is run, so there is no result to report.
///
/// # Errors
///
/// When a report is asked for.
pub(super) fn check(
    plan: &PlanArgs,
    reporting: &ReportingArgs,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let report = reporting.reports.first().map(ToString::to_string);
    let output = output.map(|it| format!("--output {}", it.display()));
    match report.or(output).filter(|_| plan.dry_run) {
        None => Ok(()),
        Some(option) => {
            let why = format!("--dry-run runs nothing, so there is no result for `{option}`");
            Err(Failure::usage(why).hint(
                "leave it out: the plan is printed, and `--dry-run --format json > FILE` keeps it",
            ))
        }
    }
}

/// Prints the plan.
///
/// # Errors
///
/// When it is asked for in a form that is none of a plan.
pub(super) fn print(
    command: &str,
    to_run: &ToRun,
    args: &ExecuteArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let runs = args.repeat.unwrap_or(1);
    let scenarios = to_run.in_order().into_iter().map(|it| planned(it, runs));
    let scenarios: Vec<Planned> = scenarios.collect();
    let enabled = || scenarios.iter().filter(|it| it.enabled);
    let of_agents: Option<f64> = enabled().map(|it| it.agent_max_cost).sum();
    let of_judges: Option<f64> = enabled().map(|it| it.judge_max_cost).sum();
    let of_judges = least(of_judges, judge_budget(args)?);
    let bound = of_agents.zip(of_judges);
    let bound = bound.map(|(agents, judges)| agents + judges);
    let max_cost = least(bound, args.budget);
    let document = PlanDocument {
        format_version: 1,
        command,
        scenarios,
        max_cost,
        suite: to_run.suite_of().map(|(it, _)| it.name.as_str()),
        shard: to_run.shard().map(|it| it.shard),
    };
    match args.reporting.format {
        Format::Json => Console::document(&json::pretty(&document)),
        Format::Terminal => console.result(&table(&document)),
        other => {
            let name = other.name();
            let why = format!("a plan has no form `{name}`: nothing is run, so there is no result");
            return Err(Failure::usage(why).hint("`--format json`, or none"));
        }
    }
    Ok(Exit::Passed)
}

/// The smaller of two bounds, either of which may not be there.
fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn planned(scenario: &Scenario, runs: u16) -> Planned {
    let redactor = suite::redactor_of(scenario);
    let clean = |text: &str| redactor.text(text).into_inner();
    let agent = &scenario.agent;
    let measured = scenario.measurement.as_ref();
    let is_script = !agent.decides() && agent.kind() != "replay" && measured.is_none();
    let calls = is_script.then(|| {
        let calls = agent.calls().iter();
        calls.map(|it| clean(&it.tool)).collect()
    });
    let evaluators = scenario.evaluators.iter().map(|it| PlannedEvaluator {
        r#type: it.kind.name(),
        name: clean(&it.title()),
        role: it.role.name(),
    });
    let in_all_runs = |cost: f64| cost * f64::from(runs);
    let agent_max_cost = max_cost(scenario).map(in_all_runs);
    let judge_max_cost = suite::most_judging_costs(scenario).map(in_all_runs);
    let judge = scenario.judge.as_ref();
    let judge = judge.filter(|_| judge_max_cost != Some(0.0));
    Planned {
        evaluators: evaluators.collect(),
        judge: judge.map(|it| clean(&it.asked.model)),
        judge_max_cost,
        agent_max_cost,
        max_cost: agent_max_cost.zip(judge_max_cost).map(|(a, b)| a + b),
        id: scenario.id.clone(),
        name: clean(&scenario.name),
        path: clean(&scenario.path.display().to_string()),
        enabled: scenario.enabled,
        agent: measured.map_or(agent.kind(), Measurement::kind),
        measures: measured.map(|it| clean(&what(it))),
        model: agent.model_name().map(clean),
        servers: scenario
            .servers
            .iter()
            .map(|it| PlannedServer {
                name: clean(&it.name),
                kind: match it.transport {
                    Transport::Stdio(_) => "stdio",
                    Transport::Http { .. } => "http",
                    Transport::Mock => "mock",
                    Transport::Recorded { .. } => "recorded",
                },
            })
            .collect(),
        calls,
        criteria: scenario.success_criteria.len(),
        runs,
    }
}

/// What is measured, with the names of its files.
fn what(measurement: &Measurement) -> String {
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    match measurement {
        Measurement::Retrieval(it) => {
            let times = match it.runs {
                1 => String::new(),
                more => format!(", {more} times"),
            };
            format!(
                "the search {} by {} over {}{times}",
                it.search_name,
                name(&it.golden),
                name(&it.corpus)
            )
        }
        Measurement::Security(it) => {
            let files: Vec<String> = it.verdicts.iter().map(|it| name(it)).collect();
            format!("what scanners said in {}", files.join(", "))
        }
    }
}

/// What the agent of one run may cost at most: nothing without a model; else its `max_cost`, or what `max_total_tokens` cost where all of them are of the
/// dearest kind. `None` where nothing bounds it.
fn max_cost(scenario: &Scenario) -> Option<f64> {
    if !scenario.agent.decides() {
        return Some(0.0);
    }
    let limits = &scenario.limits;
    let by_tokens = limits.max_total_tokens.zip(scenario.agent.price());
    let by_tokens = by_tokens.map(|(tokens, price)| {
        let kinds = [price.cache_read, price.cache_write];
        let dearest = kinds
            .into_iter()
            .flatten()
            .fold(price.input.max(price.output), f64::max);
        model::usage::tokens(tokens) / 1e6 * dearest
    });
    least(limits.max_cost, by_tokens)
}

fn table(document: &PlanDocument<'_>) -> String {
    let mut table = String::new();
    for it in &document.scenarios {
        let _ = writeln!(table, "{}", text::line(&line(it)));
    }
    let enabled = document.scenarios.iter().filter(|it| it.enabled);
    let asks = enabled
        .clone()
        .filter(|it| it.max_cost != Some(0.0))
        .count();
    let runs: u32 = enabled.map(|it| u32::from(it.runs)).sum();
    let _ = write!(
        table,
        "{}, {} to make, none made; ",
        plural(document.scenarios.len(), "scenario"),
        plural(runs as usize, "run")
    );
    match document.max_cost {
        _ if asks == 0 => table.push_str("no model is asked"),
        Some(cost) => {
            let _ = write!(table, "models may cost up to {}", cost_words(cost));
        }
        None => table.push_str(
            "what models may cost has no bound: `limits.max_cost`, `limits.max_total_tokens` with a price, or `--budget` sets one; for judges, `judge.max_tokens` with `judge.price`, or `--judge-budget`",
        ),
    }
    table
}

/// `search  scripted, 2 calls (look, pay), servers m (mock)`.
fn line(it: &Planned) -> String {
    if !it.enabled {
        return format!("{}  disabled", it.id);
    }
    let mut line = format!("{}  {}", it.id, it.agent);
    if let Some(model) = &it.model {
        let _ = write!(line, " {model}");
    }
    if let Some(measures) = &it.measures {
        let _ = write!(line, ", {measures}");
    }
    match &it.calls {
        _ if it.measures.is_some() => {}
        Some(calls) if calls.is_empty() => line.push_str(", no calls"),
        Some(calls) => {
            let _ = write!(
                line,
                ", {} ({})",
                plural(calls.len(), "call"),
                calls.join(", ")
            );
        }
        None if it.agent == "replay" => line.push_str(", the calls of its baseline"),
        None => line.push_str(", calls of its own choice"),
    }
    let servers = it
        .servers
        .iter()
        .map(|it| format!("{} ({})", it.name, it.kind));
    let servers: Vec<String> = servers.collect();
    if !servers.is_empty() {
        let _ = write!(line, ", on {}", servers.join(", "));
    }
    if it.criteria > 0 {
        let criteria = several(it.criteria, "criterion", "criteria");
        let _ = write!(line, ", {criteria}");
    }
    if !it.evaluators.is_empty() {
        let types = it.evaluators.iter();
        let types = types.map(|it| match it.role {
            "gating" => it.r#type.to_owned(),
            role => format!("{}, {role}", it.r#type),
        });
        let types: Vec<String> = types.collect();
        let count = plural(types.len(), "evaluator");
        let _ = write!(line, ", {count} ({})", types.join("; "));
    }
    if let Some(judge) = &it.judge {
        let _ = write!(line, ", judged by {judge}");
    }
    if it.runs > 1 {
        let _ = write!(line, ", {} runs", it.runs);
    }
    match it.max_cost {
        Some(cost) if cost > 0.0 => {
            let _ = write!(line, ", up to {}", cost_words(cost));
        }
        None => line.push_str(", at a cost without a bound"),
        Some(_) => {}
    }
    line
}
