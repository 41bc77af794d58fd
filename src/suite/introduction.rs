//! Servers are asked what they offer, before there is a scenario about them.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::addresses::Addresses;
use super::header_commands::PrintedHeaders;
use super::{Error, Settings, SuiteContext};
use crate::mcp::{self, Launch};
use crate::model::rules::Rules;
use crate::model::{Catalogue, Object, Outcome, ToolCall};
use crate::redact::{Redactor, Secrets};
use crate::run::{SetupError, Tools};
use crate::scenario_file::Scenario;
use crate::score;

/// An open session with the servers of a scenario that is to be.
pub struct Introduction {
    tools: Box<dyn Tools>,
    redactor: Redactor,
}

/// What came of trying a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    Answered,
    /// Why the call counts as failed, without secrets.
    Failed(String),
    /// No answer came in time.
    TooSlow,
    /// The server has gone away over it, with the reason.
    Gone(String),
}

/// Starts or reaches the servers of a scenario that has nothing else yet, and asks them for their tools. Needs a runtime with several threads.
///
/// # Errors
///
/// What the first of them failed with; none is left running then.
pub async fn introduce(scenario: &Scenario, settings: &Settings) -> Result<Introduction, Error> {
    let context = SuiteContext::new(settings, Vec::new(), None, CancellationToken::new());
    let mut secrets = Secrets::given_to(&scenario.redaction);
    let addresses = Addresses::default();
    let printed = PrintedHeaders::default();
    let targets = context.targets(scenario, &addresses, &printed, &mut secrets);
    let redactor = Redactor::new(&secrets, &scenario.redaction);
    let as_error = |error: SetupError| {
        let clean = |text: String| redactor.text(&text).into_inner();
        Error::Incomplete {
            message: clean(error.message),
            hints: error.details.into_iter().map(clean).collect(),
        }
    };
    let mut targets = targets.map_err(as_error)?;
    for target in &mut targets {
        target.if_late = match target.launch {
            Launch::Child(_) => {
                "start it yourself and give its URL, or write its scenario by hand, with `connect_timeout`: `mcp-eval help scenario`"
            }
            Launch::Http { .. } => "is it running, and is that its address?",
        };
    }
    let tools = mcp::connect(&targets, &|_| ()).await.map_err(as_error)?;
    Ok(Introduction { tools, redactor })
}

impl Introduction {
    /// What the servers offer, as served: secrets may be in it.
    pub fn catalogue(&self) -> &Catalogue {
        self.tools.catalogue()
    }

    /// What takes secrets out of it.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Makes a call and waits for its outcome for so long at most.
    pub async fn try_call(
        &self,
        server: &str,
        tool: &str,
        arguments: &Object,
        limit: Duration,
    ) -> Tried {
        let calling = self.tools.call(server, tool, arguments);
        let Ok(called) = tokio::time::timeout(limit, calling).await else {
            return Tried::TooSlow;
        };
        let clean = |text: &str| self.redactor.text(text).into_inner();
        if let Some(lost) = called.lost {
            return Tried::Gone(clean(&lost.message));
        }
        let call = ToolCall::new(
            Some(server.to_owned()),
            tool.to_owned(),
            arguments.clone(),
            called.outcome,
        );
        match score::call_failure(&call, self.catalogue(), &Rules::default()) {
            None => Tried::Answered,
            Some(why) => Tried::Failed(clean(&why)),
        }
    }

    /// Makes a call and waits for its outcome for so long at most. Secrets may be in it.
    ///
    /// # Errors
    ///
    /// That no answer came in time, or why the server is gone.
    pub async fn ask(
        &self,
        server: &str,
        tool: &str,
        arguments: &Object,
        limit: Duration,
    ) -> Result<Outcome, String> {
        let calling = self.tools.call(server, tool, arguments);
        let Ok(called) = tokio::time::timeout(limit, calling).await else {
            return Err(format!("no answer within {} s", limit.as_secs_f64()));
        };
        match called.lost {
            Some(lost) => Err(self.redactor.text(&lost.message).into_inner()),
            None => Ok(called.outcome),
        }
    }

    /// Ends the session, and the servers that were started for it.
    pub async fn close(self) {
        self.tools.close().await;
    }
}
