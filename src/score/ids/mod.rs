//! Matching the generated values of a run with those of its baseline.
//!
//! Servers generate new ids on every run, so later requests that use them differ as well.
//!
//! - `binding`: which arguments come from earlier answers, and the same place in another answer.
//! - `id_translation`: values changed for those they stand for, and back, in a run that is told in its baseline's terms.
//! - `translate`: such a run, with its baseline's ids in place of its own.
//! - `repeats`: ids that a server makes up in one answer and repeats in another.

pub(super) mod binding;
pub(super) mod id_translation;
pub(super) mod repeats;
pub(super) mod translate;
