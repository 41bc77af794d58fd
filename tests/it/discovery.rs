//! Tool searches and scanners, measured.

mod data_sets;
mod laws;
mod proxy;
mod vectors;
