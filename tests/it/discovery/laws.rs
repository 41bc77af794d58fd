//! What holds of measures and statistics, whatever they are given.

use mcp_eval::discovery::measures::{CUTS, Figures, Grades, Ids, Ranking, figures, means, ties};
use mcp_eval::discovery::measures::{
    bootstrap, cases_above, cases_below, holm, mcnemar, mean, quantile, randomisation, wilson,
};
use proptest::prelude::*;

/// A ranking of some of twenty ids, and the grades of some of them, one of which is relevant.
fn case() -> impl Strategy<Value = (Vec<String>, Vec<(String, u8)>)> {
    let ids: Vec<String> = (0..20).map(|it| format!("s:t{it}")).collect();
    let labelled = proptest::sample::subsequence(ids.clone(), 1..=8);
    let ranked = proptest::sample::subsequence(ids, 0..=20).prop_shuffle();
    (ranked, labelled, proptest::collection::vec(0..3_u8, 8)).prop_map(
        |(ranked, labelled, grades)| {
            let mut labels: Vec<(String, u8)> = labelled.into_iter().zip(grades).collect();
            labels[0].1 = labels[0].1.max(1);
            (ranked, labels)
        },
    )
}

fn named(figures: &Figures) -> Vec<f64> {
    let cuts = [&figures.recall, &figures.hit, &figures.complete];
    let cuts = cuts.iter().flat_map(|it| it.0);
    cuts.chain([figures.mrr, figures.ndcg, figures.ndcg_exp, figures.ap])
        .collect()
}

fn refs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

proptest! {
    #[test]
    fn what_is_relevant_and_moves_up_lowers_nothing((ranked, labels) in case(), at in 1..20_usize) {
        let grades = Grades::new(labels);
        let before = figures(&refs(&ranked), &grades);
        prop_assert!(named(&before).iter().all(|it| (0.0..=1.0 + 1e-12).contains(it)));
        // Past something less relevant: two relevant ones that change places are a matter of their grades.
        if at < ranked.len() && grades.of(&ranked[at]) > grades.of(&ranked[at - 1]) {
            let mut moved = ranked.clone();
            moved.swap(at - 1, at);
            let after = figures(&refs(&moved), &grades);
            for (before, after) in named(&before).iter().zip(named(&after)) {
                prop_assert!(after >= before - 1e-12, "{before} → {after}");
            }
        }
    }

    #[test]
    fn what_has_no_label_changes_nothing_before_it((ranked, labels) in case()) {
        let grades = Grades::new(labels);
        let before = figures(&refs(&ranked), &grades);
        let mut more = ranked.clone();
        more.push("s:unlabelled".to_owned());
        let after = figures(&refs(&more), &grades);
        prop_assert_eq!(named(&before), named(&after));
    }

    #[test]
    fn the_order_of_labels_and_runs_is_of_no_matter((ranked, labels) in case(), (other, others) in case()) {
        let mut reversed = labels.clone();
        reversed.reverse();
        let grades = Grades::new(labels);
        let first = figures(&refs(&ranked), &grades);
        prop_assert_eq!(first, figures(&refs(&ranked), &Grades::new(reversed)));
        let second = figures(&refs(&other), &Grades::new(others));
        prop_assert_eq!(means(&[first, second]), means(&[second, first]));
    }

    #[test]
    fn an_answer_counts_each_id_of_the_corpus_once((ranked, _) in case(), again in 0..20_usize) {
        let corpus = Ids::new(ranked.iter().skip(1).cloned());
        let mut answered = ranked.clone();
        answered.extend(ranked.get(again).cloned());
        let ranking = Ranking::new(&answered, &corpus);
        prop_assert_eq!(&ranking.ids, &refs(&ranked)[ranked.len().min(1)..]);
        prop_assert_eq!(ranking.unmapped.len(), ranked.len().min(1));
        prop_assert_eq!(ranking.repeated.len(), usize::from(again < ranked.len()));
        for (id, place) in ranking.ids.iter().zip(&ranking.places) {
            prop_assert_eq!(*id, &answered[*place]);
        }
    }

    #[test]
    fn ties_lie_around_what_was_answered((ranked, labels) in case(), levels in 1..5_u8) {
        let grades = Grades::new(labels);
        let ids = refs(&ranked);
        let scores: Vec<Option<f64>> = (0..ids.len()).map(|it| Some(-f64::from(u8::try_from(it).unwrap() / levels))).collect();
        let here = figures(&ids, &grades);
        if let Some((worst, best)) = ties(&ids, &scores, &grades) {
            prop_assert!(levels > 1);
            for ((worst, best), here) in [(worst, best)].iter().flat_map(|(worst, best)| named(worst).into_iter().zip(named(best))).zip(named(&here)) {
                prop_assert!(worst <= here + 1e-12 && here <= best + 1e-12, "{worst} {here} {best}");
            }
        }
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn intervals_hold_the_mean(values in proptest::collection::vec(0.0..=1.0_f64, 1..40)) {
        let interval = bootstrap(&values).unwrap();
        let mean = mean(&values);
        prop_assert!(interval.low <= mean && mean <= interval.high);
        prop_assert!(interval.low >= 0.0 && interval.high <= 1.0 + 1e-12);
        prop_assert_eq!(Some(interval), bootstrap(&values));
    }

    #[test]
    fn shares_lie_within_their_interval(of in 1..500_usize, part in 0.0..=1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small numbers")]
        let (hits, share) = { let hits = (part * of as f64) as usize; (hits, hits as f64 / of as f64) };
        let interval = wilson(hits, of).unwrap();
        // The ends are those of the published vectors to the last digit, rounding and all.
        prop_assert!(interval.low <= share + 1e-12 && share <= interval.high + 1e-12);
        prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
    }

    #[test]
    fn a_test_does_not_mind_the_sign_or_the_order(differences in proptest::collection::vec(prop_oneof![Just(0.0), Just(0.5), Just(-0.5), Just(1.0), Just(-1.0 / 3.0)], 0..14)) {
        let p = randomisation(&differences).p;
        prop_assert!(p > 0.0 && p <= 1.0);
        let mut turned: Vec<f64> = differences.iter().map(|it| -it).collect();
        turned.reverse();
        prop_assert!((randomisation(&turned).p - p).abs() < 1e-12);
    }
}

#[test]
fn figures_of_seven_that_are_relevant_are_worked_numbers() {
    let ids: Vec<String> = (0..7).map(|it| format!("s:t{it}")).collect();
    let grades = Grades::new(ids.iter().map(|it| (it.clone(), 1)));
    let figures = figures(&refs(&ids), &grades);
    // Five of seven are not all of them, although no more can be among the first five.
    assert!(figures.complete.at(5) < 1.0 && figures.complete.at(10) >= 1.0);
    assert!((figures.recall.at(5) - 5.0 / 7.0).abs() < 1e-12);
}

#[test]
fn an_interval_leaves_out_one_in_forty_on_each_side() {
    // The mean of a hundred, half of them ones, deviates by 0.05, and 95 % lie within 1.96 deviations.
    let values: Vec<f64> = (0..100_u8).map(|it| f64::from(it % 2)).collect();
    let interval = bootstrap(&values).unwrap();
    assert!((interval.low - 0.402).abs() < 0.011, "{interval:?}");
    assert!((interval.high - 0.598).abs() < 0.011, "{interval:?}");
}

#[test]
fn ties_matter_where_they_reach_into_the_first_ten() {
    let ids: Vec<String> = (0..12).map(|it| format!("s:t{it}")).collect();
    let grades = Grades::new([(ids[0].clone(), 1), (ids[10].clone(), 1)]);
    let found = |last: u8| {
        let scores = (0..12_u8).map(|it| Some(-f64::from(it.min(last))));
        ties(&refs(&ids), &scores.collect::<Vec<_>>(), &grades)
    };
    assert_eq!(found(10), None);
    let (worst, best) = found(9).unwrap();
    assert!(worst.ndcg < best.ndcg, "{worst:?} {best:?}");
}

#[test]
fn no_ranking_is_held_to_more_than_it_has_places_for() {
    let ids: Vec<String> = (0..12).map(|it| format!("s:t{it}")).collect();
    let grades = Grades::new(ids.iter().map(|it| (it.clone(), 2)));
    let found = figures(&refs(&ids), &grades);
    assert!((found.ndcg - 1.0).abs() < 1e-12, "{found:?}");
    assert!((found.ndcg_exp - 1.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn all_or_none_lie_at_an_end_of_their_interval() {
    // But for rounding, which the published vectors have, too.
    for of in 1..1000 {
        assert!(wilson(0, of).unwrap().low < 1e-12);
        assert!(wilson(of, of).unwrap().high > 1.0 - 1e-12);
    }
}

#[test]
fn of_many_differences_signs_are_drawn() {
    let alike: Vec<f64> = (0..40)
        .map(|it| if it % 2 == 0 { 0.5 } else { -0.5 })
        .collect();
    let found = randomisation(&alike);
    assert!(!found.is_exact && found.p > 0.9, "{found:?}");
    let better = vec![0.5; 40];
    let found = randomisation(&better);
    assert!((found.p - 1.0 / 100_001.0).abs() < 1e-12, "{found:?}");
    assert_eq!(found, randomisation(&better));
    // 12 of 25 signs against 13: as near to 0 as it can be.
    let odd: Vec<f64> = (0..25)
        .map(|it| if it % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    assert!(randomisation(&odd).p > 0.999);
}

#[test]
fn several_tests_at_once_ask_for_more() {
    // By hand: 0.01 × 3, 0.02 × 2, 0.5 × 1.
    assert_eq!(holm(&[0.5, 0.01, 0.02]), [0.5, 0.03, 0.04]);
    // None falls below one that is smaller.
    assert_eq!(holm(&[0.03, 0.02]), [0.04, 0.04]);
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn two_detectors_differ_by_what_only_one_got_right() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    close(mcnemar(0, 0), 1.0);
    close(mcnemar(1, 0), 1.0);
    close(mcnemar(3, 3), 1.0);
    // 2 × 0.5^6, and 2 × (1 + 8) × 0.5^8.
    close(mcnemar(6, 0), 0.03125);
    close(mcnemar(1, 7), 0.070_312_5);
    assert!(mcnemar(2000, 2000) > 0.98 && mcnemar(3000, 1000) < 1e-12);
}

#[test]
fn a_corpus_must_have_a_size_to_say_anything() {
    assert_eq!(cases_below(0.10), Some(35));
    assert_eq!(cases_above(0.80), Some(16));
    assert_eq!(cases_below(0.0), None);
    assert_eq!(cases_above(1.0), None);
    let interval = wilson(0, 23).unwrap();
    assert!((interval.high - 0.1431).abs() < 0.0001, "{interval:?}");
    assert_eq!(wilson(0, 0), None);
}

#[test]
fn quantiles_are_values() {
    let values = [5.0, 1.0, 4.0, 2.0, 3.0];
    assert_eq!(quantile(&values, 0.5), Some(3.0));
    assert_eq!(quantile(&values, 0.95), Some(5.0));
    assert_eq!(quantile(&values, 0.0), Some(1.0));
    assert_eq!(quantile(&[], 0.5), None);
}

#[test]
fn nothing_that_is_relevant_is_no_figure_but_zero() {
    let none = figures(&["a"], &Grades::new([("a", 0)]));
    assert_eq!(none, Figures::default());
    assert_eq!(means(&[]), Figures::default());
    assert!(CUTS.iter().all(|it| none.recall.at(*it) == 0.0));
}

#[test]
fn average_precision_counts_what_no_ranking_of_ten_can_hold() {
    let ids: Vec<String> = (0..12).map(|it| format!("s:t{it}")).collect();
    let grades = Grades::new(ids.iter().cloned().map(|it| (it, 1)));
    let found = figures(&refs(&ids), &grades);
    // Ten of twelve are found, each with a precision of 1.
    assert!((found.ap - 10.0 / 12.0).abs() < 1e-12, "{found:?}");
    assert!(
        (found.recall.at(10) - 10.0 / 12.0).abs() < 1e-12,
        "{found:?}"
    );
    // The best ten make a perfect order all the same.
    assert!((found.ndcg - 1.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn what_was_wanted_is_graded_two() {
    let grades = Grades::new([("s:a", 2), ("s:b", 1), ("s:c", 0)]);
    let wanted = grades.only_wanted();
    assert_eq!(wanted, Grades::new([("s:a", 2)]));
    let found = figures(&["s:b", "s:a"], &wanted);
    assert!((found.mrr - 0.5).abs() < 1e-12, "{found:?}");
}

#[test]
fn what_has_no_score_is_no_tie() {
    let grades = Grades::new([("s:a", 2), ("s:b", 0)]);
    let ids = ["s:b", "s:a"];
    assert!(ties(&ids, &[None, None], &grades).is_none());
    assert!(ties(&ids, &[Some(1.0), None], &grades).is_none());
    assert!(ties(&ids, &[Some(1.0), Some(1.0)], &grades).is_some());
}
