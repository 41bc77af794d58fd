//! Between the inner types and the published ones.

use std::borrow::Cow;

use crate::model::binding::Binding;
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::repeated::Tally;
use crate::model::stamp::Stamp;
use crate::model::trajectory::{Answer, Ending, Failure, Outcome, Step, ToolCall, Trajectory};
use crate::model::{Digits, Object};
use crate::published::call::CallStatus;
use crate::published::ending;

use super::{
    BindingV1, EndingV1, ErrorV1, FORMAT_VERSION, OutcomeV1, RepeatedV1, ScenarioV1, ServerV1,
    StampV1, StepV1, TrajectoryV1,
};

impl<'a> From<&'a Trajectory> for TrajectoryV1<'a> {
    fn from(it: &'a Trajectory) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            scenario: ScenarioV1 {
                id: it.scenario.clone(),
                name: it.name.clone(),
                hash: it.scenario_hash.clone(),
            },
            stamp: StampV1 {
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
            repeated: it.repeated.map(|it| RepeatedV1 {
                runs: it.runs,
                passed: it.passed,
            }),
            catalogue: it.catalogue.servers.iter().map(Into::into).collect(),
        }
    }
}

impl From<TrajectoryV1<'_>> for Trajectory {
    fn from(it: TrajectoryV1<'_>) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: Stamp {
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
            repeated: it.repeated.map(|it| Tally {
                runs: it.runs,
                passed: it.passed,
            }),
            catalogue: Catalogue {
                servers: it.catalogue.into_iter().map(Into::into).collect(),
            },
        }
    }
}

impl<'a> From<&'a Binding> for BindingV1<'a> {
    fn from(it: &'a Binding) -> Self {
        Self {
            call: it.call,
            path: it.path.clone(),
            value: Cow::Borrowed(&it.value),
            from: (&it.from).into(),
        }
    }
}

impl From<BindingV1<'_>> for Binding {
    fn from(it: BindingV1<'_>) -> Self {
        Self {
            call: it.call,
            path: it.path,
            value: it.value.into_owned(),
            from: it.from.into(),
        }
    }
}

impl From<&Ending> for EndingV1 {
    fn from(it: &Ending) -> Self {
        let (kind, message, details) = ending::parts(it);
        Self {
            kind,
            message: message.map(str::to_owned),
            details: details.to_vec(),
        }
    }
}

impl<'a> From<&'a Step> for StepV1<'a> {
    fn from(it: &'a Step) -> Self {
        match it {
            Step::User { text } => Self::User { text: text.into() },
            Step::Assistant { text } => Self::Assistant { text: text.into() },
            Step::ToolCall(call) => Self::ToolCall {
                server: call.server.as_deref().map(Into::into),
                tool: (&call.tool).into(),
                arguments: Cow::Borrowed(&call.arguments),
                digits: Cow::Borrowed(&call.digits),
                outcome: (&call.outcome).into(),
                start_ms: call.start_ms,
                duration_ms: call.duration_ms,
            },
        }
    }
}

impl From<StepV1<'_>> for Step {
    fn from(it: StepV1<'_>) -> Self {
        match it {
            StepV1::User { text } => Self::User {
                text: text.into_owned(),
            },
            StepV1::Assistant { text } => Self::Assistant {
                text: text.into_owned(),
            },
            StepV1::ToolCall {
                server,
                tool,
                arguments,
                digits,
                outcome,
                start_ms,
                duration_ms,
            } => Self::ToolCall(Box::new(ToolCall {
                server: server.map(Cow::into_owned),
                tool: tool.into_owned(),
                arguments: arguments.into_owned(),
                digits: digits.into_owned(),
                outcome: outcome.into(),
                again: Vec::new(),
                start_ms,
                duration_ms,
            })),
        }
    }
}

impl<'a> From<&'a Outcome> for OutcomeV1<'a> {
    fn from(it: &'a Outcome) -> Self {
        let status = it.into();
        match it {
            Outcome::Answer(answer) => Self {
                status,
                content: Some(Cow::Borrowed(&answer.content)),
                structured_content: answer.structured_content.as_ref().map(Cow::Borrowed),
                digits: Cow::Borrowed(&answer.digits),
                other: Cow::Borrowed(&answer.other),
                error: answer.breach.as_deref().map(|message| ErrorV1 {
                    message: message.into(),
                    code: None,
                    data: None,
                }),
            },
            Outcome::Failure(failure) => Self {
                status,
                content: None,
                structured_content: None,
                digits: Cow::Owned(Digits::new()),
                other: Cow::Owned(Object::new()),
                error: Some(ErrorV1 {
                    message: (&failure.message).into(),
                    code: failure.code,
                    data: failure.data.as_ref().map(Cow::Borrowed),
                }),
            },
        }
    }
}

impl From<OutcomeV1<'_>> for Outcome {
    fn from(it: OutcomeV1<'_>) -> Self {
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

impl<'a> From<&'a ServerCatalogue> for ServerV1<'a> {
    fn from(it: &'a ServerCatalogue) -> Self {
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

impl From<ServerV1<'_>> for ServerCatalogue {
    fn from(it: ServerV1<'_>) -> Self {
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
