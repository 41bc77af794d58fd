//! A failure at the moment it happens, in one line: enough to know whether to stop and look. The causes come in the end.

use std::slice;

use super::page::{Page, Style, status_style};
use crate::causes;
use model::published::result::Scenario;
use model::text::shorten;

/// A scenario that did not pass, with the first reason, ending with a line break. `command` is the one that results name.
pub fn failure(scenario: &Scenario, command: &str, style: Style) -> String {
    let mut page = Page::new("", command, style);
    let sign = format!("{} ", scenario.symbol());
    let id = if scenario.name == scenario.id {
        String::new()
    } else {
        format!(" ({})", scenario.id)
    };
    let causes = causes::causes(slice::from_ref(scenario), command);
    let mut reasons = causes.into_iter().filter(|it| it.fails);
    let first = reasons.next().map(|it| it.text);
    let problem = scenario.problem.as_ref().map(|it| it.message.clone());
    let said = first.or(problem).map(|it| format!(": {it}"));
    let said = said.unwrap_or_default();
    let status = scenario.status_words(command);
    let line = format!("{}{id}  {status}{said}", scenario.name);
    let more = match reasons.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let room = page.width.saturating_sub(sign.len() + more.len());
    let line = format!("{}{more}", shorten(&line, room));
    page.indented(0, &sign, status_style(scenario.status), &line);
    page.text
}
