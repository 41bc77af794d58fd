//! The part of a conversation that an agent with a model has with it: requests, their attempts, and what they use up.

use std::time::Duration;

use super::{Conversation, milliseconds};
use crate::model::usage::{Attempt, ModelRequest, Usage, total_cost, total_usage};
use crate::run::limits::{Budget, SetupError, Stop};
use crate::run::ports::Progress;

impl Conversation<'_> {
    /// Records that the agent asks its model, where it still may.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when no further request is allowed; `max_steps` is the agent's own bound. [`Stop::Error`] when the
    /// budget of the command is spent.
    pub fn ask(&mut self, max_steps: u32) -> Result<(), Stop> {
        let most = self
            .limits
            .max_steps
            .map_or(max_steps, |it| it.min(max_steps));
        if self.requests.len() >= most as usize {
            let whose = if most == max_steps { "agent" } else { "limits" };
            let noun = if most == 1 { "request" } else { "requests" };
            let reached = format!("after {most} {noun} the model was not done");
            return Err(Stop::at_limit(&format!("{whose}.max_steps"), &reached));
        }
        self.budget.map_or(Ok(()), Budget::check)?;
        self.asked_by_itself();
        Ok(())
    }

    /// Records that an agent with a model of its own has made a request.
    pub fn asked_by_itself(&mut self) {
        self.requests.push(ModelRequest {
            after_steps: self.steps.len(),
            ..ModelRequest::default()
        });
        self.observer.progress(Progress::Asking {
            number: self.requests.len(),
        });
    }

    /// Records that an attempt at the latest request begins.
    pub fn attempt(&mut self) {
        let start_ms = milliseconds(self.clock.elapsed());
        if let Some(request) = self.requests.last_mut() {
            request.attempts.push(Attempt {
                start_ms,
                duration_ms: 0.0,
                status: None,
                problem: Some("the run ended before the answer came".to_owned()),
            });
        }
    }

    /// Records how the latest attempt ended, and whether there will be another after a pause.
    pub fn attempted(
        &mut self,
        status: Option<u16>,
        problem: Option<String>,
        pause: Option<Duration>,
    ) {
        let now = milliseconds(self.clock.elapsed());
        let number = self.requests.len();
        if let Some(attempt) = self
            .requests
            .last_mut()
            .and_then(|it| it.attempts.last_mut())
        {
            attempt.duration_ms = ((now - attempt.start_ms) * 10.0).round() / 10.0;
            attempt.status = status;
            attempt.problem = problem;
            if let (Some(pause), Some(problem)) = (pause, &attempt.problem) {
                self.observer.progress(Progress::AskingAgain {
                    number,
                    pause,
                    status,
                    problem,
                });
            }
        }
    }

    /// Records what the latest request was answered.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when the answer goes beyond what the run may use; [`Stop::Error`] when that cannot be
    /// determined.
    pub fn answered(
        &mut self,
        model: Option<String>,
        stop_reason: Option<String>,
        usage: Usage,
        cost: Option<f64>,
    ) -> Result<(), Stop> {
        if let Some(request) = self.requests.last_mut() {
            request.model = model;
            request.stop_reason = stop_reason;
            request.usage = usage;
            request.cost = cost;
        }
        if let Some(budget) = self.budget {
            budget.spend(cost)?;
        }
        self.within_limits(true)
    }

    /// Fails when the requests have used more than the limits allow. The cost is not checked where it is not known yet.
    pub(super) fn within_limits(&self, is_cost_known: bool) -> Result<(), Stop> {
        if let Some(most) = self.limits.max_total_tokens {
            let used = total_usage(&self.requests).and_then(|it| it.total());
            let used =
                used.ok_or_else(|| unknown("limits.max_total_tokens", "how many tokens it used"))?;
            if used > most {
                return Err(Stop::at_limit(
                    "limits.max_total_tokens",
                    &format!("{used} tokens were used of {most}"),
                ));
            }
        }
        if is_cost_known && let Some(most) = self.limits.max_cost {
            let cost = total_cost(&self.requests);
            let cost = cost.ok_or_else(|| unknown("limits.max_cost", "what it cost"))?;
            if cost > most {
                return Err(Stop::at_limit(
                    "limits.max_cost",
                    &format!("the run cost {cost} of {most}"),
                ));
            }
        }
        Ok(())
    }
}

fn unknown(name: &str, what: &str) -> Stop {
    Stop::Error(SetupError::new(format!(
        "`{name}` cannot be kept: the model's answer does not tell {what}"
    )))
}
