//! The `limits` section: what ends a run as failed.

use crate::model::agent::Limits;
use crate::model::scenario::Agent;
use crate::scenario_file::decode::values::{Count, Positive, Timeout};
use crate::scenario_file::decode::{At, section};
use crate::scenario_file::yaml::source::Findings;

section! {
    /// What ends a run as failed.
    #[expect(clippy::struct_field_names, reason = "the keys are called so")]
    LimitsSection {
        /// How many tokens all requests to the model may take together, in and out.
        max_total_tokens: Option<At<Count>>,
        /// How many requests to the model there may be; for an agent without one, how many tool calls.
        max_steps: Option<Count>,
        /// How long the run may take.
        max_duration: Option<Timeout>,
        /// What the requests to the model may cost together, in the currency of `agent.price`.
        max_cost: Option<At<Positive>>,
    }
}

impl LimitsSection {
    /// The limits; says so when one of them cannot be kept for want of a price, or because nobody knows what the agent uses.
    pub(in crate::scenario_file) fn limits(
        &self,
        agent: Option<&Agent>,
        findings: &mut Findings,
    ) -> Limits {
        let command = agent.and_then(Agent::command);
        if command.is_some_and(|it| !it.format.reports_usage()) {
            let tokens = self.max_total_tokens.as_ref().map(At::mark);
            let cost = self.max_cost.as_ref().map(At::mark);
            for (key, given) in [("max_total_tokens", tokens), ("max_cost", cost)] {
                if let Some(at) = given {
                    let message =
                        format!("`{key}` cannot be kept: what this agent uses is unknown");
                    findings.error(at, message, Some("keep `max_steps` or `max_duration`"));
                }
            }
        } else if let (Some(cost), Some(agent)) = (&self.max_cost, agent)
            && agent.decides()
            && agent.price().is_none()
            && !command.is_some_and(|it| it.format.reports_cost())
        {
            let message = "`max_cost` cannot be kept: what the model costs is unknown";
            findings.error(cost.at, message, Some("give `price` under `agent`"));
        }
        Limits {
            max_total_tokens: self.max_total_tokens.as_ref().map(|it| u64::from(it.0)),
            max_steps: self.max_steps.map(|it| it.0),
            max_duration: self.max_duration.map(|it| it.0),
            max_cost: self.max_cost.as_ref().map(|it| it.0),
        }
    }
}
