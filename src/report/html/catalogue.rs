//! The tools that changed, each as it was described and as it is.

use serde_json::Value;

use crate::diff::{self, Diff, Known};
use model::catalogue::Tool;
use model::published::result::Drift;
use model::trajectory::Trajectory;

/// The most tools that are shown with what they were and what they are.
const TOOLS: usize = 25;

/// A tool that changed.
#[derive(Debug)]
pub(super) struct ToolView<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    /// What changed, one after the other.
    pub(super) drift: Vec<&'a Drift>,
    /// The baseline's calls that are refused now, in words.
    pub(super) refused: String,
    pub(super) breaking: bool,
    pub(super) used: bool,
    /// Description and schemas, before and after; `None` where they are not at hand.
    pub(super) diff: Option<Diff>,
}

/// The tools that changed: those that break their callers first, and of either kind those that the baseline uses.
pub(super) fn tools<'a>(
    drift: &'a [Drift],
    baseline: Option<&Trajectory>,
    current: Option<&Trajectory>,
) -> Vec<ToolView<'a>> {
    let mut views: Vec<ToolView<'a>> = Vec::new();
    for it in drift {
        let of_tool = |view: &&mut ToolView<'_>| view.server == it.server && view.tool == it.tool;
        if let Some(view) = views.iter_mut().find(of_tool) {
            view.drift.push(it);
            view.breaking |= it.breaking;
            view.used |= it.used;
            continue;
        }
        views.push(ToolView {
            server: &it.server,
            tool: &it.tool,
            drift: vec![it],
            refused: String::new(),
            breaking: it.breaking,
            used: it.used,
            diff: None,
        });
    }
    views.sort_by_key(|it| (!it.breaking, !it.used));
    for (at, view) in views.iter_mut().enumerate() {
        let mut refused: Vec<usize> = (view.drift.iter())
            .flat_map(|it| it.refused.clone())
            .collect();
        refused.sort_unstable();
        refused.dedup();
        let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
        view.refused = refused.join(", ");
        if at < TOOLS {
            view.diff = difference(
                served(baseline, view.server, view.tool),
                served(current, view.server, view.tool),
            );
        }
    }
    views
}

fn served<'t>(side: Option<&'t Trajectory>, server: &str, tool: &str) -> Option<&'t Tool> {
    side?.catalogue.tool(server, tool)
}

fn difference(was: Option<&Tool>, now: Option<&Tool>) -> Option<Diff> {
    let value = |it: &Tool| Value::Object(it.served.clone());
    match (was.map(value), now.map(value)) {
        (Some(was), Some(now)) => Some(diff::json(&was, &now, Vec::new(), &Known::default())),
        (Some(was), None) => Some(diff::unlike(diff::plain_json(&was), Diff::default(), false)),
        (None, Some(now)) => Some(diff::unlike(Diff::default(), diff::plain_json(&now), false)),
        (None, None) => None,
    }
}
