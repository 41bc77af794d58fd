//! The test server, asked over HTTP.

mod access;
mod batches;
mod cases;
mod dashboard;
mod dashboard_shown;
pub(crate) mod desk;
mod ending;
mod events;
mod found;
mod hanging_up;
mod hostile;
mod main_job;
mod openapi;
mod programs;
mod queue;
mod results;
mod runs;
mod schemathesis;
mod secrets;
mod snippets;
