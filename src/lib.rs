//! mcp-eval tells whether a change broke the way AI agents use their tools.
//!
//! A **scenario** is **run** by an agent against MCP servers; the run leaves a **trajectory**; the trajectory is
//! **compared** with the accepted one of an earlier version; a **report** says what changed and whose doing it is.
//!
//! ```text
//! scenarios/*.yaml ─ scenario_file ─► Scenario
//!         │
//!         │  where it has a container: docker::Slot::reset, a fresh one that is proven ready
//!         ▼
//!     run::run ── ports ──► Tools or Gateway (mcp)
//!         │                 Agent (agent)  drive
//!         ▼
//!     Trajectory ─ redact ─► store: every run is kept; `record` keeps it as the baseline
//!         │  only if the run completed
//!         ▼
//!     score::compare(baseline, run, rules) ─► Comparison with its Verdict
//!         ▼
//!     SuiteResult ─ redact ─► published::result ─► report: terminal, html ─► text, which cli writes
//! ```
//!
//! [`run`] knows servers and agents as *ports* alone, its traits `Tools`, `Gateway` and `Agent`; [`mcp`] and [`agent`] implement them, and [`suite`] puts
//! them together. To follow one command through all of this, begin with `cli/commands/compare.rs`.
//!
//! [`model`], [`redact`], [`report`] and [`score`] are crates of their own, in folders beside this file. The other modules lie on floors: a
//! module imports from the floors below its own. Neighbours on floor 3 never import each other: they meet in [`suite`] and through the
//! ports. A test, `tests/it/floors.rs`, lists who may import whom.
//!
//! | floor | module | what lives there |
//! |---|---|---|
//! | 0 | [`model`] | what happened, as plain types: trajectory, comparison, result |
//! | 0 | [`json`], in `model` | documents of JSON, read however deeply they are nested, and written so that nothing in them acts on a reader |
//! | 0 | [`json_schema`] | JSON Schemas that others wrote, validated against without asking anybody |
//! | 0 | [`protocol`] | what MCP 2026-07-28 calls things, and which headers repeat a body |
//! | 0 | [`input`] | files that somebody names, read only where they are files |
//! | 0 | [`text`], in `model` | texts from outside made safe to look at |
//! | 0 | [`digits`], in `model` | numbers that 64 bits cannot hold, digit for digit |
//! | 1 | [`score`] | similarity, alignment, responses, drift, verdict: two trajectories in, one comparison out; what varies by nature, which arguments are taken from earlier answers, what several runs say together |
//! | 1 | [`redact`] | secrets out of any value before it is stored or shown, and back in where what was recorded is sent again |
//! | 1 | [`scenario_file`] | what is asked: scenarios, suites and their parts, read from YAML; every finding with its line and column |
//! | 1 | [`http_client`] | how servers are asked over HTTP |
//! | 1 | [`http_server`] | what our own servers over HTTP have in common: whose requests they accept, what they read and write |
//! | 1 | [`lines`] | streams read line by line, in lines of bounded length |
//! | 1 | [`sql`] | one query to somebody's database, that changes nothing |
//! | 1 | [`process`] | child processes, killed when the program ends |
//! | 0 | [`published`], in `model` | the versioned forms in which trajectories and results leave the program, and their JSON Schemas |
//! | 2 | [`report`] | results in, text out; HTML through the templates alone |
//! | 2 | [`run`] | one execution of one scenario: its ports, the proof that servers are ready, its recorder, its limits |
//! | 2 | [`llm`] | model APIs, for agents and judges: their wire formats, and how they are asked |
//! | 3 | [`agent`] | the agents, one file per kind |
//! | 3 | [`mcp`] | client sessions with MCP servers, and the gateway that records the sessions of others |
//! | 3 | [`discovery`] | tool searches and scanners of tool descriptions, measured |
//! | 3 | [`docker`] | containers that servers under test run in, reset before each run |
//! | 3 | [`mock`] | the mock MCP server: a declaration that answers |
//! | 3 | [`git`] | stamps of repositories |
//! | 3 | [`store`] | baselines and runs on disk, and all results in a database |
//! | 3 | [`import`] | recordings of other tools as trajectories |
//! | 3 | [`evaluate`] | checks on a run besides the comparison |
//! | 4 | [`suite`] | runs the scenarios of one command: settings in, results and progress out |
//! | 5 | [`serve`] | the test server: the same over HTTP |
//! | 5 | [`client`] | its client |
//! | 5 | [`cli`] | arguments to settings, exit codes, what is printed, one file per command; in `cli/help`, the manual |
//!
//! What always holds:
//!
//! - `model`, `score`, `report` do no I/O and know no clock, randomness or environment.
//! - Nothing below `cli` prints or exits the process.
//! - No verdict without a completed run; no score for a run that did not finish.
//! - CI never writes a baseline.
//! - Nothing a scenario, tool or model said reaches HTML unescaped, or a terminal with its control characters.
//! - What is stored, reported or logged is [`Redacted`](model::Redacted), which only `redact` and readers of our own files make.
//! - Nothing is written in place: write beside, then rename.
//! - Published JSON has a `format_version`. What of it `model` has, too, is one type there; what it does not tell is never serialized.
//! - rmcp's types stay inside `mcp`; what is stored comes from the wire, not from its typed model.

pub mod agent;
pub mod cli;
pub mod client;
pub mod discovery;
pub mod docker;
pub mod evaluate;
pub mod git;
pub mod http_client;
pub mod http_server;
pub mod import;
pub mod input;
pub mod json_schema;
pub mod lines;
pub mod llm;
pub mod mcp;
pub mod mock;
pub mod process;
pub mod protocol;
pub mod run;
pub mod scenario_file;
pub mod serve;
pub mod sql;
pub mod store;
pub mod suite;

pub use model::{digits, json, published, text};
pub use {model, redact, report, score};
