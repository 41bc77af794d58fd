//! Scenarios that were run several times.

use mcp_eval::model::repeated::{Attempt, Tally};
use mcp_eval::model::{ScenarioResult, Status, SuiteResult};
use mcp_eval::score;

use super::{failed, passed, suite};

/// A `compare` of three scenarios, each run several times: one got worse, one may have, and one could not be run as often as asked.
pub(crate) fn repeated() -> SuiteResult {
    let ten_of_ten = Tally {
        runs: 10,
        passed: 10,
    };
    suite(
        "compare",
        vec![
            of("worse", failed(), "pfffffffff", Some(ten_of_ten)),
            of("unsure", failed(), "ppppppppfp", Some(ten_of_ten)),
            of("short", passed(), "ppe", None),
        ],
    )
}

fn of(id: &str, result: ScenarioResult, letters: &str, baseline: Option<Tally>) -> ScenarioResult {
    let attempts: Vec<Attempt> = letters
        .chars()
        .zip([1.0, 2.0, 4.0].iter().cycle())
        .map(attempt)
        .collect();
    let shown = letters.find('f').map_or(1, |it| it + 1);
    let (status, repeated) = score::gate(attempts, shown, 1.0, baseline);
    result.with(|it| {
        id.clone_into(&mut it.id);
        it.name = format!("A scenario that is {id}");
        it.status = status;
        it.experiment_changes = Vec::new();
        it.repeated = Some(Box::new(repeated));
    })
}

fn attempt((letter, duration_ms): (char, &f64)) -> Attempt {
    let (status, score, reason) = match letter {
        'p' => (Status::Passed, Some(1.0), None),
        'f' => (
            Status::Failed,
            Some(0.25),
            Some("another answer: <b>\u{1b}[31mred"),
        ),
        _ => (Status::Error, None, Some("the server did not start")),
    };
    Attempt {
        status,
        score,
        duration_ms: Some(*duration_ms),
        reason: reason.map(str::to_owned),
        changes: 0,
        file: None,
        usage: None,
    }
}
