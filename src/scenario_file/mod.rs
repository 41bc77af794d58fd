//! Scenario files: YAML in, [`Scenario`](crate::model::scenario::Scenario)s out, every finding with its line and column.
//!
//! | file | what happens there |
//! |---|---|
//! | `find` | paths, folders and patterns become files with ids |
//! | `source`, `parse`, `scalar`, `node` | a file becomes a tree in which each value knows its place |
//! | `load` | defaults are merged, variables filled in, sections read, scenarios made |
//! | `mocks`, `llm` | the mock servers of a file alone, and the script of a stand-in for a model |
//! | `decode`, `values` | how sections are declared and read, so that all that is wrong is found |
//! | `document`, `servers`, `interactions`, `resources`, `prompts`, `responses`, `condition`, `content`, `data`, `container`, `mounts`, `ready`, `llm_interactions`, `steps`, `fault`, `references`, `script`, `agent`, `model_agent`, `command_agent`, `replaying`, `scoring` | the sections, and what they become |
//! | `scenario`, `asker` | the scenario that a document becomes, and its agent |
//! | `checks`, `ready_checks`, `expecting` | what must fit together between sections |
//! | `client_config`, `expand` | servers of MCP clients' files, and values from the environment |
//! | `schema` | the sections once more, as JSON Schema |
//! | `hash` | what tells one experiment from another |
//! | `finding` | what is wrong, as people read it |
//!
//! The files are read by a parser that gives the place of every value; `serde_yaml` gives numbers their meaning, so that
//! what it writes reads back the same.

mod agent;
mod asker;
mod checks;
mod client_config;
mod command_agent;
mod condition;
mod container;
mod content;
mod data;
mod decode;
mod document;
mod expand;
mod expecting;
mod fault;
mod find;
mod finding;
mod hash;
mod interactions;
mod llm;
mod llm_interactions;
mod load;
mod mocks;
mod model_agent;
mod mounts;
mod nearest;
mod node;
mod parse;
mod prompts;
mod ready;
mod ready_checks;
mod references;
mod replaying;
mod resources;
mod responses;
mod scalar;
mod scenario;
mod schema;
mod scoring;
mod script;
mod servers;
mod session;
mod source;
mod steps;
mod values;
mod variables;

pub use client_config::{ClientConfigError, client_config};
pub use command_agent::{needs, reads_prompt, takes};
pub use expand::{
    CONTAINER_PORT, CONTAINER_URL, Expanded, MissingVariables, expand, expand_agent,
    expand_command, expand_container, expand_pages, mentions_container,
};
pub use find::{Found, find, id_of_folder};
pub use finding::{Finding, Severity, sort};
pub use hash::agent_hash;
pub use llm::{LoadedLlm, llm};
pub use load::{Loaded, Options, check, load};
pub use mocks::{LoadedMocks, mock_tool, mocks};
pub use schema::json_schema;
pub use session::{Session, SessionCall, session_scenario};
