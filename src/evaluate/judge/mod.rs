//! A model as the judge of a run.
//!
//! | file | what is there |
//! |---|---|
//! | `case` | what is put before a judge: a run, as far as what was said and done in it |
//! | `case` | what keeps the words of the judged apart from the instructions to the judge |
//! | `case` | long texts cut down to what may matter |
//! | `prompt` | the instructions and the question to a judge |
//! | `form` | the form in which it answers, and how strictly that is read |
//! | `agreement` | what several votes say together |
//! | `ask` | asks it, remembers what it said, and keeps within its budget |
//! | `agreement` | how far its verdicts are those of people, and how far they hang on what should not matter |

mod agreement;
mod ask;
mod case;
mod form;
mod prompt;

pub use self::agreement::{Agreement, Flips};
pub use self::ask::{Judge, Memory};
pub use self::case::{Case, CaseCall, Expected, call_words};
