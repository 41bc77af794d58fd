//! A run that is to become the baseline.

use crate::model::evaluation::{Evaluation, Overall};
use crate::model::redacted::Redacted;
use crate::model::repeated::Repeated;
use crate::model::scenario::Scenario;
use crate::model::suite::Check;
use crate::model::trajectory::Trajectory;
use crate::suite::patience::Patience;

/// A run that is to become the baseline.
pub(super) struct Take {
    /// The scenario without secrets, its expectations filled in with what the run answered.
    pub(super) redacted: Redacted<Scenario>,
    /// With what is learned of it.
    pub(super) trajectory: Redacted<Trajectory>,
    /// The other takes of the same calls it was learned from.
    pub(super) other_takes: Vec<Redacted<Trajectory>>,
    pub(super) checks: Vec<Check>,
    pub(super) evaluations: Vec<Evaluation>,
    pub(super) evaluation: Option<Overall>,
    /// Why it should not be kept unseen; empty where nothing speaks against it.
    pub(super) failing: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) details: Vec<String>,
    /// What all runs came to, where there were several.
    pub(super) repeated: Option<Repeated>,
    /// How long it may be compared.
    pub(super) patience: Patience,
}
