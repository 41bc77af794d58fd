//! The results database: what commands leave in it, whichever kind it is, and what they do where it cannot be used.

mod addresses;
mod cases;
mod faults;
mod killed;
pub(crate) mod kit;
mod misshapen;
mod postgres;
