//! The page of one scenario.

use askama::Template;

use crate::model::number::fixed;
use crate::model::trajectory::Trajectory;
use crate::report::document::{ComparisonV1, LossV1, ReasonV1, ResultV1, ScenarioV1, SideV1};
use crate::report::duration;
use crate::report::moment;

use super::conversation::{self, Block};
use super::index::duration_words;
use super::model_use::{self, RequestView};
use super::repeated::RepeatedView;
use super::score;
use super::stamps::{self, StampRow};

/// The template's view of a scenario.
#[derive(Template)]
#[template(path = "scenario.html", config = "templates/askama.toml")]
pub(super) struct ScenarioPage<'a> {
    result: &'a ResultV1,
    scenario: &'a ScenarioV1,
    started_at: String,
    duration: String,
    calls: Option<String>,
    /// Which versions of the system under test the two sides met, where the scenario names its repository.
    versions: Option<String>,
    verdict: Option<VerdictView<'a>>,
    /// What several runs came to; the page then shows one of them.
    repeated: Option<RepeatedView<'a>>,
    /// What the model of the current run was asked.
    requests: Vec<RequestView>,
    stamps: Vec<StampRow>,
    /// The table of stamps has a column for the baseline.
    baseline_stamped: bool,
    /// The heading of the left column; `None` where only the run is shown.
    left_title: Option<&'static str>,
    right_title: &'static str,
    blocks: Vec<Block<'a>>,
    /// Leads to the log of the container of a scenario that needs a look.
    container_log: Option<String>,
    /// The conversations are incomplete because a trajectory was not at hand.
    incomplete: bool,
}

/// The comparison, its numbers as text.
struct VerdictView<'a> {
    comparison: &'a ComparisonV1,
    overall: String,
    threshold: String,
    trajectory: String,
    calls: String,
    status_factor: String,
    count_penalty: String,
    reasons: Vec<ReasonView<'a>>,
    warnings: Vec<ReasonView<'a>>,
    losses: Vec<LossView<'a>>,
    slower: Vec<SlowerView>,
}

/// A reason, and where in the page to look.
struct ReasonView<'a> {
    reason: &'a ReasonV1,
    link: Option<String>,
}

/// A loss, and where in the page to look.
struct LossView<'a> {
    loss: &'a LossV1,
    points: String,
    link: Option<String>,
}

/// A call that became slower.
struct SlowerView {
    number: usize,
    before: String,
    now: String,
}

impl<'a> ScenarioPage<'a> {
    pub(super) fn new(
        result: &'a ResultV1,
        scenario: &'a ScenarioV1,
        baseline: Option<&'a Trajectory>,
        current: Option<&'a Trajectory>,
    ) -> Self {
        let compared = scenario.comparison.is_some();
        // What the scenario expects was never recorded, so it has no stamp of its own.
        let stamped = scenario.baseline.as_ref();
        let stamped = stamped.filter(|_| result.command != "run");
        let lacks = |side: Option<&SideV1>, trajectory: Option<&Trajectory>| {
            side.is_some() && trajectory.is_none()
        };
        Self {
            result,
            scenario,
            started_at: moment::words(&result.started_at),
            duration: duration_words(scenario.duration_ms),
            calls: scenario.calls(),
            versions: stamps::versions(stamped, scenario.current.as_ref()),
            verdict: scenario.comparison.as_ref().map(VerdictView::new),
            repeated: (scenario.repeated.as_deref())
                .map(|it| RepeatedView::new(it, result.command == "record")),
            requests: model_use::requests(scenario.current.as_ref()),
            stamps: match (stamped, scenario.current.as_ref()) {
                (None, None) => Vec::new(),
                (baseline, current) => stamps::rows(baseline, current),
            },
            baseline_stamped: stamped.is_some(),
            left_title: compared.then_some(match result.command.as_str() {
                "run" => "Expected",
                _ => "Baseline",
            }),
            right_title: match result.command.as_str() {
                "record" => "Recorded run",
                _ => "Current run",
            },
            blocks: conversation::blocks(result, scenario, baseline, current),
            container_log: (scenario.container_log.as_deref())
                .filter(|_| !scenario.status.is_fine())
                .map(link),
            incomplete: lacks(scenario.current.as_ref(), current)
                || (compared && lacks(scenario.baseline.as_ref(), baseline)),
        }
    }

    fn has_volatile(&self) -> bool {
        self.sides().any(|(_, side)| !side.volatile.is_empty())
    }

    fn sides(&self) -> impl Iterator<Item = (&'static str, &SideV1)> {
        let baseline = self.scenario.baseline.iter().map(|it| ("baseline", it));
        let current = self.scenario.current.iter().map(|it| ("current", it));
        baseline.chain(current)
    }
}

/// A relative path as a link: whatever has a meaning in addresses is encoded.
pub(super) fn link(path: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"/._-~".contains(&it);
    let encoded = path.bytes().map(|it| match it {
        it if plain(it) => char::from(it).to_string(),
        it => format!("%{it:02X}"),
    });
    encoded.collect()
}

impl<'a> VerdictView<'a> {
    fn new(comparison: &'a ComparisonV1) -> Self {
        let scores = &comparison.scores;
        let words = |milliseconds: Option<f64>| {
            milliseconds.map_or_else(|| "unknown".to_owned(), duration::words)
        };
        Self {
            comparison,
            overall: score(scores.overall),
            threshold: score(scores.threshold),
            trajectory: score(scores.trajectory),
            calls: score(scores.calls),
            status_factor: fixed(scores.status_factor, 1),
            count_penalty: fixed(scores.count_penalty, 1),
            reasons: comparison.reasons.iter().map(ReasonView::new).collect(),
            warnings: comparison.warnings.iter().map(ReasonView::new).collect(),
            losses: comparison
                .losses
                .iter()
                .map(|loss| LossView {
                    loss,
                    points: fixed(loss.points, 3),
                    link: conversation::link(loss.baseline, loss.current),
                })
                .collect(),
            slower: comparison
                .slower
                .iter()
                .map(|it| SlowerView {
                    number: it.current,
                    before: words(it.baseline_ms),
                    now: words(it.current_ms),
                })
                .collect(),
        }
    }
}

impl<'a> ReasonView<'a> {
    fn new(reason: &'a ReasonV1) -> Self {
        Self {
            reason,
            link: conversation::link(reason.baseline, reason.current),
        }
    }
}
