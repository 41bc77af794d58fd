//! How the results database is asked, and what it tells of itself.

use crate::published::kept::Statistics;
use crate::published::result::Status;

/// Which results are asked for. [`ResultFilter::default`] asks for the latest hundred of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFilter {
    /// The name of the scenario, as it is.
    pub name: Option<String>,
    /// The id of the scenario, as it is.
    pub scenario: Option<String>,
    /// The id of the run.
    pub run: Option<String>,
    pub status: Option<Status>,
    /// No result that is older than this.
    pub since: Option<jiff::Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// How many of the latest are passed over.
    pub offset: usize,
}

impl Default for ResultFilter {
    fn default() -> Self {
        Self {
            name: None,
            scenario: None,
            run: None,
            status: None,
            since: None,
            limit: 100,
            offset: 0,
        }
    }
}

/// Some of what was asked for, the latest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub rows: Vec<T>,
    /// How many there are in all, whatever limit and offset were.
    pub total: u64,
}

/// The state of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// The number of its latest migration.
    pub schema: u32,
}

/// The same, and what is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    pub health: Health,
    /// How much it takes; `None` where it does not tell.
    pub bytes: Option<u64>,
    /// What is wrong with it; empty where nothing is known to be.
    pub damage: Vec<String>,
    pub stats: Statistics,
}
