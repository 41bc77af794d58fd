//! The results database: what commands leave in it, whichever kind it is, and what they do where it cannot be used.

mod cases;
mod faults;
pub(crate) mod kit;
mod postgres;
