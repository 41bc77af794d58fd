//! Tool searches and scanners, measured.

mod bounds;
mod data_sets;
mod laws;
mod pages;
mod proxy;
mod questions;
mod retrieval;
mod security;
mod suites;
mod vectors;
