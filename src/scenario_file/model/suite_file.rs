//! A suite file: which scenarios run together, how, and what they must come to.

use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::Date;

use crate::model::places::Place;
use crate::model::trouble::Trouble;
use crate::scenario_file::Hook;
pub use crate::scenario_file::suites::Bounds;

/// What a suite file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteFile {
    /// What `--suite` calls it.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    pub description: Option<String>,
    /// The scenarios that begin first, in this order: ids, or patterns of ids. All others come behind them.
    pub order: Vec<String>,
    /// Of these tags, a scenario must have one; empty where it need not.
    pub tags_in: Vec<String>,
    /// Of these, it must have none.
    pub tags_out: Vec<String>,
    /// How many scenarios run at once; `None` for what suits them.
    pub jobs: Option<u16>,
    /// Whether no further scenario is started once one has not passed.
    pub fail_fast: bool,
    pub retries: Option<Retries>,
    pub around: Around,
    pub quarantine: Vec<Quarantined>,
    pub gates: Gates,
    /// Where it says what of scenarios and tags that it is not known whether there are any.
    pub said: Vec<Said>,
}

/// A word of a suite file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub below: SaidBelow,
    pub word: String,
    pub place: Place,
}

/// The key that a word stands below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidBelow {
    /// `tags`, of the suite or of its gates.
    Tags,
    Order,
    /// The name of a scenario that is quarantined.
    Quarantine,
    /// The day until which one is.
    Until,
}

/// What is run once before all scenarios, and once after them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    pub setup: Vec<Hook>,
    pub teardown: Vec<Hook>,
}

/// What is run again that could not be run or judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retries {
    pub on: Vec<Trouble>,
    /// How often at most, after the first time.
    pub times: u16,
    /// How long to wait before the first of them; each further one waits twice as long as the one before.
    pub backoff: Duration,
}

/// A scenario that runs and decides nothing, until a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The id or the name of the scenario.
    pub name: String,
    pub reason: String,
    /// The last day, in UTC.
    pub until: Date,
    /// The line of the file that says so.
    pub line: usize,
}

/// What all scenarios together must come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    pub all: Bounds,
    /// The same for the scenarios with a tag.
    pub tags: Vec<(String, Bounds)>,
}

impl Retries {
    /// The longest time that is waited before a retry.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(300);

    /// How long to wait before the retry of this number, counted from 1.
    pub fn pause(&self, number: u16) -> Duration {
        let doubled = 2_u32.saturating_pow(u32::from(number.saturating_sub(1)));
        self.backoff
            .saturating_mul(doubled)
            .min(Self::LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retries;

    #[test]
    fn each_retry_waits_twice_as_long_as_the_one_before_and_none_for_ever() {
        let retries = Retries {
            on: Vec::new(),
            times: u16::MAX,
            backoff: Duration::from_secs(2),
        };
        let pauses = [1, 2, 3, 4, 9, u16::MAX].map(|it| retries.pause(it).as_secs());
        assert_eq!(pauses, [2, 4, 8, 16, 300, 300]);
    }
}
