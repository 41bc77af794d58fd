//! What several scenarios have in common is told once: a cause of failure, what stood in the way, why they were not run, a change.

use std::collections::{HashMap, HashSet};

use super::{BLUE, DIM, MAGENTA, Page, RED, Verbosity, status_style};
use crate::model::points;
use crate::published::result::{
    Change, ChangeKind, Problem, Reason, ResultDocument, Scenario, Status,
};
use crate::report::causes;
use crate::text::block;
use crate::text::word_diff::around_difference;

/// How many scenarios of one cause are named.
const NAMED: usize = 12;
/// How many changes that several scenarios share are told.
const CHANGES: usize = 10;
/// The longest value of which is told what became of it.
const VALUE_CHARS: usize = 160;

/// What several scenarios of a result have in common.
#[derive(Default)]
pub(super) struct Shared<'a> {
    causes: Vec<Failure<'a>>,
    problems: Vec<Hindrance<'a>>,
    changes: Vec<Kept<'a>>,
    /// The keys of `causes`.
    keys: HashSet<String>,
}

/// What several scenarios failed for.
struct Failure<'a> {
    sentence: String,
    /// What it was and is, where that is the same for all of them.
    values: Option<(&'a str, &'a str)>,
    scenarios: Vec<&'a Scenario>,
    /// How much else failed because of it.
    follows: usize,
}

/// What kept several scenarios from being run or judged.
struct Hindrance<'a> {
    status: Status,
    problem: &'a Problem,
    scenarios: Vec<&'a Scenario>,
}

/// A change of several scenarios that passed all the same.
struct Kept<'a> {
    change: &'a Change,
    scenarios: Vec<&'a Scenario>,
}

/// A change wherever it is made.
type Anywhere<'a> = (
    ChangeKind,
    Option<&'a str>,
    Option<&'a str>,
    &'a str,
    Option<&'a str>,
    Option<&'a str>,
);

fn anywhere(change: &Change) -> Anywhere<'_> {
    let Change {
        kind,
        baseline: _,
        current: _,
        tool,
        label: _,
        path,
        what,
        was,
        now,
        fails: _,
    } = change;
    (
        *kind,
        tool.as_deref(),
        path.as_deref(),
        what,
        was.as_deref(),
        now.as_deref(),
    )
}

impl<'a> Shared<'a> {
    pub(super) fn of(result: &'a ResultDocument) -> Self {
        let causes = failures(result);
        Self {
            keys: causes.keys().cloned().collect(),
            causes: in_order(causes.into_values()),
            problems: hindrances(result),
            changes: kept(result),
        }
    }

    pub(super) fn has_reason(&self, scenario: &Scenario, reason: &Reason) -> bool {
        causes::key_of(scenario, reason).is_some_and(|it| self.keys.contains(&it))
    }

    pub(super) fn has_problem_of(&self, scenario: &Scenario) -> bool {
        let mut all = self.problems.iter().flat_map(|it| &it.scenarios);
        all.any(|it| it.id == scenario.id)
    }

    pub(super) fn has_change(&self, change: &Change) -> bool {
        let mut all = self.changes.iter();
        all.any(|it| anywhere(it.change) == anywhere(change))
    }

    /// Whether a scenario has nothing of its own to tell.
    pub(super) fn tells_all_of(&self, scenario: &Scenario) -> bool {
        let has_own = scenario.repeated.is_some()
            || scenario.direct.is_some()
            || scenario.unchecked().next().is_some()
            || !scenario.unmet().is_empty()
            || !scenario.experiment_changes.is_empty()
            || !scenario.idle_rules.is_empty();
        if has_own {
            return false;
        }
        match (&scenario.comparison, scenario.status) {
            (_, Status::Recorded) => false,
            (Some(it), Status::Failed | Status::Inconclusive) => {
                let mut warnings = it.warnings.iter();
                scenario.notes.is_empty()
                    && !it.reasons.is_empty()
                    && it.reasons.iter().all(|it| self.has_reason(scenario, it))
                    && warnings.all(|warning| it.mentions(warning))
            }
            (Some(it), Status::Passed) => it.changes.iter().all(|it| self.has_change(it)),
            (_, _) => self.has_problem_of(scenario),
        }
    }
}

/// The causes of failure that several scenarios share, by their keys.
fn failures(result: &ResultDocument) -> HashMap<String, Failure<'_>> {
    let mut found: HashMap<String, Failure<'_>> = HashMap::new();
    let failed = result.scenarios.iter();
    let failed = failed.filter(|it| matches!(it.status, Status::Failed | Status::Inconclusive));
    for scenario in failed {
        for reason in scenario.comparison.iter().flat_map(|it| &it.reasons) {
            let Some((key, sentence)) = causes::named(scenario, reason) else {
                continue;
            };
            let values = reason.expected.as_deref().zip(reason.got.as_deref());
            let failure = found.entry(key).or_insert_with(|| Failure {
                sentence,
                values,
                scenarios: Vec::new(),
                follows: 0,
            });
            if failure.values != values {
                failure.values = None;
            }
            failure.follows += reason.follows.len();
            if failure
                .scenarios
                .last()
                .is_none_or(|it| it.id != scenario.id)
            {
                failure.scenarios.push(scenario);
            }
        }
    }
    found.retain(|_, it| it.scenarios.len() > 1);
    found
}

fn in_order<'a>(causes: impl Iterator<Item = Failure<'a>>) -> Vec<Failure<'a>> {
    let mut causes: Vec<_> = causes.collect();
    causes.sort_by(|a, b| {
        let most = b.scenarios.len().cmp(&a.scenarios.len());
        most.then_with(|| a.sentence.cmp(&b.sentence))
    });
    causes
}

fn hindrances(result: &ResultDocument) -> Vec<Hindrance<'_>> {
    let mut found: Vec<Hindrance<'_>> = Vec::new();
    for scenario in &result.scenarios {
        let Some(problem) = &scenario.problem else {
            continue;
        };
        if scenario.status.is_fine() {
            continue;
        }
        let same = |it: &&mut Hindrance<'_>| it.status == scenario.status && it.problem == problem;
        match found.iter_mut().find(same) {
            Some(it) => it.scenarios.push(scenario),
            None => found.push(Hindrance {
                status: scenario.status,
                problem,
                scenarios: vec![scenario],
            }),
        }
    }
    found.retain(|it| it.scenarios.len() > 1);
    found
}

fn kept(result: &ResultDocument) -> Vec<Kept<'_>> {
    let mut at: HashMap<Anywhere<'_>, usize> = HashMap::new();
    let mut found: Vec<Kept<'_>> = Vec::new();
    for scenario in result.scenarios.iter().filter(|it| it.is_changed()) {
        for change in scenario.changes() {
            let index = *at.entry(anywhere(change)).or_insert_with(|| {
                found.push(Kept {
                    change,
                    scenarios: Vec::new(),
                });
                found.len() - 1
            });
            let scenarios = &mut found[index].scenarios;
            if scenarios.last().is_none_or(|it| it.id != scenario.id) {
                scenarios.push(scenario);
            }
        }
    }
    found.retain(|it| it.scenarios.len() > 1);
    found.sort_by_key(|it| std::cmp::Reverse(it.scenarios.len()));
    found
}

impl Page<'_> {
    /// What several scenarios have in common, what failed last.
    pub(super) fn shared(&mut self, shared: &Shared<'_>) {
        let quiet = self.style.verbosity == Verbosity::Quiet;
        for it in shared
            .problems
            .iter()
            .filter(|it| !quiet || it.status != Status::Skipped)
        {
            self.hindrance(it);
        }
        if !quiet {
            let most = if self.is_verbose() {
                usize::MAX
            } else {
                CHANGES
            };
            for it in shared.changes.iter().take(most) {
                let change = Change {
                    baseline: None,
                    current: None,
                    ..it.change.clone()
                };
                self.indented(0, "~ ", MAGENTA, &change.to_string());
                self.scenarios(&it.scenarios);
            }
            let left = shared.changes.len().saturating_sub(most);
            if left > 0 {
                let more = format!(
                    "and {left} more changes that several scenarios share (`-v` tells all)"
                );
                self.indented(0, "~ ", MAGENTA, &more);
            }
        }
        for it in &shared.causes {
            self.failure(it);
        }
    }

    fn hindrance(&mut self, it: &Hindrance<'_>) {
        let Hindrance {
            status,
            problem,
            scenarios,
        } = it;
        let (style, sign) = (status_style(*status), format!("{} ", status.symbol()));
        let words = format!("{} {}: {}", scenarios.len(), status.name(), problem.message);
        self.indented(0, &sign, style, &words);
        if let Some(hint) = &problem.hint {
            self.indented(4, "→ ", BLUE, hint);
        }
        for detail in &problem.details {
            for part in block(detail).lines() {
                self.indented(4, "│ ", DIM, part);
            }
        }
        // Which ones are left out is no news, unless somebody stopped them.
        if *status != Status::Skipped || self.is_verbose() {
            self.scenarios(scenarios);
        }
    }

    fn failure(&mut self, it: &Failure<'_>) {
        let mut words = it.sentence.clone();
        if let Some((was, now)) = it.values {
            let [was, now] = around_difference(was, now, VALUE_CHARS);
            words = format!("{words}: {was} → {now}");
        }
        self.indented(0, "✗ ", RED, &words);
        self.scenarios(&it.scenarios);
        match it.follows {
            0 => {}
            1 => self.indented(4, "└ ", RED, "one more reason to fail follows from it"),
            more => {
                let words = format!("{more} more reasons to fail follow from it");
                self.indented(4, "└ ", RED, &words);
            }
        }
    }

    /// `in 3 scenarios: shop/a (0.73), shop/b (0.75), shop/c (0.73)`.
    fn scenarios(&mut self, scenarios: &[&Scenario]) {
        let shown = if self.is_verbose() {
            scenarios.len()
        } else {
            NAMED
        };
        let names = scenarios.iter().take(shown).map(|it| match it.score() {
            Some(score) if !it.status.is_fine() => format!("{} ({})", it.id, points::score(score)),
            _ => it.id.clone(),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let left = scenarios.len().saturating_sub(shown);
        let more = match left {
            0 => String::new(),
            more => format!(" and {more} more (`-v` names all)"),
        };
        let words = format!("in {} scenarios: {names}{more}", scenarios.len());
        self.long(4, "", DIM, &words);
    }
}
