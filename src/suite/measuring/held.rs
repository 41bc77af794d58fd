//! The yardsticks of a measurement: figures of a file, those that were accepted, another version of the system under test, and what is
//! demanded of it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::judged::{Gates, Held, scored};
use super::once::Once;
use super::{Doing, Measuring, accepted};
use crate::discovery::baseline::Baseline;
use crate::discovery::gates::Demands;
use crate::model::{Problem, ScenarioResult, Status};
use crate::published::measured::retrieval::Allowed;
use crate::scenario_file::measured::{Measurement, Retrieval};
use crate::suite::outcome::result;
use crate::suite::{RunContext, replay};

impl Once<'_> {
    /// The figures that are held against what comes.
    ///
    /// # Errors
    ///
    /// That there are none although there must be, or why they cannot be read.
    pub(super) fn held(&self, measuring: &Measuring) -> Result<Held, Problem> {
        let Some(sets) = &measuring.sets else {
            return Ok(Held::default());
        };
        let of_file = |baseline: &Baseline| Held {
            name: "the baseline".to_owned(),
            baseline: Some(baseline.clone()),
            gates: Gates::All,
            beside: match self.doing {
                Doing::Alone(first) => {
                    let got = first.lock().got.clone();
                    got.map(|(name, figures)| (format!("`{name}`"), figures))
                }
                _ => None,
            },
        };
        match (self.doing, &sets.baseline) {
            (Doing::Run | Doing::Compare | Doing::Alone(_), Some(baseline)) => {
                Ok(of_file(baseline))
            }
            (Doing::Run | Doing::Compare, None) => {
                let accepted = accepted::load(self.scenario, self.baselines, &sets.golden)?;
                match accepted {
                    Some(baseline) => Ok(of_file(&baseline)),
                    // What is demanded against a baseline is not met for want of one.
                    None if matches!(self.doing, Doing::Compare) || self.needs_baseline() => {
                        Err(replay::no_baseline(self.scenario, self.baselines))
                    }
                    None => Ok(Held::default()),
                }
            }
            (Doing::Alone(first), None) => {
                let first = first.lock();
                let (name, baseline) = match (&first.got, &first.failed) {
                    (Some((name, baseline)), _) => (name, Some(baseline.clone())),
                    (None, Some(name)) => (name, None),
                    (None, None) => return Ok(Held::default()),
                };
                Ok(Held {
                    name: format!("`{name}`"),
                    baseline,
                    gates: Gates::Lost,
                    beside: None,
                })
            }
            (Doing::Record, _) => {
                // What cannot be read is replaced all the same.
                let before = accepted::load(self.scenario, self.baselines, &sets.golden);
                Ok(Held {
                    name: "what was accepted before".to_owned(),
                    baseline: before.ok().flatten(),
                    gates: Gates::None,
                    beside: None,
                })
            }
            (Doing::Against(_) | Doing::Leave(_), _) => Ok(Held::default()),
        }
    }

    /// Whether a gate is of what was before.
    fn needs_baseline(&self) -> bool {
        match self.task {
            Measurement::Retrieval(task) => {
                task.gates.max_lost.is_some() || task.gates.tolerance.is_some()
            }
            Measurement::Security(_) => false,
        }
    }

    /// With another version of the system under test, what that came to takes the part of the baseline.
    ///
    /// # Errors
    ///
    /// The result, where the other version could not be measured.
    pub(super) async fn of_other(
        &self,
        held: Held,
        run_context: &RunContext,
    ) -> Result<Held, Box<ScenarioResult>> {
        let (Doing::Against(others), Measurement::Retrieval(_)) = (self.doing, self.task) else {
            return Ok(held);
        };
        let failed = |message: String, details: Vec<String>| {
            Box::new(
                result(&run_context.redacted(self.scenario), Status::Error).with(|it| {
                    it.problem = Some(Problem {
                        details,
                        ..Problem::new(message)
                    });
                }),
            )
        };
        let Some((other, name)) = others.get(&self.scenario.id) else {
            return Err(failed("it has no other version".to_owned(), Vec::new()));
        };
        let measuring = Measuring::new(self.task).map_err(|it| {
            failed(
                "it cannot be measured".to_owned(),
                it.iter().map(ToString::to_string).collect(),
            )
        })?;
        let beside = run_context.beside();
        let measured = Box::pin(beside.measure_unkept(other, &measuring)).await;
        beside.slot.release(false).await;
        if let Some(result) = measured.incomplete() {
            let status = result.status;
            let problem = result
                .scenario
                .problem
                .unwrap_or_else(|| Problem::new("it did not end"));
            if status == Status::Interrupted {
                return Err(Box::new(failed(String::new(), Vec::new()).with(|it| {
                    it.problem = Some(problem);
                    it.status = Status::Interrupted;
                })));
            }
            let message = format!("{name} could not be measured: {}", problem.message);
            return Err(failed(message, problem.details));
        }
        let found = tokio::task::block_in_place(|| scored(&measuring, None, &Demands::default()));
        match found {
            Ok((_, figures)) => Ok(Held {
                name: name.clone(),
                baseline: Some(figures),
                gates: Gates::All,
                beside: None,
            }),
            Err(problems) => {
                let message = format!("{name} could not be measured");
                Err(failed(message, problems))
            }
        }
    }

    /// What is demanded of a search today; and what there is to know of that.
    pub(super) fn demands(
        &self,
        task: &Retrieval,
        measuring: &Measuring,
        held: &Held,
    ) -> (Demands, Vec<String>) {
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let gates = &task.gates;
        let mut notes = Vec::new();
        let mut allowed = Vec::new();
        for it in &gates.allow_lost {
            if allowed.iter().any(|other: &Allowed| other.id == it.id) {
                notes.push(format!("`{}` is named twice among what may be lost", it.id));
                continue;
            }
            if it.until < today {
                let last = it.until;
                let since = last.tomorrow().unwrap_or(last);
                notes.push(format!(
                    "`{}` may not be lost any more, since {since}",
                    it.id
                ));
            } else {
                allowed.push(Allowed {
                    id: it.id.clone(),
                    reason: it.reason.clone(),
                    until: it.until.to_string(),
                });
            }
        }
        let golden = measuring.sets.as_ref().map(|it| &it.golden);
        let is_known = |id: &str| {
            let mut queries = golden.iter().flat_map(|it| &it.queries);
            let mut before = held.baseline.iter().flat_map(|it| &it.queries);
            queries.any(|it| it.id == id) || before.any(|it| it.id == id)
        };
        let strange = gates.allow_lost.iter().filter(|it| !is_known(&it.id));
        let strange: Vec<String> = strange.map(|it| format!("`{}`", it.id)).collect();
        if !strange.is_empty() {
            notes.push(format!(
                "warning: there is no query {}, which `allow_lost` names",
                strange.join(", ")
            ));
        }
        if matches!(self.doing, Doing::Alone(_))
            && held.gates != Gates::All
            && let Some(tolerance) = gates.tolerance
        {
            notes.push(format!(
                "warning: the tolerance of {tolerance} gates nothing without `--baseline` or `--against`: it is of what was measured there"
            ));
        }
        if matches!(self.doing, Doing::Run) && held.baseline.is_none() {
            notes.push(if gates.recall_floor.is_some() {
                "there is no baseline yet, so these figures are held against `recall_floor` alone"
                    .to_owned()
            } else {
                format!(
                    "nothing is demanded of these figures: there is neither a `recall_floor` nor a baseline, which `{}` makes",
                    replay::record_command(self.scenario)
                )
            });
        }
        let demands = Demands {
            allowed,
            ..Demands::of(gates)
        };
        (demands, notes)
    }
}
