//! One file per command.

pub(super) mod bisect;
pub(super) mod clean;
pub(super) mod compare;
pub(super) mod completions;
pub(super) mod datasets;
pub(super) mod explain;
pub(super) mod help;
pub(super) mod import;
pub(super) mod init;
pub(super) mod judge;
mod judge_document;
pub(super) mod list;
mod list_kinds;
pub(super) mod man;
pub(super) mod merge;
pub(super) mod mock;
mod mock_llm;
pub(super) mod record;
pub(super) mod report;
pub(super) mod review;
pub(super) mod run;
pub(super) mod scan;
mod scan_document;
pub(super) mod schema;
mod serving;
pub(super) mod validate;
