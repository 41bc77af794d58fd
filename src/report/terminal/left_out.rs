//! Scenarios that were not run, or not to their end, for the same reason: one line for all of them.

use super::page::{BLUE, Page, status_style};
use model::published::result::{Problem, ResultDocument, Scenario, Status};

/// Scenarios that were left out for the same reason.
pub(super) struct LeftOut<'a> {
    status: Status,
    problem: Option<&'a Problem>,
    scenarios: Vec<&'a Scenario>,
}

impl<'a> LeftOut<'a> {
    /// The reasons that several scenarios of a result were left out for, in the order of the first of each.
    pub(super) fn of(result: &'a ResultDocument) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for scenario in result.scenarios.iter().filter(|it| it.is_left_out()) {
            let problem = scenario.problem.as_ref();
            let known = found.iter_mut();
            let mut known =
                known.filter(|it| it.status == scenario.status && it.problem == problem);
            match known.next() {
                Some(it) => it.scenarios.push(scenario),
                None => found.push(Self {
                    status: scenario.status,
                    problem,
                    scenarios: vec![scenario],
                }),
            }
        }
        found.retain(|it| it.scenarios.len() > 1);
        found
    }

    /// Nobody wanted them to run here.
    pub(super) fn is_skipped(&self) -> bool {
        self.status == Status::Skipped
    }

    /// The ids of the scenarios.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.scenarios.iter().map(|it| it.id.as_str())
    }
}

impl Page<'_> {
    /// `- 16 skipped: its image is not there`.
    pub(super) fn left_out(&mut self, left_out: &LeftOut<'_>) {
        let LeftOut {
            status,
            problem,
            scenarios,
        } = left_out;
        let mut words = format!("{} {}", scenarios.len(), status.name());
        if let Some(problem) = problem {
            words = format!("{words}: {}", problem.message);
        }
        let sign = format!("{} ", status.symbol());
        self.indented(0, &sign, status_style(*status), &words);
        if let Some(hint) = problem.and_then(|it| it.hint.as_ref()) {
            self.indented(4, "→ ", BLUE, hint);
        }
    }
}
