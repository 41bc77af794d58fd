//! Who is asked: a search behind an address, or one that is a tool of an MCP server.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::suite::program;
use crate::discovery::search::{
    Answer, Ask, LiveTool, Place, Rest, Search, ToolAsk, filled_arguments, read_answer,
    read_catalogue, tool_document,
};
use crate::model::call::Outcome;
use crate::model::scenario::Scenario;
use crate::scenario_file::{self, Options};
use crate::suite::{self, Introduction, Settings};

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A search that can be asked.
pub(super) struct Asker<'a> {
    search: &'a Search,
    rest: Rest<'a>,
    session: Option<Introduction>,
}

impl<'a> Asker<'a> {
    /// Reaches a search; `scenario` names the servers, where it is a tool of one.
    ///
    /// # Errors
    ///
    /// Why the servers cannot be reached.
    pub(super) async fn open(
        search: &'a Search,
        place: &Place,
        scenario: Option<&Path>,
    ) -> Result<Self, Failure> {
        let session = match (search.needs_session(), scenario) {
            (false, _) => None,
            (true, None) => {
                return Err(Failure::usage(format!(
                    "the search `{}` is a tool, and nothing says of which server",
                    search.name
                ))
                .hint("name a scenario file that has the server with `--scenario FILE`"));
            }
            (true, Some(path)) => {
                let scenario = read(path)?;
                let settings = Settings {
                    program: Some(program()),
                    ..Settings::default()
                };
                Some(Box::pin(suite::introduce(&scenario, &settings)).await?)
            }
        };
        Ok(Self {
            search,
            rest: Rest::new(search, place.clone(), LIMIT),
            session,
        })
    }

    /// Asks for what fits a query.
    ///
    /// # Errors
    ///
    /// Why there is no answer, in a fragment.
    pub(super) async fn ask(&mut self, query: &str, limit: usize) -> Result<Answer, String> {
        match self.search.ask() {
            Ask::Http(ask) => self.rest.ask(ask, query, limit).await,
            Ask::Tool(ask) => {
                let (document, bytes, took) = self.call(ask, query, limit).await?;
                Ok(Answer {
                    found: read_answer(self.search, &document)?,
                    bytes,
                    took,
                })
            }
        }
    }

    /// Lists the live catalogue; `None` where there is no such list.
    ///
    /// # Errors
    ///
    /// Why there is no answer, in a fragment.
    pub(super) async fn catalogue(&mut self) -> Result<Option<Vec<LiveTool>>, String> {
        let Some(listing) = &self.search.catalogue else {
            return Ok(None);
        };
        match listing.ask() {
            Ask::Http(ask) => self.rest.catalogue(listing, ask).await,
            Ask::Tool(ask) => {
                let (document, ..) = self.call(ask, "", 0).await?;
                read_catalogue(listing, self.search.split.as_deref(), &document).map(Some)
            }
        }
    }

    async fn call(
        &self,
        ask: &ToolAsk,
        query: &str,
        limit: usize,
    ) -> Result<(Value, usize, Duration), String> {
        let Some(session) = &self.session else {
            return Err("there is no session with its server".to_owned());
        };
        let server = session.server_of(ask.server.as_deref(), &ask.name)?;
        let arguments = filled_arguments(&ask.arguments, query, limit);
        let began = Instant::now();
        let outcome = session.ask(&server, &ask.name, &arguments, LIMIT).await?;
        let took = began.elapsed();
        match outcome {
            Outcome::Failure(failure) => Err(failure.message),
            Outcome::Answer(answer) => {
                let (document, bytes) = tool_document(
                    answer.is_error,
                    &answer.content,
                    answer.structured_content.as_ref(),
                )?;
                Ok((document, bytes, took))
            }
        }
    }

    pub(super) async fn close(self) {
        if let Some(session) = self.session {
            session.close().await;
        }
    }
}

/// The scenario whose servers are asked.
fn read(path: &Path) -> Result<Scenario, Failure> {
    let (found, mut findings) = scenario_file::find(&[PathBuf::from(path)]);
    // Nobody plays it: its servers are asked by the measurement itself.
    let options = Options {
        agent_given: true,
        ..Options::default()
    };
    let loaded = scenario_file::load(&found, &options);
    findings.extend(loaded.findings);
    let errors: Vec<String> = findings
        .iter()
        .filter(|it| it.is_error())
        .map(ToString::to_string)
        .collect();
    if !errors.is_empty() {
        return Err(Failure::usage(errors.join("\n")));
    }
    let Some(scenario) = loaded.scenarios.into_iter().next() else {
        return Err(Failure::usage(format!(
            "{} holds no scenario",
            path.display()
        )));
    };
    let unused = match (&scenario.containers[..], &scenario.ready) {
        ([_, ..], _) => Some("docker"),
        ([], Some(_)) => Some("ready"),
        ([], None) => None,
    };
    match unused {
        Some(key) => Err(Failure::usage(format!(
            "{}: `{key}` is not followed here, only `servers`",
            path.display()
        ))
        .hint("start what the servers need beforehand, and name their addresses")),
        None => Ok(scenario),
    }
}
