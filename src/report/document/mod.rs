//! The published result of what a command found.

mod comparison;
mod repeated;

use crate::model::catalogue::ServerCatalogue;
use crate::model::experiment::ExperimentChange;
use crate::model::points::finite;
use crate::model::stamp::Stamp;
use crate::model::suite::{CheckState, ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::Trajectory;
use crate::published::ending;
use crate::report::causes;
use crate::report::in_words::Words;

use crate::published::result::{
    BindingV1, CheckV1, ExperimentChangeV1, ExperimentPartV1, FORMAT_VERSION, LearnedV1,
    ModelUseV1, ProblemV1, ResultV1, ScenarioV1, ServerV1, SideV1, StampV1, SummaryV1, VolatileV1,
};

impl From<&SuiteResult> for ResultV1 {
    fn from(suite: &SuiteResult) -> Self {
        let skipped = suite.count(Status::Skipped);
        let scenarios: Vec<ScenarioV1> = (suite.scenarios.iter())
            .map(|it| scenario(it, &suite.command))
            .collect();
        Self {
            format_version: FORMAT_VERSION,
            mcp_eval: suite.mcp_eval.clone(),
            run_id: suite.run_id.clone(),
            command: suite.command.clone(),
            started_at: suite.started_at.to_string(),
            duration_ms: finite(suite.duration_ms),
            interrupted: suite.interrupted,
            git: (&suite.git).into(),
            summary: SummaryV1 {
                selected: suite.selected,
                passed: suite.count(Status::Passed),
                changed: scenarios.iter().filter(|it| it.is_changed()).count(),
                failed: suite.count(Status::Failed),
                inconclusive: suite.count(Status::Inconclusive),
                error: suite.count(Status::Error),
                timeout: suite.count(Status::Timeout),
                interrupted: suite.count(Status::Interrupted),
                skipped,
                recorded: suite.count(Status::Recorded),
                recorded_failing: scenarios.iter().filter(|it| it.is_failing()).count(),
            },
            gate: None,
            problem: None,
            causes: causes::causes(&scenarios),
            scenarios,
        }
    }
}

fn scenario(result: &ScenarioResult, command: &str) -> ScenarioV1 {
    let baseline = result.baseline.as_deref();
    let current = result.current.as_deref();
    let mut scenario = ScenarioV1 {
        id: result.id.clone(),
        name: result.name.clone(),
        path: result.path.clone(),
        tags: result.tags.clone(),
        description: result.description.clone(),
        user_intent: result.user_intent.clone(),
        experiment_changes: result.experiment_changes.iter().map(Into::into).collect(),
        status: result.status.into(),
        duration_ms: result.duration_ms.and_then(finite),
        problem: result.problem.as_ref().map(|it| ProblemV1 {
            message: it.message.clone(),
            hint: it.hint.clone(),
            details: it.details.clone(),
        }),
        notes: result.notes.clone(),
        idle_rules: result.idle_rules.clone(),
        container_log: None,
        checks: result
            .checks
            .iter()
            .map(|it| CheckV1 {
                name: it.name.clone(),
                passed: it.state == CheckState::Passed,
                unchecked: it.state == CheckState::Unchecked,
                message: it.message.clone(),
            })
            .collect(),
        in_words: None,
        baseline: baseline.map(side),
        current: current.map(side),
        comparison: result
            .comparison
            .as_ref()
            .map(|it| comparison::comparison(it, baseline, current)),
        repeated: (result.repeated.as_deref()).map(|it| Box::new(repeated::repeated(it))),
    };
    // Only what is a baseline, or becomes one, was heard to be held to something.
    for (side, is_kept) in [
        (&mut scenario.baseline, command != "run"),
        (&mut scenario.current, command == "record"),
    ] {
        if let Some(side) = side.as_mut().filter(|_| !is_kept) {
            side.heard_once = None;
        }
    }
    scenario.in_words = Words::new(&scenario, command).map(|it| it.comparison());
    let (band, advice) = (scenario.band(), scenario.advice().map(str::to_owned));
    if let Some(comparison) = &mut scenario.comparison {
        comparison.band = band.unwrap_or(comparison.band);
        comparison.advice = advice.unwrap_or_default();
        if command == "run" {
            // An expectation names calls and knows nothing of answers.
            for row in &mut comparison.rows {
                (row.takes, row.unseen) = (None, Vec::new());
            }
        }
    }
    scenario
}

impl From<&ExperimentChange> for ExperimentChangeV1 {
    fn from(change: &ExperimentChange) -> Self {
        let (what, baseline, current) = match change.clone() {
            ExperimentChange::Model { baseline, current } => {
                (ExperimentPartV1::Model, baseline, current)
            }
            ExperimentChange::Agent { baseline, current } => {
                (ExperimentPartV1::Agent, Some(baseline), Some(current))
            }
            ExperimentChange::Scenario => (ExperimentPartV1::Scenario, None, None),
        };
        Self {
            what,
            baseline,
            current,
        }
    }
}

fn side(trajectory: &Trajectory) -> SideV1 {
    let (ending, ending_message, _) = ending::parts(&trajectory.ending);
    SideV1 {
        file: None,
        stamp: stamp(&trajectory.stamp),
        servers: trajectory.catalogue.servers.iter().map(server).collect(),
        scenario_hash: trajectory.scenario_hash.clone(),
        ending,
        ending_message: ending_message.map(str::to_owned),
        duration_ms: trajectory.duration_ms.and_then(finite),
        calls: trajectory.calls().count(),
        failed_calls: trajectory
            .calls()
            .filter(|it| it.outcome.is_failure())
            .count(),
        usage: ModelUseV1::of(&trajectory.requests),
        volatile: trajectory
            .learned
            .iter()
            .filter(|it| !it.varies.is_empty())
            .map(|it| VolatileV1 {
                call: it.call,
                paths: it.paths().map(str::to_owned).collect(),
            })
            .collect(),
        learned: (trajectory.learned.iter())
            .map(|it| LearnedV1 {
                call: it.call,
                takes: it.takes,
                varies: it.varies.iter().map(ToString::to_string).collect(),
            })
            .collect(),
        heard_once: Some(trajectory.heard_once()),
        bindings: trajectory
            .bindings
            .iter()
            .map(|it| BindingV1 {
                call: it.call,
                path: it.path.clone(),
                from: (&it.from).into(),
            })
            .collect(),
        repeated: trajectory.repeated.map(Into::into),
    }
}

fn stamp(stamp: &Stamp) -> StampV1 {
    StampV1 {
        recorded_at: stamp.recorded_at.to_string(),
        mcp_eval: stamp.mcp_eval.clone(),
        agent: stamp.agent.clone(),
        agent_hash: stamp.agent_hash.clone(),
        servers: stamp.servers.into(),
        model: stamp.model.clone(),
        scenarios: (&stamp.scenarios).into(),
        source: stamp.source.as_ref().map(Into::into),
        image: stamp.image.as_ref().map(Into::into),
    }
}

fn server(catalogue: &ServerCatalogue) -> ServerV1 {
    let info = |key: &str| {
        let value = catalogue.info.as_ref()?.get(key)?.as_str()?;
        Some(value.to_owned())
    };
    ServerV1 {
        server: catalogue.server.clone(),
        name: info("name"),
        version: info("version"),
        protocol_version: catalogue.protocol_version.clone(),
        tools: catalogue.tools.len(),
    }
}
