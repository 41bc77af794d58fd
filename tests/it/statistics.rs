//! The statistics of several runs: published values, and laws.

use mcp_eval::model::repeated::{Attempt, Tally, percent};
use mcp_eval::model::{Interval, Status};
use mcp_eval::score::statistics::{
    newcombe, pass_at_k, pass_hat_k, runs_to_distinguish, spread, wilson,
};
use mcp_eval::score::{gate, is_more_relevant};
use proptest::prelude::*;

const fn tally(passed: usize, runs: usize) -> Tally {
    Tally { runs, passed }
}

#[track_caller]
fn assert_interval(found: Option<Interval>, low: f64, high: f64) {
    let found = found.unwrap();
    let close = |a: f64, b: f64| (a - b).abs() < 0.000_05;
    assert!(
        close(found.low, low) && close(found.high, high),
        "{found:?} is not {low} to {high}"
    );
}

#[test]
fn wilson_intervals_are_the_published_ones() {
    // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I, method 3.
    assert_interval(wilson(tally(81, 263)), 0.2553, 0.3662);
    assert_interval(wilson(tally(15, 148)), 0.0624, 0.1605);
    assert_interval(wilson(tally(0, 20)), 0.0, 0.1611);
    assert_interval(wilson(tally(1, 29)), 0.0061, 0.1718);
    assert_eq!(wilson(tally(0, 0)), None);
}

#[test]
fn differences_of_proportions_are_the_published_ones() {
    // Newcombe, "Interval estimation for the difference between independent proportions", table II, method 10.
    let cases = [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ];
    for ((a, of_a), (b, of_b), low, high) in cases {
        assert_interval(newcombe(tally(a, of_a), tally(b, of_b)), low, high);
    }
    assert_eq!(newcombe(tally(1, 2), tally(0, 0)), None);
    assert_eq!(newcombe(tally(0, 0), tally(1, 2)), None);
}

#[test]
fn chances_of_several_runs_are_counted_exactly() {
    let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    // 1 - C(3,2)/C(10,2) and C(7,2)/C(10,2).
    assert!(close(pass_at_k(tally(7, 10), 2), 1.0 - 3.0 / 45.0));
    assert!(close(pass_hat_k(tally(7, 10), 2), 21.0 / 45.0));
    assert!(close(pass_at_k(tally(7, 10), 1), 0.7));
    assert!(close(pass_hat_k(tally(7, 10), 1), 0.7));
    // More runs than can fail, or than can pass.
    assert!(close(pass_at_k(tally(7, 10), 4), 1.0));
    assert!(close(pass_hat_k(tally(7, 10), 8), 0.0));
    assert!(close(pass_hat_k(tally(10, 10), 10), 1.0));
    assert!(close(pass_at_k(tally(0, 10), 10), 0.0));
    // C(1000,500) has 300 digits.
    let many = pass_at_k(tally(500, 1000), 500).unwrap();
    assert!((1.0 - 1e-9..=1.0).contains(&many), "{many}");
    for k in [0, 11] {
        assert_eq!(pass_at_k(tally(7, 10), k), None);
        assert_eq!(pass_hat_k(tally(7, 10), k), None);
    }
}

#[test]
fn a_spread_is_that_of_a_sample() {
    let found = spread(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
    assert_eq!((found.mean, found.min, found.max), (5.0, 2.0, 9.0));
    let deviation = found.standard_deviation.unwrap();
    assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    assert_eq!(spread(&[0.5]).unwrap().standard_deviation, None);
    assert_eq!(spread(&[]), None);
}

#[test]
fn percentages_are_never_rounded_to_an_end() {
    let cases = [
        (0.7, "70 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.999, "99.9 %"),
        (0.9999, "99.99 %"),
        (0.001, "0.1 %"),
        (2.0 / 3.0, "67 %"),
    ];
    for (share, words) in cases {
        assert_eq!(percent(share), words);
    }
}

#[test]
fn the_number_of_runs_that_would_tell_does_tell() {
    let (now, before) = (tally(9, 10), tally(10, 10));
    let runs = runs_to_distinguish(now, before).unwrap();
    let scaled = |of: Tally, runs: usize| tally(of.passed * runs / of.runs, runs);
    let ten = runs.div_ceil(10) * 10;
    assert!(
        newcombe(scaled(now, ten), scaled(before, ten))
            .unwrap()
            .high
            < 0.0
    );
    let fewer = runs / 10 * 10 - 10;
    assert!(
        newcombe(scaled(now, fewer), scaled(before, fewer))
            .unwrap()
            .high
            >= 0.0
    );
    assert_eq!(runs_to_distinguish(before, now), None, "no drop");
    assert_eq!(
        runs_to_distinguish(tally(9_999, 10_000), tally(10_000, 10_000)),
        None
    );
}

fn attempt(status: Status, score: Option<f64>) -> Attempt {
    Attempt {
        status,
        score,
        duration_ms: Some(1.0),
        reason: None,
        changes: 0,
        file: None,
        usage: None,
    }
}

/// Attempts as letters: passed, failed, error, timeout.
fn attempts(letters: &str) -> Vec<Attempt> {
    let status = |it| match it {
        'p' => Status::Passed,
        'f' => Status::Failed,
        'e' => Status::Error,
        _ => Status::Timeout,
    };
    letters
        .chars()
        .map(|it| attempt(status(it), None))
        .collect()
}

#[test]
fn the_gate_is_as_its_rules_say() {
    use Status::{Error, Failed, Inconclusive, Passed, Timeout};
    let ten_of_ten = Some(tally(10, 10));
    let nothing: Option<Tally> = None;
    let cases = [
        ("pppp", 1.0, nothing, Passed),
        ("pppf", 1.0, nothing, Failed),
        ("pppf", 0.75, nothing, Passed),
        ("pppppppfff", 0.7, nothing, Passed),
        ("ffff", 0.0, nothing, Passed),
        // What was not judged never makes it better.
        ("pppe", 1.0, nothing, Error),
        ("pppe", 0.5, nothing, Error),
        ("ppft", 0.75, nothing, Timeout),
        ("pfte", 0.5, nothing, Error),
        ("ppfe", 1.0, nothing, Failed),
        ("eeee", 1.0, nothing, Error),
        ("tttt", 1.0, nothing, Timeout),
        // Against a baseline that was recorded several times.
        ("pppppppppp", 1.0, ten_of_ten, Passed),
        ("ffffffffff", 1.0, ten_of_ten, Failed),
        ("ppppppffff", 0.5, ten_of_ten, Failed),
        ("pppppppppf", 1.0, ten_of_ten, Inconclusive),
        ("pppppppppf", 0.9, ten_of_ten, Passed),
        ("pf", 1.0, Some(tally(4, 4)), Inconclusive),
        ("pppppppfff", 1.0, Some(tally(7, 10)), Passed),
        ("ppppppffff", 1.0, Some(tally(7, 10)), Inconclusive),
        ("pppppppppe", 1.0, ten_of_ten, Error),
        ("ffffffffee", 1.0, ten_of_ten, Failed),
        ("ffffffffff", 1.0, Some(tally(0, 10)), Inconclusive),
        ("pf", 1.0, Some(tally(0, 0)), Failed),
    ];
    for (letters, threshold, baseline, expected) in cases {
        let (status, repeated) = gate(attempts(letters), 1, threshold, baseline);
        assert_eq!(
            status, expected,
            "{letters} {threshold} {baseline:?}: {repeated:?}"
        );
        if matches!(status, Failed | Inconclusive) {
            assert!(repeated.reason.is_some(), "{letters}");
        }
    }
}

#[test]
fn the_attempt_most_worth_a_look_failed_worst() {
    let is_more_relevant = |a: (Status, Option<f64>), b: (Status, Option<f64>)| {
        is_more_relevant(&attempt(a.0, a.1), &attempt(b.0, b.1))
    };
    let (low, high) = (Some(0.2), Some(0.9));
    assert!(is_more_relevant(
        (Status::Failed, high),
        (Status::Passed, low)
    ));
    assert!(is_more_relevant(
        (Status::Failed, low),
        (Status::Failed, high)
    ));
    assert!(is_more_relevant(
        (Status::Failed, high),
        (Status::Failed, None)
    ));
    assert!(is_more_relevant(
        (Status::Passed, low),
        (Status::Passed, high)
    ));
    assert!(is_more_relevant(
        (Status::Passed, high),
        (Status::Error, None)
    ));
    assert!(
        !is_more_relevant((Status::Failed, low), (Status::Failed, low)),
        "the first stays"
    );
}

fn tallies() -> impl Strategy<Value = Tally> {
    (1_usize..400).prop_flat_map(|runs| (0..=runs).prop_map(move |passed| tally(passed, runs)))
}

proptest! {
    #[test]
    fn a_proportion_lies_in_its_interval(it in tallies(), times in 2_usize..5) {
        let share = it.pass_rate().unwrap();
        let found = wilson(it).unwrap();
        prop_assert!(0.0 <= found.low && found.low <= share && share <= found.high && found.high <= 1.0);
        // What passes and what fails mirror each other.
        let mirrored = wilson(tally(it.runs - it.passed, it.runs)).unwrap();
        prop_assert!((1.0 - mirrored.high - found.low).abs() < 1e-12);
        prop_assert!((1.0 - mirrored.low - found.high).abs() < 1e-12);
        // More runs of the same kind say more.
        let more = wilson(tally(it.passed * times, it.runs * times)).unwrap();
        prop_assert!(more.high - more.low < found.high - found.low);
    }

    #[test]
    fn a_difference_lies_in_its_interval(a in tallies(), b in tallies(), times in 2_usize..5) {
        let difference = a.pass_rate().unwrap() - b.pass_rate().unwrap();
        let found = newcombe(a, b).unwrap();
        prop_assert!(-1.0 <= found.low && found.low <= difference + 1e-12);
        prop_assert!(difference - 1e-12 <= found.high && found.high <= 1.0);
        let mirrored = newcombe(b, a).unwrap();
        prop_assert!((mirrored.low + found.high).abs() < 1e-12 && (mirrored.high + found.low).abs() < 1e-12);
        let scaled = |it: Tally| tally(it.passed * times, it.runs * times);
        let more = newcombe(scaled(a), scaled(b)).unwrap();
        prop_assert!(more.high - more.low < found.high - found.low + 1e-12);
    }

    #[test]
    fn more_runs_pass_more_often_once_and_less_often_all(it in tallies(), k in 1_usize..400) {
        let (once, all) = (pass_at_k(it, k), pass_hat_k(it, k));
        prop_assert_eq!(once.is_some(), k <= it.runs);
        let (Some(once), Some(all)) = (once, all) else { return Ok(()) };
        prop_assert!((0.0..=1.0).contains(&once) && (0.0..=1.0).contains(&all));
        prop_assert!(all <= once + 1e-12);
        if k > 1 {
            prop_assert!(pass_at_k(it, k - 1).unwrap() <= once + 1e-12);
            prop_assert!(pass_hat_k(it, k - 1).unwrap() >= all - 1e-12);
        }
    }

    #[test]
    fn a_mean_lies_within_its_values(values in proptest::collection::vec(-1e9..1e9_f64, 1..50)) {
        let found = spread(&values).unwrap();
        prop_assert!(found.min <= found.mean && found.mean <= found.max);
        let range = found.max - found.min;
        prop_assert!(found.standard_deviation.is_none_or(|it| (0.0..=range + 1e-6).contains(&it)));
    }
}
