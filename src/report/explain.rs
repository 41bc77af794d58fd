//! Every number and rule that led to a call's score.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::Value;

use crate::duration;
use crate::measured::terminal;
use crate::method;
use model::number::{count, fixed};
use model::points;
use model::published::result::{
    Call, Comparison, Parameter, RequestComparison, ResponseComparison, Row, Scenario,
};
use model::text::{block, line, several, shorten};
use model::{Change, Drift, Status, UpstreamRow};

/// The longest value shown in full.
const VALUE_CHARS: usize = 200;

/// How the score of one call, or of all calls and the whole, came about. Plain text, control characters made visible.
///
/// `call` is a number on the run's side, or on the baseline's where the run has no such call.
pub fn explain(scenario: &Scenario, call: Option<usize>) -> String {
    let mut text = Lines::default();
    if let Some(measured) = &scenario.measured {
        text.head(line(&scenario.name));
        if let Some(problem) = &scenario.problem {
            text.head(line(&problem.message));
        }
        for detail in scenario.problem.iter().flat_map(|it| &it.details) {
            text.point(line(detail));
        }
        text.0.push_str(&block(&terminal::all(measured)));
        return text.0;
    }
    let Some(comparison) = &scenario.comparison else {
        let reason = match &scenario.problem {
            Some(problem) => line(&problem.message).into_owned(),
            None => "nothing was compared".to_owned(),
        };
        text.head(format!("{}: no score: {reason}", line(&scenario.name)));
        return text.0;
    };
    if let Some(shown) = scenario.repeated.as_ref().and_then(|it| it.shown_words()) {
        text.head(shown);
    }
    if let Some(number) = call {
        if let Some(row) = find(comparison, number) {
            explain_row(&mut text, row, comparison);
        } else {
            let known = known_calls(comparison);
            text.head(format!("no call {number}: the calls are {known}"));
        }
        return text.0;
    }
    text.head(line(&scenario.name));
    if let Some(sentence) = scenario.not_the_same_experiment() {
        text.head(line(&sentence));
    }
    for row in &comparison.rows {
        text.head("");
        explain_row(&mut text, row, comparison);
    }
    explain_before(&mut text, comparison);
    explain_catalogue(&mut text, comparison);
    text.head("");
    explain_whole(&mut text, scenario, comparison);
    text.0
}

/// The text as it grows, a line at a time.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn head(&mut self, words: impl AsRef<str>) {
        self.0.push_str(words.as_ref());
        self.0.push('\n');
    }

    /// What belongs to a head.
    fn point(&mut self, words: impl AsRef<str>) {
        self.0.push_str("  ");
        self.head(words);
    }

    /// What belongs to a point.
    fn detail(&mut self, words: impl AsRef<str>) {
        self.0.push_str("  ");
        self.point(words);
    }
}

fn find(comparison: &Comparison, number: usize) -> Option<&Row> {
    let is = |call: &Option<Call>| call.as_ref().is_some_and(|it| it.number == number);
    let rows = || comparison.rows.iter();
    rows()
        .find(|it| is(&it.current))
        .or_else(|| rows().find(|it| is(&it.baseline)))
}

fn known_calls(comparison: &Comparison) -> String {
    let numbers: Vec<String> = comparison.rows.iter().map(Row::numbers).collect();
    if numbers.is_empty() {
        "none".to_owned()
    } else {
        numbers.join(", ")
    }
}

fn explain_row(text: &mut Lines, row: &Row, comparison: &Comparison) {
    let kind = if row.effect { "effect" } else { "read" };
    let server = row.server.as_deref().unwrap_or("unknown server");
    text.head(format!(
        "call {}: {} of {} ({kind})",
        row.numbers(),
        line(&row.tool_name()),
        line(server)
    ));
    for (side, call) in [("baseline", &row.baseline), ("current", &row.current)] {
        match call {
            Some(call) => text.point(format!("{side}: {}", explain_call(call))),
            None => text.point(format!("{side}: no such call")),
        }
    }
    match (&row.request, &row.response) {
        (Some(request), Some(response)) => {
            explain_request(text, request);
            for bound in &row.bound {
                let shown = shorten(&bound.to_string(), VALUE_CHARS).into_owned();
                text.detail(format!("from an earlier answer: {}", line(&shown)));
            }
            if let Some(polled) = &row.polled {
                text.point(format!("a poll: {polled}"));
            }
            explain_response(text, response);
            if row.takes == Some(1) {
                text.detail(
                    "recorded with one answer only, so it is unknown what varies: it is scored by how alike it is, \
                     and may differ",
                );
            }
            for path in &row.unseen {
                let place = place(path);
                text.detail(format!(
                    "ignored, because it differed each time it was recorded: {place}"
                ));
            }
            explain_formula(text, row, request.similarity, response.similarity);
        }
        _ => text.point("score 0: a call without a partner counts 0"),
    }
    let behind = comparison.upstream.iter().flat_map(|it| {
        let places = row.behind.iter();
        places.filter_map(|place| it.rows.get(place.checked_sub(1)?))
    });
    for it in behind {
        explain_behind(text, "behind it: ", it);
    }
    let changes = comparison.changes.iter();
    for change in changes.filter(|it| (it.baseline, it.current) == row.calls()) {
        explain_change(text, change);
    }
    let own = comparison.losses.iter().filter(|loss| {
        let is = |side: &Option<Call>, number: Option<usize>| {
            number.is_some() && side.as_ref().map(|it| it.number) == number
        };
        is(&row.current, loss.current)
            || (row.current.is_none() && is(&row.baseline, loss.baseline))
    });
    for loss in own.filter(|it| points::costs(it.points)) {
        let path = loss.path.as_deref().unwrap_or("the whole call");
        text.point(format!(
            "costs {} of the overall score: {}: {}",
            points::points(loss.points),
            line(path),
            line(method::words(&loss.rule()))
        ));
    }
}

/// A call that reached a server behind the one under test on either side.
fn explain_behind(text: &mut Lines, lead: &str, row: &UpstreamRow) {
    let name = |it: &Option<String>, unknown| it.clone().unwrap_or_else(|| String::from(unknown));
    let fails = if row.fails { ", and fails" } else { "" };
    let said = format!(
        "{lead}{} of {}: {}{fails}",
        name(&row.tool, "unknown tool"),
        name(&row.server, "unknown server"),
        row.words()
    );
    text.point(line(&said));
    let differences = row.differences.iter();
    let differences = differences.map(|it| (it.path.clone(), &it.was, &it.now));
    let headers = row.headers.iter();
    let headers = headers.map(|it| (format!("header {}", it.name), &it.was, &it.now));
    for (place, was, now) in differences.chain(headers) {
        let shown = |value: &Option<String>| {
            let value = value.as_deref().unwrap_or("nothing");
            shorten(value, VALUE_CHARS).into_owned()
        };
        let said = format!("{place}: was {}, is {}", shown(was), shown(now));
        text.detail(line(&said));
    }
}

/// A change, with the whole of what it was and what it is.
fn explain_change(text: &mut Lines, change: &Change) {
    let fails = if change.fails { ", and fails" } else { "" };
    let whole = match change.baseline.or(change.current) {
        Some(_) => "the call",
        None => "the run",
    };
    let place = change.path.as_deref().map_or(whole.into(), place);
    text.point(format!(
        "change ({}{fails}): {place}: {}",
        change.kind.name(),
        line(&change.what.to_string())
    ));
    for (side, value) in [("was", &change.was), ("is", &change.now)] {
        if let Some(value) = value {
            text.detail(format!("{side}: {}", line(value)));
        }
    }
}

/// What reached the servers behind the one under test before its first call.
fn explain_before(text: &mut Lines, comparison: &Comparison) {
    let upstream = comparison.upstream.iter().flat_map(|it| &it.rows);
    let behind = comparison.rows.iter().flat_map(|it| &it.behind);
    let behind: HashSet<usize> = behind.copied().collect();
    let before = (1..).zip(upstream);
    let mut before = before
        .filter(|(number, _)| !behind.contains(number))
        .peekable();
    if before.peek().is_some() {
        text.head("\nbehind the server, before the first call");
    }
    for (_, row) in before {
        explain_behind(text, "", row);
    }
}

/// What changed in the tool catalogue, and what of the changes is about no call.
fn explain_catalogue(text: &mut Lines, comparison: &Comparison) {
    if !comparison.drift.is_empty() {
        text.head("\nthe tool catalogue");
    }
    for drift in &comparison.drift {
        explain_drift(text, drift);
    }
    let is_about_a_call = |it: &Change| it.baseline.is_some() || it.current.is_some();
    let is_drift = |it: &Change| it.kind.name() == "drift";
    let others = comparison.changes.iter();
    let mut others = others
        .filter(|it| !is_about_a_call(it) && !is_drift(it))
        .peekable();
    if others.peek().is_some() {
        text.head("\nthe run as a whole");
    }
    for change in others {
        explain_change(text, change);
    }
}

fn explain_drift(text: &mut Lines, drift: &Drift) {
    let breaking = if drift.breaking {
        "breaking"
    } else {
        "breaks no recorded call"
    };
    let used = if drift.used {
        ""
    } else {
        ", not used by the baseline"
    };
    text.point(format!(
        "{} of {}: {} ({breaking}{used})",
        line(&drift.tool),
        line(&drift.server),
        line(&drift.of_tool().to_string())
    ));
    for call in &drift.refused {
        text.detail(format!("call {call} of the baseline is refused now"));
    }
    for (side, value) in [("was", &drift.was), ("is", &drift.now)] {
        if let Some(value) = value {
            text.detail(format!("{side}: {}", line(value)));
        }
    }
}

fn explain_call(call: &Call) -> String {
    let mut words = format!("call {}", call.number);
    if let Some(outcome) = call.outcome {
        let _ = write!(words, ", {}", outcome.words());
    }
    if let Some(milliseconds) = call.duration_ms {
        let _ = write!(words, " in {}", duration::words(milliseconds));
    }
    if let Some(error) = &call.error {
        let _ = write!(words, ": {}", line(&shorten(error, VALUE_CHARS)));
    }
    words
}

fn explain_request(text: &mut Lines, request: &RequestComparison) {
    text.point(format!("request {}", fixed(request.similarity, 3)));
    for parameter in &request.parameters {
        let similarity = match parameter.similarity {
            Some(similarity) => fixed(similarity, 3),
            None => "not counted".to_owned(),
        };
        text.detail(format!(
            "{} {similarity}, {}{}",
            line(&parameter.name),
            line(method::words(&parameter.method)),
            values(parameter)
        ));
    }
    let common: Vec<f64> = request
        .parameters
        .iter()
        .filter(|it| it.expected.is_some() && it.got.is_some())
        .filter_map(|it| it.similarity)
        .collect();
    let counted = request
        .parameters
        .iter()
        .filter(|it| it.similarity.is_some());
    if !common.is_empty() {
        text.detail(format!(
            "{} of {} arguments on both sides, {:.3} alike on average",
            common.len(),
            counted.count(),
            mean(&common)
        ));
    }
}

fn values(parameter: &Parameter) -> String {
    let shown = |value: &Option<Value>| match value {
        Some(value) => line(&shorten(&value.to_string(), VALUE_CHARS)).into_owned(),
        None => "nothing".to_owned(),
    };
    if parameter.expected == parameter.got {
        format!(": {}", shown(&parameter.got))
    } else {
        format!(
            ": expected {}, got {}",
            shown(&parameter.expected),
            shown(&parameter.got)
        )
    }
}

fn explain_response(text: &mut Lines, response: &ResponseComparison) {
    let cap = if response.contract_changes.is_empty() {
        ""
    } else {
        " (at most 0.5, because something changed that must not)"
    };
    text.point(format!("response {}{cap}", fixed(response.similarity, 3)));
    for change in &response.contract_changes {
        text.detail(format!(
            "must not change: {}: {}",
            place(&change.path),
            line(&change.what)
        ));
    }
    for difference in &response.differences {
        let shown = |value: &Option<String>| match value {
            Some(value) => line(&shorten(value, VALUE_CHARS)).into_owned(),
            None => "nothing".to_owned(),
        };
        text.detail(format!(
            "{} {}, costs {}: {}: expected {}, got {}",
            place(&difference.path),
            fixed(difference.similarity, 3),
            points::points(difference.loss),
            line(method::words(&difference.rule)),
            shown(&difference.expected),
            shown(&difference.got)
        ));
    }
}

/// The two formulas that make one score of the two answers, with the numbers of this call put in.
fn explain_formula(text: &mut Lines, row: &Row, request: f64, response: f64) {
    let lifted = if !row.effect && response >= 0.9 && 0.9 * response > request {
        text.point(format!(
            "a read that returned the same: request counts 0.9 × {response:.3} = {:.3}",
            0.9 * response
        ));
        0.9 * response
    } else {
        request
    };
    let formula = lifted * (1.0 - request * (1.0 - response));
    if (formula - row.call).abs() < 1e-6 {
        text.point(format!(
            "score {:.3} = {lifted:.3} × (1 − {request:.3} × (1 − {response:.3}))",
            row.call
        ));
    } else {
        // Other ways to match (`scoring.match`, `scoring.responses`, `preset: classic`) have formulas of their own.
        text.point(format!(
            "score {:.3} by the scenario's own way to match",
            row.call
        ));
    }
}

fn explain_whole(text: &mut Lines, scenario: &Scenario, comparison: &Comparison) {
    let scores = &comparison.scores;
    let is_failed = scenario.status == Status::Failed;
    let unmet = scenario.unmet();
    text.head(format!(
            "overall {} = {} mean of the calls × {} for how the runs ended ({} → {}) − {} for the number of calls",
            fixed(scores.overall, 3),
            fixed(scores.calls, 3),
            fixed(scores.status_factor, 2),
            comparison.baseline_status.name(),
            comparison.current_status.name(),
            fixed(scores.count_penalty, 2)
        ));
    text.head(format!(
        "{} at a threshold of {}{}; {}; the arguments alone {}",
        match (comparison.passed, is_failed) {
            (false, _) => "failed",
            (true, true) => "the comparison passed",
            (true, false) => "passed",
        },
        fixed(scores.threshold, 2),
        match (comparison.passed && is_failed, unmet.len()) {
            (false, _) => "",
            (true, 0) => ", and the scenario failed all the same",
            (true, 1) => ", and the scenario failed, because an expectation is not met",
            (true, _) => ", and the scenario failed, because expectations are not met",
        },
        scenario.band().unwrap_or(comparison.band).name(),
        fixed(scores.trajectory, 3)
    ));
    for it in comparison.grouped() {
        text.point(line(&it.reason.to_string()));
        for follows in it.follows {
            text.detail(format!("└ {}", line(&follows.to_string())));
        }
    }
    for unmet in unmet {
        text.point(line(&unmet));
    }
    let shown = comparison.changes.iter().filter(|it| !it.fails).count();
    if shown > 0 {
        let changes = several(shown, "change is", "changes are");
        text.point(format!("{changes} shown, and no reason to fail"));
    }
}

fn place(path: &str) -> std::borrow::Cow<'_, str> {
    match path {
        "" | "/" => "the whole answer".into(),
        path => line(path),
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / count(numbers.len())
}
