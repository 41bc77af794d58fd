//! Turning a document into a scenario.
//!
//! - `from_document`: the scenario as a whole, and its agent.
//! - `measurement`: what it measures, where it is about no conversation.
//! - `hash`: what tells one experiment from another. `shown`: what of it may hold secrets. `needs`: the servers it may need.

pub(super) mod from_document;
pub(super) mod hash;
mod measurement;
pub(super) mod needs;
mod shown;
