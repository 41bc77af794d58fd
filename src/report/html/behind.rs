//! Calls to the servers behind the one under test, beneath the call of the agent that caused them.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use askama::Template;
use askama::filters::Safe;

use crate::diff::Known;
use model::published::result::{self, Causes, Comparison, Row};
use model::text::{counts, plural};
use model::{
    ArgumentDifference, PassedOn, RowKind, ToolCall, Trajectory, UpstreamCall, UpstreamHeader,
    UpstreamLane, UpstreamRow,
};

use super::answer::{self, Answers, PartView, Room, Side};
use super::content::{self, Part};
use super::excerpt::Versus;
use super::render::embedded;
use super::sides::Sides;

/// The calls behind one call, or before the first.
#[derive(Debug)]
pub(super) struct BehindView<'a> {
    /// How many calls there are, and what became of them: `1 → 2 calls, 1 extra`.
    pub(super) summary: String,
    pub(super) is_changed: bool,
    /// Whether two sides were compared; else only the run's side is shown.
    pub(super) is_compared: bool,
    pub(super) calls: Vec<BehindCall<'a>>,
    /// Headers that were passed on without a call.
    pub(super) headers: Vec<Versus<UpstreamHeader>>,
}

/// A [`BehindView`] within a page.
#[derive(Template)]
#[template(path = "scenario/behind.html")]
pub(super) struct BehindTemplate<'a> {
    behind: &'a BehindView<'a>,
    sides: &'a Sides,
}

impl BehindView<'_> {
    pub(super) fn html<'a>(&'a self, sides: &'a Sides) -> Safe<BehindTemplate<'a>> {
        embedded(BehindTemplate {
            behind: self,
            sides,
        })
    }
}

/// A call behind the server under test, on one side or on both; or several in a row that are alike.
#[derive(Debug)]
pub(super) struct BehindCall<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) effect: Option<bool>,
    /// `same`, `changed`, `missing`, `extra` or, without comparison, `recorded`.
    pub(super) class: &'static str,
    /// Its arguments and answers are shown at once, as something about them is worth a look.
    pub(super) open: bool,
    /// What became of it, in words; empty without comparison.
    pub(super) words: String,
    /// How often the same was asked in a row: `× 2`, or `× 1 → × 2` where the sides differ.
    pub(super) times: Option<String>,
    pub(super) fails: bool,
    /// `None` where that side has no such call, and where there is no such side.
    pub(super) left: Option<Side>,
    pub(super) right: Option<Side>,
    /// What was asked and answered on both sides, beside each other, where both are at hand.
    pub(super) answers: Vec<PartView>,
    /// The places in its arguments that differ.
    pub(super) differences: Vec<Versus<&'a ArgumentDifference>>,
    pub(super) headers: Vec<Versus<UpstreamHeader>>,
}

/// The calls behind, by the row of the agent's call that it stands beneath.
pub(super) struct Behind<'a> {
    by_row: HashMap<usize, Vec<PairedCall<'a>>>,
    before: Vec<PairedCall<'a>>,
    /// The headers that were passed on without a call.
    headers: Vec<UpstreamHeader>,
    is_compared: bool,
    answers: &'a Answers<'a>,
    /// How many calls have names for their files.
    named: Cell<usize>,
}

/// A call as both sides have it, before those in a row are counted.
#[derive(Clone, Copy)]
struct PairedCall<'a> {
    /// `None` where it was compared with nothing.
    row: Option<&'a UpstreamRow>,
    left: Option<&'a UpstreamCall>,
    right: Option<&'a UpstreamCall>,
}

impl<'a> Behind<'a> {
    /// The calls behind in two runs that were compared.
    pub(super) fn compared(
        comparison: &'a Comparison,
        baseline: Option<&'a Trajectory>,
        current: Option<&'a Trajectory>,
        answers: &'a Answers<'a>,
    ) -> Self {
        let Some(upstream) = &comparison.upstream else {
            // Nobody listened on the other side, as in what a scenario expects.
            let number = |row: &Row| row.current.as_ref().map(|it| it.number);
            let causes = Causes::new(&comparison.rows, number);
            return Self::alone(current, answers, |it| causes.row(it));
        };
        let (left, right) = (lane(baseline), lane(current));
        let at = |lane: Option<&'a UpstreamLane>, call: &Option<result::UpstreamCall>| {
            lane?.calls.get(call.as_ref()?.number.checked_sub(1)?)
        };
        let paired = |row: &'a UpstreamRow| PairedCall {
            row: Some(row),
            left: at(left, &row.baseline),
            right: at(right, &row.current),
        };
        let of_row = |row: &Row| -> Vec<PairedCall<'a>> {
            let places = row.behind.iter();
            let rows = places.filter_map(|it| upstream.rows.get(it.checked_sub(1)?));
            rows.map(paired).collect()
        };
        let behind = comparison.rows.iter().flat_map(|it| &it.behind);
        let behind: HashSet<usize> = behind.copied().collect();
        let before = (1..).zip(&upstream.rows);
        let before = before.filter(|(number, _)| !behind.contains(number));
        let differing = &upstream.headers;
        let is_alike = |it: &&PassedOn| {
            !(differing.iter()).any(|other| other.server == it.server && other.name == it.name)
        };
        let alike = right.into_iter().flat_map(|it| &it.headers);
        let alike = alike.filter(is_alike).map(|it| plain(it, true));
        Self {
            by_row: (comparison.rows.iter().map(of_row).enumerate()).collect(),
            before: before.map(|(_, it)| paired(it)).collect(),
            headers: differing.iter().cloned().chain(alike).collect(),
            is_compared: true,
            answers,
            named: Cell::default(),
        }
    }

    /// The calls behind in a run that was compared with nothing; its calls have the rows in order.
    pub(super) fn recorded(current: Option<&'a Trajectory>, answers: &'a Answers<'a>) -> Self {
        Self::alone(current, answers, |cause| cause.checked_sub(1))
    }

    fn alone(
        current: Option<&'a Trajectory>,
        answers: &'a Answers<'a>,
        row: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let lane = lane(current);
        let mut by_row: HashMap<usize, Vec<PairedCall<'a>>> = HashMap::new();
        let mut before = Vec::new();
        for it in lane.into_iter().flat_map(|it| &it.calls) {
            let row = it.cause.and_then(&row);
            row.map_or(&mut before, |it| by_row.entry(it).or_default())
                .push(PairedCall {
                    row: None,
                    left: None,
                    right: Some(it),
                });
        }
        let headers = lane.into_iter().flat_map(|it| &it.headers);
        Self {
            by_row,
            before,
            headers: headers.map(|it| plain(it, false)).collect(),
            is_compared: false,
            answers,
            named: Cell::default(),
        }
    }

    /// The calls behind the call of a row, by its index; `None` where there are none.
    pub(super) fn row(&self, at: usize) -> Option<BehindView<'a>> {
        self.view(self.by_row.get(&at)?, &[])
    }

    /// The calls before the first call, and headers that were passed on without a call.
    pub(super) fn before(&self) -> Option<BehindView<'a>> {
        self.view(&self.before, &self.headers)
    }

    fn view(
        &self,
        paired: &[PairedCall<'a>],
        headers: &[UpstreamHeader],
    ) -> Option<BehindView<'a>> {
        if paired.is_empty() && headers.is_empty() {
            return None;
        }
        let mut calls: Vec<BehindCall<'a>> = Vec::new();
        for alike in paired.chunk_by(PairedCall::asks_as) {
            let times = times(alike);
            for same in alike.chunk_by(PairedCall::is_as) {
                let call = same.first().map(|it| self.call_view(it, times.clone()));
                calls.extend(call);
            }
        }
        let rows: Vec<&UpstreamRow> = paired.iter().filter_map(|it| it.row).collect();
        let differing = headers.iter();
        let differing = differing.filter(|it| self.is_compared && it.was != it.now);
        let differing = differing.count();
        let mut summary = Vec::new();
        if !paired.is_empty() {
            summary.push(calls_words(paired.len(), &rows));
        }
        if !headers.is_empty() {
            summary.push(headers_words(headers.len(), differing));
        }
        let is_changed = rows.iter().any(|it| it.differs()) || differing > 0;
        let mut summary = summary.join("; ");
        if self.is_compared && !is_changed {
            summary.push_str(", unchanged");
        }
        Some(BehindView {
            summary,
            is_changed,
            is_compared: self.is_compared,
            calls,
            headers: headers.iter().map(versus).collect(),
        })
    }

    fn call_view(&self, paired: &PairedCall<'a>, times: Option<String>) -> BehindCall<'a> {
        let row = paired.row;
        let made = paired.right.or(paired.left).map(|it| &it.call);
        let server = row.and_then(|it| it.server.as_deref());
        let tool = row.and_then(|it| it.tool.as_deref());
        let name = self.next_name();
        let both = paired.left.zip(paired.right);
        let answers = both.map_or_else(Vec::new, |(before, now)| {
            // What only followed from another answer, or varies by nature, is no news.
            let known = |is_news: bool| Known {
                all: !is_news,
                ..Known::default()
            };
            let asked = known(row.is_some_and(UpstreamRow::differs));
            let mut parts = (self.answers).parts(
                &asked_parts(before),
                &asked_parts(now),
                &asked,
                &format!("{name}.asked"),
            );
            let answered = known(row.is_some_and(|it| it.answered_otherwise));
            parts.extend(self.answers.pair(
                &before.call.outcome,
                &now.call.outcome,
                &answered,
                &name,
            ));
            parts
        });
        let side = |call: &'a Option<result::UpstreamCall>,
                    made: Option<&'a UpstreamCall>,
                    side: usize| match (call, made) {
            (_, Some(made)) => Some(Side {
                parts: if both.is_some() {
                    Vec::new()
                } else {
                    let asked = content::parts(&made.call.outcome);
                    let all = asked_parts(made).into_iter().chain(asked).enumerate();
                    let lone = all.map(|(at, part)| {
                        let name = format!("{name}.{}", at + 1);
                        self.answers.lone(&part, side, room(row), &name)
                    });
                    lone.collect()
                },
                ..Side::made(&made.call)
            }),
            (Some(call), None) => Some(self.side_of(call, row, side)),
            (None, None) => None,
        };
        let (before, now) = row.map_or((&None, &None), |it| (&it.baseline, &it.current));
        BehindCall {
            server: server
                .or_else(|| made?.server.as_deref())
                .unwrap_or_default(),
            tool: tool
                .or_else(|| made.map(|it| it.tool.as_str()))
                .unwrap_or("unknown tool"),
            effect: row.map(|it| it.effect),
            class: match row {
                None => "recorded",
                Some(it) if it.kind == RowKind::Missing => "missing",
                Some(it) if it.kind == RowKind::Extra => "extra",
                Some(it) if it.differs() => "changed",
                Some(_) => "same",
            },
            open: row.is_none_or(UpstreamRow::differs),
            words: row.map_or_else(String::new, UpstreamRow::words),
            times,
            fails: row.is_some_and(|it| it.fails),
            left: side(before, paired.left, 0),
            right: side(now, paired.right, 1),
            answers,
            differences: (row.iter().flat_map(|it| &it.differences))
                .map(|it| Versus::new(it, it.was.as_deref(), it.now.as_deref()))
                .collect(),
            headers: (row.iter().flat_map(|it| &it.headers))
                .map(versus)
                .collect(),
        }
    }
}

impl Behind<'_> {
    /// Names the files of the next call.
    fn next_name(&self) -> String {
        self.named.set(self.named.get() + 1);
        format!("behind-{}", self.named.get())
    }

    /// How a call ended, from the document, where the trajectory is not at hand.
    fn side_of(&self, call: &result::UpstreamCall, row: Option<&UpstreamRow>, side: usize) -> Side {
        let arguments = row.and_then(|it| it.arguments.as_ref());
        let arguments = arguments.map(|it| {
            let name = format!("{}.arguments", self.next_name());
            let part = answer::arguments(it);
            self.answers.lone(&part, side, room(row), &name)
        });
        Side {
            parts: arguments.into_iter().collect(),
            ..Side::from_document(call.outcome, call.duration_ms, call.error.as_deref())
        }
    }
}

impl<'a> PairedCall<'a> {
    /// What was asked; `None` where it is not at hand.
    fn asked(&self) -> Option<&'a ToolCall> {
        self.right.or(self.left).map(|it| &it.call)
    }

    /// Whether another asks the same.
    fn asks_as(&self, other: &Self) -> bool {
        self.asked().zip(other.asked()).is_some_and(|(one, next)| {
            one.server == next.server && one.tool == next.tool && one.arguments == next.arguments
        })
    }

    /// Whether another shows the same in all that a page tells, but for how long it took.
    fn is_as(&self, other: &Self) -> bool {
        fn said(it: &UpstreamCall) -> impl PartialEq {
            (&it.call.arguments, &it.call.outcome, &it.headers)
        }
        fn judged(it: &UpstreamRow) -> impl PartialEq {
            let differences = (&it.differences, &it.headers, it.answered_otherwise);
            (it.kind, differences, it.fails)
        }
        self.row.map(judged) == other.row.map(judged)
            && self.left.map(said) == other.left.map(said)
            && self.right.map(said) == other.right.map(said)
    }
}

/// How often the same was asked in a row on each side; `None` where it was once.
fn times(alike: &[PairedCall<'_>]) -> Option<String> {
    let before = alike.iter().filter(|it| it.left.is_some()).count();
    let now = alike.iter().filter(|it| it.right.is_some()).count();
    match (before.min(now), before.max(now)) {
        (_, 0 | 1) => None,
        (least, most) if least == 0 || least == most => Some(format!("× {most}")),
        _ => Some(format!("× {before} → × {now}")),
    }
}

/// How many calls there are, and how many of them differ: `1 → 2 calls, 1 extra`.
fn calls_words(all: usize, rows: &[&UpstreamRow]) -> String {
    let of_kind = |kind: RowKind| rows.iter().filter(|it| it.kind == kind).count();
    let (missing, extra) = (of_kind(RowKind::Missing), of_kind(RowKind::Extra));
    let (before, now) = (all - extra, all - missing);
    let calls = match (before, now) {
        (1, 1) => "1 call".to_owned(),
        (before, now) if before == now => format!("{now} calls"),
        (before, 1) => format!("{before} → 1 call"),
        (before, now) => format!("{before} → {now} calls"),
    };
    let changed = rows.iter().filter(|it| it.differs()).count() - missing - extra;
    let counts = counts(&[(changed, "changed"), (missing, "missing"), (extra, "extra")]);
    let counts = counts.iter().map(|it| format!(", {it}"));
    calls + &counts.collect::<String>()
}

/// How many headers were passed on without a call, and how many of them differ.
fn headers_words(headers: usize, differing: usize) -> String {
    let words = format!("{} passed on without a call", plural(headers, "header"));
    match differing {
        0 => words,
        _ => format!("{words}, {differing} changed"),
    }
}

fn lane(side: Option<&Trajectory>) -> Option<&UpstreamLane> {
    side?.upstream.as_deref()
}

/// A header with what either side has.
fn versus(header: &UpstreamHeader) -> Versus<UpstreamHeader> {
    Versus::new(header.clone(), header.was.as_deref(), header.now.as_deref())
}

/// A header that the other side has just so, where there is one.
fn plain(header: &PassedOn, is_compared: bool) -> UpstreamHeader {
    UpstreamHeader {
        server: header.server.clone(),
        name: header.name.clone(),
        was: is_compared.then(|| header.value.clone()),
        now: Some(header.value.clone()),
    }
}

/// What was asked: the arguments, and the headers that came with them.
fn asked_parts(made: &UpstreamCall) -> Vec<Part<'static>> {
    let mut parts = vec![answer::arguments(&made.call.arguments)];
    if !made.headers.is_empty() {
        parts.push(answer::headers(&made.headers));
    }
    parts
}

/// The room on the page for a call that only one side has.
fn room(row: Option<&UpstreamRow>) -> Room {
    match row.map(|it| it.kind) {
        Some(RowKind::Missing | RowKind::Extra) => Room::Changed,
        Some(RowKind::Pair) | None => Room::Equal,
    }
}
