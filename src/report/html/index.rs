//! The index page.

use askama::Template;

use crate::published::result::{Band, Cause, ResultDocument, Scenario};
use crate::report::{duration, moment};

use super::{page_name, stamps};
use crate::model::points::score;

/// The template's view of a result.
#[derive(Template)]
#[template(path = "index.html", config = "templates/askama.toml")]
pub(super) struct IndexPage<'a> {
    result: &'a ResultDocument,
    started_at: String,
    duration: String,
    git: Vec<String>,
    /// How many scenarios have which status, without the zeros.
    counts: Vec<(usize, &'static str)>,
    lines: Vec<Line<'a>>,
}

/// One scenario.
struct Line<'a> {
    scenario: &'a Scenario,
    page: String,
    /// The overall score: as text, and in percent for its bar.
    score: Option<(String, f64)>,
    band: Option<&'static str>,
    calls: String,
    duration: String,
    /// What several runs came to together.
    repeated: Option<String>,
    flaky: bool,
    is_unchanged: bool,
    /// Everything that speaks against it: reasons, or the problem.
    reasons: Vec<String>,
}

impl<'a> IndexPage<'a> {
    pub(super) fn new(result: &'a ResultDocument) -> Self {
        let summary = result.summary;
        let counts = [
            (summary.passed, "passed"),
            (summary.recorded, "recorded"),
            (summary.failed, "failed"),
            (summary.inconclusive, "inconclusive"),
            (summary.error, "error"),
            (summary.timeout, "timeout"),
            (summary.interrupted, "interrupted"),
            (summary.skipped, "skipped"),
        ];
        Self {
            result,
            started_at: moment::words(&result.started_at),
            duration: duration_words(result.duration_ms),
            git: stamps::git_words(&result.git),
            counts: counts.into_iter().filter(|(count, _)| *count > 0).collect(),
            lines: result.scenarios.iter().map(Line::new).collect(),
        }
    }

    /// Remarks on the scenarios of this status: how many it is about, the class of the style sheet, and the text.
    fn of_them(&self, name: &str) -> Vec<(usize, &'static str, &'static str)> {
        let summary = self.result.summary;
        let command = self.result.command.as_str();
        let fine = if command == "record" {
            "recorded"
        } else {
            "passed"
        };
        let changes = if command == "run" {
            "with deviations"
        } else {
            "with changes"
        };
        let counts = [
            (summary.recorded_failing, "warn", "failing"),
            (summary.changed, "altered", changes),
        ];
        counts
            .into_iter()
            .filter(|(count, _, _)| *count > 0 && name == fine)
            .collect()
    }

    /// Scenarios that passed with changes.
    fn altered(&self) -> Vec<&Line<'a>> {
        let altered = |it: &&Line<'_>| it.scenario.is_changed();
        self.lines.iter().filter(altered).collect()
    }

    /// Causes that several scenarios have in common, each with the pages and names of those.
    fn shared_causes(&self) -> Vec<(&'a Cause, Vec<(String, &'a str)>)> {
        let named = |id: &'a String| {
            let name = self.result.scenario(id).map_or(id.as_str(), |it| &it.name);
            (page_name(id), name)
        };
        let causes = self.result.shared_causes();
        causes
            .map(|it| (it, it.scenarios.iter().map(named).collect()))
            .collect()
    }

    fn troubled(&self) -> Vec<&Line<'a>> {
        let needs_a_look = |it: &&Line<'_>| {
            let status = it.scenario.status;
            it.scenario.is_failing() || (!status.is_fine() && !status.is_left_out())
        };
        self.lines.iter().filter(needs_a_look).collect()
    }
}

impl<'a> Line<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let gate = (scenario.repeated.iter()).filter_map(|it| it.reason.clone());
        let problem = scenario.problem.iter().map(|it| it.message.clone());
        Self {
            scenario,
            page: page_name(&scenario.id),
            score: (scenario.score()).map(|it| (score(it), (it * 100.0).clamp(0.0, 100.0))),
            // A mean score of several runs has no band.
            band: (scenario.band())
                .filter(|_| scenario.repeated.is_none())
                .map(Band::name),
            calls: scenario.calls().unwrap_or_default(),
            duration: duration_words(scenario.duration_ms),
            repeated: scenario.repeated.as_ref().map(|it| it.words()),
            flaky: scenario.repeated.as_ref().is_some_and(|it| it.flaky),
            is_unchanged: scenario.is_unchanged(),
            reasons: problem.chain(gate).chain(scenario.reasons()).collect(),
        }
    }
}

/// A duration for people; empty when it is not known.
pub(super) fn duration_words(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(String::new, duration::words)
}
