//! Calls behind the server under test: the same calls of the agent have to become the same calls there.
//!
//! They are compared as a lane of their own, beneath the agent's calls: reads may be made more or less often there,
//! effects may not, and of an equal call of the agent nothing may be lost or added on its way.
//!
//! - `lanes`: the lanes of both sides as runs, in the same terms. `moments`: during which calls of the agent something arrived.
//! - `matched`: which calls behind belong together. `judged`: those without a partner, counted.
//! - `compare`: the two lanes together. `judged`: what differs between them, and what of it fails.
//! - `passed_on`: what only differs because the agent's own arguments do. `finding`: what was passed on besides arguments.
//! - `kinds`: the same value in another kind.
//! - `finding`: a difference in words, and all of them, for the verdict.

pub(super) mod compare;
pub(super) mod finding;
mod judged;
pub(super) mod kinds;
pub(super) mod lanes;
pub(super) mod matched;
pub(super) mod moments;
mod passed_on;
