//! Limits on what is shown, so that the text fits where it is posted.

/// The longest text, in bytes: GitHub takes comments of 65,536 characters, and somebody may add a line to it.
pub(super) const LIMIT: usize = 59_000;

/// The most lines: what is longer, nobody reads in a comment.
pub(super) const LINES: usize = 120;

/// The longest texts from outside, in characters, and how many of what are shown.
pub(super) const NAME_CHARS: usize = 80;
pub(super) const PATH_CHARS: usize = 160;
pub(super) const SENTENCE_CHARS: usize = 240;
pub(super) const URL_CHARS: usize = 1000;
pub(super) const DETAIL_CHARS: usize = 400;
pub(super) const PROBLEM_LINES: usize = 60;
pub(super) const CAUSES: usize = 10;
pub(super) const FOLLOWS: usize = 3;
pub(super) const LOG_LINES: usize = 3;
/// How many scenarios are listed, in whatever part.
pub(super) const SCENARIOS: usize = 10;
/// How many reasons stand where there is little room.
pub(super) const REASONS: usize = 3;
/// How many cells of a matrix are listed.
pub(super) const CELLS: usize = 10;
/// How many names of scenarios stand behind a cause.
pub(super) const NAMES: usize = 5;
/// How many pages elsewhere are linked.
pub(super) const LINKS: usize = 10;
/// How many scenario files stand in a command.
pub(super) const FILES: usize = 20;
/// What it takes to say how many are left out, in bytes and in lines.
pub(super) const REST: usize = 1000;
pub(super) const REST_LINES: usize = 2;

/// A line of a text from outside, not longer than there is room for.
pub(super) fn clipped(text: &str) -> String {
    model::text::shorten(&model::text::line(text), DETAIL_CHARS).into_owned()
}
