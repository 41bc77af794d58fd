//! The part of a conversation with an agent that asks its model by itself: records the requests that it reports.

use std::time::Duration;

use super::{Conversation, milliseconds};
use crate::model::number::tidy;
use crate::model::usage::Price;
use crate::model::usage::{Attempt, ModelRequest, Usage, tokens, total_cost, total_usage};
use crate::run::limits::Stop;
use crate::run::ports::Progress;

/// A request to its model that an agent has reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedRequest {
    /// Its index among the requests.
    index: usize,
}

impl Conversation<'_> {
    /// Records that a request of the agent's, begun at most `ago`, gave no answer and is made again after a pause.
    pub fn report_failure(
        &mut self,
        ago: Duration,
        status: Option<u16>,
        problem: String,
        pause: Option<Duration>,
    ) {
        if !self.is_asking_again() {
            self.asked_by_itself();
        }
        self.observer.progress(Progress::AskingAgain {
            number: self.requests.len(),
            pause: pause.unwrap_or_default(),
            status,
            problem: &problem,
        });
        self.push_attempt(ago, status, Some(problem));
    }

    /// Records that a request of the agent's, begun at most `ago`, is being answered.
    pub fn report_request(&mut self, ago: Duration) -> ReportedRequest {
        if !self.is_asking_again() {
            self.asked_by_itself();
        }
        self.push_attempt(ago, None, None);
        ReportedRequest {
            index: self.requests.len() - 1,
        }
    }

    /// Records all that is known of an answer by now; without a price, its cost stays unknown until [`Conversation::report_total`].
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when the run has used more than it may; [`Stop::Error`] when that cannot be determined, or the budget of
    /// the command is spent.
    pub fn report_answer(
        &mut self,
        request: ReportedRequest,
        model: Option<String>,
        stop_reason: Option<String>,
        usage: Usage,
        price: Option<&Price>,
    ) -> Result<(), Stop> {
        let known = &mut self.requests[request.index];
        known.model = model;
        known.stop_reason = stop_reason;
        known.usage = usage;
        known.cost = price.and_then(|it| usage.cost(it));
        self.used(price.is_some())
    }

    /// Records what all the agent's requests took together, including those that it has not reported. `cost` is the agent's own figure,
    /// which counts only where no price is known.
    ///
    /// # Errors
    ///
    /// As [`Conversation::report_answer`].
    pub fn report_total(
        &mut self,
        usage: Usage,
        cost: Option<f64>,
        price: Option<&Price>,
    ) -> Result<(), Stop> {
        settle(&mut self.requests, self.steps.len(), usage, cost, price);
        self.used(true)
    }

    /// Whether the latest request waits for an answer after an attempt that gave none.
    fn is_asking_again(&self) -> bool {
        let attempt = self.requests.last().and_then(|it| it.attempts.last());
        attempt.is_some_and(|it| it.problem.is_some())
    }

    fn push_attempt(&mut self, ago: Duration, status: Option<u16>, problem: Option<String>) {
        let begun = self.clock.elapsed().saturating_sub(ago);
        if let Some(request) = self.requests.last_mut() {
            request.attempts.push(Attempt {
                start_ms: milliseconds(begun),
                duration_ms: milliseconds(ago),
                status,
                problem,
            });
        }
    }

    /// Counts the cost against the budget and the limits.
    fn used(&mut self, is_cost_known: bool) -> Result<(), Stop> {
        if is_cost_known && let Some(budget) = self.budget {
            let cost = total_cost(&self.requests);
            budget.spend(cost.map(|it| it - self.spent))?;
            self.spent = cost.unwrap_or(self.spent);
            budget.check()?;
        }
        self.within_limits(is_cost_known)
    }
}

/// Makes the requests add up to their total. If more input tokens were used than reported, there was one more request; what else is
/// missing belongs to the last one, which was reported before it was complete. A cost that is only known in sum is shared out by tokens.
fn settle(
    requests: &mut Vec<ModelRequest>,
    after_steps: usize,
    total: Usage,
    cost: Option<f64>,
    price: Option<&Price>,
) {
    let known = total_usage(requests).unwrap_or_default();
    let rest = |total: Option<u64>, known: Option<u64>| {
        let rest = total?.saturating_sub(known.unwrap_or(0));
        (rest > 0).then_some(rest)
    };
    let rest = Usage {
        input: rest(total.input, known.input),
        output: rest(total.output, known.output),
        cache_read: rest(total.cache_read, known.cache_read),
        cache_write: rest(total.cache_write, known.cache_write),
    };
    let is_unreported = rest
        .input
        .or(rest.cache_read)
        .or(rest.cache_write)
        .is_some();
    match requests.last_mut() {
        Some(last) if !is_unreported => last.usage = last.usage.and(rest),
        _ if rest.total().is_none() => {}
        _ => requests.push(ModelRequest {
            after_steps,
            usage: Usage {
                input: rest.input.or(Some(0)),
                output: rest.output.or(Some(0)),
                ..rest
            },
            ..ModelRequest::default()
        }),
    }
    if let Some(price) = price {
        for request in requests {
            request.cost = request.usage.cost(price);
        }
    } else if let Some(cost) = cost {
        share_out(requests, cost);
    }
}

/// Shares a cost out by tokens. The last request has what is left, so that the sum is the cost.
fn share_out(requests: &mut [ModelRequest], cost: f64) {
    let all = total_usage(requests).and_then(|it| it.total());
    let all = tokens(all.unwrap_or(0).max(1));
    let Some((last, others)) = requests.split_last_mut() else {
        return;
    };
    let mut left = cost;
    for request in others {
        let part = cost * tokens(request.usage.total().unwrap_or(0)) / all;
        request.cost = Some(part);
        left -= part;
    }
    last.cost = Some(tidy(left));
}

#[cfg(test)]
mod tests {
    use super::settle;
    use crate::model::usage::Price;
    use crate::model::usage::{ModelRequest, Usage, total_cost, total_usage};

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input: Some(input),
            output: Some(output),
            ..Usage::default()
        }
    }

    fn requests_after(reported: &[Usage], total: Usage, price: Option<Price>) -> Vec<ModelRequest> {
        let requests = reported.iter().map(|usage| ModelRequest {
            after_steps: 1,
            model: Some("m".to_owned()),
            stop_reason: None,
            usage: *usage,
            cost: None,
            attempts: Vec::new(),
        });
        let mut requests = requests.collect();
        settle(&mut requests, 9, total, Some(0.5), price.as_ref());
        requests
    }

    #[test]
    fn requests_add_up_to_what_they_took_together() {
        let reported = [usage(100, 1), usage(300, 99)];
        let cases = [
            // All was reported.
            (
                &reported[..],
                usage(400, 100),
                vec![usage(100, 1), usage(300, 99)],
            ),
            // The last answer was reported before it was complete.
            (
                &reported,
                usage(400, 150),
                vec![usage(100, 1), usage(300, 149)],
            ),
            // There was one more request than reported.
            (
                &reported,
                usage(900, 150),
                vec![usage(100, 1), usage(300, 99), usage(500, 50)],
            ),
            // Nothing was reported.
            (&[], usage(400, 0), vec![usage(400, 0)]),
            (&[], Usage::default(), vec![]),
            (&[], usage(0, 0), vec![]),
            // More was reported than the total contains.
            (
                &reported,
                usage(100, 1),
                vec![usage(100, 1), usage(300, 99)],
            ),
        ];
        for (reported, total, expected) in cases {
            let requests = requests_after(reported, total, None);
            let usages: Vec<Usage> = requests.iter().map(|it| it.usage).collect();
            assert_eq!(usages, expected);
            let cost = total_cost(&requests);
            assert_eq!(cost.is_some(), !requests.is_empty());
            assert!(cost.is_none_or(|it| (it - 0.5).abs() < 1e-9), "{cost:?}");
            assert_eq!(total_usage(&requests).is_some(), !requests.is_empty());
        }
        let first = requests_after(&reported, usage(400, 100), None)[0]
            .cost
            .unwrap();
        assert!((first - 0.5 * 101.0 / 500.0).abs() < 1e-9, "{first}");
    }

    #[test]
    fn a_price_counts_more_than_the_agents_reckoning() {
        let price = Price {
            input: 1e6,
            output: 2e6,
            cache_read: None,
            cache_write: None,
        };
        let requests = requests_after(&[usage(1, 1)], usage(1, 3), Some(price));
        assert_eq!(requests[0].cost, Some(7.0));
    }
}
