//! The pages of the dashboard of the test server, and what it puts around the pages of the report. Values in, text out, as all here.

mod home;

pub use self::home::{
    Broken, Home, Refused, Running, ScenarioLine, Served, Waits, home, script_hash,
};
use crate::html::render::{self, render};
use askama::Template;
use model::published::kept::{ResultDetail, ResultEntry};

/// The version that the pages name.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    problem: Option<&'a str>,
}

/// The form that asks for the token; with what was wrong before.
pub fn sign_in(problem: Option<&str>) -> String {
    render(&SignInPage { problem })
}

#[derive(Template)]
#[template(path = "dashboard/problem.html")]
struct ProblemPage<'a> {
    frame: Frame<'a>,
    title: &'a str,
    message: &'a str,
    findings: &'a [String],
}

/// Why something was not done, in a sentence, with all that is wrong.
pub fn problem(frame: Frame<'_>, title: &str, message: &str, findings: &[String]) -> String {
    render(&ProblemPage {
        frame,
        title,
        message,
        findings,
    })
}

#[derive(Template)]
#[template(path = "dashboard/result.html")]
struct ResultPage<'a> {
    frame: Frame<'a>,
    row: &'a ResultEntry,
    known: &'a ResultDetail,
    /// The agent and its model; empty where nothing ran.
    driver: String,
    history: &'a str,
    gone: &'a str,
}

/// The page of a result of which nothing but this is known; `gone` says why, and its history is at `history`.
pub fn result(frame: Frame<'_>, known: &ResultDetail, history: &str, gone: &str) -> String {
    let row = &known.result;
    let driver = [row.agent.as_deref(), row.model.as_deref()];
    render(&ResultPage {
        frame,
        row,
        known,
        driver: driver.into_iter().flatten().collect::<Vec<_>>().join(" "),
        history,
        gone,
    })
}

/// The style sheet as the pages of the dashboard have it.
#[derive(Template)]
#[template(
    source = "{% include \"style.css\" %}{% include \"dashboard/dashboard.css\" %}",
    ext = "css",
    escape = "none"
)]
struct Style;

/// What a content security policy calls the style sheet of the dashboard's own pages: `sha256-…`.
pub fn style_hash() -> String {
    render::hash(&Style)
}

/// What all pages of the dashboard have in common.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// What forms bring with them, so that they come from our own pages.
    pub csrf: &'a str,
    /// Whether there is a session to end.
    pub signed_in: bool,
    /// What came of what was asked for before.
    pub said: Option<&'a str>,
}

/// What the dashboard puts around a page of the report.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub frame: Frame<'a>,
    /// Whether the index of the run lies beside the page.
    pub has_index: bool,
    /// Where the history of the scenario is.
    pub history: Option<&'a str>,
    /// The run waits for review.
    pub decide: Option<&'a Pending>,
    /// Why nobody may decide on it here, and how they may.
    pub undecidable: Option<&'a str>,
}

/// A run that waits for review.
#[derive(Debug)]
pub struct Pending {
    pub scenario: String,
    pub name: String,
    /// Where it is shown beside its baseline; `None` where it cannot be read.
    pub page: Option<String>,
    /// The id of the run.
    pub run: String,
    /// What else changed in it, besides the cause that it is shown with.
    pub also: Vec<String>,
    /// Why it must not be accepted unseen: baseline or scenario have changed since.
    pub moved: Option<String>,
    /// What failed in it by itself.
    pub failing: Vec<String>,
    pub acceptable: bool,
}

/// The runs that wait for review for one cause.
#[derive(Debug)]
pub struct PendingCause {
    /// The cause in a sentence.
    pub words: String,
    pub fails: bool,
    pub runs: Vec<Pending>,
}
