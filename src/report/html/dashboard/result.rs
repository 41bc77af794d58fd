//! What is known of a result whose files are gone.

use askama::Template;

use super::frame::Frame;
use crate::model::number::fixed;
use crate::published::result::Status;
use crate::report::html::render::render;

/// What the database knows of a result.
#[derive(Debug)]
pub struct ResultFacts {
    pub name: String,
    pub path: String,
    pub tags: Vec<String>,
    pub status: Status,
    pub reason: Option<String>,
    /// 0 to 1; `None` where nothing was compared.
    pub score: Option<f64>,
    pub duration_ms: Option<f64>,
    /// RFC 3339.
    pub at: String,
    pub command: String,
    pub run: String,
    /// The agent and its model; empty where nothing ran.
    pub driver: String,
    pub prompt: Option<String>,
    /// Where its history is.
    pub history: String,
    pub evaluators: Vec<EvaluatorLine>,
    pub calls: Vec<CallLine>,
}

/// What an evaluator found.
#[derive(Debug)]
pub struct EvaluatorLine {
    pub name: String,
    pub status: String,
    pub message: String,
    pub gates: bool,
}

/// A call.
#[derive(Debug)]
pub struct CallLine {
    pub number: u64,
    pub server: String,
    pub tool: String,
    pub status: String,
    pub duration_ms: Option<f64>,
    pub answer_bytes: usize,
}

impl ResultFacts {
    fn score_words(&self) -> String {
        self.score.map_or_else(String::new, |it| fixed(it, 2))
    }
}

#[derive(Template)]
#[template(path = "dashboard/result.html", config = "templates/askama.toml")]
struct ResultPage<'a> {
    frame: Frame<'a>,
    row: &'a ResultFacts,
    gone: &'a str,
}

/// The page of a result of which nothing but this is known; `gone` says why.
pub fn result(frame: Frame<'_>, row: &ResultFacts, gone: &str) -> String {
    render(&ResultPage { frame, row, gone })
}
