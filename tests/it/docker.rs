//! Containers, on a real engine: fresh for every run, proven ready, and gone in the end.

mod engines;
mod failures;
pub(crate) mod kit;
mod leftovers;
mod mcpproxy;
mod ready;
mod settings;
mod sharing;
mod versions;
