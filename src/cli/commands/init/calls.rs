//! The calls of a first scenario, and the time for them: those that only read and can be guessed, and those that the user wants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use crate::cli::args::AddedCall;
use crate::cli::exit::Failure;
use crate::model::{Object, ServerCatalogue, Tool};
use crate::redact::Redactor;
use crate::scenario_file::FirstCall;
use crate::score::{self, Guess};
use crate::suite::{Introduction, Tried};

/// The calls of a scenario, and how they came into it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) calls: Vec<Planned>,
}

#[derive(Debug)]
pub(super) struct Planned {
    pub(super) call: FirstCall,
    /// Why it is a comment; `None` for a call that is made.
    pub(super) why_not: Option<WhyNot>,
    /// Nobody has asked for it: if it fails, it becomes a comment.
    pub(super) is_guessed: bool,
    /// It may be made to see whether it works, and made again without a second thought.
    pub(super) only_reads: bool,
    /// What it may be made with instead, if it fails.
    others: Vec<Object>,
    was_tried: bool,
}

impl Planned {
    pub(super) fn is_made(&self) -> bool {
        self.why_not.is_none()
    }
}

impl Plan {
    /// What the tools of a server are asked without anybody wanting it: of those that only read, all that can be guessed; with `allow_effects`
    /// of the others, too.
    pub(super) fn guessed(
        server: &ServerCatalogue,
        redactor: &Redactor,
        allow_effects: bool,
    ) -> Self {
        let tools = server.tools.iter();
        let calls = tools.map(|it| guessed(it, redactor, allow_effects));
        Self {
            calls: calls.collect(),
        }
    }

    /// Adds what the user wants, in the place of what was guessed of the same tools. All else stays as it was found to be.
    ///
    /// # Errors
    ///
    /// When a call is wanted that cannot be made.
    pub(super) fn add(
        &mut self,
        added: &[AddedCall],
        server: &ServerCatalogue,
        redactor: &Redactor,
    ) -> Result<(), Failure> {
        for wanted in added {
            if let Some(tool) = server.tools.iter().find(|it| names(wanted, server, it)) {
                let planned = self::wanted(wanted, tool, redactor)?;
                (self.calls).retain(|it| !it.is_guessed || it.call.tool != tool.name());
                self.calls.push(planned);
            }
        }
        Ok(())
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

    /// The tools that are called and may do more than read.
    pub(super) fn effects(&self) -> Vec<&str> {
        let made = self.calls.iter().filter(|it| it.is_made());
        let mut tools: Vec<&str> = made
            .filter(|it| !it.only_reads)
            .map(|it| it.call.tool.as_str())
            .collect();
        tools.dedup();
        tools
    }

    /// The tools that are not called only because that takes its time.
    pub(super) fn slow(&self) -> Vec<&str> {
        let calls = self.calls.iter();
        let slow = calls.filter(|it| it.why_not.as_ref().is_some_and(WhyNot::is_slow));
        slow.map(|it| it.call.tool.as_str()).collect()
    }

    /// Why tools are not called, and how many for each reason: "not marked as read-only: 2 tools".
    pub(super) fn reasons(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for why in self.calls.iter().filter_map(|it| it.why_not.as_ref()) {
            *counts.entry(why.kind()).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|it| std::cmp::Reverse(it.1));
        let counts = counts.into_iter().map(|(why, count)| match count {
            1 => format!("{why}: 1 tool"),
            more => format!("{why}: {more} tools"),
        });
        counts.collect::<Vec<_>>().join(", ")
    }

    /// The position in the plan of a call, by its number among those that are made, counted from 1.
    pub(super) fn position(&self, number: usize) -> Option<usize> {
        let made = self.calls.iter().enumerate().filter(|(_, it)| it.is_made());
        made.map(|(at, _)| at).nth(number.checked_sub(1)?)
    }

    /// Makes each guessed call that only reads once, and leaves out those that fail or take long. Returns whether another session is needed
    /// to go on: where the server has gone away, and if one `may_follow`, where it is still busy with a call that took too long.
    pub(super) async fn try_out(
        &mut self,
        session: &Introduction,
        server: &str,
        patience: &mut Patience,
        may_follow: bool,
    ) -> bool {
        for planned in &mut self.calls {
            if planned.was_tried || !planned.is_made() || !planned.is_guessed || !planned.only_reads
            {
                continue;
            }
            planned.was_tried = true;
            match planned.try_out(session, server, patience).await {
                Some(WhyNot::Ended(_)) => return true,
                Some(WhyNot::TooSlow(_)) if may_follow => return true,
                _ => {}
            }
        }
        false
    }

    /// Leaves out the calls that were not tried.
    pub(super) fn leave_untried(&mut self) {
        let calls = self.calls.iter_mut();
        let untried =
            calls.filter(|it| it.is_made() && it.is_guessed && it.only_reads && !it.was_tried);
        untried.for_each(|it| it.why_not = Some(WhyNot::Untried));
    }

    /// The calls as they are written.
    pub(super) fn written(&self) -> Vec<FirstCall> {
        let calls = self.calls.iter().map(|it| FirstCall {
            why_not: it.why_not.as_ref().map(ToString::to_string),
            ..it.call.clone()
        });
        calls.collect()
    }
}

impl Planned {
    /// Makes the call, with other arguments if it fails; returns why it is left out.
    async fn try_out(
        &mut self,
        session: &Introduction,
        server: &str,
        patience: &mut Patience,
    ) -> Option<&WhyNot> {
        let mut candidates = vec![self.call.arguments.clone()];
        candidates.append(&mut self.others);
        let mut why_not = None;
        for arguments in candidates {
            let Some(limit) = patience.limit() else {
                why_not = why_not.or(Some(WhyNot::NoTime));
                break;
            };
            let started = Instant::now();
            let tried = session
                .try_call(server, &self.call.tool, &arguments, limit)
                .await;
            patience.spend(started.elapsed(), tried == Tried::Answered);
            match tried {
                Tried::Answered => {
                    self.call.arguments = arguments;
                    why_not = None;
                    break;
                }
                // What was said to the first is said; that of the others is much the same.
                Tried::Failed(why) => why_not = why_not.or(Some(WhyNot::Failed(why))),
                Tried::TooSlow => {
                    why_not = Some(WhyNot::TooSlow(limit));
                    break;
                }
                Tried::Gone(why) => {
                    why_not = Some(WhyNot::Ended(why));
                    break;
                }
            }
        }
        self.why_not = why_not;
        self.why_not.as_ref()
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

/// A call that nobody has asked for.
fn guessed(tool: &Tool, redactor: &Redactor, allow_effects: bool) -> Planned {
    let only_reads = tool.read_only_hint() == Some(true);
    let guess = score::guess_arguments(tool);
    let call = first_call(tool, guess.arguments, redactor);
    let clean = redactor.object(call.arguments.clone()).into_inner();
    let why_not = if !only_reads && !allow_effects {
        Some(WhyNot::NotReadOnly)
    } else if !guess.unknown.is_empty() {
        Some(WhyNot::Unguessed(guess.unknown))
    } else if clean != call.arguments {
        Some(WhyNot::Secret)
    } else if call.can_be_written() {
        None
    } else {
        Some(WhyNot::Unsayable)
    };
    let with = |arguments: Object| FirstCall {
        arguments,
        ..call.clone()
    };
    let is_usable =
        |it: &Object| *redactor.object(it.clone()) == *it && with(it.clone()).can_be_written();
    let others = match why_not {
        None if only_reads => score::other_arguments(tool),
        _ => Vec::new(),
    };
    Planned {
        others: others.into_iter().filter(is_usable).collect(),
        call: with(clean).as_far_as_it_can_be_written(),
        why_not,
        is_guessed: true,
        only_reads,
        was_tried: false,
    }
}

/// A call that somebody wants.
fn wanted(wanted: &AddedCall, tool: &Tool, redactor: &Redactor) -> Result<Planned, Failure> {
    let guess = score::guess_arguments(tool);
    let arguments = match &wanted.arguments {
        Some(arguments) => arguments.clone(),
        None if guess.unknown.is_empty() => guess.arguments,
        None => return Err(incomplete_call(tool, guess)),
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
    Ok(Planned {
        call,
        why_not: None,
        is_guessed: false,
        only_reads: tool.read_only_hint() == Some(true),
        others: Vec::new(),
        was_tried: false,
    })
}

fn incomplete_call(tool: &Tool, guess: Guess) -> Failure {
    let name = tool.name();
    let example = serde_json::Value::Object(guess.arguments);
    let why = WhyNot::Unguessed(guess.unknown);
    Failure::usage(format!("--call {name} needs arguments: {why}"))
        .hint(format!("give them as JSON: --call '{name}={example}'"))
}

fn first_call(tool: &Tool, arguments: Object, redactor: &Redactor) -> FirstCall {
    let clean = |text: &str| redactor.text(text).into_inner();
    FirstCall {
        tool: tool.name().to_owned(),
        arguments,
        description: tool.description().map(clean),
        caution: None,
        why_not: None,
    }
}

/// Why a tool is not called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WhyNot {
    NotReadOnly,
    /// These parameters.
    Unguessed(Vec<String>),
    Secret,
    Unsayable,
    /// Tried, with what it said.
    Failed(String),
    /// When it was recorded, with what it said.
    FailedLater(String),
    /// Tried for so long.
    TooSlow(Duration),
    NoTime,
    /// Tried, with what became of the server.
    Ended(String),
    Untried,
}

impl WhyNot {
    /// The same for several tools.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::NotReadOnly => "not marked as read-only",
            Self::Unguessed(_) => "with arguments that need a value",
            Self::Secret | Self::Unsayable => "with arguments that a scenario cannot hold",
            Self::Failed(_) | Self::FailedLater(_) => "failed when tried",
            Self::TooSlow(_) | Self::NoTime => "too slow for a first verdict in seconds",
            Self::Ended(_) => "ended the server",
            Self::Untried => "not tried, because the server had ended too often",
        }
    }

    /// Whether it would be called if there were more time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::TooSlow(_) | Self::NoTime)
    }
}

/// Why one tool is not called, in a few words.
impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReadOnly => f.write_str("it is not marked as read-only"),
            Self::Unguessed(unknown) => {
                let unknown: Vec<String> = unknown.iter().map(|it| format!("`{it}`")).collect();
                write!(f, "it needs a value for {}", unknown.join(", "))
            }
            Self::Secret => f.write_str("what it would be asked with looks like a secret"),
            Self::Unsayable => {
                f.write_str("`...` is what a scenario cannot say: `{{` begins a variable there")
            }
            Self::Failed(why) => write!(f, "tried once, it failed: {why}"),
            Self::FailedLater(why) => write!(f, "it failed: {why}"),
            Self::TooSlow(limit) => write!(
                f,
                "tried once, no answer came within {:.1} s",
                limit.as_secs_f64().max(0.1)
            ),
            Self::NoTime => {
                f.write_str("not tried, because the calls above fill the time for a first verdict")
            }
            Self::Ended(why) => write!(f, "tried once, it ended the server: {why}"),
            Self::Untried => f.write_str("not tried, because other calls had ended the server"),
        }
    }
}

/// How long all calls may take together that nobody has asked for. Not all of the ten seconds in which there is a verdict: a server that is
/// busy has to end before it is begun anew, and the report has to be written.
const ALL_CALLS: Duration = Duration::from_millis(6_600);

/// How long one of them may take. Somebody who waits longer for an answer asks for it.
const ONE_CALL: Duration = Duration::from_millis(1_500);

/// Less than this is no time in which anything could be said of a call.
const LEAST: Duration = Duration::from_millis(100);

/// How often a call that is answered is made again after that: recorded twice, and compared.
const AGAIN: u32 = 3;

/// What we ourselves take for a call in all, to score and to show it.
const OURS: Duration = Duration::from_millis(10);

/// The time that is left for calls.
#[derive(Debug)]
pub(super) struct Patience {
    left: Duration,
}

impl Patience {
    /// The share of each of so many servers, which are asked one after the other.
    pub(super) fn of_one_in(servers: usize) -> Self {
        let servers = u32::try_from(servers.max(1)).unwrap_or(u32::MAX);
        Self {
            left: ALL_CALLS / servers,
        }
    }

    /// How long the next call may take so that there is time to make it as often as it will be; `None` where there is none.
    pub(super) fn limit(&self) -> Option<Duration> {
        let left = self.left.saturating_sub(OURS) / (1 + AGAIN);
        Some(left.min(ONE_CALL)).filter(|it| *it >= LEAST)
    }

    /// A call has taken this long, and if it was answered, it will again.
    pub(super) fn spend(&mut self, took: Duration, was_answered: bool) {
        let whole = if was_answered {
            took * (1 + AGAIN) + OURS
        } else {
            took
        };
        self.left = self.left.saturating_sub(whole);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ALL_CALLS;

    /// How many calls are made of a server with so many tools that take this long, and how long all of that takes.
    fn played(tools: usize, takes: u64) -> (usize, Duration) {
        let takes = Duration::from_millis(takes);
        let mut patience = super::Patience::of_one_in(1);
        let (mut made, mut all) = (0, Duration::ZERO);
        for _ in 0..tools {
            let Some(limit) = patience.limit() else {
                break;
            };
            let is_answered = takes <= limit;
            patience.spend(takes.min(limit), is_answered);
            all += if is_answered { takes * 4 } else { limit };
            made += usize::from(is_answered);
        }
        (made, all)
    }

    #[test]
    fn whatever_the_tools_take_all_of_it_ends_in_time() {
        for (tools, takes, made) in [
            (3, 900, 1),
            (3, 700, 2),
            (12, 400, 4),
            (200, 5, 200),
            (1, 1_400, 1),
            (5, 30_000, 0),
            (1, 0, 1),
        ] {
            let (calls, all) = played(tools, takes);
            assert_eq!(calls, made, "{tools} tools of {takes} ms");
            assert!(all <= ALL_CALLS, "{tools} tools of {takes} ms: {all:?}");
        }
        let mut shared = super::Patience::of_one_in(10);
        shared.spend(Duration::from_millis(120), true);
        assert_eq!(shared.limit(), None);
    }
}
