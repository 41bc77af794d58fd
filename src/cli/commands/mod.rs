//! One file per command; small ones of one subject share it.

pub(super) mod bisect;
pub(super) mod clean;
pub(super) mod compare;
pub(super) mod datasets;
pub(super) mod db;
pub(super) mod help;
pub(super) mod history;
pub(super) mod import;
pub(super) mod init;
pub(super) mod judge;
pub(super) mod list;
pub(super) mod merge;
pub(super) mod mock;
pub(super) mod record;
pub(super) mod report;
pub(super) mod retrieval;
pub(super) mod review;
pub(super) mod run;
pub(super) mod scan;
pub(super) mod security;
pub(super) mod serve;
pub(super) mod validate;
