//! The scores of a pair of calls and of a run, and where the points went.
//!
//! - `sides`: the score of a pair, and the rows of a comparison. `losses`: the place of every point that is lost.
//! - `status`: how a run went as a whole, and what that costs. `classic`: the formulas of the original tool.
//! - `polls`: reads that were made again until their answer changed. `final_answer`: whether such a poll has its recorded final
//!   answer, by the same scores.

pub(super) mod classic;
pub(super) mod final_answer;
pub(super) mod losses;
pub(super) mod polls;
pub(super) mod sides;
pub(super) mod status;
