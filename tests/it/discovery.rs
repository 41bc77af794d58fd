//! Tool searches and scanners, measured.

mod data_sets;
mod laws;
mod pages;
mod proxy;
mod questions;
mod retrieval;
mod security;
mod suites;
mod vectors;
