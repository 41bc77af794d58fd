//! Models that judge, over real HTTP.

mod answers;
mod check;
pub(crate) mod desk;
mod evaluator;
mod injected;
mod kept;
mod prose;
mod within;
