//! Scenarios that measure something, in a command of their own.

use super::measuring::{Doing, First};
use super::outcome::{Error, Finished, without_verdict};
use super::play::{Suite, play};
use super::settings::Settings;
use crate::model::suite::Status;

/// Measures what scenarios are about, each held against the figures that its file names, and each search against the first that could be
/// measured. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn measure_alone(
    command: &str,
    suite: Suite,
    settings: &Settings,
) -> Result<Finished, Error> {
    let doing = Doing::Alone(First::default());
    play(
        (command, doing),
        suite,
        settings,
        |scenario, run_context| async move {
            let why = "it measures nothing".to_owned();
            without_verdict(&run_context.redacted(&scenario), Status::Error, why)
        },
    )
    .await
}
