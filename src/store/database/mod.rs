//! The results database: every result that a command came to, to be asked for later. It holds nothing that the files of the runs do not, and
//! is made from them at any time.
//!
//! ```text
//! suite ─ RunHead, FinishedScenario ─► Database ─ thread ─► Worker ─ Rows ─► Connection: Sqlite | Postgres
//! cli, serve ─ ResultFilter ─────────►     │                    └ a damaged file is set aside, and made anew by `rebuild`
//!             ◄─ ResultEntry, RunEntry, … ─┘
//! ```
//!
//! | file | what is there |
//! |---|---|
//! | `handle` | what others have of it: what it is asked and given is handed to its thread |
//! | `place`, `options`, `ids` | where a database is, what is kept in it, what results are called by |
//! | `worker` | the thread that has the connection, and what it does when that is lost or the file is damaged |
//! | `connection`, `sqlite`, `postgres` | what both kinds can do, and each of them |
//! | `schema`, `tables.sql`, `views.sql` | the migrations |
//! | `head`, `finished` | what is written of a run and of a result |
//! | `write`, `rebuild`, `beside` | how it gets there: as it happens, and from files, one of which holds what the others do not |
//! | `settle` | runs that were killed |
//! | `shape` | what is wrong with a file that can be opened |
//! | `rows`, `results`, `history` | what is asked for |
//! | `prune` | rows that go |
//! | `cell`, `time`, `error` | values, times and faults as both kinds have them |
//!
//! The SQL is written once: both kinds read it alike.

mod beside;
mod cell;
mod connection;
mod error;
mod finished;
mod handle;
mod head;
mod history;
mod ids;
mod options;
mod place;
mod postgres;
mod prune;
mod rebuild;
mod results;
mod rows;
mod schema;
mod settle;
mod shape;
mod sqlite;
mod time;
mod worker;
mod write;

pub use self::error::DatabaseError;
pub use self::finished::{Declared, FinishedScenario};
pub use self::handle::Database;
pub use self::head::{RunHead, RunState};
pub use self::history::{HistoryFilter, HistoryRow};
pub use self::ids::{id_in_files, result_id, run_again, scenario_of};
pub use self::options::{DEFAULT, Options};
pub use self::place::Place;
pub use self::prune::Pruned;
pub use self::rebuild::Rebuilt;
pub use self::rows::{Health, Info, Page, ResultFilter};
