//! The `agent` section: who asks.

use super::command::CommandKeys;
use super::model::{ApiKeys, ModelKeys, ToolChoiceKeys};
use super::replaying::{BindingSection, PaceWord};
use super::script::CallSection;
use crate::scenario_file::decode::kinds::{Nothing, Unnamed, Variant, kinds};
use crate::scenario_file::decode::secrets::marked_names;
use crate::scenario_file::decode::values::Timeout;
use crate::scenario_file::decode::{At, section};

/// Who asks.
pub(in crate::scenario_file) type AgentSection = Variant<AgentKeys, AgentKind>;

kinds! {
    /// Who asks.
    AgentKind, by "kind" of "agent", named "AgentSection", unnamed Unnamed::Default("scripted"); {
        /// Plays listed calls; what an agent is unless `kind` is given.
        "scripted" => Scripted(Nothing),
        /// Plays the calls of the accepted baseline.
        "replay" => Replay(Nothing),
        /// A model behind the API of Anthropic.
        "anthropic" => Anthropic((ToolChoiceKeys, ModelKeys)),
        /// A model behind one of OpenAI's APIs, which many other servers speak, too.
        "openai" => OpenAi((ApiKeys, (ToolChoiceKeys, ModelKeys))),
        /// A model behind the API of Ollama.
        "ollama" => Ollama(ModelKeys),
        /// A program with an MCP client of its own.
        "command" => Command(CommandKeys),
    }
}

section! {
    /// What is said of every agent: the command line may choose a scripted one or a replay in place of any other.
    AgentKeys {
        /// The calls a scripted agent plays; those of `expected_trajectory` unless given.
        calls: Option<At<Vec<CallSection>>>,
        /// When a replay makes the next call; `fast` unless given.
        pace: Option<PaceWord>,
        /// How long a replay asks again for the recorded final answer of a poll; 30s unless given, and no longer than half of the scenario's timeout.
        poll_timeout: Option<At<Timeout>>,
        /// What calls of the baseline take from earlier answers, in place of what was found when recording.
        bindings: Option<Vec<BindingSection>>,
    }
}

impl AgentKind {
    /// Whether it may have tools besides those of servers, and tells when it calls them.
    pub(in crate::scenario_file) fn may_have_own_tools(&self) -> bool {
        matches!(self, Self::Command(it) if it.tells_of_own_tools())
    }

    /// The names of values that are marked as secret.
    pub(in crate::scenario_file) fn marked(&self) -> Vec<String> {
        match self {
            Self::Command(command) => marked_names(command.env.as_ref()).collect(),
            Self::Anthropic((_, model)) | Self::OpenAi((_, (_, model))) | Self::Ollama(model) => {
                marked_names(model.extra_headers.as_ref()).collect()
            }
            Self::Scripted(_) | Self::Replay(_) => Vec::new(),
        }
    }
}
