//! The published result of what a command found.

mod comparison;
mod upstream;

use std::collections::BTreeSet;
use std::mem;
use std::ops::Deref;

use crate::causes;
use crate::description::Description;
use crate::measured;
use model::points::finite;
use model::published::result;
use model::{
    Called, Gate, Places, Redacted, ScenarioResult, ServerCatalogue, Stamp, Status, SuiteResult,
    Trajectory, VolatilePlaces,
};

/// The document of a suite.
pub fn of(suite: &Redacted<SuiteResult>) -> result::ResultDocument {
    of_suite(suite, suite.scenarios.iter())
}

/// The same with these results in the place of its own. They may have trajectories that its own do not hold, and are asked for
/// one after the other.
pub fn of_suite<R: Deref<Target = ScenarioResult>>(
    suite: &Redacted<SuiteResult>,
    results: impl Iterator<Item = R>,
) -> result::ResultDocument {
    let scenarios = results.map(|it| scenario(&it, &suite.command));
    with_scenarios(suite, scenarios.collect())
}

/// The document of a suite whose results are [`condensed`].
pub fn of_condensed(suite: Redacted<SuiteResult>) -> result::ResultDocument {
    let mut suite = suite.into_inner();
    let results = mem::take(&mut suite.scenarios).into_iter();
    let scenarios = results.map(|it| described(it.scenario, &it.places, &suite.command));
    with_scenarios(&suite, scenarios.collect())
}

fn with_scenarios(suite: &SuiteResult, scenarios: Vec<result::Scenario>) -> result::ResultDocument {
    result::ResultDocument {
        format_version: result::FORMAT_VERSION,
        mcp_eval: suite.mcp_eval.clone(),
        run_id: suite.run_id.clone(),
        command: suite.command.clone(),
        started_at: suite.started_at.to_string(),
        duration_ms: finite(suite.duration_ms),
        interrupted: suite.interrupted,
        git: suite.git.clone(),
        called: suite.called.clone().map(|it| Called {
            selection: None,
            ..it
        }),
        selection: suite.called.as_ref().and_then(|it| it.selection),
        summary: result::Summary::of(&scenarios, suite.selected),
        links: Vec::new(),
        gate: None,
        problem: None,
        bisected: None,
        suite: None,
        shard: None,
        shuffle_seed: None,
        merged: None,
        causes: causes::causes(&scenarios, &suite.command),
        datasets: result::Dataset::all(&scenarios),
        matrix: None,
        scenarios,
    }
}

/// One scenario of a document that is not complete yet.
pub fn of_scenario(result: &Redacted<ScenarioResult>, command: &str) -> result::Scenario {
    scenario(result, command)
}

/// A result without its trajectories, and with all that is published of them: of many scenarios, they may be more than memory holds.
#[must_use]
pub fn condensed(result: &ScenarioResult, command: &str) -> ScenarioResult {
    ScenarioResult {
        scenario: of_trajectories(result, command),
        places: result.places.clone(),
        ..ScenarioResult::default()
    }
}

fn scenario(result: &ScenarioResult, command: &str) -> result::Scenario {
    described(of_trajectories(result, command), &result.places, command)
}

/// A scenario as far as it is computed of its trajectories.
fn of_trajectories(result: &ScenarioResult, command: &str) -> result::Scenario {
    let baseline = result.baseline.as_deref().map(|it| &**it);
    let current = result.current.as_deref().map(|it| &**it);
    let mut scenario = result::Scenario {
        line: result.places.name.map(|it| it.line),
        column: result.places.name.map(|it| it.column),
        duration_ms: result.duration_ms.and_then(finite),
        evaluation: result.overall.map(|it| result::EvaluationSummary {
            score: it.score,
            threshold: it.threshold,
            passed: it.gate == Gate::Passes,
        }),
        baseline: baseline.map(side),
        current: current.map(side),
        comparison: result
            .comparison
            .as_ref()
            .map(|it| comparison::comparison(it, baseline, current, &result.labels)),
        flaky: result.unsteady.is_some()
            || (result.status == Status::Passed && !result.retried.is_empty()),
        ..result.scenario.clone()
    };
    if let (None, Some(run), Some(side)) = (&scenario.comparison, current, &mut scenario.current) {
        let labelled = (1..).zip(run.calls());
        let labelled = labelled.filter_map(|(call, it)| {
            let label = result.labels.of(it)?;
            Some(result::CallLabel { call, label })
        });
        side.labels = labelled.collect();
        let tools: BTreeSet<&str> = run.calls().map(|it| it.tool.as_str()).collect();
        side.tools = tools.into_iter().map(str::to_owned).collect();
    }
    // Which calls were answered once matters only for baselines, and for runs that become one.
    for (side, is_kept) in [
        (&mut scenario.baseline, command != "run"),
        (&mut scenario.current, command == "record"),
    ] {
        if let Some(side) = side.as_mut().filter(|_| !is_kept) {
            side.heard_once = None;
        }
    }
    scenario
}

/// A scenario with what is said of it as a whole.
fn described(mut scenario: result::Scenario, places: &Places, command: &str) -> result::Scenario {
    if let Some(described) = Description::new(&scenario, command) {
        (scenario.unchanged, scenario.in_words) =
            (described.is_unchanged(), Some(described.comparison()));
    }
    if scenario.unsteady.is_some() {
        let said =
            "The system under test is unsteady: it answered otherwise when it was asked again.";
        scenario.unchanged = false;
        scenario.in_words = Some(said.to_owned());
    }
    if let Some(measured) = &scenario.measured {
        scenario.unchanged = measured.is_unchanged();
        scenario.in_words = measured::words(measured);
    }
    let (band, advice) = (scenario.band(), scenario.advice().map(str::to_owned));
    let scripted = scenario.current.as_ref();
    let scripted = scripted.is_some_and(|it| it.stamp.agent == "scripted");
    if let Some(comparison) = &mut scenario.comparison {
        let reasons = comparison
            .reasons
            .iter_mut()
            .chain(&mut comparison.warnings);
        for reason in reasons {
            place(reason, places, command == "run", scripted);
        }
        comparison.band = band.unwrap_or(comparison.band);
        comparison.advice = advice.unwrap_or_default();
        if command == "run" {
            // An expectation has no answers, so nothing was learned of them.
            for row in &mut comparison.rows {
                (row.takes, row.unseen) = (None, Vec::new());
            }
        }
    }
    scenario
}

/// Says of a reason where the scenario's file speaks of the call concerned.
fn place(reason: &mut model::reason::Reason, places: &Places, is_expected: bool, scripted: bool) {
    let expected = reason.baseline.filter(|_| is_expected);
    let expected = expected.and_then(|it| Places::line_of(&places.expected, it.checked_sub(1)?));
    // A script makes its calls in order.
    let played = reason.current.filter(|_| scripted);
    let played = played.and_then(|it| Places::line_of(&places.script, it.checked_sub(1)?));
    reason.line = expected.or(played);
}

fn side(trajectory: &Trajectory) -> result::Side {
    result::Side {
        file: None,
        stamp: stamp(&trajectory.stamp),
        servers: trajectory.catalogue.servers.iter().map(server).collect(),
        scenario_hash: trajectory.scenario_hash.clone(),
        ending: (&trajectory.ending).into(),
        ending_message: trajectory.ending.reason().map(str::to_owned),
        duration_ms: trajectory.duration_ms.and_then(finite),
        calls: trajectory.calls().count(),
        labels: Vec::new(),
        tools: Vec::new(),
        failed_calls: trajectory
            .calls()
            .filter(|it| it.outcome.is_failure())
            .count(),
        usage: result::ModelUse::of(&trajectory.requests),
        volatile: trajectory
            .learned
            .iter()
            .filter(|it| !it.varies.is_empty())
            .map(|it| VolatilePlaces {
                call: it.call,
                paths: it.paths().map(str::to_owned).collect(),
            })
            .collect(),
        learned: (trajectory.learned.iter())
            .map(|it| result::LearnedSummary {
                call: it.call,
                takes: it.takes,
                varies: it.varies.iter().map(ToString::to_string).collect(),
            })
            .collect(),
        heard_once: Some(trajectory.answered_once()),
        bindings: trajectory
            .bindings
            .iter()
            .map(|it| result::BindingSummary {
                call: it.call,
                path: it.path.clone(),
                from: it.from.clone(),
            })
            .collect(),
        repeated: trajectory.repeated.map(Into::into),
    }
}

fn stamp(stamp: &Stamp) -> result::SideStamp {
    result::SideStamp {
        recorded_at: stamp.recorded_at.to_string(),
        mcp_eval: stamp.mcp_eval.clone(),
        agent: stamp.agent.clone(),
        agent_hash: stamp.agent_hash.clone(),
        servers: stamp.servers,
        model: stamp.model.clone(),
        scenarios: stamp.scenarios.clone(),
        source: stamp.source.clone(),
        image: stamp.image.clone(),
    }
}

fn server(catalogue: &ServerCatalogue) -> result::ServerSummary {
    let info = |key: &str| {
        let value = catalogue.info.as_ref()?.get(key)?.as_str()?;
        Some(value.to_owned())
    };
    result::ServerSummary {
        server: catalogue.server.clone(),
        name: info("name"),
        version: info("version"),
        protocol_version: catalogue.protocol_version.clone(),
        tools: catalogue.tools.len(),
    }
}
