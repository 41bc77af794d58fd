//! Options of whoever starts the server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model::Redacted;
use crate::published::result::ResultDocument;
use crate::scenario_file::SaidBy;
use crate::scenario_file::judge::LoadedJudge;
use crate::scenario_file::servers::Server;
use crate::suite::{Choice, Finished, Settings};

/// Completes the document of a finished command, keeps it beside its runs, and returns it as it is kept.
pub type Finish = Arc<dyn Fn(&Finished) -> ResultDocument + Send + Sync>;

/// What whoever starts the server allows and gives.
#[derive(Clone)]
pub struct Options {
    /// What requests must show, but for health; `None` lets everybody on this machine in.
    pub token: Option<String>,
    /// What signs in to the dashboard once, without the token.
    pub code: Option<String>,
    pub allowed: Allowed,
    pub bounds: Bounds,
    /// Whether it leaves the file by which clients on this machine find it ([`super::FILE`]).
    pub announces: bool,
    /// The folder of the scenarios that are served; requests name no file outside of it.
    pub root: PathBuf,
    /// The servers of test cases that name none; they win over a scenario's own of the same name.
    pub servers: Vec<Server>,
    /// The judge of test cases that name none.
    pub judge: Option<LoadedJudge>,
    /// The agent of test cases that name none, in place of that of the defaults of `root`.
    pub agent: Choice,
    /// How scenarios are run, but for what is said above.
    pub settings: Settings,
    pub finish: Finish,
    /// Tells whoever started the server something about its work.
    pub note: Note,
}

/// Tells a person something.
pub(crate) type Note = Arc<dyn Fn(&Redacted<String>) + Send + Sync>;

/// What requests may do.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Start programs and containers, name files outside of the root, and read environment variables.
    pub programs: bool,
    /// Record, review, and write cases.
    pub write: bool,
    /// Call this machine by any name, because others reach it.
    pub any_host: bool,
    /// Come from pages of these origins.
    pub origins: Vec<String>,
}

/// How much requests may take.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// How many runs go on at once.
    pub concurrent: usize,
    /// How many more may wait.
    pub queue: usize,
    /// How long one run may take.
    pub run_timeout: Duration,
    /// How long what runs may go on when the server is to end.
    pub grace: Duration,
}

impl Bounds {
    /// How long a run may take of which so many milliseconds are wanted, and who says so: no longer than it may here, and that unless something
    /// is wanted.
    pub(super) fn timeout(&self, wanted: Option<u64>) -> (Duration, SaidBy) {
        let most = self.run_timeout;
        match wanted.map(Duration::from_millis) {
            Some(wanted) if wanted < most => (wanted, SaidBy::Request),
            _ => (most, SaidBy::Server),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("allowed", &self.allowed)
            .field("bounds", &self.bounds)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
