//! What an agent tells of its work and what was heard of its calls, as one course of events.

use crate::model::trajectory::{Step, ToolCall};

/// A call that was heard.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    /// How many steps the agent had told of when it began.
    pub(super) after_steps: usize,
    pub(super) call: ToolCall,
}

/// Both together.
#[derive(Debug, PartialEq)]
pub(super) struct Merged {
    pub(super) steps: Vec<Step>,
    /// How many steps come before each step that was told; and behind them, how many there are.
    pub(super) places: Vec<usize>,
}

/// Puts the calls that were heard in the places of those that were told of.
///
/// What was heard counts, and what was told gives the order. A told call of a server is the first heard call of the same tool with equal
/// arguments that is no other's, else the first of the same tool. One that was never heard stays as it was told; a heard call that
/// nobody told of stands where it began.
pub(super) fn merge(told: Vec<Step>, heard: Vec<Heard>) -> Merged {
    let mut heard: Vec<Option<Heard>> = heard.into_iter().map(Some).collect();
    let mut found: Vec<Option<ToolCall>> = told.iter().map(|_| None).collect();
    for equal in [true, false] {
        for (step, found) in told.iter().zip(&mut found) {
            let Step::ToolCall(told) = step else { continue };
            if told.server.is_none() || found.is_some() {
                continue;
            }
            let place = heard.iter().position(|it| {
                it.as_ref().is_some_and(|Heard { call, .. }| {
                    call.server == told.server
                        && call.tool == told.tool
                        && (!equal || call.arguments == told.arguments)
                })
            });
            *found = place.and_then(|it| heard[it].take()).map(|it| it.call);
        }
    }
    let mut untold = heard.into_iter().flatten().peekable();
    let mut merged = Merged {
        steps: Vec::new(),
        places: Vec::new(),
    };
    for (place, (step, found)) in told.into_iter().zip(found).enumerate() {
        while let Some(it) = untold.next_if(|it| it.after_steps <= place) {
            merged.steps.push(Step::ToolCall(Box::new(it.call)));
        }
        merged.places.push(merged.steps.len());
        merged.steps.push(match found {
            Some(call) => Step::ToolCall(Box::new(call)),
            None => step,
        });
    }
    let rest = untold.map(|it| Step::ToolCall(Box::new(it.call)));
    merged.steps.extend(rest);
    merged.places.push(merged.steps.len());
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Heard, merge};
    use crate::model::Digits;
    use crate::model::trajectory::{Answer, Failure, FailureKind, Outcome, Step, ToolCall};

    /// `s.tool 1`, a call of the tool of server `s` with the argument 1; `tool 1` is one of the agent's own.
    fn call(text: &str, is_heard: bool) -> ToolCall {
        let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
        let (server, tool) = match name.split_once('.') {
            Some((server, tool)) => (Some(server.to_owned()), tool),
            None => (None, name),
        };
        let mut arguments = crate::model::Object::new();
        arguments.insert("x".to_owned(), json!(argument));
        let outcome = if is_heard {
            Outcome::Answer(Answer::default())
        } else {
            Outcome::Failure(Failure {
                kind: FailureKind::NotSent,
                message: String::new(),
                code: None,
                data: None,
            })
        };
        ToolCall {
            server,
            tool: tool.to_owned(),
            arguments,
            outcome,
            digits: Digits::new(),
            again: Vec::new(),
            start_ms: None,
            duration_ms: None,
        }
    }

    fn shown(step: &Step) -> String {
        match step {
            Step::User { text } | Step::Assistant { text } => format!("\"{text}"),
            Step::ToolCall(call) => {
                let heard = if call.outcome.is_failure() { "" } else { "!" };
                let argument = call.arguments["x"].as_str().unwrap_or_default();
                let server = call.server.as_ref().map(|it| format!("{it}."));
                let server = server.unwrap_or_default();
                format!("{server}{} {argument}{heard}", call.tool)
            }
        }
    }

    #[test]
    fn what_is_told_orders_what_is_heard() {
        type Case<'a> = (&'a [&'a str], &'a [(usize, &'a str)], &'a [&'a str]);
        let cases: [Case<'_>; 10] = [
            (&[], &[], &[]),
            // Nothing is told but the question and the answer.
            (
                &["\"q", "\"a"],
                &[(1, "s.t 1"), (1, "s.t 2")],
                &["\"q", "s.t 1!", "s.t 2!", "\"a"],
            ),
            // Told of before or after it was heard.
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
            // Arguments that were changed on the way; what was heard counts.
            (
                &["s.t 1", "s.t 2"],
                &[(2, "s.t 2"), (2, "s.t 3")],
                &["s.t 3!", "s.t 2!"],
            ),
            // Refused by the agent.
            (&["s.t 1", "s.u 1"], &[(1, "s.u 1")], &["s.t 1", "s.u 1!"]),
            // The agent's own tools are no calls of a server.
            (&["t 1", "s.t 1"], &[(2, "s.t 1")], &["t 1", "s.t 1!"]),
            // Nobody told of the call in the middle.
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
        for (told, heard, expected) in cases {
            let told: Vec<Step> = told
                .iter()
                .map(|it| match it.strip_prefix('"') {
                    Some(text) => Step::Assistant {
                        text: text.to_owned(),
                    },
                    None => Step::ToolCall(Box::new(call(it, false))),
                })
                .collect();
            let heard = heard.iter().map(|(after_steps, it)| Heard {
                after_steps: *after_steps,
                call: call(it, true),
            });
            let merged = merge(told.clone(), heard.collect());
            let steps: Vec<String> = merged.steps.iter().map(shown).collect();
            assert_eq!(steps, expected);
            assert_eq!(merged.places.len(), told.len() + 1);
            for (step, place) in told.iter().zip(&merged.places) {
                let kind = |step: &Step| matches!(step, Step::ToolCall(_));
                assert_eq!(kind(step), kind(&merged.steps[*place]), "{expected:?}");
            }
        }
    }
}
