//! The result that a session leaves beside its scenario and its baseline, as everything that records does.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::cli::args::RecordArgs;
use crate::cli::called;
use crate::cli::console::Console;
use crate::cli::database;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::git;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::Trajectory;
use crate::redact::Redactor;
use crate::store::Runs;
use crate::suite::Finished;
use crate::suite::kept_results::keep_only;
use crate::suite::outcome::result;

/// Keeps the result of a session that has become this scenario, and writes it to the results database. What goes wrong there is reported, and
/// spoils no recording.
///
/// # Errors
///
/// When the address of the database cannot be read.
pub(super) async fn keep(
    (started_at, runs): (Timestamp, Arc<Runs>),
    (scenario, redactor): (&Scenario, &Redactor),
    trajectory: Redacted<Trajectory>,
    baselines: &Path,
    (args, console): (&RecordArgs, Console),
) -> Result<(), Failure> {
    let database = database::of(&args.execute.database)?;
    let recorded = ScenarioResult {
        duration_ms: trajectory.duration_ms,
        current: Some(Arc::new(trajectory)),
        ..result(&redactor.scenario(scenario), Status::Recorded)
    };
    let took = Timestamp::now().duration_since(started_at);
    let suite = redactor.suite(SuiteResult {
        run_id: runs.id().to_owned(),
        duration_ms: took.as_secs_f64() * 1000.0,
        called: Some(called::record(args)),
        selected: 1,
        scenarios: vec![recorded],
        ..SuiteResult::new("record", started_at, git::stamp(Path::new("."), &[]))
    });
    let finished = Finished::at_hand(suite, runs, database);
    let reports = Reports::none();
    let options = ReportOptions::of(&reports, args.execute.kept.keep.0, baselines);
    let document = finish::keep(&finished, &options, console);
    if let Some(database) = &finished.database {
        let notes = keep_only(database, &finished, &document, (scenario, redactor)).await;
        database::tell(&notes, console);
    }
    Ok(())
}
