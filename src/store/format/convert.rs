//! Between the inner types and the published ones.

use crate::model::binding::{Binding, Source};
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::repeated::Tally;
use crate::model::stamp::{GitCommit, GitStamp, Servers, Stamp};
use crate::model::trajectory::{
    Answer, Ending, Failure, FailureKind, Outcome, Step, ToolCall, Trajectory,
};
use crate::model::{Digits, Object};

use super::{
    BindingV1, EndingKindV1, EndingV1, ErrorV1, FORMAT_VERSION, GitV1, OutcomeV1, RepeatedV1,
    ScenarioV1, ServerV1, ServersV1, SourceV1, StampV1, StatusV1, StepV1, TrajectoryV1,
};

impl From<&Trajectory> for TrajectoryV1 {
    fn from(it: &Trajectory) -> Self {
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
                servers: match it.stamp.servers {
                    Servers::Live => ServersV1::Live,
                    Servers::Recorded => ServersV1::Recorded,
                },
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

impl From<TrajectoryV1> for Trajectory {
    fn from(it: TrajectoryV1) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: Stamp {
                recorded_at: it.stamp.recorded_at,
                mcp_eval: it.stamp.mcp_eval,
                agent: it.stamp.agent,
                agent_hash: it.stamp.agent_hash,
                servers: match it.stamp.servers {
                    ServersV1::Live => Servers::Live,
                    ServersV1::Recorded => Servers::Recorded,
                },
                model: it.stamp.model,
                scenarios: it.stamp.scenarios.into(),
                source: it.stamp.source.map(Into::into),
                image: it.stamp.image.map(Into::into),
            },
            ending: it.ending.into(),
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

impl From<&Binding> for BindingV1 {
    fn from(it: &Binding) -> Self {
        Self {
            call: it.call,
            path: it.path.clone(),
            value: it.value.clone(),
            from: SourceV1 {
                call: it.from.call,
                path: it.from.path.clone(),
            },
        }
    }
}

impl From<BindingV1> for Binding {
    fn from(it: BindingV1) -> Self {
        Self {
            call: it.call,
            path: it.path,
            value: it.value,
            from: Source {
                call: it.from.call,
                path: it.from.path,
            },
        }
    }
}

impl From<&GitStamp> for GitV1 {
    fn from(it: &GitStamp) -> Self {
        match it.clone() {
            GitStamp::Known(GitCommit {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            }) => Self::Known {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            },
            GitStamp::Unknown { reason } => Self::Unknown { unknown: reason },
        }
    }
}

impl From<GitV1> for GitStamp {
    fn from(it: GitV1) -> Self {
        match it {
            GitV1::Known {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            } => Self::Known(GitCommit {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            }),
            GitV1::Unknown { unknown } => Self::Unknown { reason: unknown },
        }
    }
}

impl From<&Ending> for EndingV1 {
    fn from(it: &Ending) -> Self {
        let (kind, message, details) = match it {
            Ending::Completed => (EndingKindV1::Completed, None, &[][..]),
            Ending::Blocked { message } => (EndingKindV1::Blocked, Some(message), &[][..]),
            Ending::LimitReached { message } => {
                (EndingKindV1::LimitReached, Some(message), &[][..])
            }
            Ending::TimedOut { message } => (EndingKindV1::TimedOut, Some(message), &[][..]),
            Ending::Interrupted => (EndingKindV1::Interrupted, None, &[][..]),
            Ending::Error { message, details } => {
                (EndingKindV1::Error, Some(message), &details[..])
            }
        };
        Self {
            kind,
            message: message.cloned(),
            details: details.to_vec(),
        }
    }
}

impl From<EndingV1> for Ending {
    fn from(it: EndingV1) -> Self {
        let message = it.message.unwrap_or_default();
        match it.kind {
            EndingKindV1::Completed => Self::Completed,
            EndingKindV1::Blocked => Self::Blocked { message },
            EndingKindV1::LimitReached => Self::LimitReached { message },
            EndingKindV1::TimedOut => Self::TimedOut { message },
            EndingKindV1::Interrupted => Self::Interrupted,
            EndingKindV1::Error => Self::Error {
                message,
                details: it.details,
            },
        }
    }
}

impl From<&Step> for StepV1 {
    fn from(it: &Step) -> Self {
        match it {
            Step::User { text } => Self::User { text: text.clone() },
            Step::Assistant { text } => Self::Assistant { text: text.clone() },
            Step::ToolCall(call) => Self::ToolCall {
                server: call.server.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                digits: call.digits.clone(),
                outcome: (&call.outcome).into(),
                start_ms: call.start_ms,
                duration_ms: call.duration_ms,
            },
        }
    }
}

impl From<StepV1> for Step {
    fn from(it: StepV1) -> Self {
        match it {
            StepV1::User { text } => Self::User { text },
            StepV1::Assistant { text } => Self::Assistant { text },
            StepV1::ToolCall {
                server,
                tool,
                arguments,
                digits,
                outcome,
                start_ms,
                duration_ms,
            } => Self::ToolCall(Box::new(ToolCall {
                server,
                tool,
                arguments,
                digits,
                outcome: outcome.into(),
                again: Vec::new(),
                start_ms,
                duration_ms,
            })),
        }
    }
}

impl From<&Outcome> for OutcomeV1 {
    fn from(it: &Outcome) -> Self {
        match it {
            Outcome::Answer(answer) => Self {
                status: match (&answer.breach, answer.is_error) {
                    (Some(_), _) => StatusV1::InvalidStructuredContent,
                    (None, true) => StatusV1::ToolError,
                    (None, false) => StatusV1::Ok,
                },
                content: Some(answer.content.clone()),
                structured_content: answer.structured_content.clone(),
                digits: answer.digits.clone(),
                other: answer.other.clone(),
                error: answer.breach.clone().map(|message| ErrorV1 {
                    message,
                    code: None,
                    data: None,
                }),
            },
            Outcome::Failure(failure) => Self {
                status: match failure.kind {
                    FailureKind::Rpc => StatusV1::RpcError,
                    FailureKind::Timeout => StatusV1::Timeout,
                    FailureKind::Disconnected => StatusV1::Disconnected,
                    FailureKind::InvalidResponse => StatusV1::InvalidResponse,
                    FailureKind::Transport => StatusV1::TransportError,
                    FailureKind::NotSent => StatusV1::NotSent,
                },
                content: None,
                structured_content: None,
                digits: Digits::new(),
                other: Object::new(),
                error: Some(ErrorV1 {
                    message: failure.message.clone(),
                    code: failure.code,
                    data: failure.data.clone(),
                }),
            },
        }
    }
}

impl From<OutcomeV1> for Outcome {
    fn from(it: OutcomeV1) -> Self {
        let (message, code, data) = it
            .error
            .map(|it| (it.message, it.code, it.data))
            .unwrap_or_default();
        let kind = match it.status {
            StatusV1::Ok | StatusV1::ToolError | StatusV1::InvalidStructuredContent => {
                return Self::Answer(Answer {
                    is_error: it.status == StatusV1::ToolError,
                    content: it.content.unwrap_or_default(),
                    structured_content: it.structured_content,
                    digits: it.digits,
                    other: it.other,
                    breach: (it.status == StatusV1::InvalidStructuredContent).then_some(message),
                });
            }
            StatusV1::RpcError => FailureKind::Rpc,
            StatusV1::Timeout => FailureKind::Timeout,
            StatusV1::Disconnected => FailureKind::Disconnected,
            StatusV1::InvalidResponse => FailureKind::InvalidResponse,
            StatusV1::TransportError => FailureKind::Transport,
            StatusV1::NotSent => FailureKind::NotSent,
        };
        Self::Failure(Failure {
            kind,
            message,
            code,
            data,
        })
    }
}

impl From<&ServerCatalogue> for ServerV1 {
    fn from(it: &ServerCatalogue) -> Self {
        Self {
            server: it.server.clone(),
            info: it.info.clone(),
            protocol_version: it.protocol_version.clone(),
            instructions: it.instructions.clone(),
            tools: it.tools.iter().map(|it| it.served.clone()).collect(),
        }
    }
}

impl From<ServerV1> for ServerCatalogue {
    fn from(it: ServerV1) -> Self {
        Self {
            server: it.server,
            info: it.info,
            protocol_version: it.protocol_version,
            instructions: it.instructions,
            tools: it.tools.into_iter().map(|served| Tool { served }).collect(),
        }
    }
}
