//! Limits and errors of a run as a whole.

use std::time::Duration;

/// What a run may take; all that is given must hold, and a limit that is just reached does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Within {
    /// Tool calls.
    pub steps: Option<u32>,
    /// The whole run, setup included.
    pub duration: Option<Duration>,
    /// 95 of 100 calls.
    pub call_duration: Option<Duration>,
    /// The tool whose calls these are; all tools unless given.
    pub tool: Option<String>,
    pub tokens: Option<u64>,
    /// In the currency of the agent's price.
    pub cost: Option<f64>,
}

impl Within {
    pub(super) fn words(&self) -> String {
        let of = self.tool.as_ref();
        let of = of.map_or_else(String::new, |it| format!(" of \"{it}\""));
        let said = [
            self.steps.map(|it| format!("{it} steps")),
            self.duration.map(|it| format!("{it:?}")),
            self.call_duration
                .map(|it| format!("{it:?} for a call{of}")),
            self.tokens.map(|it| format!("{it} tokens")),
            self.cost.map(|it| format!("a cost of {it}")),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        format!("within {}", said.join(", "))
    }
}

/// Nothing went wrong on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceNoErrors {
    /// How many failed calls may be made good by a later one of the same tool.
    pub max_retries: u32,
    /// Whether a run without calls passes; `None` where what the scenario expects decides.
    pub allow_empty: Option<bool>,
}

impl TraceNoErrors {
    pub(super) fn words(&self) -> String {
        match self.max_retries {
            0 => "no errors on the way".to_owned(),
            1 => "no errors on the way but 1 that is retried".to_owned(),
            more => format!("no errors on the way but {more} that are retried"),
        }
    }
}
