//! Agents that think, over real HTTP, against the stand-in.

mod bodies;
mod clients;
mod endings;
mod errors;
mod left_over;
mod limits;
mod secrets;
mod settings;
pub(crate) mod stand_in;
mod tools;
