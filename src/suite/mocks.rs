//! Mock servers that run within us: each session with one is a server of its own, as if each were a process.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncWriteExt, DuplexStream};

use crate::input;
use crate::mock::{self, Ended, Mock};
use crate::process::Work;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::{self, Finding, Found, Scenario};
use crate::store;
use crate::suite::outcome::caught;

/// The exit code of one that cannot be served.
const FAILED: u8 = 2;

/// A server that answers as its scenario declares, or as its baseline recorded. That is read anew for each session.
#[derive(Debug)]
pub(super) struct MockServer {
    pub(super) server: Server,
    pub(super) scenario: Scenario,
    /// What is taken out of arguments before they are compared with recorded ones.
    pub(super) secrets: Secrets,
}

impl MockServer {
    /// Reads it; what is wrong with its file is put into `findings`.
    fn read(&self, findings: &mut Vec<Finding>) -> Result<Mock, String> {
        let scenario = &self.scenario;
        let mut redactor = Redactor::default();
        let servers = if let Transport::Recorded { baseline } = &self.server.transport {
            let recording = store::load(baseline).map_err(|error| error.to_string())?;
            redactor = Redactor::new(&self.secrets, &scenario.redaction);
            redactor = redactor.of_recorded_servers(&recording);
            mock::recorded(&recording)
        } else {
            let mut file = Found::below(scenario.defaults_root.clone(), scenario.path.clone());
            if let Some(path) = &scenario.text_at {
                let unread = |error| format!("cannot read {}: {error}", path.display());
                file = file.holding(&input::read_to_string(path).map_err(unread)?);
            }
            let loaded = scenario_file::mocks(&file);
            *findings = loaded.findings;
            loaded.servers
        };
        let mut servers = servers.into_iter();
        let found = servers.find(|(name, _)| *name == self.server.name);
        let (name, declared) = found.ok_or("there is no mock server of this name")?;
        let mock = Mock::new(&name, declared, mock::Options::default())?;
        mock.redact_with(redactor);
        Ok(mock)
    }
}

impl Work for MockServer {
    fn run(
        self: Arc<Self>,
        [stdin, stdout, mut stderr]: [DuplexStream; 3],
    ) -> BoxFuture<'static, u8> {
        Box::pin(async move {
            let serving = caught(async {
                let mut findings = Vec::new();
                let mock = self.read(&mut findings);
                for finding in findings {
                    let _ = stderr.write_all(format!("{finding}\n").as_bytes()).await;
                }
                let ended = mock?.serve_stdio(stdin, stdout, mock::MAX_BODY).await;
                ended.map_err(|error| format!("the connection failed: {error}"))
            });
            match serving.await.flatten() {
                Ok(Ended::Closed) => 0,
                Ok(Ended::Exit(code)) => code,
                Err(why) => {
                    let why = format!("error: {why}\n");
                    let _ = stderr.write_all(why.as_bytes()).await;
                    FAILED
                }
            }
        })
    }
}
