//! Between the inner types and the published ones.

use std::borrow::Cow;

use crate::model::catalogue::{self, Tool};
use crate::model::trajectory::{self, Answer, Failure, ToolCall, Trajectory};
use crate::model::{Digits, Object, binding, repeated, stamp};
use crate::published::call::CallStatus;
use crate::published::ending;

use super::{
    Binding, Call, CallError, Ending, FORMAT_VERSION, Outcome, ScenarioRef, ServerCatalogue, Stamp,
    Step, Tally, TrajectoryDocument,
};

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
                mcp_eval: it.stamp.mcp_eval.clone(),
                agent: it.stamp.agent.clone(),
                agent_hash: it.stamp.agent_hash.clone(),
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
                mcp_eval: it.stamp.mcp_eval,
                agent: it.stamp.agent,
                agent_hash: it.stamp.agent_hash,
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
            catalogue: catalogue_of(it.catalogue),
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

impl<'a> From<&'a ToolCall> for Call<'a> {
    fn from(it: &'a ToolCall) -> Self {
        Self {
            server: it.server.as_deref().map(Into::into),
            tool: (&it.tool).into(),
            arguments: Cow::Borrowed(&it.arguments),
            digits: Cow::Borrowed(&it.digits),
            outcome: (&it.outcome).into(),
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
        }
    }
}

impl From<Call<'_>> for ToolCall {
    fn from(it: Call<'_>) -> Self {
        Self {
            server: it.server.map(Cow::into_owned),
            tool: it.tool.into_owned(),
            arguments: it.arguments.into_owned(),
            digits: it.digits.into_owned(),
            outcome: it.outcome.into(),
            again: Vec::new(),
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
        }
    }
}

impl<'a> From<&'a trajectory::Outcome> for Outcome<'a> {
    fn from(it: &'a trajectory::Outcome) -> Self {
        let status = it.into();
        match it {
            trajectory::Outcome::Answer(answer) => Self {
                status,
                content: Some(Cow::Borrowed(&answer.content)),
                structured_content: answer.structured_content.as_ref().map(Cow::Borrowed),
                digits: Cow::Borrowed(&answer.digits),
                other: Cow::Borrowed(&answer.other),
                error: answer.breach.as_deref().map(|message| CallError {
                    message: message.into(),
                    code: None,
                    data: None,
                }),
            },
            trajectory::Outcome::Failure(failure) => Self {
                status,
                content: None,
                structured_content: None,
                digits: Cow::Owned(Digits::new()),
                other: Cow::Owned(Object::new()),
                error: Some(CallError {
                    message: (&failure.message).into(),
                    code: failure.code,
                    data: failure.data.as_ref().map(Cow::Borrowed),
                }),
            },
        }
    }
}

impl From<Outcome<'_>> for trajectory::Outcome {
    fn from(it: Outcome<'_>) -> Self {
        let (message, code, data) = it
            .error
            .map(|it| {
                (
                    it.message.into_owned(),
                    it.code,
                    it.data.map(Cow::into_owned),
                )
            })
            .unwrap_or_default();
        match it.status.failure() {
            Some(kind) => Self::Failure(Failure {
                kind,
                message,
                code,
                data,
            }),
            None => Self::Answer(Answer {
                is_error: it.status == CallStatus::ToolError,
                content: it.content.unwrap_or_default().into_owned(),
                structured_content: it.structured_content.map(Cow::into_owned),
                digits: it.digits.into_owned(),
                other: it.other.into_owned(),
                breach: (it.status == CallStatus::InvalidStructuredContent).then_some(message),
            }),
        }
    }
}

/// A catalogue of these servers.
pub(super) fn catalogue_of(servers: Vec<ServerCatalogue<'_>>) -> catalogue::Catalogue {
    catalogue::Catalogue {
        servers: servers.into_iter().map(Into::into).collect(),
    }
}

impl<'a> From<&'a catalogue::ServerCatalogue> for ServerCatalogue<'a> {
    fn from(it: &'a catalogue::ServerCatalogue) -> Self {
        Self {
            server: (&it.server).into(),
            info: it.info.as_ref().map(Cow::Borrowed),
            protocol_version: it.protocol_version.clone(),
            instructions: it.instructions.clone(),
            tools: it
                .tools
                .iter()
                .map(|it| Cow::Borrowed(&it.served))
                .collect(),
        }
    }
}

impl From<ServerCatalogue<'_>> for catalogue::ServerCatalogue {
    fn from(it: ServerCatalogue<'_>) -> Self {
        Self {
            server: it.server.into_owned(),
            info: it.info.map(Cow::into_owned),
            protocol_version: it.protocol_version,
            instructions: it.instructions,
            tools: (it.tools.into_iter())
                .map(|it| Tool {
                    served: it.into_owned(),
                })
                .collect(),
        }
    }
}
