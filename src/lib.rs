//! mcp-eval tells whether a change broke the way AI agents use their tools.
//!
//! A **scenario** is **run** by an agent against MCP servers; the run leaves a **trajectory**; the trajectory is
//! **compared** with the accepted one of an earlier version; a **report** says what changed and whose doing it is.
//!
//! | floor | module | what lives there |
//! |---|---|---|
//! | 0 | [`model`] | the words above as plain types |
//! | 1 | [`score`] | pure: similarity, alignment, responses, drift, verdict |
//!
//! Imports only go down, and neighbours never import each other; a test holds that.

pub mod model;
pub mod score;
