//! Two runs measured by one accepted trajectory: whether what fails the first fails the second one, too.

use crate::learn::learn;
use model::rules::Rules;
use model::{
    Change, ChangeKind, Comparison, Edit, Learned, Row, TokenKind, Trajectory, TwoAnswers,
    Variation, Varying, VaryingToken, What,
};

/// What a first run failed for where a second one shows that the system under test is unsteady: everywhere, the second one passes or, where
/// the takes of the recording had agreed, has a third value. `None` where it fails again.
pub fn unsteady(
    accepted: &Trajectory,
    runs: [&Trajectory; 2],
    (first, second): (&Comparison, &Comparison),
    rules: &Rules,
) -> Option<Vec<TwoAnswers>> {
    // What of a wrong answer varies as the right one did is as wrong again.
    let again = learn(&runs, rules).answers;
    let failed = first.changes.iter().filter(|it| it.fails);
    let answers = failed.map(|it| two_answers((accepted, &again), it, first, second));
    let answers: Vec<TwoAnswers> = answers.collect::<Option<_>>()?;
    // A score that is too low is of no single place.
    (second.verdict.passed || !answers.is_empty()).then_some(answers)
}

fn two_answers(
    (accepted, again): (&Trajectory, &[Learned]),
    change: &Change,
    first: &Comparison,
    second: &Comparison,
) -> Option<TwoAnswers> {
    let place = Place::of(accepted, change);
    let mut there = (second.changes.iter()).filter(|it| place.meets(&Place::of(accepted, it)));
    let again = match there.clone().find(|it| it.fails) {
        Some(other) if !is_third((accepted, again), change, other, first) => return None,
        Some(other) => other.now.clone(),
        None => (there.find(|it| it.path == change.path))
            .map_or(change.was.clone(), |it| it.now.clone()),
    };
    Some(TwoAnswers {
        version: None,
        call: change.current.or(change.baseline),
        tool: change.tool.clone(),
        path: change.path.clone(),
        recorded: change.was.clone(),
        first: change.now.clone(),
        again,
    })
}

/// Where a change is. A list that comes in any order is one place.
struct Place<'a> {
    change: &'a Change,
    path: &'a str,
}

impl<'a> Place<'a> {
    fn of(accepted: &'a Trajectory, change: &'a Change) -> Self {
        let path = change.path.as_deref().unwrap_or_default();
        let of_answer = change.baseline.filter(|_| change.kind.is_of_answer());
        let varying = learned(&accepted.learned, of_answer).flat_map(|it| &it.varies);
        let lists = varying.filter(|it| it.by == Variation::AnyOrder);
        let mut lists = lists.filter_map(|it| beneath(path, &it.path));
        Self {
            change,
            path: lists.next().unwrap_or(path),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        let is_call = (self.change.baseline, &self.change.tool)
            == (other.change.baseline, &other.change.tool);
        let is_kind = self.change.kind == other.change.kind
            || (self.change.kind.is_of_answer() && other.change.kind.is_of_answer());
        let is_within = |a: &str, b: &str| {
            let rest = a.strip_prefix(b);
            rest.is_some_and(|it| it.is_empty() || b.is_empty() || it.starts_with('/'))
        };
        let meet = is_within(self.path, other.path) || is_within(other.path, self.path);
        is_call && is_kind && meet
    }
}

/// Whether two answers that both fail are another one each, where recording had always got one and the same. An error with another number in
/// it is the same error, and an answer that repeats an id is another one in each run.
fn is_third(
    (accepted, again): (&Trajectory, &[Learned]),
    one: &Change,
    other: &Change,
    first: &Comparison,
) -> bool {
    let place = Place::of(accepted, one).path;
    let repeats = learned(&accepted.learned, one.baseline).flat_map(|it| &it.repeats);
    let is_repeated = repeats
        .map(|it| &it.path)
        .any(|it| beneath(place, it).is_some());
    // How much of a place varies, be it in the place or around it, but for what the clock may have moved meanwhile.
    let is_of_clock = |it: &&VaryingToken| {
        use TokenKind::{Ago, Duration, Time};
        matches!(it.only(), Some(Ago | Duration | Time))
    };
    let weight = |it: &Varying| match it.parts.len() {
        0 => 1,
        all => all - it.parts.iter().filter(is_of_clock).count(),
    };
    let varying = |all: &[Learned], call: Option<usize>| -> usize {
        let there = learned(all, call).flat_map(|it| &it.varies);
        let there = there.filter(|it| beneath(place, &it.path).is_some() || is_within(it, place));
        there.map(weight).sum()
    };
    let varies_as_before = varying(again, one.current) <= varying(&accepted.learned, one.baseline);
    let mut pairs = first.rows.iter().filter_map(Row::pair);
    let pair = pairs.find(|it| Some(it.baseline) == one.baseline);
    let takes = pair.map(|it| it.takes);
    let words = |it: &Option<String>| {
        let text = it.as_deref().unwrap_or_default();
        text.replace(|it: char| it.is_ascii_digit(), "")
    };
    let is_same = words(&one.now) == words(&other.now) && words(&one.now) != words(&one.was);
    // A list that is a text now is the same wrong answer, whatever the text.
    let is_other_kind = one.what == other.what && matches!(one.what, What::Answer(Edit::Became(_)));
    let are_errors = one.kind == ChangeKind::Error && other.kind == ChangeKind::Error;
    // What was asked for by an id that is another one in each run is answered with that id.
    let is_bound = (accepted.bindings.iter())
        .any(|it| Some(it.call) == one.baseline && it.value.as_str() == one.was.as_deref());
    one.kind.is_of_answer()
        && takes.is_some_and(|it| it > 1)
        && one.now != other.now
        && !(varies_as_before || is_repeated || is_bound || is_same || is_other_kind || are_errors)
}

/// What was learned of the answer to a call.
fn learned(all: &[Learned], call: Option<usize>) -> impl Iterator<Item = &Learned> {
    all.iter().filter(move |it| Some(it.call) == call)
}

/// Whether something varies within a place that a change is at.
fn is_within(varying: &Varying, place: &str) -> bool {
    let rest = place.strip_prefix("response");
    let rest = rest.and_then(|it| varying.path.strip_prefix(it));
    rest.is_some_and(|it| it.starts_with('/'))
}

/// The part of a path of a change that this place of an answer is at, where it is that place or beneath it.
fn beneath<'a>(path: &'a str, place: &str) -> Option<&'a str> {
    let mut rest = path.strip_prefix("response")?;
    for step in place.split('/').skip(1) {
        rest = rest.strip_prefix('/')?;
        let (this, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if step != "*" && step != this {
            return None;
        }
        rest = after;
    }
    Some(&path[..path.len() - rest.len()])
}
