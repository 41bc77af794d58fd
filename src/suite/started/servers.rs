//! The servers that are started for one run, together.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{join_all, select_all};

use super::server::{Program, StartedServer};
use crate::model::redacted::Redacted;
use crate::model::trajectory::{Ending, Trajectory};
use crate::redact::Redactor;
use crate::run::SetupError;
use crate::suite::post_mortem::{end_as, lost_connection};

/// How long the end of a server may take to be noticed when nobody is found where it was.
const NOTICE: Duration = Duration::from_secs(1);

/// How long it may take where nothing speaks for it.
const GLANCE: Duration = Duration::from_millis(20);

/// The servers that are started for one run. Dropping them kills all they have started.
#[derive(Debug, Default)]
pub(crate) struct StartedServers {
    servers: Vec<StartedServer>,
    /// That one of them has ended was reported before.
    is_reported: bool,
}

impl StartedServers {
    /// Starts them, in their order. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be started; none is left running.
    pub(crate) fn start(programs: Vec<Program>) -> Result<Self, SetupError> {
        let started = programs.into_iter().map(StartedServer::start);
        Ok(Self {
            servers: started.collect::<Result<_, _>>()?,
            is_reported: false,
        })
    }

    /// Waits for something that needs them all, such as that they are ready. The end of one of them is the end of that.
    ///
    /// # Errors
    ///
    /// How the first of them ended; else what failed, with what they have said so far.
    pub(crate) async fn during<T>(
        &mut self,
        work: impl Future<Output = Result<T, SetupError>>,
    ) -> Result<T, SetupError> {
        if self.servers.is_empty() {
            return work.await;
        }
        let done = tokio::select! {
            biased;
            ended = self.first_end() => return Err(self.too_early(ended)),
            done = work => done,
        };
        let mut failed = match done {
            Ok(done) => return Ok(done),
            Err(failed) => failed,
        };
        // What asks them may notice first that one has ended.
        if let Ok(mut ended) = tokio::time::timeout(NOTICE, self.first_end()).await {
            ended.details.insert(0, failed.message);
            return Err(self.too_early(ended));
        }
        failed
            .details
            .extend(self.servers.iter().flat_map(StartedServer::living));
        Err(failed)
    }

    fn too_early(&mut self, mut ended: SetupError) -> SetupError {
        self.is_reported = true;
        ended.message.push_str(" before it was ready");
        ended
    }

    async fn first_end(&mut self) -> SetupError {
        if self.servers.is_empty() {
            return std::future::pending().await;
        }
        let ends = self.servers.iter_mut().map(|it| it.ended().boxed());
        select_all(ends).await.0
    }

    /// Gives a run during which one of them has ended the ending [`Ending::Error`], because what came of its calls is no basis for a verdict.
    /// Returns whether one has.
    pub(crate) async fn examine(
        &mut self,
        trajectory: &mut Redacted<Trajectory>,
        redactor: &Redactor,
    ) -> bool {
        if trajectory.ending == Ending::Interrupted || self.is_reported {
            return false;
        }
        let lost = lost_connection(trajectory);
        let patience = if lost { NOTICE } else { GLANCE };
        let looked = self.servers.iter_mut().map(|it| it.post_mortem(patience));
        let Some(mut ended) = join_all(looked).await.into_iter().flatten().next() else {
            return false;
        };
        ended.message.push_str(" during the run");
        let died = redactor.ending(ended.into());
        trajectory.refine(|it| end_as(it, &died));
        true
    }

    /// Asks them to end, then forces them.
    pub(crate) async fn stop(&mut self) {
        join_all(self.servers.iter_mut().map(StartedServer::stop)).await;
    }

    /// What each of them has written, with its name.
    pub(crate) fn logs(&self) -> impl Iterator<Item = (String, String)> {
        self.servers
            .iter()
            .map(|it| (format!("server {}", it.name), it.log()))
    }
}
