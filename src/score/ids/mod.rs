//! Which values of a run stand for which of its baseline?
//!
//! Servers make up ids anew on every run, and what is asked with them later differs as they do.
//!
//! - `binding`: which arguments come from earlier answers, and the same place in another answer.
//! - `id_translation`: values changed for those they stand for, and back.
//! - `translate`: a run with its baseline's ids in the place of its own. `translated_run`: what came of that, and the way back.

pub(super) mod binding;
pub(super) mod id_translation;
pub(super) mod translate;
pub(super) mod translated_run;
