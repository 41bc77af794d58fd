//! Runs the scenarios of one command: settings in, results and progress out. Nothing here prints, reads arguments or ends the program, so
//! the command line, a server and users of the library call it alike.
//!
//! ```text
//! Suite ─ play ─► each scenario: compare | record | expect | measuring ─ repeat ─► RunContext ─ SuiteContext ─► run::run ─► judge ─► ScenarioResult
//! ```
//!
//! `execute` makes one run, which `assemble` puts together from `agents`, `servers`, `started`, `containers`, `behind`, `hooks` and `ready`, on a `stack` that is torn down whatever happens, with what all
//! runs share in `suite_context` and what one scenario's runs need in `run_context`; `replay` and `recorded` hold one side of a baseline still; `side_by_side` lets another version take the part of the baseline; `evaluating` and `run_environment` let evaluators look at it while it stands; `judge` and `outcome` say what came of a run, and `finished` has it all.
//!
//! # Example
//!
//! ```
//! use mcp_eval::scenario_file;
//! use mcp_eval::suite::{self, Settings, Suite};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! // Of a folder of scenarios, those that are valid.
//! let (found, _) = scenario_file::find(&[folder.path().to_owned()]);
//! let loaded = scenario_file::load(&found, &scenario_file::Options::default());
//!
//! let settings = Settings {
//!     baselines: folder.path().join("baselines"),
//!     runs: folder.path().join("runs"),
//!     ..Settings::default()
//! };
//! let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! let finished = runtime.block_on(suite::compare(Suite::new(loaded.scenarios), &settings))?;
//! assert!(finished.suite.scenarios.is_empty(), "there is nothing in an empty folder");
//! # Ok(())
//! # }
//! ```

pub(crate) mod addresses;
mod against;
pub(crate) mod agents;
mod assemble;
mod at_once;
pub(crate) mod behind;
mod bisect;
mod build;
pub(crate) mod ci;
mod compare;
pub(crate) mod containers;
mod depends;
mod direct;
pub(crate) mod evaluating;
pub(crate) mod execute;
mod expect;
mod finished;
mod header_commands;
pub(crate) mod hooks;
mod introduction;
pub(crate) mod judge;
mod judge_check;
pub(crate) mod kept_results;
mod left_files;
mod llm_judge;
mod matrix;
pub(crate) mod measuring;
mod mocks;
pub(crate) mod outcome;
pub(crate) mod patience;
mod pending;
mod play;
pub(crate) mod post_mortem;
mod prepare;
mod prose;
mod questions;
pub(crate) mod ready;
pub(crate) mod record;
pub(crate) mod recorded;
pub(crate) mod repeat;
pub(crate) mod replay;
mod retire;
mod review;
pub(crate) mod run_context;
mod run_environment;
mod run_folder;
mod schedule;
mod secrets;
mod series;
mod servers;
mod settings;
mod shards;
mod side_by_side;
pub(crate) mod source;
mod stack;
pub(crate) mod started;
mod stored;
mod stored_current;
mod stored_judging;
mod stored_run;
mod stored_secrets;
pub(crate) mod suite_context;
mod versions;

pub use self::against::compare_against;
pub use self::agents::{AgentChoice, Choice, choose};
pub use self::at_once::at_once;
pub use self::bisect::{Found, Range, STATE as BISECT_STATE, bisect};
pub use self::compare::compare;
pub use self::depends::{Depends, depends, started_by};
pub use self::direct::compare_direct;
pub use self::expect::{measure_alone, run};
pub use self::finished::{Files, Finished, Sides};
pub use self::introduction::{Introduction, Tried, introduce};
pub use self::judge_check::{
    CheckSettings, CheckedExample, CheckedJudge, check_judge, verdict_words,
};
pub use self::llm_judge::{appoint, check_budget, most_judging_costs};
pub use self::matrix::matrix;
pub use self::measuring::{
    accepted_figures, check_measurement, place_secrets, search_secrets, usual_place,
};
pub use self::outcome::Error;
pub use self::play::Suite;
pub use self::questions::{Short, WriteSettings, Written, write_questions};
pub use self::record::record;
pub use self::retire::retire;
pub use self::review::{
    Broken, Despite, Ignored, Pending, ReadAgain, Refusal, Waiting, scenario_of,
};
pub(crate) use self::run_context::RunContext;
pub use self::run_context::{Observer, ScenarioObserver, Silent};
pub use self::run_folder::RunFolder;
pub use self::schedule::shared;
pub use self::series::series;
pub use self::servers::give_servers;
pub use self::settings::{
    BASELINES, CACHE, Jobs, Judges, Judging, REPORTS, RUNS, Recording, ScoreSettings, Settings,
};
pub use self::shards::{Part, part};
pub use self::stored::{Scored, Stored, compare_stored, redactor_of, scored_sides, stored_sides};
pub use self::stored_run::StoredRun;
pub(crate) use self::suite_context::SuiteContext;
pub use self::versions::Against;
