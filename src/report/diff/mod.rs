//! Differences between two answers, in lines for a side-by-side view: the red side reads as the old value, the green one as the new.
//!
//! | module | what it does |
//! |---|---|
//! | `tree` | a JSON value measured once, so that equal parts are found without looking into them again |
//! | `structure` | two JSON values: members by name, elements by content, wherever they stand |
//! | `words` | two texts: which lines, and which words of them, the other lacks |
//! | [`lines`] | the lines of a page, equal ones folded away around each change |
//! | `writer` | such lines as they are written, as many as there is room for, and what is known to vary, and so is no news |
//! | `values` | two values as such lines, also where one has nothing beside it, or nothing in common with that |
//! | `texts` | two texts as such lines |
//! | `value_lines` | a value as lines of JSON |
//!
//! Work and lines are bounded whatever the values are.

pub mod lines;
mod structure;
mod texts;
mod tree;
mod value_lines;
mod values;
mod words;
mod writer;

pub use lines::{Diff, Line, Piece, PieceKind, Row};
pub(crate) use lines::{grouped, side_by_side};
pub use texts::text;
pub use values::{json, plain_json, plain_text, unlike};
pub use writer::Known;
