//! What do mock servers, and stand-ins for models, offer and answer?
//!
//! - `server`: a section of `mcp_interactions`. `resources`, `prompts`: what it offers besides tools.
//! - `responses`: one prepared answer. `condition`: when it is given; `steps`: what happens before; `content`, `data`: what it holds; `fault`:
//!   what goes wrong with it.
//! - `references`: what looks like a reference and is none.
//! - `llm`: the section `llm_interactions`.

pub(super) mod condition;
pub(super) mod content;
pub(super) mod data;
pub(super) mod fault;
pub(super) mod llm;
pub(super) mod prompts;
pub(super) mod references;
pub(super) mod resources;
pub(super) mod responses;
pub(super) mod server;
pub(super) mod steps;
