//! A model as the judge of a run.
//!
//! | file | what is there |
//! |---|---|
//! | `case` | what is put before a judge: what was said and done in a run, cut down to what may matter, and kept apart from the instructions |
//! | `prompt` | the instructions and the question to a judge |
//! | `form` | the form in which it answers, and how strictly that is read |
//! | `ask` | asks it, remembers what it said, and keeps within its budget |
//! | `agreement` | what several votes say together, how far its verdicts are those of people, and how far they hang on what should not matter |

mod agreement;
mod ask;
mod case;
mod form;
mod prompt;

pub use self::agreement::{Agreement, Flips};
pub use self::ask::{Judge, Memory};
pub use self::case::{Case, CaseCall, Expected, call_words};
