//! The page of one scenario: its score, its calls at a glance, the tools that changed, calls made directly, and commands to go on with.

use std::sync::LazyLock;

use askama::Template;

use crate::command::{AcceptFrom, accept, acceptable, again, explain, is_of_request};
use crate::diff::{self, Diff, Known};
use crate::direct;
use crate::duration;
use crate::method;
use crate::moment;
use model::number::fixed;
use model::points;
use model::published::result::{CauseKind, Comparison, RequestUse, ResultDocument, Scenario, Side};
use model::reason::Reason;
use model::{Direct, DirectCall, DirectTool, DirectTotals, Drift, Loss, Step, Tool, Trajectory};

use super::answer::Answers;
use super::cause::{self, Card};
use super::conversation::{self, Block, CallBlock};
use super::dashboard::Around;
use super::excerpt::DiffTemplate;
use super::link::{ElsewhereView, link};
use super::measured::MeasuredView;
use super::render::{self, ScenarioScript};
use super::repeated::RepeatedView;
use super::sides::Sides;
use super::stamps::{self, StampRow};
use super::state::State;
use super::stretch::{self, Stretch};
use super::versions::{self, VersionLine};

use model::points::score;
use model::text::{line, shorten};
use serde_json::Value;

/// The template's view of a scenario.
#[derive(Template)]
#[template(path = "scenario.html")]
pub(super) struct ScenarioPage<'a> {
    result: &'a ResultDocument,
    scenario: &'a Scenario,
    started_at: String,
    duration: String,
    calls: Option<String>,
    /// Which versions of the system under test, and of the scenarios, the two sides ran on.
    versions: Vec<VersionLine>,
    more_versions: usize,
    links: Vec<ElsewhereView<'a>>,
    state: State,
    verdict: Option<VerdictView<'a>>,
    /// A map of the calls.
    squares: Vec<Square>,
    /// What several runs came to; the page then shows one of them.
    repeated: Option<RepeatedView<'a>>,
    /// What the servers do to the answers of those behind them, where that was asked for.
    direct: Option<DirectView<'a>>,
    /// What was measured, where it is about no conversation.
    measured: Option<MeasuredView<'a>>,
    /// What the model of the current run was asked.
    requests: &'a [RequestUse],
    stamps: Vec<StampRow>,
    /// The table of stamps has a column for the baseline.
    baseline_stamped: bool,
    sides: Sides,
    /// What the user wants, where no message of the conversation says it.
    intent: Option<&'a str>,
    stretches: Vec<Stretch<'a>>,
    changed: Changed,
    script_hash: &'static str,
    /// The style sheet lies beside the page.
    is_linked: bool,
    /// What it failed for, by root cause.
    failing: Vec<Card<'a>>,
    /// What only changed: what is shown at once, and the others.
    altered: [Vec<Card<'a>>; 2],
    commands: Vec<Command>,
    /// The tools that changed.
    tools: Vec<ToolView<'a>>,
    /// Leads to the log of the container of a scenario that needs a look.
    container_log: Option<String>,
    /// The conversations are incomplete because a trajectory was not at hand.
    incomplete: bool,
    around: Option<&'a Around<'a>>,
}

/// The comparison, its numbers as text.
struct VerdictView<'a> {
    comparison: &'a Comparison,
    overall: String,
    threshold: String,
    /// What the score is made of, in sentences.
    made_of: Vec<String>,
    /// What a reader should know besides, and where in the page to look.
    warnings: Vec<(&'a Reason, Option<String>)>,
    losses: Vec<LossView<'a>>,
}

/// What changed in the conversation.
struct Changed {
    /// How many calls did.
    words: String,
    /// Something is not the same on both sides, whether that matters or not.
    differs: bool,
}

/// Allows the script of the page, which is the same for all scenarios.
static SCRIPT_HASH: LazyLock<String> = LazyLock::new(|| render::hash(&ScenarioScript));

/// How many changes are shown before the others are unfolded.
const CHANGES: usize = 30;

/// A loss, and where in the page to look.
struct LossView<'a> {
    loss: &'a Loss,
    points: String,
    /// What it is about: `call 3, search`, and where that is.
    name: String,
    link: Option<String>,
}

impl<'a> ScenarioPage<'a> {
    pub(super) fn new(
        result: &'a ResultDocument,
        scenario: &'a Scenario,
        [baseline, current]: [Option<&'a Trajectory>; 2],
        answers: &'a Answers<'a>,
        around: Option<&'a Around<'a>>,
    ) -> Self {
        let mut blocks = conversation::blocks(result, scenario, baseline, current, answers);
        stretch::bound(&mut blocks);
        let [failing, mut altered] = cause::of_scenario(result, scenario);
        let others = altered.split_off(altered.len().min(CHANGES));
        let changed = Changed {
            words: changed_words(&blocks),
            differs: blocks.iter().any(Block::differs),
        };
        let is_unsaid = |it: &&str| {
            let steps = [baseline, current]
                .into_iter()
                .flatten()
                .flat_map(|it| &it.steps);
            !steps
                .into_iter()
                .any(|step| matches!(step, Step::User { text } if text == it))
        };
        let [left_title, right_title] = answers.titles;
        let compared = scenario.comparison.is_some();
        let stamped = scenario.recorded_baseline(&result.command);
        let lacks = |side: Option<&Side>, trajectory: Option<&Trajectory>| {
            side.is_some() && trajectory.is_none()
        };
        Self {
            result,
            scenario,
            around,
            started_at: moment::words(&result.started_at),
            duration: duration::known(scenario.duration_ms),
            calls: scenario.calls_in_words(&result.command),
            versions: versions::of_sides(stamped, scenario.current.as_ref(), &result.started_at),
            more_versions: 0,
            links: result.links.iter().map(ElsewhereView::new).collect(),
            state: State::of(scenario),
            verdict: scenario.comparison.as_ref().map(VerdictView::new),
            squares: squares(&blocks),
            repeated: (scenario.repeated.as_deref())
                .map(|it| RepeatedView::new(it, result.command == "record")),
            direct: scenario.direct.as_deref().map(DirectView::new),
            measured: scenario.measured.as_ref().map(MeasuredView::new),
            requests: (scenario.current.as_ref())
                .and_then(|it| it.usage.as_ref())
                .map_or(&[], |it| &it.requests),
            stamps: match (stamped, scenario.current.as_ref()) {
                (None, None) => Vec::new(),
                (baseline, current) => stamps::rows(baseline, current),
            },
            baseline_stamped: stamped.is_some(),
            sides: Sides {
                left_title: compared.then_some(left_title),
                right_title,
                is_expectation: result.command == "run",
                is_alone: answers.is_alone(),
            },
            intent: scenario.user_intent.as_deref().filter(is_unsaid),
            stretches: stretch::folded(blocks),
            changed,
            script_hash: &SCRIPT_HASH,
            is_linked: answers.has_files() && around.is_none(),
            failing,
            altered: [altered, others],
            commands: commands(result, scenario),
            tools: scenario
                .comparison
                .as_ref()
                .map_or_else(Vec::new, |it| tools(&it.drift, baseline, current)),
            container_log: (scenario.container_log.as_deref())
                .filter(|_| !scenario.status.is_fine())
                .map(link),
            incomplete: lacks(scenario.current.as_ref(), current)
                || (compared && lacks(scenario.baseline.as_ref(), baseline)),
        }
    }

    /// Whether the page of all scenarios lies beside this one.
    fn has_index(&self) -> bool {
        self.around.is_none_or(|it| it.has_index)
    }

    /// Whether there is no verdict because another experiment was made, which the causes tell best.
    fn is_other_experiment(&self) -> bool {
        let is_one = |it: &Card<'_>| it.cause.kind == Some(CauseKind::Experiment);
        let failing = &self.failing;
        self.scenario.problem.is_some() && !failing.is_empty() && failing.iter().all(is_one)
    }

    /// The places that are known to vary: on which side, in the answer to which call, and how.
    fn varying(&self) -> Vec<(&'static str, usize, &str)> {
        let baseline = self.scenario.baseline.iter().map(|it| ("baseline", it));
        let current = self.scenario.current.iter().map(|it| ("current", it));
        let mut varying = Vec::new();
        for (name, side) in baseline.chain(current) {
            let learned = side.learned.iter();
            let learned = learned.flat_map(|it| it.varies.iter().map(move |how| (it.call, how)));
            // Results of version 1 have only the places.
            let places = (side.volatile.iter()).filter(|_| side.learned.is_empty());
            let places = places.flat_map(|it| it.paths.iter().map(move |path| (it.call, path)));
            varying.extend(
                learned
                    .chain(places)
                    .map(|(call, how)| (name, call, how.as_str())),
            );
        }
        varying
    }

    /// The heading of what is no reason to fail.
    fn changes_words(&self) -> String {
        let words = self.scenario.changes_words(&self.result.command);
        match &self.scenario.repeated {
            _ if !self.failing.is_empty() => "Other changes (not failures)".to_owned(),
            Some(_) => "What changed in the run shown".to_owned(),
            None if words.is_empty() => "Changes".to_owned(),
            None => words,
        }
    }
}

/// How many calls changed, and whether anything did without a call.
fn changed_words(blocks: &[Block<'_>]) -> String {
    let is_changed = |it: &&Block<'_>| it.is_changed();
    let (calls, others): (Vec<&Block<'_>>, Vec<&Block<'_>>) =
        blocks.iter().partition(|it| matches!(it, Block::Call(_)));
    let words = match (
        calls.iter().copied().filter(is_changed).count(),
        calls.len(),
    ) {
        (0, _) => "No call changed".to_owned(),
        (1, 1) => "The only call changed".to_owned(),
        (some, all) if some == all => format!("All {all} calls changed"),
        (some, all) => format!("{some} of {all} calls changed"),
    };
    let without_call = others.into_iter().any(|it| is_changed(&it));
    let others = if without_call {
        " Calls behind the server that belong to none of them changed."
    } else {
        ""
    };
    format!("{words}.{others}")
}

/// What a score is made of, in sentences: the calls, and what was taken off for the run as a whole.
fn made_of(comparison: &Comparison) -> Vec<String> {
    let scores = &comparison.scores;
    let (was, is) = (
        comparison.baseline_status.name(),
        comparison.current_status.name(),
    );
    let ended = if comparison.improved {
        Some(format!(
            "The run went better than the baseline ({was} → {is}), which takes nothing off."
        ))
    } else if scores.status_factor < 1.0 {
        Some(format!(
            "That is multiplied by {}, because the run went worse than the baseline as a whole ({was} → {is}).",
            fixed(scores.status_factor, 1)
        ))
    } else {
        None
    };
    let counted = (scores.count_penalty > 0.0).then(|| {
        format!(
            "{} is taken off, because the number of calls is different.",
            fixed(scores.count_penalty, 1)
        )
    });
    let mut sentences = vec![format!(
        "All calls together reach {}: that is how much their requests and answers are like those of the baseline.",
        score(scores.calls)
    )];
    sentences.extend(ended);
    sentences.extend(counted);
    sentences.push(format!(
        "Going by their arguments alone, they reach {}.",
        score(scores.trajectory)
    ));
    sentences
}

impl<'a> VerdictView<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        let scores = &comparison.scores;
        Self {
            comparison,
            overall: score(scores.overall),
            threshold: score(scores.threshold),
            made_of: made_of(comparison),
            warnings: (comparison.warnings.iter())
                .filter(|it| !comparison.mentions(it))
                .map(|it| (it, conversation::link(it.baseline, it.current)))
                .collect(),
            losses: (comparison.losses.iter())
                .filter(|it| points::costs(it.points))
                .map(LossView::new)
                .collect(),
        }
    }
}

impl<'a> LossView<'a> {
    fn new(loss: &'a Loss) -> Self {
        let tool = loss
            .tool
            .as_deref()
            .map(|it| it.rsplit("__").next().unwrap_or(it));
        let call = match (loss.baseline, loss.current) {
            (_, Some(number)) => Some(format!("call {number}")),
            (Some(number), None) => Some(format!("call {number} of the baseline")),
            (None, None) => None,
        };
        let named: Vec<&str> = call.as_deref().into_iter().chain(tool).collect();
        Self {
            loss,
            points: points::points(loss.points),
            name: if named.is_empty() {
                "the run".to_owned()
            } else {
                named.join(", ")
            },
            link: conversation::link(loss.baseline, loss.current),
        }
    }
}

/// The most tools that are shown with what they were and what they are.
const TOOLS: usize = 25;

/// A tool that changed.
#[derive(Debug)]
struct ToolView<'a> {
    server: &'a str,
    tool: &'a str,
    /// What changed, one after the other.
    drift: Vec<&'a Drift>,
    /// The baseline's calls that are refused now, in words.
    refused: String,
    breaking: bool,
    used: bool,
    /// Description and schemas, before and after; `None` where they are not at hand.
    diff: Option<Diff>,
}

/// The tools that changed: those that break their callers first, and of either kind those that the baseline uses.
fn tools<'a>(
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

/// A command, and what it does.
#[derive(Debug)]
struct Command {
    what: &'static str,
    text: String,
}

/// The commands for a scenario.
fn commands(result: &ResultDocument, scenario: &Scenario) -> Vec<Command> {
    let mut commands = Vec::new();
    if !is_of_request(result, scenario) {
        commands.push(Command {
            what: "Run it again",
            text: again(result, &[scenario], 1),
        });
    }
    for (at, from) in acceptable(result, scenario).into_iter().enumerate() {
        commands.push(Command {
            what: match (at, from) {
                (0, AcceptFrom::Elsewhere) => {
                    "Accept what it did as the new baseline; REPORT_FOLDER is the folder of this report"
                }
                (0, _) => "Accept what it did as the new baseline",
                _ => "The same, from a report that was copied here; REPORT_FOLDER is its folder",
            },
            text: accept(result, &[scenario], from),
        });
    }
    let comparison = scenario.comparison.as_ref();
    if let Some(comparison) = comparison.filter(|it| !it.rows.is_empty()) {
        let changed = comparison.changes.iter();
        let changed = changed.filter_map(|it| it.current.or(it.baseline));
        let call = changed.min().unwrap_or(1);
        commands.push(Command {
            what: "Explain the score of a call",
            text: explain(result, &scenario.id, Some(call)),
        });
    }
    commands
}

/// The longest name of a tool beside its square.
const TOOL: usize = 80;

/// A call.
struct Square {
    /// Names its block within the page.
    anchor: String,
    number: String,
    /// The class that gives it its colour: `fails`, `differs` or `equal`.
    class: &'static str,
    /// What it is, for whoever cannot see colours: `call 2, forecast: fails`.
    title: String,
}

/// The calls, in the order of the page.
fn squares(blocks: &[Block<'_>]) -> Vec<Square> {
    let calls = blocks.iter().filter_map(|it| match it {
        Block::Call(call) => Some(square(call)),
        Block::Messages(_) | Block::Behind(..) => None,
    });
    calls.collect()
}

fn square(call: &CallBlock<'_>) -> Square {
    let has_failed = call.right.as_ref().is_some_and(|it| it.failed);
    let (class, state) = match call.class {
        "same" => ("equal", "unchanged"),
        "recorded" | "again" if has_failed => ("fails", "error"),
        state @ ("recorded" | "again") => ("equal", state),
        _ if call.fails => ("fails", "fails"),
        state => ("differs", state),
    };
    let tool = line(&call.tool);
    Square {
        anchor: call.anchor.clone(),
        number: call.number.clone(),
        class,
        title: format!("call {}, {}: {state}", call.number, shorten(&tool, TOOL)),
    }
}

/// How many calls, and how many tools, are shown before the others are unfolded.
const ROWS: usize = 50;

/// The section's view.
#[derive(Debug)]
struct DirectView<'a> {
    /// Those that are shown at once, and the others.
    calls: [Vec<CallRow<'a>>; 2],
    tools: [Vec<ToolRow<'a>>; 2],
    totals: &'a DirectTotals,
    /// How many times as much it costs through the servers under test.
    ratios: String,
}

/// One call behind.
#[derive(Debug, Template)]
#[template(path = "scenario/direct_call.html")]
struct CallRow<'a> {
    call: &'a DirectCall,
    link: Option<String>,
    way: String,
}

/// One tool behind.
#[derive(Debug, Template)]
#[template(path = "scenario/direct_tool.html")]
struct ToolRow<'a> {
    tool: &'a DirectTool,
    name: String,
}

impl<'a> DirectView<'a> {
    pub(super) fn new(found: &'a Direct) -> Self {
        let calls = found.calls.iter().map(|call| CallRow {
            call,
            link: conversation::link(None, Some(call.call)),
            way: direct::way(call),
        });
        let tools = found.tools.iter().map(|tool| ToolRow {
            tool,
            name: direct::name(tool),
        });
        Self {
            calls: folded(calls.collect()),
            tools: folded(tools.collect()),
            totals: &found.totals,
            ratios: direct::ratios(&found.totals),
        }
    }
}

fn folded<T>(mut rows: Vec<T>) -> [Vec<T>; 2] {
    let others = rows.split_off(rows.len().min(ROWS));
    [rows, others]
}
