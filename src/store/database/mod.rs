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
//! | `place` | where a database is, what is kept in it |
//! | `worker` | the thread that has the connection, and what it does when that is lost or the file is damaged |
//! | `connection` | what both kinds can do, and values, times and faults as both have them |
//! | `sqlite`, `postgres` | each of them |
//! | `schema`, `tables.sql` | the tables and views, and what is wrong with a file that can be opened |
//! | `head`, `finished` | the documents of a run and of a result, and what results are called by |
//! | `write`, `rebuild` | how it gets there: as it happens, and from files, one of which holds what the others do not |
//! | `results`, `history` | what is asked for |
//! | `prune` | rows that go, and runs that were killed |
//!
//! A row has the columns that are searched and counted by, and a document, as JSON, from which all else is read back. The SQL is written once:
//! both kinds read it alike.

mod connection;
mod finished;
mod handle;
mod head;
mod history;
mod place;
mod postgres;
mod prune;
mod rebuild;
mod results;
mod schema;
mod sqlite;
mod worker;
mod write;

pub use self::connection::DatabaseError;
pub use self::finished::{Declared, FinishedScenario};
pub use self::handle::Database;
pub use self::head::{Identity, RunHead, RunState, id_in_files, result_id, run_again, scenario_of};
pub use self::history::HistoryFilter;
pub use self::place::{DEFAULT, Options, Place};
pub use self::prune::Pruned;
pub use self::rebuild::Rebuilt;
pub use self::results::{Health, Info, Page, ResultFilter};
