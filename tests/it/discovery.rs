//! Tool searches and scanners, measured.

mod laws;
mod vectors;
