//! Did the server answer the same?
//!
//! Answers that did not vary while they were recorded must be equal (`stable`), all others are graded.
//!
//! - `outcome`: two responses as a whole: errors, content, structured content.
//! - `parts`: the parts of two answers that are compared, and how alike two content blocks are.
//! - `json`: two JSON documents, down to each number and text.
//! - `finding`: the differences that were found, in bounded memory.
//! - `stable`: answers in which every difference is a change. `finding`: the places that recording learned to vary.
//! - `beside`: what stands beside the content, `_meta` and annotations.
//! - `breach`: secrets in an answer that did not hold them.
//! - `in_band`: errors in answers that are said to be fine. `breach`: answers that break their own `outputSchema`.

pub(super) mod beside;
pub(super) mod breach;
pub(super) mod finding;
pub(super) mod in_band;
pub(super) mod json;
pub(super) mod outcome;
mod parts;
pub(super) mod stable;
