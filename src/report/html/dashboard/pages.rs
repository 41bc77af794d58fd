//! The smaller pages of the dashboard, and its style sheet.

use askama::Template;

use super::frame::Frame;
use crate::html::render::render;
use crate::html::script;
use model::published::kept::{ResultDetail, ResultEntry};

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
    script::hash(&Style)
}
