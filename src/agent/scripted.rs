//! Plays listed calls.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::reference::{self, Answers};
use crate::model::rules::Rules;
use crate::model::{Answer, Catalogue, Object, Outcome, Redacted, ToolCall, Trajectory};
use crate::run::ready::answer_holds;
use crate::run::{Agent, Conversation, Driving, SetupError, Stop};
use crate::scenario_file::agent::ScriptedCall;
use crate::scenario_file::servers::Until;
use crate::score::{in_band_error, nearest_for_call, only_reads};

/// The pause before a read is repeated until its answer holds something.
const PAUSE: Duration = Duration::from_millis(200);

/// An agent that makes the calls of a script, in order, whatever comes back.
pub struct Scripted {
    /// What the user says.
    messages: Vec<String>,
    calls: Vec<ScriptedCall>,
    /// The answers so far.
    answers: Answers<'static>,
    /// The accepted run, whose servers may have had a tool, and answers a value, that this run's lack.
    baseline: Option<Arc<Redacted<Trajectory>>>,
    /// Which calls only read.
    rules: Rules,
}

impl Scripted {
    /// An agent that plays these calls after the user has said what they want, all of it.
    pub fn new(messages: Vec<String>, calls: Vec<ScriptedCall>) -> Self {
        Self {
            messages,
            calls,
            answers: Answers::default(),
            baseline: None,
            rules: Rules::default(),
        }
    }

    /// The same, with rules that say which calls only read.
    #[must_use]
    pub fn with_rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The same, with the run that was accepted of this script. A tool that is gone is asked for where it was then, and a call that needs
    /// what an answer does not hold any more is left out, so that this is what comes of the run, and not the end of it.
    #[must_use]
    pub fn after(self, baseline: Option<Arc<Redacted<Trajectory>>>) -> Self {
        Self { baseline, ..self }
    }

    /// The server that had a tool in the accepted run, where this run does not show which it is: no server lists it, or several do.
    fn formerly(&self, tool: &str, catalogue: &Catalogue) -> Option<String> {
        let is_clear = catalogue.servers.len() == 1 || listing(catalogue, tool).len() == 1;
        if is_clear || tool.starts_with("mcp__") {
            return None;
        }
        let before = &self.baseline.as_ref()?.catalogue;
        match listing(before, tool).as_slice() {
            [only] => Some((*only).to_owned()),
            _ => None,
        }
    }

    /// Whether an answer holds what a read is repeated for.
    fn holds(&self, until: &Until, outcome: &Outcome) -> bool {
        let mut outcome = outcome.clone();
        let is_error = in_band_error(&outcome, &self.rules).is_some();
        if let Outcome::Answer(answer) = &mut outcome {
            answer.is_error |= is_error;
        }
        answer_holds(&until.expect, &outcome).is_ok()
    }

    /// The call that the accepted run made in the place of one whose references lead nowhere now, and what the arguments would be: what
    /// leads nowhere is as it was then. `None` where it led nowhere then, too, so that the script is at fault.
    fn as_recorded(&self, index: usize, scripted: &ScriptedCall) -> Option<(&ToolCall, Object)> {
        let accepted: &Trajectory = self.baseline.as_deref()?;
        let recorded = accepted.calls().nth(index);
        let recorded =
            recorded.filter(|it| it.tool == scripted.tool || it.full_name() == scripted.tool)?;
        let mut arguments = scripted.arguments.clone();
        self.answers
            .fill_references(&mut arguments, &scripted.filled);
        let then = Answers::of(accepted, Some(&self.calls));
        let has_all = then.fill_references(&mut arguments, &scripted.filled);
        has_all.then_some((recorded, arguments))
    }

    async fn play(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        for message in &self.messages {
            conversation.user(message);
        }
        let needed = |it: &ScriptedCall| reference::needed(&it.arguments);
        let needed: HashSet<usize> = self.calls.iter().flat_map(needed).collect();
        for (index, scripted) in self.calls.iter().enumerate() {
            let number = index + 1;
            // What no other call refers to is not kept: answers may be long.
            let kept = |call: &ToolCall| {
                let outcome = needed.contains(&number).then(|| call.outcome.clone());
                outcome.unwrap_or_else(|| Outcome::Answer(Answer::default()))
            };
            let mut arguments = Value::Object(scripted.arguments.clone());
            let filled = self.answers.fill(&mut arguments, &scripted.filled);
            if let Err(problem) = filled {
                let Some((recorded, arguments)) = self.as_recorded(index, scripted) else {
                    let problem = format!("call {number} of `{}`: {problem}", scripted.tool);
                    return Err(Stop::Error(SetupError::new(problem)));
                };
                let server = recorded.server.as_deref().unwrap_or_default();
                let needs = reference::needed(&scripted.arguments);
                let left_out = conversation
                    .leave_out(server, &recorded.tool, arguments, &problem, &needs)
                    .await?;
                let outcome = Cow::Owned(left_out.outcome.clone());
                self.answers.push(outcome, false);
                continue;
            }
            let Value::Object(arguments) = arguments else {
                unreachable!("filling in references keeps an object an object")
            };
            let catalogue = conversation.catalogue();
            let begun = Instant::now();
            let (failed, outcome) = loop {
                let arguments = arguments.clone();
                let asked = Instant::now();
                let call = match self.formerly(&scripted.tool, catalogue) {
                    Some(server) => {
                        conversation
                            .call_formerly(&server, &scripted.tool, arguments)
                            .await?
                    }
                    None if is_nowhere(&scripted.tool, catalogue) => {
                        let problem = nowhere(&scripted.tool, &arguments, catalogue);
                        let problem = format!("call {number}: {problem}");
                        return Err(Stop::Error(SetupError::new(problem)));
                    }
                    None => conversation.call(&scripted.tool, arguments).await?,
                };
                let Some(until) = &scripted.until else {
                    break (call.outcome.is_failure(), kept(call));
                };
                if !only_reads(call, catalogue, &self.rules) {
                    let problem = format!(
                        "call {number} of `{}`: `until` repeats what only reads, which neither the server nor `scoring.reads` says of it",
                        scripted.tool
                    );
                    return Err(Stop::Error(SetupError::new(problem)));
                }
                if self.holds(until, &call.outcome) || begun.elapsed() >= until.timeout {
                    break (call.outcome.is_failure(), kept(call));
                }
                conversation.take_back(asked);
                tokio::time::sleep(PAUSE).await;
            };
            if failed && scripted.is_critical() {
                return Err(Stop::Blocked {
                    message: format!(
                        "call {number} of `{}` is critical and failed",
                        scripted.tool
                    ),
                });
            }
            self.answers.push(Cow::Owned(outcome), scripted.is_error);
        }
        Ok(())
    }
}

/// The servers that list a tool of this name.
fn listing<'c>(catalogue: &'c Catalogue, tool: &str) -> Vec<&'c str> {
    let servers = catalogue.servers.iter();
    let listing = servers.filter(|it| it.tools.iter().any(|it| it.name() == tool));
    listing.map(|it| it.server.as_str()).collect()
}

/// Whether a bare name leads nowhere: with one server alone, it leads there whatever the server lists.
fn is_nowhere(tool: &str, catalogue: &Catalogue) -> bool {
    catalogue.servers.len() != 1
        && !tool.starts_with("mcp__")
        && listing(catalogue, tool).is_empty()
}

fn nowhere(tool: &str, arguments: &Object, catalogue: &Catalogue) -> String {
    let servers = catalogue.servers.iter();
    let names: Vec<String> = servers
        .clone()
        .map(|it| format!("`{}`", it.server))
        .collect();
    let near = nearest_for_call(tool, arguments, servers.flat_map(|it| &it.tools));
    format!(
        "no server lists a tool `{tool}`; the servers of this run are {}{}",
        names.join(", "),
        near.map_or_else(String::new, |it| format!("; nearest: `{}`", it.name()))
    )
}

impl Agent for Scripted {
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a> {
        Box::pin(self.play(conversation))
    }
}
