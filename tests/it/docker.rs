//! Containers, on a real engine: fresh for every run, proven ready, and gone in the end.

mod behind;
mod engines;
mod failures;
mod from_source;
pub(crate) mod kit;
mod left_files;
mod leftovers;
mod mcpproxy;
mod ready;
mod settings;
mod several;
mod sharing;
mod versions;
