//! Several runs of one scenario: a strip of them, their pass rate with its interval, and what they say of several in a row.

use crate::duration;
use model::number::signed;
use model::repeated::Repeated;
use model::repeated::percent;
use model::{Interval, Status};

/// What several runs came to, its numbers as text.
pub(super) struct RepeatedView<'a> {
    pub(super) repeated: &'a Repeated,
    pub(super) rates: Vec<RateView>,
    /// Further numbers, each with its name.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Which run the rest of the page is about.
    pub(super) shown: Option<usize>,
    pub(super) shown_words: &'static str,
}

/// A pass rate, or the difference between two.
pub(super) struct RateView {
    pub(super) name: &'static str,
    pub(super) tally: String,
    pub(super) value: String,
    pub(super) interval: String,
    pub(super) remark: Option<&'static str>,
    pub(super) drawn: Option<Drawn>,
    /// It may be negative; 0 is drawn in the middle.
    pub(super) signed: bool,
}

/// An interval and the value in it, in percent of the width there is.
pub(super) struct Drawn {
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) at: f64,
}

impl<'a> RepeatedView<'a> {
    /// `recorded`: the runs were made to record a baseline.
    pub(super) fn new(repeated: &'a Repeated, recorded: bool) -> Self {
        let shown = repeated.attempts.get(repeated.shown.wrapping_sub(1));
        Self {
            repeated,
            rates: rates(repeated, recorded),
            facts: facts(repeated),
            shown: shown.map(|_| repeated.shown),
            shown_words: match shown.map(|it| it.status) {
                _ if recorded && shown.is_some_and(|it| it.status == Status::Passed) => {
                    "is the most typical"
                }
                Some(Status::Passed) => "passed",
                Some(Status::Failed) => "failed",
                _ => "has no verdict",
            },
        }
    }
}

fn rates(repeated: &Repeated, recorded: bool) -> Vec<RateView> {
    let judged = repeated.passed + repeated.failed;
    let mut rates = Vec::new();
    if let Some(baseline) = &repeated.baseline {
        rates.push(RateView {
            name: "Baseline",
            tally: format!("{} of {}", baseline.tally.passed, baseline.tally.runs),
            value: baseline.tally.pass_rate.map_or_else(String::new, percent),
            interval: baseline.interval.map_or_else(String::new, |it| it.words()),
            remark: None,
            drawn: drawn(baseline.tally.pass_rate, baseline.interval.as_ref()),
            signed: false,
        });
    }
    rates.push(RateView {
        name: if recorded { "Recorded" } else { "Now" },
        tally: format!("{} of {judged}", repeated.passed),
        value: repeated
            .pass_rate
            .map_or_else(|| "unknown".to_owned(), percent),
        interval: repeated.interval.map_or_else(String::new, |it| it.words()),
        remark: None,
        drawn: drawn(repeated.pass_rate, repeated.interval.as_ref()),
        signed: false,
    });
    if let Some(it) = &repeated.difference {
        let points = |it: f64| signed(it * 100.0, 0);
        let half = |it: f64| (it + 1.0) * 50.0;
        rates.push(RateView {
            name: "Difference",
            tally: String::new(),
            value: format!("{} points", points(it.value)),
            interval: format!("{} to {} points", points(it.low), points(it.high)),
            remark: Some(if it.significant {
                "significant"
            } else {
                "not significant"
            }),
            drawn: Some(Drawn {
                left: half(it.low),
                width: half(it.high) - half(it.low),
                at: half(it.value),
            }),
            signed: true,
        });
    }
    rates
}

fn drawn(value: Option<f64>, interval: Option<&Interval>) -> Option<Drawn> {
    let interval = interval?;
    Some(Drawn {
        left: interval.low * 100.0,
        width: (interval.high - interval.low) * 100.0,
        at: value? * 100.0,
    })
}

fn facts(repeated: &Repeated) -> Vec<(&'static str, String)> {
    let time = |it: f64| duration::words(it);
    let mut facts = Vec::new();
    if repeated.incomplete > 0 {
        facts.push(("Without a verdict", repeated.incomplete.to_string()));
    }
    facts.extend(repeated.score.map(|it| ("Score", it.words())));
    facts.extend(repeated.duration_ms.map(|it| {
        let deviation = it.standard_deviation.map(|it| format!(" ± {}", time(it)));
        let words = format!(
            "{}{} ({} to {})",
            time(it.mean),
            deviation.unwrap_or_default(),
            time(it.min),
            time(it.max)
        );
        ("Duration", words)
    }));
    facts.extend(repeated.usage.map(|it| ("Model use", it.words())));
    facts.extend((repeated.pass_threshold).map(|it| ("Asked for (pass_threshold)", percent(it))));
    facts
}
