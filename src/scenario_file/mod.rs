//! Scenarios, suites and their parts: YAML in, [`Scenario`]s out, every finding with its line and column.
//!
//! | Question | Place |
//! | --- | --- |
//! | Which files are scenario files, and what are their ids? | `load::find` |
//! | In what order is a file read, and how are defaults laid beneath it? | `load::loader` |
//! | Where are variables, `{{…}}`, filled in? | `load::variables` |
//! | How does YAML become a tree with places? How is a finding shown? | `yaml` |
//! | How is a section declared? How do `kind` and `type` choose its keys? | `decode::section`, `decode::kinds` |
//! | What sections does a file have? Where is the JSON Schema made? | `file` |
//! | Where is a server read? One behind a proxy? A container? A `ready` check? What is run before and after? | `servers` |
//! | Where is a mock server read, with its answers and faults? | `mock` |
//! | Where is the agent read? A call? A success criterion? | `agent` |
//! | Where is an evaluator read? | `evaluators` |
//! | Where is the judge read? What it judges by? Examples to judge it by? | `judge` |
//! | Where are the rules of the comparison read? | `file::scoring` |
//! | What does a scenario say that measures a search, or scanners? | `measured`, `scenario::measurement` |
//! | What must fit together between sections? | `checks` |
//! | What is a scenario, as the program uses it? | `whole` |
//! | How does a document become one, and what is its hash? | `scenario` |
//! | Where may `${…}` stand, and what is put there? And in the configuration file of a proxy? | `expand` |
//! | How are mock servers, or a model's script, read from a file alone? | `load::mocks` |
//! | What is a suite file, and where is it read? | `suites` |
//! | How does a session become a scenario file? | `load::session` |
//! | How does what a server offers become one? | `load::first` |
//!
//! The rooms need each other in one direction:
//!
//! ```text
//! load ► scenario ► checks ► file ► measured, judge ► agent ► evaluators ► servers, mock ► decode ► yaml
//!        whole ► suites ► file
//!                   checks ► expand ► agent
//! ```

pub mod agent;
mod checks;
mod decode;
pub mod evaluators;
mod expand;
mod file;
pub mod judge;
mod load;
pub mod measured;
pub mod mock;
mod scenario;
pub mod servers;
pub mod suites;
mod whole;
mod yaml;

pub use decode::plain::{Place, Templates};
pub use decode::template::{
    CONFIG_FILE, PORT, SOURCE_DIR, mentions, mentions_container, port_name, upstream_url_name,
    url_name,
};
pub use expand::filling::{
    MissingVariables, expand, expand_command, expand_servers, fill_in, fill_in_config, literal,
};
pub use file::document::{json_schema, mock_json_schema};
pub use load::dataset::folded;
pub use load::find::{Found, find, id_of_folder, plain_file};
pub use load::first::{FirstCall, FirstScenario, first_scenario};
pub use load::loader::{Loaded, Options, check, load};
pub use load::mocks::{LoadedLlm, LoadedMocks, llm, mock_tool, mocks};
pub use load::session::{Session, SessionCall, session_scenario};
pub use load::would_read::{Wanted, WouldRead};
pub use scenario::hash::{Fingerprints, agent_hash, agent_parts, scenario_hash};
pub use scenario::needs::may_need;
pub use suites::{FOLDER as SUITES, suite};
pub use whole::{SaidBy, Scenario, Timeouts};
pub use yaml::{Finding, Severity, sort};
