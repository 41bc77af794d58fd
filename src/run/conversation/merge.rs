//! Merges the steps that an agent reports with its calls as they were recorded.

use crate::model::{Step, ToolCall};

/// A recorded call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallAfterSteps {
    /// How many steps the agent had reported when it began.
    pub(super) after_steps: usize,
    pub(super) call: ToolCall,
}

/// Both together.
#[derive(Debug, PartialEq)]
pub(super) struct Merged {
    pub(super) steps: Vec<Step>,
    /// How many merged steps come before each reported step; as the last element, how many there are.
    pub(super) places: Vec<usize>,
}

/// Puts the recorded calls in the places of the reported ones.
///
/// The recorded calls count, and the reported steps give the order. A reported call of a server is the first recorded call of the same tool
/// with equal arguments that no other was found to be, else the first of the same tool. One that was never recorded stays as reported; a
/// recorded call that was not reported stands where it began.
pub(super) fn merge(reported: Vec<Step>, recorded: Vec<CallAfterSteps>) -> Merged {
    let mut recorded: Vec<Option<CallAfterSteps>> = recorded.into_iter().map(Some).collect();
    let mut found: Vec<Option<ToolCall>> = reported.iter().map(|_| None).collect();
    for equal in [true, false] {
        for (step, found) in reported.iter().zip(&mut found) {
            let Step::ToolCall(reported) = step else {
                continue;
            };
            if reported.server.is_none() || found.is_some() {
                continue;
            }
            let index = recorded.iter().position(|it| {
                it.as_ref().is_some_and(|CallAfterSteps { call, .. }| {
                    call.server == reported.server
                        && call.tool == reported.tool
                        && (!equal || call.arguments == reported.arguments)
                })
            });
            *found = index.and_then(|it| recorded[it].take()).map(|it| it.call);
        }
    }
    let mut unreported = recorded.into_iter().flatten().peekable();
    let mut merged = Merged {
        steps: Vec::new(),
        places: Vec::new(),
    };
    for (index, (step, found)) in reported.into_iter().zip(found).enumerate() {
        while let Some(it) = unreported.next_if(|it| it.after_steps <= index) {
            merged.steps.push(Step::ToolCall(Box::new(it.call)));
        }
        merged.places.push(merged.steps.len());
        merged.steps.push(match found {
            Some(call) => Step::ToolCall(Box::new(call)),
            None => step,
        });
    }
    let rest = unreported.map(|it| Step::ToolCall(Box::new(it.call)));
    merged.steps.extend(rest);
    merged.places.push(merged.steps.len());
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CallAfterSteps, merge};
    use crate::model::{Answer, FailureKind, Outcome, Step, ToolCall};

    /// `s.tool 1`, a call of the tool of server `s` with the argument 1; `tool 1` is one of the agent's own.
    fn call(text: &str, is_recorded: bool) -> ToolCall {
        let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
        let (server, tool) = match name.split_once('.') {
            Some((server, tool)) => (Some(server.to_owned()), tool),
            None => (None, name),
        };
        let mut arguments = model::Object::new();
        arguments.insert("x".to_owned(), json!(argument));
        let outcome = if is_recorded {
            Outcome::Answer(Answer::default())
        } else {
            Outcome::failed(FailureKind::NotSent, "")
        };
        ToolCall::new(server, tool.to_owned(), arguments, outcome)
    }

    fn shown(step: &Step) -> String {
        match step {
            Step::User { text } | Step::Assistant { text } => format!("\"{text}"),
            Step::ToolCall(call) => {
                let recorded = if call.outcome.is_failure() { "" } else { "!" };
                let argument = call.arguments["x"].as_str().unwrap_or_default();
                let server = call.server.as_ref().map(|it| format!("{it}."));
                let server = server.unwrap_or_default();
                format!("{server}{} {argument}{recorded}", call.tool)
            }
        }
    }

    #[test]
    fn what_is_reported_orders_what_is_recorded() {
        type Case<'a> = (&'a [&'a str], &'a [(usize, &'a str)], &'a [&'a str]);
        let cases: [Case<'_>; 10] = [
            (&[], &[], &[]),
            // Nothing is reported but the question and the answer.
            (
                &["\"q", "\"a"],
                &[(1, "s.t 1"), (1, "s.t 2")],
                &["\"q", "s.t 1!", "s.t 2!", "\"a"],
            ),
            // Reported before or after it was recorded.
            (
                &["\"q", "s.t 1", "\"a"],
                &[(1, "s.t 1")],
                &["\"q", "s.t 1!", "\"a"],
            ),
            (
                &["\"q", "s.t 1", "\"a"],
                &[(3, "s.t 1")],
                &["\"q", "s.t 1!", "\"a"],
            ),
            // Parallel calls reach us in another order.
            (
                &["s.t 1", "s.t 2"],
                &[(2, "s.t 2"), (2, "s.t 1")],
                &["s.t 1!", "s.t 2!"],
            ),
            // Arguments that were changed on the way; the recorded ones count.
            (
                &["s.t 1", "s.t 2"],
                &[(2, "s.t 2"), (2, "s.t 3")],
                &["s.t 3!", "s.t 2!"],
            ),
            // Refused by the agent.
            (&["s.t 1", "s.u 1"], &[(1, "s.u 1")], &["s.t 1", "s.u 1!"]),
            // The agent's own tools are no calls of a server.
            (&["t 1", "s.t 1"], &[(2, "s.t 1")], &["t 1", "s.t 1!"]),
            // The call in the middle was not reported.
            (
                &["s.t 1", "\"a", "s.t 3"],
                &[(1, "s.t 1"), (2, "s.v 2"), (3, "s.t 3")],
                &["s.t 1!", "\"a", "s.v 2!", "s.t 3!"],
            ),
            (
                &["\"q"],
                &[(1, "s.t 1"), (1, "r.t 1")],
                &["\"q", "s.t 1!", "r.t 1!"],
            ),
        ];
        for (reported, recorded, expected) in cases {
            let reported: Vec<Step> = reported
                .iter()
                .map(|it| match it.strip_prefix('"') {
                    Some(text) => Step::Assistant {
                        text: text.to_owned(),
                    },
                    None => Step::ToolCall(Box::new(call(it, false))),
                })
                .collect();
            let recorded = recorded.iter().map(|(after_steps, it)| CallAfterSteps {
                after_steps: *after_steps,
                call: call(it, true),
            });
            let merged = merge(reported.clone(), recorded.collect());
            let steps: Vec<String> = merged.steps.iter().map(shown).collect();
            assert_eq!(steps, expected);
            assert_eq!(merged.places.len(), reported.len() + 1);
            for (step, index) in reported.iter().zip(&merged.places) {
                let kind = |step: &Step| matches!(step, Step::ToolCall(_));
                assert_eq!(kind(step), kind(&merged.steps[*index]), "{expected:?}");
            }
        }
    }
}
