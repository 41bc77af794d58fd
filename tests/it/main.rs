#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop here"
)]
//! The project's tests, one module per subject.

mod floors;
mod score_cases;
mod score_drift;
mod score_gate;
mod score_hostile;
mod score_kit;
mod score_laws;
mod score_matching;
mod score_recordings;
mod score_rules;
