//! A suite in parts, one for each of several machines. Each machine makes the same plan by itself, from the scenarios and their committed
//! baselines alone.

use std::cmp::Ordering;
use std::path::Path;

use super::replay;
use crate::published::result::{PlannedScenario, Shard, ShardPlan};
use crate::scenario_file::{Fingerprints, Scenario};

/// One part of a suite.
#[derive(Debug)]
pub struct Part {
    /// What it runs, in the order given.
    pub scenarios: Vec<Scenario>,
    /// Which part it is, and what the others are.
    pub shard: Shard,
}

/// Parts scenarios so that all parts take about as long, and returns the part of this number, counted from 1. How long a scenario takes is
/// what it took when its baseline was recorded.
pub fn part(scenarios: Vec<Scenario>, index: u32, count: u32, baselines: &Path) -> Part {
    let of_how_many = scenarios.len();
    let durations = scenarios.iter().map(|it| {
        let recorded = replay::baselines(baselines, it, of_how_many).duration_ms(&it.id);
        // A disabled one costs nothing, wherever it is listed.
        if it.enabled { recorded } else { Some(0.0) }
    });
    let durations: Vec<Option<f64>> = durations.collect();
    let enabled = scenarios.iter().zip(&durations);
    let known = enabled.filter_map(|(it, duration)| duration.filter(|_| it.enabled));
    let known: Vec<f64> = known.collect();
    let is_known = !known.is_empty();
    let unknown = median(known).unwrap_or(1.0);
    let durations: Vec<f64> = durations
        .into_iter()
        .map(|it| it.unwrap_or(unknown))
        .collect();
    let ids: Vec<&str> = scenarios.iter().map(|it| it.id.as_str()).collect();
    let places = spread(&ids, &durations, count);
    let mut fingerprints = Fingerprints::default();
    let plan = (1..=count).map(|shard| {
        let here = (0..places.len()).filter(|at| places[*at] == shard);
        let here: Vec<usize> = here.collect();
        ShardPlan {
            shard,
            expected_ms: is_known.then(|| here.iter().map(|at| durations[*at]).sum()),
            scenarios: (here.iter())
                .map(|at| planned(&scenarios[*at], &mut fingerprints))
                .collect(),
        }
    });
    let plan = plan.collect();
    let mut places = places.into_iter();
    let mut scenarios = scenarios;
    scenarios.retain(|_| places.next() == Some(index));
    Part {
        scenarios,
        shard: Shard { index, count, plan },
    }
}

fn planned(scenario: &Scenario, fingerprints: &mut Fingerprints) -> PlannedScenario {
    PlannedScenario {
        id: scenario.id.clone(),
        path: scenario.path.display().to_string(),
        row_of: scenario.row_of.clone(),
        fingerprint: Some(fingerprints.of(scenario)),
    }
}

/// The number of the part, counted from 1, that each scenario belongs to: the longest first, each to the part with the least to do so far.
/// That is never more than a third worse than the best there is (Graham, 1969). Of parts with equally much to do, the one with the fewest
/// scenarios takes the next, and of those the first.
fn spread(ids: &[&str], durations: &[f64], count: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by(|a, b| {
        let longer = durations[*b].total_cmp(&durations[*a]);
        longer.then_with(|| ids[*a].cmp(ids[*b]))
    });
    let mut loads: Vec<(f64, usize)> = vec![(0.0, 0); count as usize];
    let mut places = vec![1; ids.len()];
    for at in order {
        let least = (1..)
            .zip(&mut loads)
            .min_by(|(_, a), (_, b)| less(**a, **b));
        if let Some((number, load)) = least {
            load.0 += durations[at];
            load.1 += 1;
            places[at] = number;
        }
    }
    places
}

fn less(a: (f64, usize), b: (f64, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// The one in the middle; of two, their mean.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{median, spread};

    #[test]
    fn the_longest_go_first_to_who_has_least_to_do() {
        let ids = ["a", "b", "c", "d", "e"];
        assert_eq!(spread(&ids, &[7.0, 6.0, 5.0, 4.0, 3.0], 2), [1, 2, 2, 1, 1]);
        assert_eq!(spread(&ids, &[1.0; 5], 3), [1, 2, 3, 1, 2]);
        assert_eq!(spread(&ids, &[0.0; 5], 2), [1, 2, 1, 2, 1]);
        assert_eq!(spread(&ids[..2], &[1.0, 2.0], 7), [2, 1]);
        assert_eq!(spread(&[], &[], 7), [0_u32; 0]);
    }

    #[test]
    fn the_order_of_scenarios_changes_nothing() {
        fn parts(ids: [&'static str; 4], durations: [f64; 4]) -> Vec<(&'static str, u32)> {
            let mut parts: Vec<_> = ids.into_iter().zip(spread(&ids, &durations, 2)).collect();
            parts.sort_unstable();
            parts
        }
        let one = parts(["a", "b", "c", "d"], [3.0, 3.0, 2.0, 1.0]);
        assert_eq!(one, parts(["d", "c", "b", "a"], [1.0, 2.0, 3.0, 3.0]));
    }

    proptest! {
        #[test]
        fn two_parts_differ_by_no_more_than_one_scenario(
            durations in proptest::collection::vec(0.0..100.0_f64, 1..40),
            count in 1..9_u32,
        ) {
            let ids: Vec<String> = (0..durations.len()).map(|it| format!("s{it:03}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let places = spread(&ids, &durations, count);
            let load = |part: u32| -> f64 {
                let own = durations.iter().zip(&places).filter(|(_, it)| **it == part);
                own.map(|(it, _)| it).sum()
            };
            let loads: Vec<f64> = (1..=count).map(load).collect();
            let most = loads.iter().copied().fold(0.0, f64::max);
            let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
            let longest = durations.iter().copied().fold(0.0, f64::max);
            prop_assert!(most - least <= longest + 1e-9, "{loads:?}");
        }
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![5.0]), Some(5.0));
        assert_eq!(median(vec![9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(vec![9.0, 1.0, 5.0, 2.0]), Some(3.5));
    }
}
