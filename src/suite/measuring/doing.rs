//! What commands do with scenarios that measure something.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::discovery::baseline::Baseline;
use crate::model::scenario::Scenario;

/// What a command does with scenarios that measure something.
#[derive(Debug, Clone)]
pub(crate) enum Doing {
    /// They are held against what they demand themselves, and what was accepted, where anything was.
    Run,
    /// They are held against what was accepted, too, which must be there.
    Compare,
    /// What comes of them is accepted.
    Record,
    /// They are held against the figures that they name, and each search against the first that could be measured.
    Alone(First),
    /// They are held against another version of their system under test.
    Against(Arc<Others>),
    /// They are left out, for this reason.
    Leave(&'static str),
}

/// The first of several searches.
pub(crate) type First = Arc<Mutex<FirstSearch>>;

/// What the first of several searches got.
#[derive(Debug, Default)]
pub(crate) struct FirstSearch {
    /// Of the first that could be measured: its name and its figures.
    pub(crate) got: Option<(String, Baseline)>,
    /// The name of one before that could not be.
    pub(crate) failed: Option<String>,
}

/// The other version of each scenario, with its name, by the scenario's id.
pub(crate) type Others = BTreeMap<String, (Arc<Scenario>, String)>;
