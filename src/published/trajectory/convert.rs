//! Between the inner types and the published ones.

use std::borrow::Cow;

use crate::model::trajectory::{self, Trajectory};
use crate::model::{binding, repeated, stamp};
use crate::published::ending;

use super::catalogue::catalogue_of;
use super::{Binding, Ending, FORMAT_VERSION, ScenarioRef, Stamp, Step, Tally, TrajectoryDocument};

impl<'a> From<&'a Trajectory> for TrajectoryDocument<'a> {
    fn from(it: &'a Trajectory) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            scenario: ScenarioRef {
                id: it.scenario.clone(),
                name: it.name.clone(),
                hash: it.scenario_hash.clone(),
            },
            stamp: Stamp {
                recorded_at: it.stamp.recorded_at,
                utc_offset: it.stamp.utc_offset,
                mcp_eval: it.stamp.mcp_eval.clone(),
                agent: it.stamp.agent.clone(),
                agent_hash: it.stamp.agent_hash.clone(),
                agent_parts: it.stamp.agent_parts.clone(),
                servers: it.stamp.servers.into(),
                model: it.stamp.model.clone(),
                scenarios: (&it.stamp.scenarios).into(),
                source: it.stamp.source.as_ref().map(Into::into),
                image: it.stamp.image.as_ref().map(Into::into),
            },
            ending: (&it.ending).into(),
            duration_ms: it.duration_ms,
            steps: it.steps.iter().map(Into::into).collect(),
            requests: it.requests.iter().map(Into::into).collect(),
            volatile: Vec::new(),
            learned: it.learned.iter().map(Into::into).collect(),
            bindings: it.bindings.iter().map(Into::into).collect(),
            repeated: it.repeated.map(|it| Tally {
                runs: it.runs,
                passed: it.passed,
            }),
            catalogue: it.catalogue.servers.iter().map(Into::into).collect(),
            agent_tools: it.catalogue.own.clone(),
            upstream: it.upstream.as_deref().map(Into::into),
        }
    }
}

impl From<TrajectoryDocument<'_>> for Trajectory {
    fn from(it: TrajectoryDocument<'_>) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: stamp::Stamp {
                recorded_at: it.stamp.recorded_at,
                utc_offset: it.stamp.utc_offset,
                mcp_eval: it.stamp.mcp_eval,
                agent: it.stamp.agent,
                agent_hash: it.stamp.agent_hash,
                agent_parts: it.stamp.agent_parts,
                servers: it.stamp.servers.into(),
                model: it.stamp.model,
                scenarios: it.stamp.scenarios.into(),
                source: it.stamp.source.map(Into::into),
                image: it.stamp.image.map(Into::into),
            },
            ending: ending::of_parts(it.ending.kind, it.ending.message, it.ending.details),
            duration_ms: it.duration_ms,
            steps: it.steps.into_iter().map(Into::into).collect(),
            requests: it.requests.into_iter().map(Into::into).collect(),
            learned: (it.volatile.into_iter().map(Into::into))
                .chain(it.learned.into_iter().map(Into::into))
                .collect(),
            bindings: it.bindings.into_iter().map(Into::into).collect(),
            repeated: it.repeated.map(|it| repeated::Tally {
                runs: it.runs,
                passed: it.passed,
            }),
            catalogue: catalogue_of(it.catalogue, it.agent_tools),
            upstream: it.upstream.map(|it| Box::new(it.into())),
        }
    }
}

impl<'a> From<&'a binding::Binding> for Binding<'a> {
    fn from(it: &'a binding::Binding) -> Self {
        Self {
            call: it.call,
            path: it.path.clone(),
            value: Cow::Borrowed(&it.value),
            from: (&it.from).into(),
        }
    }
}

impl From<Binding<'_>> for binding::Binding {
    fn from(it: Binding<'_>) -> Self {
        Self {
            call: it.call,
            path: it.path,
            value: it.value.into_owned(),
            from: it.from.into(),
        }
    }
}

impl From<&trajectory::Ending> for Ending {
    fn from(it: &trajectory::Ending) -> Self {
        let (kind, message, details) = ending::parts(it);
        Self {
            kind,
            message: message.map(str::to_owned),
            details: details.to_vec(),
        }
    }
}

impl<'a> From<&'a trajectory::Step> for Step<'a> {
    fn from(it: &'a trajectory::Step) -> Self {
        match it {
            trajectory::Step::User { text } => Self::User { text: text.into() },
            trajectory::Step::Assistant { text } => Self::Assistant { text: text.into() },
            trajectory::Step::ToolCall(call) => Self::ToolCall((&**call).into()),
        }
    }
}

impl From<Step<'_>> for trajectory::Step {
    fn from(it: Step<'_>) -> Self {
        match it {
            Step::User { text } => Self::User {
                text: text.into_owned(),
            },
            Step::Assistant { text } => Self::Assistant {
                text: text.into_owned(),
            },
            Step::ToolCall(call) => Self::ToolCall(Box::new(call.into())),
        }
    }
}
