//! How much is a pair of calls worth, how much a run, and where did the points go?
//!
//! - `sides`: the score of a pair, and the rows of a comparison. `losses`: the place of every point that is lost.
//! - `status`: how a run went as a whole, and what that costs. `classic`: the formulas of the original tool.
//! - `polls`: reads that were made again until their answer changed. `settled`: whether such a poll has its recorded final answer, by the
//!   same scores.

pub(super) mod classic;
pub(super) mod losses;
pub(super) mod polls;
pub(super) mod settled;
pub(super) mod sides;
pub(super) mod status;
