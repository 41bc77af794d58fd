//! `type: within` and `type: trace-no-errors`: limits and errors of a run as a whole.

use std::time::Duration;

use crate::scenario_file::decode::{Amount, At, Timeout, Times, Word, section};
use crate::scenario_file::yaml::{Findings, Mark};

section! {
    /// Nothing goes wrong on the way: no call fails, none breaks the protocol, and no answer that is marked as fine says that it is an error. Calls that are expected to fail (`is_error`) may.
    TraceKeys => TraceNoErrors(Default, Eq) {
        /// How many failed calls are forgiven because a later one of the same tool is fine; 0 unless given.
        max_retries: Option<Times> as u32 = 0,
        /// Whether a run that calls nothing passes; unless given, it does where `expected_trajectory` is an empty list.
        allow_empty: Option<bool> as Option<bool>,
    }
}

section! {
    /// What a run may take: all that is given must hold.
    WithinKeys => Within(Default), checked by check {
        /// How many tool calls it may make.
        steps: Option<Times> as Option<u32>,
        /// How long it may take, setup included.
        duration: Option<Timeout> as Option<Duration>,
        /// How long a call may take: 95 of 100, which of fewer than 20 is every one. With `--repeat`, those of all runs together.
        call_duration: Option<Timeout> as Option<Duration>,
        /// The tool whose calls `call_duration` is about; all tools unless given.
        tool: Option<At<Word>> as Option<String>,
        /// How many tokens the model may use, in and out.
        tokens: Option<Times> as Option<u64>,
        /// What the model may cost, in the currency of `agent.price`.
        cost: Option<Amount> as Option<f64>,
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
}

impl Within {
    pub(in crate::scenario_file) fn words(&self) -> String {
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

impl TraceNoErrors {
    pub(in crate::scenario_file) fn words(&self) -> String {
        match self.max_retries {
            0 => "no errors on the way".to_owned(),
            1 => "no errors on the way but 1 that is retried".to_owned(),
            more => format!("no errors on the way but {more} that are retried"),
        }
    }
}
