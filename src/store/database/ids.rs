//! The ids of results.

use sha2::{Digest, Sha256};

/// The stable id of a result: 20 hexadecimal digits made of the id of its run and that of its scenario. Rows of data sets and cells of a matrix
/// have ids of scenarios of their own.
pub fn result_id(run: &str, scenario: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(run.as_bytes());
    hash.update([0]);
    hash.update(scenario.as_bytes());
    let mut id = hex::encode(hash.finalize());
    id.truncate(20);
    id
}

/// What stands between the id of a scenario and the number of the run of it, where one command runs it several times.
const AGAIN: &str = "~again-";

/// How often a scenario is looked for in one run of the program: as often as a request may hold it.
const MOST: usize = 20_000;

/// The id under which a scenario is run within a command that runs it for this time, counted from 1. Files of the run have it.
pub fn run_again(scenario: &str, number: usize) -> String {
    match number {
        0 | 1 => scenario.to_owned(),
        number => format!("{scenario}{AGAIN}{number}"),
    }
}

/// The id of the scenario of which this is a run, in whatever number: the one that its results have in common.
pub fn scenario_of(id: &str) -> &str {
    match id.rsplit_once(AGAIN) {
        Some((scenario, number)) if number.parse::<usize>().is_ok_and(|it| it > 1) => scenario,
        _ => id,
    }
}

/// The id that a result has in the files of its run, by that of its scenario.
pub fn id_in_files(run: &str, scenario: &str, result: &str) -> String {
    let mut ids = (1..=MOST).map(|it| run_again(scenario, it));
    let found = ids.find(|it| result_id(run, it) == result);
    found.unwrap_or_else(|| scenario.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{id_in_files, result_id, run_again, scenario_of};

    #[test]
    fn ids_of_results_stay_what_they_are() {
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "a/b"),
            result_id("2026-11-22T10-00-00.000Z", "a/b")
        );
        assert_ne!(result_id("r", "ab"), result_id("ra", "b"));
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "search"),
            "519846f20b93ca3c0aae"
        );
    }

    #[test]
    fn what_runs_again_is_a_result_of_the_same_scenario() {
        for id in ["weather", "a/b~2", "weather~again-1", "weather~again-x"] {
            assert_eq!(scenario_of(id), id);
            assert_eq!(run_again(id, 1), id);
            let third = run_again(id, 3);
            assert_eq!(scenario_of(&third), id);
            assert_eq!(id_in_files("r", id, &result_id("r", &third)), third);
        }
        assert_eq!(id_in_files("r", "weather", "another"), "weather");
    }
}
