//! Results over time: what is made of them, and how it is shown.
//!
//! | file | what is there |
//! |---|---|
//! | `measure` | results to [`HistoryDocument`](model::published::history::HistoryDocument): rates, medians, the first bad run, slowdowns |
//! | `terminal` | the table, with courses of signs |
//! | `words` | numbers in words, as the table and the page have them |
//! | `csv` | a line per result |
//!
//! Its page is [`html::history`](crate::html::history).

mod csv;
mod measure;
mod terminal;
mod words;

pub use self::csv::csv;
pub use self::measure::{Asked, measured};
pub use self::terminal::terminal;
pub(super) use self::words::{add_measures, rankings};
