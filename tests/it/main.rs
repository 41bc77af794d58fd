#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop here"
)]
//! The project's tests, one module per subject.

mod against;
mod agent;
mod asked_again;
mod browser;
mod by_hand;
mod client_config;
mod command;
mod common;
mod compare;
mod docker;
mod expecting;
mod experiment;
mod faults;
mod file_cycles;
mod file_limit;
mod floors;
mod fuzz;
mod header_commands;
mod help;
mod hooks;
mod http;
mod import;
mod import_log;
mod integers;
mod jobs;
mod json_written;
mod kept;
mod labels;
mod listen;
mod mock;
mod own_certificate;
mod prepare;
mod readme;
mod ready;
mod real_servers;
mod record;
mod recorded_servers;
mod redirects;
mod repeat;
mod replay;
mod report;
mod scan;
mod scenario_content;
mod scenario_file;
mod scenario_files_found;
mod score_bindings;
mod score_cases;
mod score_causes;
mod score_drift;
mod score_gate;
mod score_hostile;
mod score_kit;
mod score_laws;
mod score_matching;
mod score_recordings;
mod score_rules;
mod score_silent;
mod score_takes;
mod score_truth;
mod score_values;
mod score_varied;
mod secrets;
#[path = "../bench/shapes.rs"]
mod shapes;
mod shared_causes;
mod shipped;
mod special_files;
mod sse;
mod started;
mod statistics;
mod upstreams;
mod variable_values;
