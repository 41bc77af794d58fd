//! Measures what one scenario is about.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::data_sets::{SearchSets, shown};
use super::judged::{self, Held, scored};
use super::{Doing, Measuring, accepted};
use crate::discovery::baseline::Baseline;
use crate::discovery::security::{doubts, problems, status};
use crate::model::{Git, Problem, Redacted, ScenarioResult, Status};
use crate::published::measured::retrieval::Report;
use crate::published::measured::{self, FORMAT_VERSION, Measured, security};
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::Measurement;
use crate::store::Baselines;
use crate::suite::outcome::{result, unavailable, without_verdict};
use crate::suite::repeat::{Attempt, Measure, repeat};
use crate::suite::run_context::{Executed, RunContext};
use crate::suite::settings::Settings;

/// Measures what a scenario is about, as often as the settings say.
pub(crate) async fn measured(
    scenario: &Scenario,
    run_context: &RunContext,
    baselines: &Baselines,
    doing: &Doing,
    settings: &Settings,
) -> ScenarioResult {
    let Some(task) = &scenario.measurement else {
        return without_verdict(
            &run_context.redacted(scenario),
            Status::Error,
            "it measures nothing".to_owned(),
        );
    };
    let left_out = match (doing, task) {
        (Doing::Leave(why), _) => Some((*why).to_owned()),
        (Doing::Against(_), Measurement::Security(_)) => Some(
            "the verdicts of scanners are in files, the same for every version: `compare` and `run` check them against the gates"
                .to_owned(),
        ),
        (Doing::Record, Measurement::Security(_)) => Some(
            "nothing is recorded of scanners: `compare` and `run` check their verdicts against the gates"
                .to_owned(),
        ),
        (Doing::Record, Measurement::Retrieval(it)) => it.baseline.as_ref().map(|it| {
            format!(
                "nothing is recorded: its figures are held against those of `baseline`, {}",
                shown(it)
            )
        }),
        _ => None,
    };
    if let Some(why) = left_out {
        return unavailable(&run_context.redacted(scenario), why);
    }
    let once = Once {
        scenario,
        task,
        baselines,
        doing,
        strict: settings.judging.scoring.strict,
        allow_failing: settings.recording.allow_failing,
    };
    let measure = Measure {
        times: match doing {
            Doing::Record => 1,
            _ => settings.times,
        },
        pass_threshold: settings
            .judging
            .scoring
            .over(&scenario.scoring)
            .pass_threshold,
        baseline: None,
    };
    Box::pin(repeat(scenario, run_context, measure, &once)).await
}

/// What is measured, and what is done with that.
pub(super) struct Once<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) task: &'a Measurement,
    pub(super) baselines: &'a Baselines,
    pub(super) doing: &'a Doing,
    /// Whatever changed fails.
    strict: bool,
    /// What is not what the scenario demands is accepted all the same.
    allow_failing: bool,
}

impl Attempt for Once<'_> {
    async fn once(&self, run_context: &RunContext) -> ScenarioResult {
        let measuring = match Measuring::new(self.task) {
            Ok(measuring) => measuring,
            Err(findings) => {
                let judged = self.failed(findings.iter().map(ToString::to_string).collect());
                self.keep_first(&Report::default(), None);
                let mut outcome = result(&run_context.redacted(self.scenario), Status::Error);
                judged::add(&mut outcome, &judged);
                return outcome;
            }
        };
        let held = match self.held(&measuring) {
            Ok(held) => held,
            Err(problem) => {
                return run_context.unplayed(self.scenario, problem);
            }
        };
        let held = match Box::pin(self.of_other(held, run_context)).await {
            Ok(held) => held,
            Err(why) => return *why,
        };
        let measured = run_context.measure(self.scenario, &measuring);
        let (executed, redactor) = Box::pin(measured).await;
        let stamps = self.stamps(&executed, run_context);
        let judged = self.judged(&measuring, &executed, &held);
        let judged = redactor.measured(&judged::stamped(judged, stamps));
        let (mut outcome, is_complete) = if let Some(incomplete) = executed.incomplete() {
            (incomplete, false)
        } else {
            let outcome = result(&executed.scenario, Status::Passed).with(|it| {
                it.duration_ms = executed.trajectory.duration_ms;
                it.notes.clone_from(&executed.notes);
                it.current = Some(Arc::new(executed.trajectory.clone()));
            });
            (outcome, true)
        };
        if is_complete {
            judged::add(&mut outcome, &judged);
            if outcome.status == Status::Error {
                outcome.trouble = measuring.asked.lock().trouble;
            }
            if self.strict {
                judged::hold_strictly(&mut outcome, &judged);
            }
        } else {
            // Why the run ended is said by the run.
            outcome.measured = Some((*judged).clone());
        }
        if let Doing::Against(others) = self.doing
            && let Some((_, name)) = others.get(&self.scenario.id)
        {
            outcome.compared_with = Some(name.clone());
        }
        if matches!(self.doing, Doing::Record) && is_complete {
            self.record(&mut outcome, &judged);
        }
        outcome
    }
}

impl Once<'_> {
    /// What the measurement came to.
    fn judged(&self, measuring: &Measuring, executed: &Executed, held: &Held) -> Measured {
        let cut_short = executed.incomplete().and_then(|it| it.scenario.problem);
        let cut_short = cut_short.map(|it| {
            let mut problems = vec![it.message];
            problems.extend(it.details);
            problems
        });
        match self.task {
            Measurement::Security(task) => {
                let scanned = measuring.scanned.lock().take();
                let report = match (cut_short, scanned) {
                    (None, Some(Ok((security, notes)))) => security::Report {
                        status: status(&security),
                        problems: problems(&security),
                        notes: [notes, doubts(&security, task.demands.prevalence)].concat(),
                        security,
                        ..security::Report::default()
                    },
                    (Some(problems), _) | (None, Some(Err(problems))) => self.unscanned(problems),
                    (None, None) => self.unscanned(vec!["nothing was read".to_owned()]),
                };
                Measured::Security(Box::new(named_scanners(report)))
            }
            Measurement::Retrieval(task) => {
                let (demands, notes) = self.demands(task, measuring, held);
                let found = match cut_short {
                    Some(mut problems) => {
                        let count = measuring.asked.lock().count;
                        let queries = measuring
                            .sets
                            .as_ref()
                            .map_or(0, |it| it.golden.queries.len());
                        let all = queries * usize::from(task.runs);
                        problems.push(format!("{count} of {all} queries had been answered"));
                        Err(problems)
                    }
                    None => tokio::task::block_in_place(|| scored(measuring, Some(held), &demands)),
                };
                let mut report = match found {
                    Ok((report, figures)) => {
                        self.keep_first(&report, Some(figures));
                        report
                    }
                    Err(problems) => {
                        let report = Report {
                            status: measured::Status::Incomplete,
                            catalogue: measuring.asked.lock().catalogue.clone(),
                            problems,
                            ..Report::default()
                        };
                        self.keep_first(&report, None);
                        report
                    }
                };
                report.notes.extend(notes);
                self.name_search(&mut report, measuring.sets.as_deref());
                Measured::Retrieval(Box::new(report))
            }
        }
    }

    /// Of several searches, the others are compared with the first that could be measured.
    fn keep_first(&self, report: &Report, figures: Option<Baseline>) {
        let (Doing::Alone(first), Measurement::Retrieval(task)) = (self.doing, self.task) else {
            return;
        };
        let name = if report.search.is_empty() {
            task.search_name.clone()
        } else {
            report.search.clone()
        };
        let mut first = first.lock();
        match figures {
            Some(figures) => first.got = first.got.take().or(Some((name, figures))),
            None => first.failed = first.failed.take().or(Some(name)),
        }
    }

    /// A measurement that did not happen.
    fn failed(&self, problems: Vec<String>) -> Measured {
        match self.task {
            Measurement::Retrieval(_) => {
                let mut report = Report {
                    status: measured::Status::Incomplete,
                    problems,
                    ..Report::default()
                };
                self.name_search(&mut report, None);
                Measured::Retrieval(Box::new(report))
            }
            Measurement::Security(_) => {
                Measured::Security(Box::new(named_scanners(self.unscanned(problems))))
            }
        }
    }

    fn unscanned(&self, problems: Vec<String>) -> security::Report {
        let mut report = security::Report {
            status: measured::Status::Incomplete,
            problems,
            ..security::Report::default()
        };
        if let Measurement::Security(task) = self.task {
            report.security.gate.fpr_ceiling = task.demands.fpr_ceiling;
            report.security.gate.recall_floor = task.demands.recall_floor;
        }
        report
    }

    /// Says what was measured, with what, and when.
    fn name_search(&self, report: &mut Report, sets: Option<&SearchSets>) {
        let Measurement::Retrieval(task) = self.task else {
            return;
        };
        report.format_version = FORMAT_VERSION;
        env!("CARGO_PKG_VERSION").clone_into(&mut report.mcp_eval);
        report.made_at = Timestamp::now().to_string();
        let stem = task.golden.file_stem().unwrap_or_default();
        report.golden_version = stem.to_string_lossy().into_owned();
        report.search.clone_from(&task.search_name);
        if let Some(sets) = sets {
            report.search.clone_from(&sets.search.name);
            let version = &sets.golden.corpus_version;
            report.corpus_version = version.clone().or_else(|| sets.corpus.version.clone());
        }
    }

    /// The commits that the data sets and the system under test come from, by what each is; what is in no repository is left out.
    fn stamps(&self, executed: &Executed, run_context: &RunContext) -> BTreeMap<String, String> {
        let files: Vec<(&str, &Path)> = match self.task {
            Measurement::Retrieval(task) => {
                vec![
                    ("corpus", task.corpus.as_path()),
                    ("golden set", &task.golden),
                ]
            }
            Measurement::Security(task) => {
                let verdicts = task.verdicts.first().map(|it| ("verdicts", it.as_path()));
                let corpus = task.corpus.as_deref().map(|it| ("corpus", it));
                verdicts.into_iter().chain(corpus).collect()
            }
        };
        let mut stamps = BTreeMap::new();
        for (name, path) in files {
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            let stamp = run_context.suite.git(folder.unwrap_or(Path::new(".")));
            stamps.extend(commit(&stamp).map(|it| (name.to_owned(), it)));
        }
        let stamp = &executed.trajectory.stamp;
        let system = stamp.source.as_ref().and_then(commit);
        stamps.extend(system.map(|it| ("system".to_owned(), it)));
        let image = stamp.image.as_ref().map(|it| it.name.clone());
        stamps.extend(image.map(|it| ("image".to_owned(), it)));
        stamps
    }

    /// Accepts what was measured, unless something keeps it from that.
    fn record(&self, outcome: &mut ScenarioResult, judged: &Redacted<Measured>) {
        let report = judged.derive(|it| match it {
            Measured::Retrieval(report) if report.metrics.is_some() => Some((**report).clone()),
            _ => None,
        });
        if report.is_none() {
            return;
        }
        let fails = outcome.status == Status::Failed;
        if fails && !self.allow_failing {
            outcome.problem = Some(
                Problem::new("not kept, because it is not what the scenario demands")
                    .hint("`--allow-failing` keeps it"),
            );
            return;
        }
        let report = report.derive(|it| it.clone().unwrap_or_default());
        match accepted::save(
            self.baselines,
            &self.scenario.id,
            &report,
            outcome.duration_ms,
        ) {
            Ok(note) => {
                outcome.notes.push(note);
                outcome.status = Status::Recorded;
                outcome.problem = fails
                    .then(|| Problem::new("kept, although it is not what the scenario demands"));
            }
            Err(error) => {
                outcome.status = Status::Error;
                outcome.problem = Some(Problem::new(error.to_string()));
            }
        }
    }
}

fn named_scanners(report: security::Report) -> security::Report {
    security::Report {
        format_version: FORMAT_VERSION,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: Timestamp::now().to_string(),
        ..report
    }
}

/// A commit in short, and whether something has changed since.
fn commit(stamp: &Git) -> Option<String> {
    let commit = stamp.commit()?;
    Some(if commit.dirty == Some(true) {
        format!("{} (changed since)", commit.short)
    } else {
        commit.short.clone()
    })
}
