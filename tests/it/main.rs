#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop here"
)]
//! The project's tests, one module per subject.

mod floors;
mod report;
