//! Pairing the calls of a run with those of its baseline.
//!
//! Calls are paired by what they ask, never by what they were answered.
//!
//! - `call`: one call, with everything the comparison asks of it alone.
//! - `calls`: those of both sides, aligned in order, and what a read was answered while something was waited for.
//! - `matching`: equal calls that are out of order, the ways to match calls that a scenario can choose, and calls paired before any value is
//!   known to stand for another.

pub(super) mod call;
pub(super) mod calls;
pub(super) mod matching;
