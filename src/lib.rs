//! mcp-eval tells whether a change broke the way AI agents use their tools.
//!
//! A **scenario** is **run** by an agent against MCP servers; the run leaves a **trajectory**; the trajectory is
//! **compared** with the accepted one of an earlier version; a **report** says what changed and whose doing it is.
//!
//! | floor | module | what lives there |
//! |---|---|---|
//! | 0 | [`model`] | the words above as plain types |
//!
//! Imports only go down, and neighbours never import each other; a test holds that.

pub mod agent;
pub mod git;
pub mod mcp;
pub mod mock;
pub mod model;
pub mod redact;
pub mod run;
pub mod store;
