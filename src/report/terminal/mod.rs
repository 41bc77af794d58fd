//! The report on the terminal: what did not go as before, by cause, and a summary at the end.
//!
//! | file | what it writes |
//! |---|---|
//! | `whole` | the report of a command, a failure at the moment it happens, and in one line scenarios that were not run for the same reason |
//! | `scenario_line` | one line per scenario, or two where the terminal is narrow |
//! | `below` | what stands below such a line, repeated runs and direct calls with it |
//! | `causes` | what failed and changed, each cause once |
//! | `summary` | the last lines: the counts, and what to do |
//! | `page` | the text itself: colours, signs, the width |

mod below;
mod causes;
mod page;
mod scenario_line;
mod summary;
mod whole;

pub use page::{Style, Verbosity};
pub use whole::{failure, question, scenarios, terminal};
