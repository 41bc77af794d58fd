//! Which calls a first scenario makes: those that only read and can be guessed, and those that the user wants.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::cli::args::AddedCall;
use crate::cli::failure::Failure;
use crate::model::Object;
use crate::model::catalogue::{ServerCatalogue, Tool};
use crate::redact::Redactor;
use crate::scenario_file::FirstCall;
use crate::score::{self, Guess};
use crate::suite::{Introduction, Tried};

/// How long a call may take that nobody has asked for, and all of them together: a first scenario should be played in seconds.
const LONGEST_CALL: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(3);

/// The most calls that are written as comments.
const MOST_COMMENTS: usize = 150;

/// The calls of a scenario, and how they came into it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) calls: Vec<Planned>,
}

#[derive(Debug)]
pub(super) struct Planned {
    pub(super) call: FirstCall,
    /// Nobody has asked for it: if it fails, it becomes a comment.
    pub(super) is_guessed: bool,
    /// It may be made to see whether it works.
    only_reads: bool,
}

impl Planned {
    pub(super) fn is_made(&self) -> bool {
        self.call.why_not.is_none()
    }
}

impl Plan {
    /// What the tools of a server are asked: of those that only read, all that can be guessed; of the others only what the user has named,
    /// or with `allow_effects`, too.
    ///
    /// # Errors
    ///
    /// When a call is wanted that cannot be made.
    pub(super) fn new(
        server: &ServerCatalogue,
        redactor: &Redactor,
        added: &[AddedCall],
        allow_effects: bool,
    ) -> Result<Self, Failure> {
        let mut calls = Vec::new();
        for tool in &server.tools {
            if added.iter().any(|it| names(it, server, tool)) {
                continue;
            }
            let only_reads = tool.read_only_hint() == Some(true);
            let guess = score::guess_arguments(tool);
            let why_not = if !only_reads && !allow_effects {
                Some("it is not marked as read-only".to_owned())
            } else {
                unguessed(&guess)
            };
            let mut call = first_call(tool, guess.arguments, redactor);
            let clean = redactor.object(call.arguments.clone()).into_inner();
            let unwritable = if clean != call.arguments {
                Some("what it would be asked with looks like a secret")
            } else if call.can_be_written() {
                None
            } else {
                Some("a scenario cannot say it")
            };
            call.arguments = clean;
            call.why_not = why_not.or_else(|| unwritable.map(str::to_owned));
            calls.push(Planned {
                call,
                is_guessed: true,
                only_reads,
            });
        }
        for wanted in added {
            if let Some(tool) = server.tools.iter().find(|it| names(wanted, server, it)) {
                let guess = score::guess_arguments(tool);
                let arguments = match &wanted.arguments {
                    Some(arguments) => arguments.clone(),
                    None => match unguessed(&guess) {
                        None => guess.arguments,
                        Some(why) => return Err(incomplete_call(tool, &guess, &why)),
                    },
                };
                let call = first_call(tool, arguments, redactor);
                if *redactor.object(call.arguments.clone()) != call.arguments {
                    let failure = format!(
                        "--call {}: the arguments hold a secret, which no scenario should",
                        wanted.tool
                    );
                    return Err(Failure::usage(failure).hint(
                        "leave the call away, and write it into the scenario with a variable: `mcp-eval help scenario`, \"Secrets\"",
                    ));
                }
                if !call.can_be_written() {
                    return Err(Failure::usage(format!(
                        "--call {}: a scenario cannot say that, because `{{{{` begins a variable there",
                        wanted.tool
                    )));
                }
                calls.push(Planned {
                    call,
                    is_guessed: false,
                    only_reads: tool.read_only_hint() == Some(true),
                });
            }
        }
        Ok(Self { calls })
    }

    pub(super) fn made(&self) -> usize {
        self.calls.iter().filter(|it| it.is_made()).count()
    }

    /// How many tools are called.
    pub(super) fn tools_called(&self) -> usize {
        let made = self.calls.iter().filter(|it| it.is_made());
        made.map(|it| it.call.tool.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// The position in the plan of a call, by its number among those that are made, counted from 1.
    pub(super) fn position(&self, number: usize) -> Option<usize> {
        let made = self.calls.iter().enumerate().filter(|(_, it)| it.is_made());
        made.map(|(at, _)| at).nth(number.checked_sub(1)?)
    }

    /// Turns a call into a comment.
    pub(super) fn leave_out(&mut self, position: usize, why: String) {
        if let Some(planned) = self.calls.get_mut(position) {
            planned.call.why_not = Some(why);
        }
    }

    /// Makes each guessed call that only reads once, and leaves out those that fail or take long. Returns whether the session can be used
    /// no longer.
    pub(super) async fn try_out(&mut self, session: &Introduction, server: &str) -> bool {
        let started = Instant::now();
        for planned in &mut self.calls {
            if !planned.is_made() || !planned.is_guessed || !planned.only_reads {
                continue;
            }
            let left = LONGEST.saturating_sub(started.elapsed());
            if left.is_zero() {
                planned.call.why_not = Some("there was no time left to try it".to_owned());
                continue;
            }
            let limit = LONGEST_CALL.min(left);
            let (tool, arguments) = (&planned.call.tool, &planned.call.arguments);
            planned.call.why_not = match session.try_call(server, tool, arguments, limit).await {
                Tried::Answered => None,
                Tried::Failed(why) => Some(format!("tried once, it failed: {why}")),
                Tried::TooSlow => Some(format!(
                    "tried once, it took longer than {} s",
                    limit.as_secs_f64().ceil()
                )),
                Tried::Gone(why) => {
                    planned.call.why_not = Some(format!("tried once, it ended the server: {why}"));
                    return true;
                }
            };
        }
        false
    }

    /// The calls as they are written: those that are made, and as many of the others as anybody reads.
    pub(super) fn written(&self) -> (Vec<FirstCall>, Option<String>) {
        let mut comments = 0;
        let mut left_out = 0;
        let mut written = Vec::new();
        for planned in &self.calls {
            if !planned.is_made() {
                if comments == MOST_COMMENTS || !planned.call.can_be_written() {
                    left_out += 1;
                    continue;
                }
                comments += 1;
            }
            written.push(planned.call.clone());
        }
        let left_out = match left_out {
            0 => None,
            1 => Some("1 more tool is not written down here.".to_owned()),
            more => Some(format!("{more} more tools are not written down here.")),
        };
        (written, left_out)
    }
}

/// Whether the user means this tool of this server.
pub(super) fn names(added: &AddedCall, server: &ServerCatalogue, tool: &Tool) -> bool {
    let name = tool.name();
    added.tool == name
        || (added.tool.strip_prefix("mcp__"))
            .and_then(|it| it.strip_prefix(&server.server)?.strip_prefix("__"))
            .is_some_and(|it| it == name)
}

/// Why a tool cannot be asked with what was guessed.
fn unguessed(guess: &Guess) -> Option<String> {
    let unknown: Vec<String> = guess.unknown.iter().map(|it| format!("`{it}`")).collect();
    (!unknown.is_empty()).then(|| format!("nobody can guess {}", unknown.join(", ")))
}

fn incomplete_call(tool: &Tool, guess: &Guess, why: &str) -> Failure {
    let name = tool.name();
    let example = serde_json::Value::Object(guess.arguments.clone());
    Failure::usage(format!("--call {name} needs arguments: {why}"))
        .hint(format!("give them as JSON: --call '{name}={example}'"))
}

fn first_call(tool: &Tool, arguments: Object, redactor: &Redactor) -> FirstCall {
    let clean = |text: &str| redactor.text(text).into_inner();
    FirstCall {
        tool: tool.name().to_owned(),
        arguments,
        description: tool.description().map(clean),
        why_not: None,
    }
}
