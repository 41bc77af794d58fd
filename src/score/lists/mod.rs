//! Matching the elements of two lists.
//!
//! - `align`: in order, with the highest total similarity, the elements without a partner, too; and how the work of comparing is divided.
//! - `edits`: the elements two lists have in common.
//! - `assign`: one to one in any order.

pub(super) mod align;
pub(super) mod assign;
pub(super) mod edits;
