//! The index page.

use askama::Template;

use crate::report::document::{BandV1, ResultV1, ScenarioV1};
use crate::report::{duration, moment};

use super::{page_name, score, stamps};

/// The template's view of a result.
#[derive(Template)]
#[template(path = "index.html", config = "templates/askama.toml")]
pub(super) struct IndexPage<'a> {
    result: &'a ResultV1,
    started_at: String,
    duration: String,
    git: Vec<String>,
    /// How many came out which way, without the zeros.
    counts: Vec<(usize, &'static str)>,
    lines: Vec<Line<'a>>,
}

/// One scenario.
struct Line<'a> {
    scenario: &'a ScenarioV1,
    page: String,
    /// The overall score: as text, and in percent for its bar.
    score: Option<(String, f64)>,
    band: Option<&'static str>,
    calls: String,
    duration: String,
    /// What several runs came to together.
    repeated: Option<String>,
    flaky: bool,
    /// Everything that speaks against it: reasons, or the problem.
    reasons: Vec<String>,
}

impl<'a> IndexPage<'a> {
    pub(super) fn new(result: &'a ResultV1) -> Self {
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

    /// What came out well, and is not as it was.
    fn altered(&self) -> Vec<&Line<'a>> {
        let altered = |it: &&Line<'_>| it.scenario.is_changed();
        self.lines.iter().filter(altered).collect()
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
    fn new(scenario: &'a ScenarioV1) -> Self {
        let gate = (scenario.repeated.iter()).filter_map(|it| it.reason.clone());
        let problem = scenario.problem.iter().map(|it| it.message.clone());
        Self {
            scenario,
            page: page_name(&scenario.id),
            score: (scenario.score()).map(|it| (score(it), (it * 100.0).clamp(0.0, 100.0))),
            // A mean is in no band.
            band: (scenario.band())
                .filter(|_| scenario.repeated.is_none())
                .map(BandV1::name),
            calls: scenario.calls().unwrap_or_default(),
            duration: duration_words(scenario.duration_ms),
            repeated: scenario.repeated.as_ref().map(|it| it.words()),
            flaky: scenario.repeated.as_ref().is_some_and(|it| it.flaky),
            reasons: problem.chain(gate).chain(scenario.reasons()).collect(),
        }
    }
}

/// A duration for people; empty when it is not known.
pub(super) fn duration_words(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(String::new, duration::words)
}
