//! `type: within` and `type: trace-no-errors`: limits and errors of a run as a whole.

use crate::model::evaluator::{TraceNoErrors, Within};
use crate::scenario_file::decode::values::{Amount, Timeout, Times, Word};
use crate::scenario_file::decode::{At, section};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// Nothing goes wrong on the way: no call fails, none breaks the protocol, and no answer that is marked as fine says that it is an error. Calls that are expected to fail (`is_error`) may.
    TraceKeys {
        /// How many failed calls are forgiven because a later one of the same tool is fine; 0 unless given.
        max_retries: Option<Times>,
        /// Whether a run that calls nothing passes; unless given, it does where `expected_trajectory` is an empty list.
        allow_empty: Option<bool>,
    }
}

impl TraceKeys {
    pub(super) fn trace_no_errors(&self) -> TraceNoErrors {
        TraceNoErrors {
            max_retries: self.max_retries.map_or(0, |it| it.0),
            allow_empty: self.allow_empty,
        }
    }
}

section! {
    /// What a run may take: all that is given must hold.
    WithinKeys, checked by check {
        /// How many tool calls it may make.
        steps: Option<Times>,
        /// How long it may take, setup included.
        duration: Option<Timeout>,
        /// How long a call may take: 95 of 100, which of fewer than 20 is every one. With `--repeat`, those of all runs together.
        call_duration: Option<Timeout>,
        /// The tool whose calls `call_duration` is about; all tools unless given.
        tool: Option<At<Word>>,
        /// How many tokens the model may use, in and out.
        tokens: Option<Times>,
        /// What the model may cost, in the currency of `agent.price`.
        cost: Option<Amount>,
    }
}

fn check(section: &WithinKeys, at: Mark, findings: &mut Findings) {
    let given = section.steps.is_some()
        || section.duration.is_some()
        || section.call_duration.is_some()
        || section.tokens.is_some()
        || section.cost.is_some();
    if !given {
        let hint = "give `steps`, `duration`, `call_duration`, `tokens` or `cost`";
        findings.error(at, "limits nothing", Some(hint));
    }
    if let Some(tool) = section
        .tool
        .as_ref()
        .filter(|_| section.call_duration.is_none())
    {
        let message = "`tool` means nothing without `call_duration`";
        findings.error(tool.at, message, Some("say how long its calls may take"));
    }
}

impl WithinKeys {
    pub(super) fn tool(&self) -> Option<(Mark, &str)> {
        self.tool.as_ref().map(|it| (it.at, it.0.as_str()))
    }

    pub(super) fn within(&self) -> Within {
        Within {
            steps: self.steps.map(|it| it.0),
            duration: self.duration.map(|it| it.0),
            call_duration: self.call_duration.map(|it| it.0),
            tool: self.tool.as_ref().map(|it| it.0.clone()),
            tokens: self.tokens.map(|it| it.0.into()),
            cost: self.cost.map(|it| it.0),
        }
    }
}
