//! What a proxy does to the answers of the servers behind it: calls made through it, beside the same calls made straight at those servers.

use std::collections::BTreeMap;

/// What came of the calls of one run, both ways.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Direct {
    /// In the order of the calls behind the proxy.
    pub calls: Vec<DirectCall>,
    /// The tools of the servers behind, in their order.
    pub tools: Vec<DirectTool>,
}

/// One call behind the proxy, and the agent's that caused it.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectCall {
    /// The agent's call: its number from 1, and the full name of its tool.
    pub call: usize,
    pub tool: String,
    /// The server behind, and the tool that was called there.
    pub server: String,
    pub upstream_tool: String,
    /// What the proxy did to the answer, in words; empty where it passed it on as it was, and where another call's answer is what the agent
    /// got.
    pub findings: Vec<String>,
    /// What the agent's call cost, through the proxy.
    pub through: Cost,
    /// What the same cost straight at the server behind.
    pub direct: Cost,
}

/// What one call cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Milliseconds from request to answer; `None` where it was not measured.
    pub ms: Option<f64>,
    /// The answer as JSON, in bytes: through the proxy what the agent got of it, straight what the server behind gave.
    pub bytes: usize,
    /// About how many tokens a model reads of it: a quarter of the characters.
    pub tokens: usize,
}

/// One tool of a server behind the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectTool {
    /// The server behind, and what it calls the tool.
    pub server: String,
    pub tool: String,
    /// What the proxy lists it as; `None` where it does not list it, because it is found or called in another way.
    pub listed_as: Option<String>,
    /// What the proxy did to what is said of it, in words.
    pub findings: Vec<String>,
}

impl Direct {
    /// What all calls cost together, through the proxy and straight. An agent's call counts once, however many calls it became; its time
    /// counts where it was measured both ways.
    pub fn costs(&self) -> (Cost, Cost) {
        let mut by_call: BTreeMap<usize, (Cost, Cost)> = BTreeMap::new();
        for call in &self.calls {
            by_call
                .entry(call.call)
                .and_modify(|(_, direct)| {
                    direct.ms = direct.ms.zip(call.direct.ms).map(|(a, b)| a + b);
                    direct.bytes += call.direct.bytes;
                    direct.tokens += call.direct.tokens;
                })
                .or_insert((call.through, call.direct));
        }
        let mut all = (Cost::default(), Cost::default());
        for (mut through, mut direct) in by_call.into_values() {
            if through.ms.is_none() || direct.ms.is_none() {
                (through.ms, direct.ms) = (None, None);
            }
            all = (all.0.and(through), all.1.and(direct));
        }
        all
    }

    /// How many answers, and tools, were not passed on as they were.
    pub fn changed(&self) -> (usize, usize) {
        let calls = self.calls.iter().filter(|it| !it.findings.is_empty());
        let tools = self.tools.iter().filter(|it| !it.findings.is_empty());
        (calls.count(), tools.count())
    }
}

impl Cost {
    fn and(self, other: Self) -> Self {
        let ms = [self.ms, other.ms].into_iter().flatten();
        Self {
            ms: (self.ms.is_some() || other.ms.is_some()).then(|| ms.sum()),
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }
}
