//! One side of a comparison in the published result: its surroundings, how it went, and what its model used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::tidy;
use crate::published::ending::EndingKind;
use crate::repeated::PassRate;
use crate::usage::{Attempt, ModelRequest, Tokens, TotalUse, total_cost, total_usage};
use crate::{Git, ImageStamp, Servers, Source, VolatilePlaces};

/// One trajectory, without its steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Where the whole trajectory is stored, relative to this document; `null` when it was not stored.
    pub file: Option<String>,
    pub stamp: SideStamp,
    /// What the servers said of themselves, in the order the scenario names them.
    pub servers: Vec<ServerSummary>,
    /// SHA-256 of what the scenario asked at the time, the messages of the user with variables filled in, in hexadecimal; `null` for an
    /// imported recording.
    pub scenario_hash: Option<String>,
    pub ending: EndingKind,
    /// Why it ended so, where there is more to say.
    pub ending_message: Option<String>,
    /// Wall time of the run in milliseconds, set-up included.
    pub duration_ms: Option<f64>,
    /// The number of scored calls.
    pub calls: usize,
    /// What calls are for whose tools only pass calls on; absent where there are none, and where the rows of a comparison say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<CallLabel>,
    /// The tools that were called, each once; absent where the rows of a comparison say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The number of scored calls that failed.
    pub failed_calls: usize,
    /// What its model used; `null` for an agent without one.
    #[serde(default)]
    pub usage: Option<ModelUse>,
    /// Places in the answers that recording several takes showed to vary by nature.
    pub volatile: Vec<VolatilePlaces>,
    /// What recording learned of its answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<LearnedSummary>,
    /// The numbers of the calls whose answers recording heard once: they are graded, not held to be stable. `null` where nobody knows.
    #[serde(default)]
    pub heard_once: Option<Vec<usize>>,
    /// What its calls take from earlier answers; found when a baseline is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<BindingSummary>,
    /// How often the recorded version reproduced it; absent where it was recorded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<PassRate>,
}

/// What a call is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallLabel {
    /// The number of the call.
    pub call: usize,
    pub label: String,
}

/// The surroundings of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideStamp {
    /// When the run began (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub recorded_at: String,
    /// The version of mcp-eval that ran it.
    pub mcp_eval: String,
    /// The kind of agent that drove the run: `scripted`, `replay`, `anthropic`, `openai`, `ollama`, or `imported` for a recording from elsewhere.
    pub agent: String,
    /// SHA-256 of the calls it was to play, or of how its model was to be asked; `null` where neither is known, and for a replay.
    #[serde(default)]
    pub agent_hash: Option<String>,
    /// Whether the servers themselves answered.
    #[serde(default)]
    pub servers: Servers,
    /// The model it was to ask, or, where none was named, the one that answered first; `null` for an agent without one.
    #[serde(default)]
    pub model: Option<String>,
    /// The repository the scenario file lies in.
    pub scenarios: Git,
    /// The repository of the system under test, where the scenario names one.
    pub source: Option<Git>,
    /// The image of the container the server under test ran in, where there was one.
    #[serde(default)]
    pub image: Option<ImageStamp>,
}

/// One server of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSummary {
    /// The name the scenario gives the server.
    pub server: String,
    /// The name the server gives itself.
    pub name: Option<String>,
    pub version: Option<String>,
    /// The protocol revision the two sides agreed on.
    pub protocol_version: Option<String>,
    /// How many tools it listed.
    pub tools: usize,
}

/// An argument, or a part of one, that comes from an earlier answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BindingSummary {
    /// The call whose argument it is, counted from 1 among the scored calls.
    pub call: usize,
    /// JSON pointer to it in the arguments.
    pub path: String,
    pub from: Source,
}

/// What was learned of the answer to one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LearnedSummary {
    /// The number of the call, counted from 1 among the scored calls.
    pub call: usize,
    /// How often the answer to this request was heard. From 2 on, what does not vary must stay as it was.
    pub takes: usize,
    /// What varied, and what stands for it, in words: `/content/0/json/took: any value of its type (recorded 3, 5)`.
    pub varies: Vec<String>,
}

/// What the agent's model used in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUse {
    /// All requests together.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// What all requests cost, in the currency of the scenario's price, or as the agent reckons; `null` where nobody knows.
    pub cost: Option<f64>,
    /// The requests, in order.
    pub requests: Vec<RequestUse>,
}

/// One request to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestUse {
    /// How many steps of the trajectory came before it.
    pub after_steps: usize,
    /// The model that answered, as the API names it.
    pub model: Option<String>,
    /// Why the model stopped, in the API's own word.
    pub stop_reason: Option<String>,
    #[serde(flatten)]
    pub tokens: Tokens,
    pub cost: Option<f64>,
    pub attempts: Vec<Attempt>,
}

impl ModelUse {
    /// The use of these requests; `None` where there are none.
    pub fn of(requests: &[ModelRequest]) -> Option<Self> {
        Some(Self {
            tokens: total_usage(requests)?.into(),
            cost: total_cost(requests).map(tidy),
            requests: requests
                .iter()
                .map(|it| RequestUse {
                    after_steps: it.after_steps,
                    model: it.model.clone(),
                    stop_reason: it.stop_reason.clone(),
                    tokens: it.usage.into(),
                    cost: it.cost.map(tidy),
                    attempts: it.attempts.clone(),
                })
                .collect(),
        })
    }

    /// For people: `2 requests, 1234 tokens in, 56 out, cost 0.0045`.
    pub fn words(&self) -> String {
        TotalUse::from(self).words()
    }
}

impl From<&ModelUse> for TotalUse {
    fn from(it: &ModelUse) -> Self {
        Self {
            tokens: it.tokens,
            cost: it.cost,
            requests: it.requests.len(),
            attempts: it.requests.iter().map(|it| it.attempts.len()).sum(),
        }
    }
}
