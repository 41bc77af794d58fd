//! The two conversations side by side, aligned call by call.

use std::collections::{BTreeSet, HashSet};

use askama::Template;
use askama::filters::Safe;
use serde_json::Value;

use crate::description::Description;
use crate::diff::{Diff, Known};
use model::labelled;
use model::published::result::{Call, ResponseComparison, ResultDocument, Row, Scenario};
use model::text::word_diff::word_diff;
use model::text::{line, shorten};
use model::{
    Bound, CallStatus, Change, ChangeKind, Learned, RowKind, Status, ToolCall, Trajectory,
    Variation,
};

use super::answer::{self, Answers, Body, PartView, Room, Side};
use super::behind::{Behind, BehindView};
use super::content::{self, Arguments};
use super::excerpt::DiffTemplate;
use super::render::embedded;
use super::sides::Sides;
use super::track::{self, MessageRow, Track, TrackReader};

/// The longest description of a binding.
const BOUND_CHARS: usize = 300;

/// A piece of an id that is at least so long is known again elsewhere.
const TELLING: usize = 4;

/// A block of the conversation; a page shows them from top to bottom.
#[derive(Debug)]
pub(super) enum Block<'a> {
    /// Messages before the next call, and calls that are not scored.
    Messages(Vec<MessageRow>),
    /// What arrived behind the server under test before the first call of the agent, or without any.
    Behind(BehindView<'a>),
    Call(Box<CallBlock<'a>>),
}

/// A [`Block`] within a page.
#[derive(Template)]
#[template(path = "scenario/block.html")]
pub(super) struct BlockTemplate<'a> {
    block: &'a Block<'a>,
    sides: &'a Sides,
}

impl Block<'_> {
    pub(super) fn html<'a>(&'a self, sides: &'a Sides) -> Safe<BlockTemplate<'a>> {
        embedded(BlockTemplate { block: self, sides })
    }

    /// Whether the two sides have something that is not the same, so that there are two ways of showing it.
    pub(super) fn differs(&self) -> bool {
        match self {
            Self::Call(call) => {
                let is_equal = |it: &PartView| it.is_equal;
                !call.is_line() || call.behind.is_some() || !call.answers.iter().all(is_equal)
            }
            Self::Behind(_) => true,
            Self::Messages(rows) => !rows.iter().all(|it| matches!(it, MessageRow::Same(_))),
        }
    }

    /// Whether something changed in it.
    pub(super) fn is_changed(&self) -> bool {
        match self {
            Self::Call(call) => call.is_changed(),
            Self::Behind(behind) => behind.is_changed,
            Self::Messages(_) => false,
        }
    }
}

/// One row of the alignment.
#[derive(Debug, Default)]
pub(super) struct CallBlock<'a> {
    /// Names the block within the page.
    pub(super) anchor: String,
    pub(super) numbers: String,
    /// Its number in the run, or in the baseline where the run lacks it.
    pub(super) number: String,
    pub(super) server: &'a str,
    pub(super) tool: String,
    pub(super) effect: Option<bool>,
    /// Places of the answer that are not looked at.
    pub(super) unseen: &'a [String],
    /// `same`, `changed`, `missing`, `extra` or, without comparison, `recorded`, and `again` where that is the call before once more.
    pub(super) class: &'static str,
    /// Its answers are shown with it; else what changed is only behind it.
    pub(super) open: bool,
    /// What changed, in one sentence.
    pub(super) words: String,
    pub(super) arguments: Arguments,
    /// Those of its arguments that differ, beside each other.
    pub(super) asked: Vec<PartView>,
    /// `None` where that side has no such call.
    pub(super) left: Option<Side>,
    pub(super) right: Option<Side>,
    /// What of its arguments comes from earlier answers.
    pub(super) bound: Vec<String>,
    pub(super) polled: Option<String>,
    /// The answers of both sides, beside each other, where both are at hand.
    pub(super) answers: Vec<PartView>,
    /// Whether the run failed for something about it.
    pub(super) fails: bool,
    /// What reached the servers behind the one under test during the call.
    pub(super) behind: Option<BehindView<'a>>,
}

/// A [`CallBlock`] within a page.
#[derive(Template)]
#[template(path = "scenario/call.html")]
pub(super) struct CallTemplate<'a> {
    call: &'a CallBlock<'a>,
    sides: &'a Sides,
}

impl CallBlock<'_> {
    /// Whether something changed in it, or only one side has it.
    pub(super) fn is_changed(&self) -> bool {
        matches!(self.class, "changed" | "missing" | "extra")
    }

    /// Whether it is one line, which unfolds, because nothing in it is worth a look.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.class, "same" | "again")
    }

    /// How both calls ended, in one line: both were answered, and there is nothing else to say.
    fn outcome_of_both(&self, sides: &Sides) -> Option<String> {
        let is_plain = |it: &&Side| !it.failed && it.parts.is_empty() && it.remark.is_none();
        let side = |it: &'_ Option<Side>| it.as_ref().filter(is_plain).map(Side::ended);
        let (before, now) = (side(&self.left)?, side(&self.right)?);
        let title = sides.left_title.filter(|_| self.class == "same")?;
        let now_title = sides.right_title;
        Some(format!("{title}: {before}. {now_title}: {now}."))
    }

    /// The lines of a part of the answer, where nothing else is to be said of it: the call has said that its answer is the same.
    fn unchanged_lines<'p>(&self, part: &'p PartView) -> Option<&'p Diff> {
        match &part.body {
            Body::Lines(lines) if self.class == "same" && part.is_equal => {
                part.files.is_empty().then_some(lines)
            }
            _ => None,
        }
    }

    fn html<'a>(&'a self, sides: &'a Sides) -> Safe<CallTemplate<'a>> {
        embedded(CallTemplate { call: self, sides })
    }
}

/// Everything the blocks are made from.
struct Maker<'a> {
    result: &'a ResultDocument,
    scenario: &'a Scenario,
    left: Track<'a>,
    right: Track<'a>,
    behind: Behind<'a>,
    /// Describes who caused the change of each row; `None` where nothing was compared.
    words: Option<Description<'a>>,
    /// The calls that a change is about: number in the baseline, number in the run.
    changed: HashSet<(Option<usize>, Option<usize>)>,
    /// The same without changes of what arrived behind them.
    changed_themselves: HashSet<(Option<usize>, Option<usize>)>,
    /// Those whose answers a change is about.
    answered_otherwise: HashSet<(Option<usize>, Option<usize>)>,
    /// Those for which the run failed.
    failing: HashSet<(Option<usize>, Option<usize>)>,
    answers: &'a Answers<'a>,
    learned: &'a [Learned],
    /// What one call got from another, where the two sides have each a value of its own.
    handed_on: Vec<&'a Bound>,
    /// What differs between these, as it may stand in texts and strings.
    handed_words: BTreeSet<String>,
}

/// The blocks of a scenario; with two sides where something was compared, else what the run did.
pub(super) fn blocks<'a>(
    result: &'a ResultDocument,
    scenario: &'a Scenario,
    baseline: Option<&'a Trajectory>,
    current: Option<&'a Trajectory>,
    answers: &'a Answers<'a>,
) -> Vec<Block<'a>> {
    let changes = || scenario.changes().iter();
    let calls_of = |is_one: fn(&Change) -> bool| {
        let them = changes().filter(|it| is_one(it));
        them.map(|it| (it.baseline, it.current)).collect()
    };
    let maker = Maker {
        result,
        scenario,
        left: Track::new(baseline),
        right: Track::new(current),
        behind: match &scenario.comparison {
            Some(it) => Behind::compared(it, baseline, current, answers),
            None => Behind::recorded(current, answers),
        },
        words: Description::new(scenario, &result.command),
        changed: calls_of(|_| true),
        changed_themselves: calls_of(|it| it.kind != ChangeKind::Upstream),
        answered_otherwise: calls_of(|it| it.kind.is_of_answer()),
        failing: failing(scenario),
        answers,
        learned: baseline.map_or(&[], |it| &it.learned),
        handed_words: handed_on(scenario).into_iter().flat_map(words_of).collect(),
        handed_on: handed_on(scenario),
    };
    match &scenario.comparison {
        Some(comparison) => maker.compared(&comparison.rows),
        None => maker.recorded(),
    }
}

impl<'a> Maker<'a> {
    fn compared(&self, rows: &'a [Row]) -> Vec<Block<'a>> {
        let before = self.behind.before().map(Block::Behind);
        let mut blocks: Vec<_> = before.into_iter().collect();
        let (mut left, mut right) = (TrackReader::new(&self.left), TrackReader::new(&self.right));
        for (at, row) in rows.iter().enumerate() {
            let before = row.baseline.as_ref().map(|it| left.before(it));
            let now = row.current.as_ref().map(|it| right.before(it));
            let before = before.unwrap_or_else(|| left.until_users(right.users));
            let now = now.unwrap_or_else(|| right.until_users(left.users));
            push_messages(&mut blocks, track::beside(&before, &now));
            blocks.push(Block::Call(Box::new(CallBlock {
                behind: self.behind.row(at),
                ..self.row(row)
            })));
        }
        push_messages(&mut blocks, track::beside(&left.rest(), &right.rest()));
        blocks
    }

    /// Only what the run did, where it was compared with nothing.
    fn recorded(&self) -> Vec<Block<'a>> {
        let before = self.behind.before().map(Block::Behind);
        let mut blocks: Vec<_> = before.into_iter().collect();
        for (index, (steps, call)) in self.right.calls.iter().enumerate() {
            let name = format!("call-{}", index + 1);
            let before = index.checked_sub(1).and_then(|it| self.right.calls.get(it));
            let is_again = before.is_some_and(|(_, it)| is_again(call, it));
            push_messages(&mut blocks, track::alone(steps));
            blocks.push(Block::Call(Box::new(CallBlock {
                anchor: name.clone(),
                numbers: (index + 1).to_string(),
                number: (index + 1).to_string(),
                server: call.server.as_deref().unwrap_or_default(),
                tool: labelled(&call.tool, self.label(index + 1)),
                class: if is_again { "again" } else { "recorded" },
                open: true,
                arguments: Arguments::recorded(&call.arguments),
                right: Some(Side {
                    parts: (self.answers).alone(&call.outcome, 1, Room::Equal, &name),
                    ..Side::made(call)
                }),
                bound: self.recorded_bindings(index + 1),
                behind: self.behind.row(index),
                ..CallBlock::default()
            })));
        }
        push_messages(&mut blocks, track::alone(&self.right.rest));
        blocks
    }

    fn row(&self, row: &'a Row) -> CallBlock<'a> {
        let before = self.left.call(row.baseline.as_ref());
        let now = self.right.call(row.current.as_ref());
        let anchor = anchor(row);
        let expectation = self.result.command == "run";
        let both = before.zip(now).filter(|_| !expectation);
        let answers = both.map_or_else(Vec::new, |(before, now)| {
            let known = self.known(row);
            (self.answers).pair(&before.outcome, &now.outcome, &known, &anchor)
        });
        let side = |call: &Call, made: Option<&ToolCall>, side: usize| {
            let mut view = side_of(call, made);
            view.parts = made.filter(|_| both.is_none()).map_or_else(Vec::new, |it| {
                (self.answers).alone(&it.outcome, side, room(row), &anchor)
            });
            self.asking(view, row, side)
        };
        CallBlock {
            anchor: anchor.clone(),
            numbers: match row.kind {
                RowKind::Pair => row.numbers(),
                _ => number(row),
            },
            number: number(row),
            server: row.server.as_deref().unwrap_or_default(),
            tool: row.tool_name(),
            effect: Some(row.effect),
            unseen: &row.unseen,
            class: match row.kind {
                RowKind::Missing => "missing",
                RowKind::Extra => "extra",
                RowKind::Pair if row.call < 1.0 - 1e-9 => "changed",
                RowKind::Pair if self.is_changed(row) => "changed",
                RowKind::Pair => "same",
            },
            open: row.call < 1.0 - 1e-9
                || !self.changed.contains(&row.calls())
                || self.changed_themselves.contains(&row.calls()),
            words: (self.words.as_ref()).map_or_else(String::new, |it| it.row(row)),
            arguments: Arguments::of_row(row),
            asked: self.asked(row),
            left: row.baseline.as_ref().map(|call| {
                if expectation {
                    self.asking(expected_side(call), row, 0)
                } else {
                    side(call, before, 0)
                }
            }),
            right: row.current.as_ref().map(|call| side(call, now, 1)),
            answers,
            fails: self.failing.contains(&row.calls()),
            bound: row
                .bound
                .iter()
                .map(|it| line(&shorten(&it.to_string(), BOUND_CHARS)).into_owned())
                .collect(),
            polled: row.polled.map(|it| it.to_string()),
            ..CallBlock::default()
        }
    }

    /// The arguments of a row that differ, beside each other. Those that a rule leaves out are no news, and neither is what was handed on.
    fn asked(&self, row: &Row) -> Vec<PartView> {
        let Some(both) = content::differing(row) else {
            return Vec::new();
        };
        let parameters = row.request.iter().flat_map(|it| &it.parameters);
        let excused = parameters.filter(|it| it.similarity.is_none_or(|it| it >= 1.0 - 1e-9));
        let excused = excused.map(|it| vec![it.name.clone()]);
        let handed_on = row.bound.iter().filter(|it| !it.baseline.is_string());
        let known = Known {
            all: false,
            places: excused
                .chain(handed_on.map(|it| Known::steps(&it.path)))
                .collect(),
            words: self.handed_words.iter().cloned().collect(),
        };
        let [was, now] = both.map(|it| [answer::arguments(&it)]);
        let name = format!("{}.asked", anchor(row));
        self.answers.parts(&was, &now, &known, &name)
    }

    /// A side with the arguments of a call that has nothing beside it.
    fn asking(&self, mut view: Side, row: &Row, side: usize) -> Side {
        if let Some(arguments) = &row.arguments {
            let part = answer::arguments(arguments);
            let name = format!("{}.arguments", anchor(row));
            let part = self.answers.lone(&part, side, room(row), &name);
            view.parts.insert(0, part);
        }
        view
    }

    /// What of the answer to a row's request is known to vary.
    fn known(&self, row: &Row) -> Known {
        let response = row.response.as_ref();
        let is_as_good = response
            .is_some_and(|it| it.similarity >= 1.0 - 1e-9 && it.contract_changes.is_empty());
        let number = row.baseline.as_ref().map(|it| it.number);
        let learned = self.learned.iter().filter(|it| Some(it.call) == number);
        let varies = || learned.clone().flat_map(|it| &it.varies);
        let tokens = varies().flat_map(|it| &it.parts);
        // A text of which parts vary may differ in the others; where nothing is objected to in it, only those differ.
        let objected: Vec<Objected> = response.map_or_else(Vec::new, objected_to);
        let is_fine = |place: &Vec<String>| !objected.iter().any(|it| it.is_about(place));
        // An id that is handed on differs by nature: each server gives its own.
        let handed_on = self.handed_on.iter();
        let handed_on = handed_on.filter(|it| Some(it.from.call) == number);
        // Texts are known by what they hold, as an id may be a part of one.
        let handed_on = handed_on.filter(|it| !it.baseline.is_string());
        let handed_on = handed_on.flat_map(|it| places_of(&it.from.path));
        let places = varies().filter_map(|it| {
            let place = Known::steps(&it.path);
            let is_whole = !matches!(
                it.by,
                Variation::Tokens | Variation::Grew | Variation::AtLeast
            );
            (is_whole || is_fine(&place)).then_some(place)
        });
        Known {
            all: is_as_good && !self.answered_otherwise.contains(&row.calls()),
            places: places.chain(handed_on).collect(),
            words: tokens
                .flat_map(|it| it.heard.iter().chain(&it.seen).cloned())
                .chain(self.handed_words.iter().cloned())
                .collect(),
        }
    }

    /// Whether something is known to have changed in a row, or behind it, whatever its score.
    fn is_changed(&self, row: &Row) -> bool {
        self.changed.contains(&row.calls())
    }

    /// What a call of the run is for, where nothing is compared.
    fn label(&self, call: usize) -> Option<&'a str> {
        let mut labels = self.scenario.current.iter().flat_map(|it| &it.labels);
        let label = labels.find(|it| it.call == call)?;
        Some(&label.label)
    }

    /// The bindings of one of the run's calls, where nothing is compared.
    fn recorded_bindings(&self, call: usize) -> Vec<String> {
        let bindings = self.scenario.current.iter().flat_map(|it| &it.bindings);
        let of_call = bindings.filter(|it| it.call == call);
        of_call
            .map(|it| {
                format!(
                    "{} ← call {} response {}",
                    it.path, it.from.call, it.from.path
                )
            })
            .collect()
    }
}

/// The calls that a scenario failed for: those of changes that fail, and of reasons, which are all that results of earlier programs have.
fn failing(scenario: &Scenario) -> HashSet<(Option<usize>, Option<usize>)> {
    let fails = matches!(scenario.status, Status::Failed | Status::Inconclusive);
    let reasons = scenario
        .comparison
        .iter()
        .filter(|_| fails)
        .flat_map(|it| &it.reasons);
    let reasons = reasons.map(|it| (it.baseline, it.current));
    let changes = scenario.changes().iter().filter(|it| it.fails);
    changes
        .map(|it| (it.baseline, it.current))
        .chain(reasons)
        .collect()
}

/// What the calls of a scenario got from others, where both sides have it and it is not the same.
fn handed_on(scenario: &Scenario) -> Vec<&Bound> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let bound = rows.flat_map(|it| &it.bound);
    let is_other = |it: &&Bound| it.current.as_ref().is_some_and(|now| *now != it.baseline);
    bound.filter(is_other).collect()
}

/// Where in an answer something is that is handed on: a place in its JSON may be in either form of it.
fn places_of(path: &str) -> Vec<Vec<String>> {
    let own = Known::steps(path);
    if own
        .first()
        .is_some_and(|it| matches!(it.as_str(), "content" | "structuredContent"))
    {
        return vec![own];
    }
    [&["structuredContent"][..], &["content", "*", "json"]]
        .map(|before| {
            before
                .iter()
                .map(|it| (*it).to_owned())
                .chain(own.clone())
                .collect()
        })
        .into()
}

/// The two values of something handed on, and what differs between them, as it may stand in texts and strings.
fn words_of(bound: &Bound) -> Vec<String> {
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let was = text(&bound.baseline);
    let now = bound.current.as_ref().map(text).unwrap_or_default();
    let quoted = [&was, &now].map(|it| format!("\"{it}\""));
    let pieces = [word_diff(&was, &now), word_diff(&quoted[0], &quoted[1])];
    let pieces = pieces.into_iter().flatten().flatten();
    pieces
        // A short piece of an id is too common a word.
        .filter(|it| it.marked && it.text.chars().nth(TELLING - 1).is_some())
        .map(|it| it.text)
        .chain([was.clone(), now.clone()])
        .collect()
}

/// Whether a call is the same once more, with the same answer.
fn is_again(call: &ToolCall, before: &ToolCall) -> bool {
    call.server == before.server
        && call.tool == before.tool
        && call.arguments == before.arguments
        && call.outcome == before.outcome
}

/// The number of a call in the run, or in the baseline where the run lacks it.
fn number(row: &Row) -> String {
    let call = row.current.as_ref().or(row.baseline.as_ref());
    call.map_or_else(String::new, |it| it.number.to_string())
}

/// The name of a row's block within the page.
pub(super) fn anchor(row: &Row) -> String {
    let (baseline, current) = row.calls();
    link(baseline, current).unwrap_or_default()
}

/// The name of the block where a call stands, by its number in the run, or in the baseline where the run lacks it.
pub(super) fn link(baseline: Option<usize>, current: Option<usize>) -> Option<String> {
    match (baseline, current) {
        (_, Some(number)) => Some(format!("call-{number}")),
        (Some(number), None) => Some(format!("missing-{number}")),
        (None, None) => None,
    }
}

fn push_messages(blocks: &mut Vec<Block<'_>>, rows: Vec<MessageRow>) {
    if !rows.is_empty() {
        blocks.push(Block::Messages(rows));
    }
}

/// A side from the document, which says how the call ended also where the trajectory is not at hand.
fn side_of(call: &Call, made: Option<&ToolCall>) -> Side {
    match made {
        Some(made) => Side {
            outcome: call.outcome.map_or("unknown outcome", CallStatus::words),
            ..Side::made(made)
        },
        None => Side::from_document(call.outcome, call.duration_ms, call.error.as_deref()),
    }
}

/// The room on the page for what only one side of a row has.
fn room(row: &Row) -> Room {
    match row.kind {
        RowKind::Missing | RowKind::Extra => Room::Changed,
        RowKind::Pair => Room::Equal,
    }
}

/// The left side of `run`: an expectation says what to ask and whether it fails, not what the answer is.
fn expected_side(call: &Call) -> Side {
    let fails = call.outcome.is_some_and(CallStatus::is_failure);
    Side {
        outcome: if fails {
            "expected to fail"
        } else {
            "expected"
        },
        ..Side::default()
    }
}

/// A place of an answer that the comparison objects to.
struct Objected {
    place: Vec<String>,
    /// Something else stands there, and not only on one side.
    is_replaced: bool,
}

/// Where an answer differs, as the comparison says it. Of many places the smaller ones are not named: they may be anywhere.
fn objected_to(response: &ResponseComparison) -> Vec<Objected> {
    let differences = response.differences.iter().map(|it| Objected {
        place: Known::steps(&it.path),
        is_replaced: it.path.is_empty() || (it.expected.is_some() && it.got.is_some()),
    });
    differences.collect()
}

impl Objected {
    /// Whether it is at a place or within it, or replaces what the place is in. `*` stands for any step.
    fn is_about(&self, place: &[String]) -> bool {
        let mut steps = self.place.iter().zip(place);
        let is_on_the_way = steps.all(|(own, step)| step == "*" || own == step);
        is_on_the_way && (self.place.len() >= place.len() || self.is_replaced)
    }
}
