//! Plays the calls of a recorded trajectory again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::digits;
use crate::model::rules::Rules;
use crate::model::{Answer, Ending, Object, Outcome, Redacted, Step, ToolCall, Trajectory};
use crate::model::{placeholder, texts};
use crate::redact::{Redactor, Secrets, Unknown};
use crate::run::{Agent, Conversation, Driving, SetupError, Stop};
use crate::scenario_file::agent::{Pace, Replaying};
use crate::score::{self, IdTranslation, Poll};

/// How long a poll waits before it asks again: at first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// An agent that asks what a baseline asked, with the values its own server gives where the baseline's calls used values of theirs.
///
/// It goes on whatever the answers are, to show all that changed.
pub struct Replay {
    baseline: Arc<Redacted<Trajectory>>,
    settings: Replaying,
    rules: Rules,
    redactor: Redactor,
    /// What was taken out of the baseline's calls and is put back into them.
    secrets: Secrets,
    /// The answers to the recorded calls, by their numbers, that later calls take values from.
    answers: HashMap<usize, Answered>,
    /// Pairs of a recorded value and the live one that stands for it.
    followed: Vec<(Value, Value)>,
    notes: Vec<String>,
}

/// A live answer, as it came and as it will be stored, beside the recorded one: only the stored form can be compared with that.
#[derive(Debug)]
struct Answered {
    raw: Answer,
    redacted: Answer,
    recorded: Answer,
}

impl Replay {
    /// An agent that plays this baseline, whose bindings are those to follow.
    ///
    /// `rules` tell which calls only read. The redactor must be fresh, and hide what the run's own hides.
    pub fn new(
        baseline: Arc<Redacted<Trajectory>>,
        settings: Replaying,
        rules: Rules,
        redactor: Redactor,
        secrets: Secrets,
    ) -> Self {
        Self {
            baseline,
            settings,
            rules,
            redactor,
            secrets,
            answers: HashMap::new(),
            followed: Vec::new(),
            notes: Vec::new(),
        }
    }

    async fn play(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        let baseline = Arc::clone(&self.baseline);
        let polls = score::polls(&baseline, &self.rules);
        let calls: Vec<&ToolCall> = baseline.calls().collect();
        let sources: HashSet<usize> = baseline.bindings.iter().map(|it| it.from.call).collect();
        let mut other_tools = BTreeSet::new();
        let mut number = 0;
        let mut last_failed = false;
        let mut pace = Gaps::new(self.settings.pace);
        for step in &baseline.steps {
            match step {
                Step::User { text } => {
                    self.redactor.text(text);
                    conversation.user(text);
                }
                Step::Assistant { text } => {
                    self.redactor.text(text);
                    conversation.assistant(text);
                }
                Step::ToolCall(call) => {
                    let Some(server) = &call.server else {
                        other_tools.insert(format!("`{}`", call.tool));
                        continue;
                    };
                    number += 1;
                    // The answers of a poll before its last one are made by the poll itself.
                    let poll = polls.get(polls.partition_point(|it| it.last < number));
                    let poll = poll.filter(|it| it.first <= number);
                    if poll.is_some_and(|it| number > it.first) {
                        continue;
                    }
                    pace.wait(call).await;
                    let arguments = self.arguments(number, call)?;
                    let asked = Asked {
                        number,
                        server,
                        call,
                        arguments,
                        poll: poll.copied(),
                    };
                    let outcomes = self.ask(conversation, &asked).await?;
                    let last = asked.poll.map_or(number, |it| it.last);
                    pace.answered(calls.get(last - 1).copied());
                    last_failed = outcomes.raw.is_failure();
                    for source in (number..=last).filter(|it| sources.contains(it)) {
                        let answered = outcomes.answered(calls[source - 1]);
                        self.answers.extend(answered.map(|it| (source, it)));
                    }
                }
            }
        }
        if !other_tools.is_empty() {
            let names: Vec<String> = other_tools.into_iter().collect();
            self.notes.push(format!(
                "not replayed, because they are no MCP tools: {}",
                names.join(", ")
            ));
        }
        match &baseline.ending {
            Ending::Blocked { message } if last_failed => Err(Stop::Blocked {
                message: message.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The arguments of a call with what its bindings take from the live answers, or why it cannot be made.
    ///
    /// # Errors
    ///
    /// When it holds a secret whose value nobody knows.
    fn arguments(
        &mut self,
        number: usize,
        call: &ToolCall,
    ) -> Result<Result<Object, String>, Stop> {
        let baseline = Arc::clone(&self.baseline);
        let mut lacks_secret = false;
        let mut arguments = call.arguments.clone();
        digits::put_into(&mut arguments, &call.digits);
        let first = baseline.bindings.partition_point(|it| it.call < number);
        let of_call = baseline.bindings[first..].iter();
        for binding in of_call.take_while(|it| it.call == number) {
            let values = self.answers.get(&binding.from.call).and_then(|it| {
                let raw = score::resolve(binding, &it.recorded, &it.raw)?;
                Some((raw, score::resolve(binding, &it.recorded, &it.redacted)?))
            });
            match values {
                Some((value, redacted)) => {
                    // A secret that has a name is one token there, whatever its value is made of. Else what a server says now stands for
                    // itself, whatever it looks like.
                    let value = if self
                        .secrets
                        .can_restore(&redacted, call.server.as_deref().unwrap_or_default())
                    {
                        redacted.clone()
                    } else {
                        escaped(value)
                    };
                    score::fill(&mut arguments, binding, &value);
                    self.followed.push((binding.value.clone(), redacted));
                }
                // There is no other: what was recorded of a secret cannot be sent.
                None if placeholder::holds_any(&binding.value) => lacks_secret = true,
                None => self.notes.push(format!(
                    "{binding}: the answer has no such value now, so the recorded one was used"
                )),
            }
        }
        match self
            .secrets
            .restore(&mut arguments, call.server.as_deref().unwrap_or_default())
        {
            Ok(()) => Ok(Ok(arguments)),
            // The server gave it when the baseline was recorded; that it does not now is a finding.
            Err(unknown) if lacks_secret => Ok(Err(format!(
                "the secret `{}` that it takes from an earlier answer is not in that answer now",
                unknown.placeholder
            ))),
            Err(unknown) => Err(Self::cannot_be_known(number, call, unknown)),
        }
    }

    fn cannot_be_known(number: usize, call: &ToolCall, unknown: Unknown) -> Stop {
        Stop::Error(SetupError {
            message: format!(
                "call {number} of `{}` was recorded with a secret whose value is now unknown: `{}`",
                call.full_name(),
                unknown.placeholder
            ),
            details: vec![unknown.hint],
            trouble: None,
        })
    }

    /// Makes a call; a poll is made until it has its recorded final answer, at most for the poll timeout.
    async fn ask(
        &mut self,
        conversation: &mut Conversation<'_>,
        asked: &Asked<'_>,
    ) -> Result<Outcomes, Stop> {
        let restored = self.secrets.restore_text(&asked.call.tool, asked.server);
        let tool = &restored
            .map_err(|unknown| Self::cannot_be_known(asked.number, asked.call, unknown))?;
        let started = Instant::now();
        let mut attempts = 1;
        let mut pause = match self.settings.pace {
            Pace::Fast => FIRST_WAIT,
            Pace::Recorded => asked.poll.map_or(FIRST_WAIT, |it| self.recorded_pause(it)),
        };
        loop {
            let call = match &asked.arguments {
                Ok(arguments) => {
                    conversation
                        .call_on(asked.server, tool, arguments.clone())
                        .await?
                }
                Err(why) => {
                    let recorded = asked.call.arguments.clone();
                    conversation
                        .leave_out(asked.server, tool, recorded, why, &[])
                        .await?
                }
            };
            let raw = call.outcome.clone();
            let redacted = self.redactor.call(call.clone()).into_inner();
            let outcomes = Outcomes {
                raw,
                redacted: redacted.outcome,
            };
            let Some(poll) = asked.poll else {
                return Ok(outcomes);
            };
            let translation = IdTranslation::new(self.followed.iter().map(|(was, now)| (was, now)));
            if score::is_final_answer(
                &self.baseline,
                &self.rules,
                poll,
                &outcomes.redacted,
                &translation,
            ) {
                return Ok(outcomes);
            }
            let left = self.settings.poll_timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                self.notes.push(format!(
                    "call {} of `{}` was asked {attempts} times within {:?} and never gave its recorded final answer",
                    poll.last,
                    asked.call.full_name(),
                    self.settings.poll_timeout
                ));
                return Ok(outcomes);
            }
            sleep(pause.min(left)).await;
            attempts += 1;
            if self.settings.pace == Pace::Fast {
                pause = (pause * 2).min(LONGEST_WAIT);
            }
        }
    }

    /// The mean pause between the calls of a recorded poll.
    fn recorded_pause(&self, poll: Poll) -> Duration {
        let calls: Vec<&ToolCall> = self.baseline.calls().collect();
        let (first, last) = (calls[poll.first - 1], calls[poll.last - 1]);
        let busy: Option<f64> = calls[poll.first - 1..poll.last - 1]
            .iter()
            .map(|it| it.duration_ms)
            .sum();
        let pauses = u32::try_from(poll.last - poll.first).unwrap_or(1);
        let all = first.start_ms.zip(last.start_ms).zip(busy);
        let all = all.and_then(|((first, last), busy)| milliseconds(last - first - busy));
        all.map_or(FIRST_WAIT, |it| (it / pauses).max(FIRST_WAIT))
    }
}

/// A value in which nothing is taken for a placeholder.
fn escaped(mut value: Value) -> Value {
    texts::each_mut(&mut value, &mut |text| {
        *text = placeholder::escaped(text).into_owned();
    });
    value
}

/// A recorded call to make again.
struct Asked<'a> {
    number: usize,
    server: &'a str,
    call: &'a ToolCall,
    /// Or why the call cannot be made.
    arguments: Result<Object, String>,
    poll: Option<Poll>,
}

/// What became of a call, as it came and as it will be stored.
struct Outcomes {
    raw: Outcome,
    redacted: Outcome,
}

impl Outcomes {
    fn answered(&self, recorded: &ToolCall) -> Option<Answered> {
        match (&self.raw, &self.redacted, &recorded.outcome) {
            (Outcome::Answer(raw), Outcome::Answer(redacted), Outcome::Answer(recorded)) => {
                Some(Answered {
                    raw: score::read_answer(raw),
                    redacted: score::read_answer(redacted),
                    recorded: score::read_answer(recorded),
                })
            }
            _ => None,
        }
    }
}

/// Keeps the recorded gaps between calls, where that is wanted.
struct Gaps {
    pace: Pace,
    /// When the recorded call before ended, in milliseconds from the start of the recorded run.
    recorded_end: Option<f64>,
    live_end: Instant,
}

impl Gaps {
    fn new(pace: Pace) -> Self {
        Self {
            pace,
            recorded_end: None,
            live_end: Instant::now(),
        }
    }

    /// Waits until as much time has passed since the last answer as had when the call was recorded.
    async fn wait(&self, next: &ToolCall) {
        let gap = next.start_ms.zip(self.recorded_end);
        let gap = gap.and_then(|(start, end)| milliseconds(start - end));
        if let (Pace::Recorded, Some(gap)) = (self.pace, gap) {
            tokio::time::sleep_until(self.live_end + gap).await;
        }
    }

    fn answered(&mut self, call: Option<&ToolCall>) {
        let end = call.and_then(|it| it.start_ms.zip(it.duration_ms));
        self.recorded_end = end.map(|(start, duration)| start + duration);
        self.live_end = Instant::now();
    }
}

/// A time that may come from a file; `None` for one that is none, or longer than a day.
fn milliseconds(time: f64) -> Option<Duration> {
    let day = 24.0 * 60.0 * 60.0 * 1000.0;
    (0.0..day)
        .contains(&time)
        .then(|| Duration::from_secs_f64(time / 1000.0))
}

impl Agent for Replay {
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a> {
        Box::pin(self.play(conversation))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
