//! The events of one run: messages, tool calls and their outcomes, in order.

use std::collections::HashSet;
use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::repeated::Tally;
use crate::usage::ModelRequest;
use crate::{Binding, Catalogue, Learned, Object, Stamp, ToolCall, Trouble, UpstreamLane};

/// The recorded course of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// The scenario's id: its path below the scenarios folder, without extension.
    pub scenario: String,
    /// The scenario's human name.
    pub name: String,
    /// SHA-256 of what the scenario asks, in hexadecimal; `None` for an imported recording.
    pub scenario_hash: Option<String>,
    pub stamp: Stamp,
    pub catalogue: Catalogue,
    pub steps: Vec<Step>,
    pub ending: Ending,
    /// Wall time of the run in milliseconds, set-up included; `None` where it was not recorded.
    pub duration_ms: Option<f64>,
    /// What was learned of answers that were received more than once, by the numbers of the calls.
    pub learned: Vec<Learned>,
    /// What its calls take from earlier answers; found when it is kept as a baseline.
    pub bindings: Vec<Binding>,
    /// What the agent asked its model; empty for one without.
    pub requests: Vec<ModelRequest>,
    /// How often the version it was recorded with reproduced it; `None` where it was recorded once.
    pub repeated: Option<Tally>,
    /// What reached the servers behind the one under test; `None` where nobody listened there.
    pub upstream: Option<Box<UpstreamLane>>,
    /// What its scenario asks of it, answered before secrets were taken out; `None` where that took nothing out, and once it is stored.
    pub as_said: Option<Box<AsSaid>>,
}

/// What a scenario asks of a run that what was taken out of it might decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AsSaid {
    /// Whether the texts of its success criteria are said, in the order of the criteria; `false` for a criterion that is no text.
    pub texts: Vec<bool>,
    /// Whether the calls are answered as expected, in the order of those of which anything is.
    pub answers: Vec<bool>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A message of the user.
    User { text: String },
    /// A message of the agent.
    Assistant { text: String },
    /// A tool call with its outcome.
    ToolCall(Box<ToolCall>),
}

impl<'de> Deserialize<'de> for Step {
    /// As `serde` does it, but without a second copy of a step whose kind comes first, as it is written: answers may be long.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(StepMembers)
    }
}

/// What the members of a step are.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepKind {
    User,
    Assistant,
    ToolCall,
}

impl StepKind {
    fn read<'de, D: Deserializer<'de>>(self, members: D) -> Result<Step, D::Error> {
        #[derive(Deserialize)]
        struct Message {
            text: String,
        }

        let message = |it: Message| it.text;
        Ok(match self {
            Self::User => Step::User {
                text: Message::deserialize(members).map(message)?,
            },
            Self::Assistant => Step::Assistant {
                text: Message::deserialize(members).map(message)?,
            },
            Self::ToolCall => Step::ToolCall(Box::deserialize(members)?),
        })
    }
}

struct StepMembers;

impl<'de> Visitor<'de> for StepMembers {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step with its `kind`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Step, A::Error> {
        const KIND: &str = "kind";

        let mut before = Object::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == KIND && before.is_empty() {
                let kind: StepKind = members.next_value()?;
                return kind.read(MapAccessDeserializer::new(members));
            }
            before.insert(name, members.next_value()?);
        }
        let kind = before.shift_remove(KIND);
        let kind = kind.ok_or_else(|| A::Error::missing_field(KIND))?;
        let kind = StepKind::deserialize(kind).map_err(A::Error::custom)?;
        kind.read(Value::Object(before)).map_err(A::Error::custom)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// The agent did all it meant to.
    Completed,
    /// A critical call failed, or a server died in one, and the run ended early for it.
    Blocked {
        #[serde(default)]
        message: String,
    },
    /// A limit of the scenario was reached.
    LimitReached {
        #[serde(default)]
        message: String,
    },
    /// The scenario's timeout passed.
    TimedOut {
        #[serde(default)]
        message: String,
    },
    /// Somebody asked the program to stop.
    Interrupted,
    /// The run could not be set up or carried on: no verdict may be drawn from it.
    Error {
        #[serde(default)]
        message: String,
        /// Last lines of a server's stderr and the like.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        details: Vec<String>,
        /// What stood in the way, where another try may well go otherwise; of no interest once the run is stored.
        #[serde(skip)]
        trouble: Option<Trouble>,
    },
}

/// Why a call that a model asks for cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsendable {
    /// In a sentence.
    pub why: String,
    /// What the model said for arguments.
    pub said: String,
}

/// What APIs answer that are asked too often, or by too many.
const TOO_MANY: [u16; 2] = [429, 529];

impl Trajectory {
    /// A run of which nothing is known but what happened in it, and that it came to its end.
    pub fn new(stamp: Stamp, steps: Vec<Step>) -> Self {
        Self {
            scenario: String::new(),
            name: String::new(),
            scenario_hash: None,
            stamp,
            catalogue: Catalogue::default(),
            steps,
            ending: Ending::Completed,
            duration_ms: None,
            learned: Vec::new(),
            bindings: Vec::new(),
            requests: Vec::new(),
            repeated: None,
            upstream: None,
            as_said: None,
        }
    }

    /// When the run began that one of its calls was made in.
    pub fn began(&self, call: &ToolCall) -> Timestamp {
        call.began.unwrap_or(self.stamp.recorded_at)
    }

    /// What stood in the way of a verdict; `None` where it is judged, and for all that another try would not change.
    pub fn trouble(&self) -> Option<Trouble> {
        match &self.ending {
            Ending::TimedOut { .. } => Some(Trouble::Timeout),
            Ending::Error { trouble, .. } => trouble.or_else(|| self.trouble_with_model()),
            Ending::Completed
            | Ending::Blocked { .. }
            | Ending::LimitReached { .. }
            | Ending::Interrupted => None,
        }
    }

    /// What the last request to the model met with, which was not answered.
    fn trouble_with_model(&self) -> Option<Trouble> {
        let last = self.requests.last()?.attempts.last()?;
        last.problem.as_ref()?;
        match last.status {
            Some(status) if TOO_MANY.contains(&status) => Some(Trouble::RateLimit),
            Some(408 | 500..) | None => Some(Trouble::Transport),
            Some(_) => None,
        }
    }

    /// The calls of declared servers, in order: the ones that are scored.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().filter_map(Step::scored_call)
    }

    /// The call that stands for one of another run, which has this number there: one that asks the same, or else the one in its place.
    pub fn counterpart(&self, number: usize, of: &ToolCall) -> Option<&ToolCall> {
        let in_its_place = self.calls().nth(number.checked_sub(1)?);
        let is_same_tool = |it: &&ToolCall| it.server == of.server && it.tool == of.tool;
        let asks_as = |it: &&ToolCall| it.asks_as(of);
        in_its_place
            .filter(asks_as)
            .or_else(|| self.calls().find(asks_as))
            .or_else(|| in_its_place.filter(is_same_tool))
    }

    /// The numbers of the scored calls that were answered once: their answer was received only once while recording, so it is unknown what
    /// of it varies, and it is graded rather than held to be stable. The tries of a poll are left out; only its last answer counts.
    pub fn answered_once(&self) -> Vec<usize> {
        let stable = self.learned.iter().filter(|it| it.is_stable());
        let stable: HashSet<usize> = stable.map(|it| it.call).collect();
        let calls: Vec<&ToolCall> = self.calls().collect();
        let mut once = Vec::new();
        let mut is_known = false;
        for (index, call) in calls.iter().enumerate().rev() {
            let number = index + 1;
            // A request that is made again right after counts as one whose answer was received more than once, if that of the last try was.
            let is_try = is_known && calls.get(number).is_some_and(|it| call.asks_as(it));
            is_known = is_try || stable.contains(&number);
            if !is_known && !call.outcome.is_failure() {
                once.push(number);
            }
        }
        once.reverse();
        once
    }

    /// Whether recording received any answer more than once. If so, it could not for the others, and recording again would not either.
    pub fn has_answers_received_twice(&self) -> bool {
        self.learned.iter().any(Learned::is_stable)
    }
}

impl Step {
    /// The call of a declared server that it is.
    pub fn scored_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) if call.server.is_some() => Some(call),
            _ => None,
        }
    }
}

impl Ending {
    /// Whether the run went far enough for a verdict.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Completed | Self::Blocked { .. })
    }

    /// Why the run ended before it was done; `None` where it was done, or somebody stopped it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Completed | Self::Interrupted => None,
            Self::Blocked { message }
            | Self::LimitReached { message }
            | Self::TimedOut { message }
            | Self::Error { message, .. } => Some(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Step;

    #[test]
    fn a_step_is_read_wherever_its_kind_stands() {
        let said = Step::User {
            text: "hello".to_owned(),
        };
        for text in [
            r#"{"kind": "user", "text": "hello"}"#,
            r#"{"text": "hello", "kind": "user"}"#,
        ] {
            assert_eq!(serde_json::from_str::<Step>(text).unwrap(), said);
        }
        for (broken, problem) in [
            (json!({ "text": "hello" }), "missing field `kind`"),
            (json!({ "kind": "user" }), "missing field `text`"),
            (
                json!({ "text": "hello", "kind": "choir" }),
                "unknown variant `choir`",
            ),
            (json!("hello"), "expected a step with its `kind`"),
        ] {
            let error = serde_json::from_str::<Step>(&broken.to_string()).unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
        }
    }
}
