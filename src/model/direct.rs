//! What a proxy does to the answers of the servers behind it: calls made through it, beside the same calls made straight at those servers.

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
