//! HTML pages: an index and one page per scenario, with one style sheet beside them and no other resources.
//!
//! The pages are Askama templates under `templates/`. No request to anywhere and no script but our own (a content
//! security policy forbids both), and no link built from what a scenario, tool or model said. Links that lead elsewhere
//! are those of CI and of the user, and those to commits on GitHub and GitLab ([`crate::repository`]).

mod answer;
mod behind;
mod cause;
mod content;
mod conversation;
pub mod dashboard;
mod excerpt;
mod history;
mod index;
mod link;
pub mod measured;
mod render;
mod repeated;
mod scenario;
mod sides;
mod single;
mod stamps;
mod state;
mod stretch;
mod track;
mod versions;

use std::fmt;
use std::ops::Deref;

use askama::filters::Escaper;

use model::published::history::HistoryDocument;
use model::published::result::{ResultDocument, Scenario};
use model::text;
use model::text::word_diff::Piece;
use model::{Redacted, Trajectory};

use answer::Answers;
use dashboard::Around;
use render::{between_tags, embedded, render};

pub use answer::PageFile;
pub use content::{Responses, keep_response};
pub use link::{link, page_name};
pub use single::{Single, single};

/// The index of a result: its summary and a line per scenario, each linking to the page of its [`page_name()`].
pub fn index(result: &ResultDocument) -> String {
    index_with(result, &Responses::new())
}

/// The same in the folder of a report, beside the pages of the scenarios and their [`STYLE`].
pub fn index_of_report(result: &ResultDocument, responses: &Responses) -> String {
    render(&index::IndexPage::new(result, responses, None).linked())
}

/// The style sheet that lies beside the pages of a report, and its name there.
pub const STYLE: (&str, &str) = ("mcp-eval.css", include_str!("../../../templates/style.css"));

/// The script that lies beside the pages of scenarios, and its name there.
pub const SCRIPT: (&str, &str) = (
    "mcp-eval.js",
    include_str!("../../../templates/scenario.js"),
);

/// The same with the final responses of runs in the cells of a matrix.
pub fn index_with(result: &ResultDocument, responses: &Responses) -> String {
    render(&index::IndexPage::new(result, responses, None))
}

/// The same as the dashboard shows it.
pub fn index_within(around: &Around<'_>, result: &ResultDocument) -> String {
    render(&index::IndexPage::new(
        result,
        &Responses::new(),
        Some(around),
    ))
}

/// Results over time, with small charts.
pub fn history(history: &HistoryDocument) -> String {
    render(&history::HistoryPage::new(history, None))
}

/// The same as the dashboard shows it.
pub fn history_within(around: &Around<'_>, history: &HistoryDocument) -> String {
    render(&history::HistoryPage::new(history, Some(around)))
}

/// What a content security policy calls the scripts of the index and of the page of a scenario: `sha256-…`.
pub fn script_hashes() -> [String; 2] {
    [
        render::hash(&render::IndexScript),
        render::hash(&render::ScenarioScript),
    ]
}

/// A page, and the files that lie beside it.
#[derive(Debug)]
pub struct Page {
    pub html: String,
    pub files: Vec<PageFile>,
}

/// The page of one scenario. Without a trajectory, what it would show of answers and messages is left out and said so.
pub fn scenario(
    result: &ResultDocument,
    scenario: &Scenario,
    baseline: Option<&Redacted<Trajectory>>,
    current: Option<&Redacted<Trajectory>>,
) -> Page {
    page(result, scenario, [baseline, current], true, None)
}

/// The same page as the dashboard shows it.
pub fn scenario_within(
    around: &Around<'_>,
    result: &ResultDocument,
    scenario: &Scenario,
    [baseline, current]: [Option<&Redacted<Trajectory>>; 2],
) -> Page {
    page(result, scenario, [baseline, current], true, Some(around))
}

/// The same page where nothing can lie beside it, as a part of a single file.
pub fn scenario_alone(
    result: &ResultDocument,
    scenario: &Scenario,
    baseline: Option<&Redacted<Trajectory>>,
    current: Option<&Redacted<Trajectory>>,
) -> String {
    page(result, scenario, [baseline, current], false, None).html
}

fn page(
    result: &ResultDocument,
    scenario: &Scenario,
    sides: [Option<&Redacted<Trajectory>>; 2],
    has_files: bool,
    around: Option<&Around<'_>>,
) -> Page {
    let name = page_name(&scenario.id);
    let folder = format!("answers/{}", name.trim_end_matches(".html"));
    let titles = match result.command.as_str() {
        "run" => ["Expected", "Current run"],
        "record" => ["Baseline", "Recorded run"],
        _ => ["Baseline", "Current run"],
    };
    let answers = Answers::new(&folder, titles, has_files);
    let [baseline, current] = sides.map(|it| it.map(Deref::deref));
    let page = scenario::ScenarioPage::new(result, scenario, [baseline, current], &answers, around);
    let html = render(&page);
    Page {
        html,
        files: answers.into_files(),
    }
}

/// A sentence in pieces, those marked that stand between back quotes: names, places and values.
fn ticked(sentence: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let quotes = sentence.matches('`').count();
    for (at, text) in sentence.split('`').enumerate() {
        // A back quote without its partner is part of the text.
        let is_last = quotes == at;
        let marked = at % 2 == 1;
        if marked && is_last {
            pieces.push(Piece {
                text: format!("`{text}"),
                marked: false,
            });
        } else if !text.is_empty() {
            pieces.push(Piece {
                text: text.to_owned(),
                marked,
            });
        }
    }
    pieces
}

/// How every value gets into a page: HTML escaped, control and invisible formatting characters made visible.
#[derive(Debug, Clone, Copy)]
pub struct Escape;

impl Escaper for Escape {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        let mut plain_from = 0;
        for (at, found) in text.char_indices() {
            let entity = match found {
                '<' => "&lt;",
                '>' => "&gt;",
                '&' => "&amp;",
                '"' => "&quot;",
                '\'' => "&#39;",
                '\n' | '\t' => continue,
                hidden if text::is_hidden(hidden) => "",
                _ => continue,
            };
            out.write_str(&text[plain_from..at])?;
            if entity.is_empty() {
                text::write_sign(&mut out, found)?;
            } else {
                out.write_str(entity)?;
            }
            plain_from = at + found.len_utf8();
        }
        out.write_str(&text[plain_from..])
    }
}

/// How a text gets into a page where no attribute can hold it: as everywhere, but that a quote is a quote. Answers in JSON are full of them,
/// and an entity takes six bytes.
#[derive(Debug, Clone, Copy)]
pub struct EscapeBetweenTags;

impl Escaper for EscapeBetweenTags {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for (at, between_quotes) in text.split('"').enumerate() {
            if at > 0 {
                out.write_char('"')?;
            }
            Escape.write_escaped_str(&mut out, between_quotes)?;
        }
        Ok(())
    }
}
