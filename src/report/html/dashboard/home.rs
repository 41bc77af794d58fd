//! The first page: what runs, what broke, what waits for somebody, what there is to run.

use askama::Template;

use super::{Frame, PendingCause};
use crate::html::render::{self, render};
use model::Status;
use model::published::kept::ResultEntry;
use model::text::several;

/// What the first page shows.
#[derive(Debug)]
pub struct Home<'a> {
    pub frame: Frame<'a>,
    /// The folder that is served.
    pub root: String,
    pub running: Vec<Running>,
    pub waits: Waits,
    /// The id of the last event that this is not behind.
    pub after: String,
    /// What could not be run at all, lately.
    pub troubles: Vec<String>,
    /// The latest first; or why they are not known.
    pub results: Result<Vec<ResultEntry>, String>,
    /// How many there are in all.
    pub total: u64,
    pub served: Served,
    /// Why nobody may decide on what waits here, and how they may.
    pub undecidable: Option<String>,
    pub folder_problem: Option<String>,
    /// What a comparison cannot do here, and how it could.
    pub incomparable: Option<String>,
}

/// What there is in the folder that is served, and what waits beside its baselines.
#[derive(Debug, Default)]
pub struct Served {
    pub scenarios: Vec<ScenarioLine>,
    pub more_scenarios: usize,
    pub broken: Vec<Broken>,
    /// By cause, each run once.
    pub pending: Vec<PendingCause>,
    pub more_pending: usize,
}

/// A scenario that is running.
#[derive(Debug)]
pub struct Running {
    /// Tells it from the others.
    pub key: String,
    pub name: String,
    pub command: String,
    pub doing: String,
    /// How long by now, in milliseconds.
    pub for_ms: f64,
}

/// What waits for its turn.
#[derive(Debug, Default)]
pub struct Waits {
    pub count: usize,
    /// The names of the first of them.
    pub next: Vec<String>,
}

impl Waits {
    /// `3 wait for their turn: a, b and 1 more`; empty where none does.
    pub fn words(&self) -> String {
        let verb = match self.count {
            0 => return String::new(),
            count => several(count, "waits for its turn", "wait for their turn"),
        };
        let more = match self.count.saturating_sub(self.next.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{verb}: {}{more}", self.next.join(", "))
    }

    /// What the server does, in a few words, where so many run.
    pub fn state(&self, running: usize) -> String {
        let runs = match running {
            0 => "Idle".to_owned(),
            _ => several(running, "scenario runs", "scenarios run"),
        };
        match self.count {
            0 => runs,
            count => format!("{runs}, {}", several(count, "waits", "wait")),
        }
    }
}

/// A scenario that is served.
#[derive(Debug)]
pub struct ScenarioLine {
    pub id: String,
    pub name: String,
    pub path: String,
    pub tags: Vec<String>,
    /// Where its history is.
    pub history: String,
    /// How its latest result came out, and the id of that.
    pub latest: Option<(Status, String)>,
    /// Why it cannot be run here.
    pub refused: Option<Refused>,
    /// Whether there is something to compare it with.
    pub comparable: bool,
}

/// Why a scenario cannot be run from the dashboard.
#[derive(Debug)]
pub enum Refused {
    Disabled,
    /// What it does is not allowed: the beginning of a sentence that says what that is.
    NotAllowed(String),
}

/// What is wrong with a scenario file.
#[derive(Debug)]
pub struct Broken {
    /// File, line and column.
    pub place: String,
    pub message: String,
    pub hint: Option<String>,
}

/// Shows what happens while it happens.
#[derive(Template)]
#[template(path = "dashboard/live.js", escape = "none")]
struct LiveScript;

#[derive(Template)]
#[template(path = "dashboard/home.html")]
struct HomePage<'a> {
    frame: Frame<'a>,
    home: &'a Home<'a>,
    /// How many scenarios have a latest result, and how many of those are not fine.
    tried: usize,
    failing: usize,
    script_hash: String,
}

/// What a content security policy calls the script of the first page.
pub fn script_hash() -> String {
    render::hash(&LiveScript)
}

impl Home<'_> {
    /// How many runs wait for review.
    fn waiting(&self) -> usize {
        let shown: usize = self.served.pending.iter().map(|it| it.runs.len()).sum();
        shown + self.served.more_pending
    }

    /// How many scenarios may not be run here, as the server was started.
    fn not_allowed(&self) -> usize {
        let is_it = |it: &&ScenarioLine| matches!(it.refused, Some(Refused::NotAllowed(_)));
        self.served.scenarios.iter().filter(is_it).count()
    }
}

/// The first page.
pub fn home(home: &Home<'_>) -> String {
    let latest = || {
        home.served
            .scenarios
            .iter()
            .filter_map(|it| it.latest.as_ref())
    };
    render(&HomePage {
        frame: home.frame,
        home,
        tried: latest().count(),
        failing: latest().filter(|(status, _)| !status.is_fine()).count(),
        script_hash: script_hash(),
    })
}
