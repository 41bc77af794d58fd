//! The mock server: what it says, over both transports, and how it misbehaves where that is declared.

mod admin;
mod client;
mod conformance;
mod declared;
mod faults;
mod fuzz;
mod http;
mod listening;
mod load;
mod offers;
mod python;
mod recorded;
mod requests;
mod rounds;
mod stateless;
mod stdio;
mod steps;

pub(crate) use client::{Served, http_client};
