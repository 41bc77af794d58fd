//! A failure at the moment it happens: enough to know whether to stop and look. What it has in common with others is told in the end.

use std::collections::HashMap;
use std::slice;

use super::page::{DIM, Page, RED, Style, YELLOW, status_style};
use super::scenario_line::cells;
use crate::causes;
use model::published::result::Scenario;

/// How many reasons are told at once.
const REASONS: usize = 3;

/// Tells failures one after the other.
#[derive(Debug, Default)]
pub struct Live {
    /// What was told already, with the name of the scenario it was told of.
    told: HashMap<Vec<String>, String>,
}

impl Live {
    /// A scenario that did not pass, in a few lines, ending with a line break. `command` is the one that results name.
    pub fn failed(&mut self, scenario: &Scenario, command: &str, style: Style) -> String {
        let mut page = Page::new("", command, style);
        let status = status_style(scenario.status);
        let sign = format!("{} ", scenario.symbol());
        let line = [scenario.name.clone(), cells(scenario, command).join(" · ")];
        page.indented(0, &sign, status, &line.join("  "));
        page.indented(4, "", DIM, &scenario.path);
        let reasons = reasons(scenario, command);
        if let Some(first) = self.told.get(&reasons) {
            page.indented(4, "", DIM, &format!("for the same reason as `{first}`"));
            return page.text;
        }
        if let Some(sentence) = scenario.not_the_same_experiment() {
            page.indented(4, "! ", YELLOW, &sentence);
        }
        if let Some(problem) = &scenario.problem {
            page.problem(problem, scenario.status);
        } else {
            for reason in reasons.iter().take(REASONS) {
                page.indented(4, "✗ ", RED, reason);
            }
            if reasons.len() > REASONS {
                let more = format!("and {} more", reasons.len() - REASONS);
                page.indented(4, "✗ ", RED, &more);
            }
        }
        if !reasons.is_empty() {
            self.told.insert(reasons, scenario.name.clone());
        }
        page.text
    }
}

/// Why it did not pass, a sentence each.
fn reasons(scenario: &Scenario, command: &str) -> Vec<String> {
    let causes = causes::causes(slice::from_ref(scenario), command);
    let causes = causes.into_iter().filter(|it| it.fails);
    let texts: Vec<String> = causes.map(|it| it.text).collect();
    let problem = scenario.problem.iter().map(|it| it.message.clone());
    if texts.is_empty() {
        problem.collect()
    } else {
        texts
    }
}
