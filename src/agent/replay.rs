//! Plays the calls of a recorded trajectory again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::model::Object;
use crate::model::rules::Rules;
use crate::model::scenario::{Pace, Replaying};
use crate::model::trajectory::{Answer, Ending, Outcome, Step, ToolCall, Trajectory};
use crate::redact::Redactor;
use crate::run::{Agent, Conversation, Stop};
use crate::score::{self, IdTranslation, Poll};

/// How long a poll waits before it asks again: at first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What a secret was replaced by when the baseline was recorded.
const PLACEHOLDER: &str = "<redacted:";

/// An agent that asks what a baseline asked, with the values its own server gives where the baseline's calls used values of theirs.
///
/// Whatever comes back, it goes on: it is to show all that changed.
pub struct Replay {
    baseline: Arc<Trajectory>,
    settings: Replaying,
    rules: Rules,
    redactor: Redactor,
    /// The live answer to each recorded call, by its number less one; `None` without an answer.
    answers: Vec<Option<Answered>>,
    /// Pairs of a recorded value and the live one that stands for it.
    followed: Vec<(Value, Value)>,
    notes: Vec<String>,
}

/// A live answer, as it came and as it will be stored: only the latter can be compared with a recorded one.
#[derive(Debug, Clone)]
struct Answered {
    raw: Answer,
    told: Answer,
}

impl Replay {
    /// An agent that plays this baseline, whose bindings are those to follow.
    ///
    /// `rules` tell which calls only read. The redactor must be fresh, and hide what the run's own hides.
    pub fn new(
        baseline: Arc<Trajectory>,
        settings: Replaying,
        rules: Rules,
        redactor: Redactor,
    ) -> Self {
        Self {
            baseline,
            settings,
            rules,
            redactor,
            answers: Vec::new(),
            followed: Vec::new(),
            notes: Vec::new(),
        }
    }

    async fn play(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        let baseline = Arc::clone(&self.baseline);
        let polls = score::polls(&baseline, &self.rules);
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
                    let poll = polls
                        .iter()
                        .find(|it| (it.first..=it.last).contains(&number));
                    if poll.is_some_and(|it| number > it.first) {
                        continue;
                    }
                    pace.wait(call).await;
                    let arguments = self.arguments(number, call);
                    let asked = Asked {
                        server,
                        call,
                        arguments,
                        poll: poll.copied(),
                    };
                    let outcomes = self.ask(conversation, &asked).await?;
                    let last = asked.poll.map_or(number, |it| it.last);
                    pace.answered(baseline.calls().nth(last - 1));
                    last_failed = outcomes.raw.is_failure();
                    let answer = outcomes.answered();
                    self.answers.resize(last, answer);
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

    /// The arguments of a call with what its bindings take from the live answers.
    fn arguments(&mut self, number: usize, call: &ToolCall) -> Object {
        let baseline = Arc::clone(&self.baseline);
        let mut arguments = call.arguments.clone();
        for binding in baseline.bindings.iter().filter(|it| it.call == number) {
            let live = self.answers.get(binding.from.call.wrapping_sub(1));
            let recorded = baseline.calls().nth(binding.from.call.wrapping_sub(1));
            let values = match (recorded.map(|it| &it.outcome), live) {
                (Some(Outcome::Answer(recorded)), Some(Some(live))) => {
                    let told = score::resolve(binding, recorded, &live.told);
                    score::resolve(binding, recorded, &live.raw).zip(told)
                }
                _ => None,
            };
            match values {
                Some((value, told)) => {
                    score::fill(&mut arguments, binding, &value);
                    self.followed.push((binding.value.clone(), told));
                }
                None => self.notes.push(format!(
                    "{binding}: the answer has no such value now, so the recorded one was used"
                )),
            }
        }
        if Value::from(arguments.clone())
            .to_string()
            .contains(PLACEHOLDER)
        {
            self.notes.push(format!(
                "call {number} of `{}` was recorded without its secret, and is replayed with the placeholder",
                call.full_name()
            ));
        }
        arguments
    }

    /// Makes a call; a poll is made until it has its recorded final answer, at most for the poll timeout.
    async fn ask(
        &mut self,
        conversation: &mut Conversation<'_>,
        asked: &Asked<'_>,
    ) -> Result<Outcomes, Stop> {
        let tool = &asked.call.tool;
        let started = Instant::now();
        let mut attempts = 1;
        let mut pause = match self.settings.pace {
            Pace::Fast => FIRST_WAIT,
            Pace::Recorded => asked.poll.map_or(FIRST_WAIT, |it| self.recorded_pause(it)),
        };
        loop {
            let call = conversation
                .call_on(asked.server, tool, asked.arguments.clone())
                .await?;
            let mut told = call.clone();
            let raw = call.outcome.clone();
            self.redactor.call(&mut told);
            let outcomes = Outcomes {
                raw,
                told: told.outcome,
            };
            let Some(poll) = asked.poll else {
                return Ok(outcomes);
            };
            let translation = IdTranslation::new(self.followed.iter().map(|(was, now)| (was, now)));
            if score::has_settled(
                &self.baseline,
                &self.rules,
                poll,
                &outcomes.told,
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

/// A recorded call to make again.
struct Asked<'a> {
    server: &'a str,
    call: &'a ToolCall,
    arguments: Object,
    poll: Option<Poll>,
}

/// What became of a call, as it came and as it will be stored.
struct Outcomes {
    raw: Outcome,
    told: Outcome,
}

impl Outcomes {
    fn answered(self) -> Option<Answered> {
        match (self.raw, self.told) {
            (Outcome::Answer(raw), Outcome::Answer(told)) => Some(Answered { raw, told }),
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
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(self.play(conversation))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
