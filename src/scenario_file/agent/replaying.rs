//! How a baseline is replayed: parts of the `agent` section.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;

use crate::model::binding::{BindingRule, Source};
use crate::model::scenario::{Pace, Replaying};

use crate::scenario_file::decode::values::{Count, Timeout, Word};
use crate::scenario_file::decode::{At, Decode, NO_HINT, choice, schema, section, shapes};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::{Findings, Mark};

choice! {
    /// When a replay makes the next call: `fast`, as soon as the last one is answered, or `recorded`, after the gap that was recorded.
    PaceWord for Pace {
        "fast" => Pace::Fast,
        "recorded" => Pace::Recorded,
    }
}

section! {
    /// Where one argument of a call comes from.
    BindingSection, checked by check {
        /// The number of the call in the baseline, counted from 1.
        call: At<Count>,
        /// JSON pointer to the argument: `/id`.
        path: At<Pointer>,
        /// The place in an earlier answer, or `recorded` to use the value of the baseline.
        from: From,
        /// The part of the argument that is bound; the value recorded at that place unless given.
        value: Option<Value>,
    }
}

section! {
    /// A place in an earlier answer.
    SourceSection {
        /// The number of the call that was answered.
        call: At<Count>,
        /// JSON pointer into its structured content or its text as JSON: `/id`; or a path into the answer, as reports have it: `/content/0/text`.
        path: At<Pointer>,
    }
}

/// A JSON pointer (RFC 6901).
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Pointer(String);

impl Decode for Pointer {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Word(path) = Word::decode(node, findings)?;
        if !path.starts_with('/') {
            let message = format!("{} is not a JSON pointer", quoted(&path));
            let hint = format!(
                "write `/{}`",
                path.trim_start_matches(['$', '.']).replace('.', "/")
            );
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(path))
    }
}

schema!(Pointer, {"type": "string", "pattern": "^/"});

shapes! {
    /// A place in an answer, or the word `recorded`.
    From, "`recorded` or a map with `call` and `path`" {
        Text => Recorded(RecordedWord),
        Map => Answer(SourceSection),
    }
}

choice! {
    /// The value of the baseline.
    RecordedWord for () {
        "recorded" => (),
    }
}

/// An answer must be there before it can be used.
fn check(binding: &BindingSection, _: Mark, findings: &mut Findings) {
    if let From::Answer(source) = &binding.from
        && source.call.value.0 >= binding.call.value.0
    {
        let message = format!(
            "call {} cannot use the answer to call {}, which comes later",
            binding.call.value.0, source.call.value.0
        );
        findings.error(source.call.at, message, Some("name an earlier call"));
    }
    match &binding.value {
        None | Some(Value::String(_) | Value::Number(_)) => {}
        Some(_) => findings.error(binding.path.at, "`value` must be text or a number", NO_HINT),
    }
}

/// How it is replayed, and what is wrong with that. `whole` is the timeout of the scenario.
pub(in crate::scenario_file) fn replaying(
    pace: Option<PaceWord>,
    poll_timeout: Option<&At<Timeout>>,
    bindings: &[BindingSection],
    whole: Duration,
    findings: &mut Findings,
) -> Replaying {
    let defaults = Replaying::within(whole);
    if let Some(timeout) = poll_timeout.filter(|it| it.value.0 >= whole) {
        let message = format!("the scenario's timeout of {whole:?} passes before this does");
        findings.warning(
            timeout.at,
            message,
            Some("give the scenario a longer `timeout`"),
        );
    }
    let mut seen = HashSet::new();
    let mut rules = Vec::new();
    for binding in bindings {
        let rule = binding.rule(findings.place(binding.call.at));
        if !seen.insert((
            rule.call,
            rule.path.clone(),
            rule.value.as_ref().map(Value::to_string),
        )) {
            let message = format!(
                "argument {} of call {} is bound twice",
                rule.path, rule.call
            );
            findings.error(binding.path.at, message, Some("keep one of the two"));
        }
        rules.push(rule);
    }
    Replaying {
        pace: pace.map_or(defaults.pace, |it| it.0),
        poll_timeout: poll_timeout.map_or(defaults.poll_timeout, |it| it.value.0),
        bindings: rules,
    }
}

impl BindingSection {
    fn rule(&self, place: String) -> BindingRule {
        let number = |it: &At<Count>| usize::try_from(it.value.0).unwrap_or(usize::MAX);
        BindingRule {
            call: number(&self.call),
            path: self.path.value.0.clone(),
            from: match &self.from {
                From::Recorded(_) => None,
                From::Answer(source) => Some(Source {
                    call: number(&source.call),
                    path: source.path.value.0.clone(),
                }),
            },
            value: self.value.clone(),
            place,
        }
    }
}
