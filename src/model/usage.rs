//! The use of a model: its requests, their tokens and their cost.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::{MOST_PLACES, fixed, is_at_most, places_apart, tidy};

/// Tokens, each counted once; null where the API does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "TokenUsage", expecting = "struct TokenUsage")]
pub struct Usage {
    /// Tokens of the request that were neither read from a cache nor written to one.
    #[serde(rename = "input_tokens")]
    pub input: Option<u64>,
    #[serde(rename = "output_tokens")]
    pub output: Option<u64>,
    #[serde(rename = "cache_read_tokens")]
    pub cache_read: Option<u64>,
    #[serde(rename = "cache_write_tokens")]
    pub cache_write: Option<u64>,
}

/// One request to the agent's model, with every attempt it took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// How many of the steps came before it.
    pub after_steps: usize,
    /// The model that answered, as the API names it, or null.
    pub model: Option<String>,
    /// Why the model stopped, in the API's own word, or null.
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// What it cost, in the currency of the scenario's price, or null.
    pub cost: Option<f64>,
    pub attempts: Vec<Attempt>,
}

/// One attempt at a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Milliseconds from the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
    /// The HTTP status; `null` when no response came, or an agent that asks by itself does not tell.
    pub status: Option<u16>,
    /// Why it gave no answer; `null` when it did.
    pub problem: Option<String>,
}

/// What models used in several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalUse {
    /// All requests of all runs together.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// What all requests cost, in the currency of the scenario's price; `null` where that of one is unknown.
    pub cost: Option<f64>,
    /// How many requests were made.
    pub requests: usize,
    /// How many attempts they took.
    pub attempts: usize,
}

/// Tokens, each counted once; `null` where the API does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    #[serde(flatten)]
    pub each: Usage,
    /// The sum of those that are known.
    pub total_tokens: Option<u64>,
}

impl TotalUse {
    /// What is taken where nobody is asked.
    pub const NOTHING: Self = Self {
        tokens: Tokens {
            each: Usage {
                input: None,
                output: None,
                cache_read: None,
                cache_write: None,
            },
            total_tokens: None,
        },
        cost: Some(0.0),
        requests: 0,
        attempts: 0,
    };

    /// What these requests took; `None` where there are none.
    pub fn of(requests: &[ModelRequest]) -> Option<Self> {
        Some(Self {
            tokens: total_usage(requests)?.into(),
            cost: total_cost(requests),
            requests: requests.len(),
            attempts: requests.iter().map(|it| it.attempts.len()).sum(),
        })
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.and(other.tokens),
            cost: self.cost.zip(other.cost).map(|(a, b)| a + b),
            requests: self.requests + other.requests,
            attempts: self.attempts + other.attempts,
        }
    }

    /// Several uses as one; `None` where there are none. The cost is known where each is.
    pub fn sum(uses: impl Iterator<Item = Self>) -> Option<Self> {
        uses.reduce(|a, b| {
            let both = a.and(b);
            Self {
                cost: both.cost.map(tidy),
                ..both
            }
        })
    }

    /// For people: `2 requests, 1234 tokens in, 56 out, cost 0.0045`.
    pub fn words(&self) -> String {
        let count = self.requests;
        let noun = if count == 1 { "request" } else { "requests" };
        let again = match self.attempts.saturating_sub(count) {
            0 => String::new(),
            1 => " (1 more attempt)".to_owned(),
            again => format!(" ({again} more attempts)"),
        };
        let mut words = format!("{count} {noun}{again}, {}", self.tokens.words());
        if let Some(cost) = self.cost {
            let _ = write!(words, ", cost {}", cost_words(cost));
        }
        words
    }
}

impl Tokens {
    /// The tokens of both; what one of them does not know counts as none there.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            each: self.each.and(other.each),
            total_tokens: sum([self.total_tokens, other.total_tokens]),
        }
    }

    /// For people: `1234 tokens in, 56 out, 200 from cache`.
    pub fn words(&self) -> String {
        let number = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |it| it.to_string());
        let mut words = format!(
            "{} tokens in, {} out",
            number(self.each.input),
            number(self.each.output)
        );
        for (tokens, how) in [
            (self.each.cache_read, "from cache"),
            (self.each.cache_write, "to cache"),
        ] {
            if let Some(tokens) = tokens.filter(|it| *it > 0) {
                let _ = write!(words, ", {tokens} {how}");
            }
        }
        words
    }
}

impl From<Usage> for Tokens {
    fn from(it: Usage) -> Self {
        Self {
            each: it,
            total_tokens: it.total(),
        }
    }
}

impl Usage {
    /// All tokens; `None` when nothing is known.
    pub fn total(&self) -> Option<u64> {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        sum(parts)
    }

    /// The tokens of both; what one of them does not know counts as none there.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input: sum([self.input, other.input]),
            output: sum([self.output, other.output]),
            cache_read: sum([self.cache_read, other.cache_read]),
            cache_write: sum([self.cache_write, other.cache_write]),
        }
    }

    /// What it costs; `None` unless input and output are known.
    pub fn cost(&self, price: &Price) -> Option<f64> {
        let cache_read = price.cache_read.unwrap_or(price.input);
        let cache_write = price.cache_write.unwrap_or(price.input);
        let millionths = tokens(self.input?) * price.input
            + tokens(self.output?) * price.output
            + tokens(self.cache_read.unwrap_or(0)) * cache_read
            + tokens(self.cache_write.unwrap_or(0)) * cache_write;
        Some(millionths / 1e6)
    }
}

/// The sum of what is known; `None` when nothing is.
fn sum<const N: usize>(parts: [Option<u64>; N]) -> Option<u64> {
    let known = parts.into_iter().flatten();
    known.reduce(u64::saturating_add)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody uses so many tokens that a double could not count them"
)]
/// A number of tokens to reckon with.
pub fn tokens(count: u64) -> f64 {
    count as f64
}

/// The usage of all requests; `None` where there are none.
pub fn total_usage(requests: &[ModelRequest]) -> Option<Usage> {
    requests.iter().map(|it| it.usage).reduce(Usage::and)
}

/// The cost of all requests; `None` where there are none, or that of one is unknown.
pub fn total_cost(requests: &[ModelRequest]) -> Option<f64> {
    let costs: Option<Vec<f64>> = requests.iter().map(|it| it.cost).collect();
    costs.filter(|it| !it.is_empty()).map(|it| it.iter().sum())
}

/// A sum of money for people: to four places, or, where that would hide it, to two digits that are not 0.
pub fn cost_words(cost: f64) -> String {
    fixed(cost, cost_places(cost))
}

fn cost_places(cost: f64) -> usize {
    let places = match cost {
        0.001.. => 4,
        _ => (4..20).find(|it| cost >= 10_f64.powi(1 - it)).unwrap_or(4),
    };
    usize::try_from(places).unwrap_or(4)
}

/// Two sums of money that are compared, with as many places as it takes to tell them apart, and to tell neither as far from what it is as they
/// are from each other.
pub fn costs_apart(a: f64, b: f64) -> [String; 2] {
    let few = cost_places(a).max(cost_places(b));
    let far = |it: f64, places: usize| {
        let shown = fixed(it, places).parse().unwrap_or(it);
        (shown - it).abs() >= (a - b).abs() / 2.0
    };
    let places = places_apart(a, b, few);
    let enough = (places..MOST_PLACES).find(|it| !far(a, *it) && !far(b, *it));
    let places = if is_at_most(a, b) && is_at_most(b, a) {
        few
    } else {
        enough.unwrap_or(places)
    };
    [fixed(a, places), fixed(b, places)]
}

/// What a million tokens cost, in whatever currency the scenario counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// As `input` unless given.
    pub cache_read: Option<f64>,
    /// As `input` unless given.
    pub cache_write: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::Price;
    use super::{Usage, cost_words, costs_apart};

    #[test]
    fn what_is_unknown_is_not_zero() {
        let nothing = Usage::default();
        let some = Usage {
            input: Some(1_000_000),
            output: Some(500_000),
            cache_read: Some(2_000_000),
            cache_write: None,
        };
        assert_eq!(nothing.total(), None);
        assert_eq!(some.total(), Some(3_500_000));
        assert_eq!(nothing.and(some), some);
        assert_eq!(some.and(some).input, Some(2_000_000));
        let price = Price {
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.5),
            cache_write: None,
        };
        assert_eq!(nothing.cost(&price), None);
        assert_eq!(some.cost(&price), Some(11.5));
    }

    #[test]
    fn small_sums_are_not_shown_as_zero() {
        let cases = [
            (0.0, "0.0000"),
            (12.5, "12.5000"),
            (0.0045, "0.0045"),
            (0.000_42, "0.00042"),
            (0.000_042, "0.000042"),
            (0.000_000_001, "0.0000000010"),
        ];
        for (cost, words) in cases {
            assert_eq!(cost_words(cost), words);
        }
    }

    #[test]
    fn sums_that_are_compared_are_distinguishable() {
        for (a, b, words) in [
            (0.00135, 0.00134, ["0.00135", "0.00134"]),
            (0.00136, 0.00135, ["0.00136", "0.00135"]),
            (0.001_000_04, 0.000_999_96, ["0.00100004", "0.00099996"]),
            (0.12, 0.1, ["0.1200", "0.1000"]),
            (0.1, 0.1, ["0.1000", "0.1000"]),
        ] {
            assert_eq!(costs_apart(a, b), words);
        }
    }
}
