//! What is known of a result whose files are gone.

use askama::Template;

use super::frame::Frame;
use crate::published::kept::{ResultDetail, ResultEntry};
use crate::report::html::render::render;

#[derive(Template)]
#[template(path = "dashboard/result.html", config = "templates/askama.toml")]
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
