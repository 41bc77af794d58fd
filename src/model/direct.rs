//! The effect of a proxy on upstream answers: calls made through it, next to the same calls made straight to the upstream servers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls of one run, each made through the servers under test and once more straight at the server behind that it arrived at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Direct {
    /// The calls that arrived behind, in order.
    pub calls: Vec<DirectCall>,
    /// The tools of the servers behind, in their order.
    pub tools: Vec<DirectTool>,
    /// What all calls cost together. A call of the agent counts once, however many calls it became; its time counts where it was measured
    /// both ways.
    pub totals: DirectTotals,
}

/// What all calls cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectTotals {
    /// Through the servers under test.
    pub through: Cost,
    /// Straight at the servers behind.
    pub straight: Cost,
}

/// One call behind the servers under test, and the agent's that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectCall {
    /// The number of the agent's call in the run.
    pub call: usize,
    /// The full name of the agent's tool.
    pub tool: String,
    /// The server behind.
    pub server: String,
    /// The tool's name there.
    pub upstream_tool: String,
    /// What became of the answer on its way, a sentence each; empty where it was passed on as it was, and where the agent got the answer of
    /// another call.
    pub findings: Vec<String>,
    /// What the agent's call cost.
    pub through: Cost,
    /// What the call cost straight at the server behind.
    pub straight: Cost,
}

/// What calls cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Milliseconds from request to answer; `null` where it was not measured.
    pub ms: Option<f64>,
    /// The answer as JSON, in bytes.
    pub bytes: usize,
    /// About how many tokens a model reads of it: a quarter of the characters.
    pub tokens: usize,
}

/// One tool of a server behind those under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectTool {
    /// The server behind.
    pub server: String,
    /// The tool's name there.
    pub tool: String,
    /// What the servers under test list it as; `null` where they do not list it, because it is found or called in another way.
    pub listed_as: Option<String>,
    /// What they changed in what is said of it, a sentence each; empty where nothing.
    pub findings: Vec<String>,
}

impl Cost {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let ms = [self.ms, other.ms].into_iter().flatten();
        Self {
            ms: ms.reduce(|a, b| a + b),
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }
}

impl Direct {
    /// The calls and the tools, with what the calls cost together.
    pub fn new(calls: Vec<DirectCall>, tools: Vec<DirectTool>) -> Self {
        Self {
            totals: DirectTotals::of(&calls),
            calls,
            tools,
        }
    }
}

impl DirectTotals {
    /// What these calls cost together.
    pub fn of<'c>(calls: impl IntoIterator<Item = &'c DirectCall>) -> Self {
        let mut by_call: BTreeMap<usize, Self> = BTreeMap::new();
        for call in calls {
            let made = Self {
                through: call.through,
                straight: call.straight,
            };
            by_call
                .entry(call.call)
                .and_modify(|it| {
                    let ms = it.straight.ms.zip(made.straight.ms);
                    it.straight = it.straight.and(made.straight);
                    it.straight.ms = ms.map(|(a, b)| a + b);
                })
                .or_insert(made);
        }
        by_call.into_values().fold(Self::default(), |all, mut it| {
            if it.through.ms.is_none() || it.straight.ms.is_none() {
                (it.through.ms, it.straight.ms) = (None, None);
            }
            Self {
                through: all.through.and(it.through),
                straight: all.straight.and(it.straight),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, DirectCall, DirectTotals};

    fn call(call: usize, through: Option<f64>, straight: Option<f64>) -> DirectCall {
        let cost = |ms| Cost {
            ms,
            bytes: 10,
            tokens: 3,
        };
        DirectCall {
            call,
            tool: "mcp__proxy__files__read".to_owned(),
            server: "files".to_owned(),
            upstream_tool: "read".to_owned(),
            findings: Vec::new(),
            through: cost(through),
            straight: cost(straight),
        }
    }

    #[test]
    fn an_agents_call_counts_once_and_its_time_where_it_is_known_both_ways() {
        let cost = |ms, count: usize| Cost {
            ms,
            bytes: 10 * count,
            tokens: 3 * count,
        };
        let calls = [
            call(1, Some(8.0), Some(1.0)),
            call(2, Some(4.0), Some(1.0)),
            call(1, Some(8.0), Some(2.0)),
            call(3, Some(16.0), None),
            call(3, Some(16.0), Some(2.0)),
            call(4, None, Some(2.0)),
        ];
        let totals = DirectTotals::of(&calls);
        assert_eq!(totals.through, cost(Some(12.0), 4));
        assert_eq!(totals.straight, cost(Some(4.0), 6));
        assert_eq!(DirectTotals::of(&[]), DirectTotals::default());
    }
}
