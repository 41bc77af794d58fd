//! What differs between two answers, in lines that can be laid side by side: the red side reads as the old value, the green one as the new.
//!
//! | module | what it does |
//! |---|---|
//! | `tree` | a JSON value measured once, so that equal parts are found without looking into them again |
//! | `structure` | two JSON values: members by name, elements by content, wherever they stand |
//! | `words` | two texts: which lines, and which words of them, the other lacks |
//! | [`lines`] | the lines of a page, equal ones folded away around each change |
//! | `writer` | two values, or two texts, as such lines |
//! | `value_lines` | a value as lines of JSON |
//! | [`known`] | what is known to vary, and so is no news |
//!
//! Work and lines are bounded whatever the values are.

pub mod known;
pub mod lines;
mod structure;
mod tree;
mod value_lines;
mod words;
mod writer;

pub use known::Known;
pub use lines::{Diff, Line, Piece, PieceKind, Row};
pub(in crate::report) use value_lines::grouped;
pub use writer::{json, plain_json, plain_text, text, unlike};
