//! `mcp-eval retrieval`: does a tool search still find the right tool?

mod asker;
mod catalogue;

use std::collections::HashMap;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::asker::Asker;
use crate::cli::args::{OutputArgs, RetrievalArgs};
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::measured::{self, Forms};
use crate::cli::runtime;
use crate::cli::to_run::today;
use crate::discovery::baseline::{Baseline, BaselineQuery};
use crate::discovery::check::{Source, versions};
use crate::discovery::corpus::Corpus;
use crate::discovery::golden::Golden;
use crate::discovery::report::retrieval::{Allowed, Catalogue, FORMAT_VERSION, Report, Status};
use crate::discovery::report::{html, junit, markdown, terminal};
use crate::discovery::retrieval::{Demands, Ground, Learned, measure, with_misses};
use crate::discovery::search::{Answer, PRESETS, Place, Search, preset};
use crate::scenario_file;

/// How many ids are asked for, and how many where something was missed.
const ASKED: usize = 10;
const ASKED_DEEP: usize = 100;

/// After how many failures one after the other nothing more is asked.
const MOST_FAILURES: usize = 3;

/// What is measured, and against what.
struct Task<'a> {
    args: &'a RetrievalArgs,
    corpus: &'a Corpus,
    golden: &'a Golden,
    baseline: Option<&'a Baseline>,
    demands: Demands,
    place: Place,
    console: Console,
    output: OutputArgs,
    interrupt: CancellationToken,
}

pub(in crate::cli) fn run(
    args: &RetrievalArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let (corpus_file, corpus) = data_sets::corpus(&args.corpus)?;
    let (golden_file, golden) = data_sets::golden(&args.golden)?;
    let mut findings = Vec::new();
    versions(
        Source {
            document: &corpus_file,
            read: &corpus,
        },
        Source {
            document: &golden_file,
            read: &golden,
        },
        &mut findings,
    );
    let baseline = match &args.baseline {
        None => None,
        Some(path) => {
            let document = data_sets::document(path)?;
            let baseline = Baseline::read(&document).map_err(|it| data_sets::invalid(&it))?;
            if let (Some(then), Some(now)) = (&baseline.corpus_version, &golden.corpus_version)
                && then != now
            {
                let problem =
                    format!("this was measured on `{then}`, and the queries are of `{now}`");
                findings.push(document.error("/corpus_version", problem));
            }
            Some(baseline)
        }
    };
    if !findings.is_empty() {
        return Err(data_sets::invalid(&findings));
    }
    measured::check(&args.out_dir)?;
    let searches = searches(args)?;
    let place = data_sets::place(&args.proxy);
    let redactor = data_sets::redactor(&place);
    let demands = Demands {
        tolerance: args.tolerance,
        max_lost: args.max_lost,
        allowed: allowed(args.allow_lost.as_deref(), console)?,
    };
    let runtime = runtime::beside(2)?;
    let reports = runtime.block_on(async {
        let task = Task {
            args,
            corpus: &corpus,
            golden: &golden,
            baseline: baseline.as_ref(),
            demands,
            place,
            console,
            output,
            interrupt: interrupt::token(),
        };
        let mut reports: Vec<Report> = Vec::new();
        let mut first: Option<(String, Vec<BaselineQuery>)> = None;
        for search in &searches {
            let (report, queries) = task.measured(search, first.as_ref()).await?;
            reports.push(report);
            if first.is_none() {
                first = queries.map(|it| (format!("`{}`", search.name), it));
            }
        }
        Ok::<_, Failure>((reports, task.interrupt.is_cancelled()))
    });
    runtime.shutdown_background();
    let stamps = measured::stamps(&[("corpus", &args.corpus), ("golden set", &args.golden)]);
    let mut clean = Vec::new();
    let (reports, was_interrupted) = reports?;
    for mut report in reports {
        report.stamps.clone_from(&stamps);
        clean.push(measured::clean(&report, &redactor)?);
    }
    let exit = finish(args, &clean, &redactor, console)?;
    Ok(if was_interrupted {
        Exit::Interrupted
    } else {
        exit
    })
}

/// The searches that are measured, each with a name.
fn searches(args: &RetrievalArgs) -> Result<Vec<Search>, Failure> {
    let usual = "mcpproxy-rest".to_owned();
    let asked = if args.searches.is_empty() {
        std::slice::from_ref(&usual)
    } else {
        &args.searches
    };
    let mut searches: Vec<Search> = Vec::new();
    for it in asked {
        let (declared, name) = if let Some(declared) = preset(it) {
            (declared, it.clone())
        } else {
            let path = Path::new(it);
            if !path.exists() {
                let known = PRESETS.join(", ");
                let problem = format!("there is no file `{it}`, and no search is called so");
                return Err(Failure::usage(problem).hint(format!("known are {known}")));
            }
            let declared = scenario_file::plain_file(path);
            let declared = declared.map_err(|it| Failure::incomplete(it.to_string()))?;
            let stem = path.file_stem().unwrap_or_default();
            (declared, stem.to_string_lossy().into_owned())
        };
        let mut search =
            Search::read(&declared).map_err(|why| Failure::incomplete(format!("{it}: {why}")))?;
        if declared.get("name").is_none() || search.name.is_empty() {
            search.name = name;
        }
        if searches.iter().any(|other| other.name == search.name) {
            search.name = format!("{} ({})", search.name, searches.len() + 1);
        }
        searches.push(search);
    }
    Ok(searches)
}

/// The queries that may be lost today.
fn allowed(path: Option<&Path>, console: Console) -> Result<Vec<Allowed>, Failure> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let shown = path.display();
    let value =
        scenario_file::plain_file(path).map_err(|it| Failure::incomplete(it.to_string()))?;
    let all: Vec<Allowed> = serde_json::from_value(value).map_err(|error| {
        Failure::incomplete(format!(
            "{shown} is no list of queries that may be lost, each with `id`, `reason` and `until`: {error}"
        ))
    })?;
    let today = today();
    let mut allowed = Vec::new();
    for it in all {
        let until: jiff::civil::Date = it.until.parse().map_err(|_| {
            Failure::incomplete(format!(
                "{shown}: `until` of `{}` is no date such as 2026-12-31",
                it.id
            ))
        })?;
        if until < today {
            console.note(&format!(
                "`{}` may not be lost any more, since {until}",
                it.id
            ));
        } else {
            allowed.push(it);
        }
    }
    Ok(allowed)
}

impl Task<'_> {
    /// Measures one search; also what each query got, where it was measured.
    async fn measured(
        &self,
        search: &Search,
        first: Option<&(String, Vec<BaselineQuery>)>,
    ) -> Result<(Report, Option<Vec<BaselineQuery>>), Failure> {
        let scenario = self.args.scenario.as_deref();
        let mut asker = Asker::open(search, &self.place, scenario).await?;
        let came = Box::pin(self.asked(search, &mut asker, first)).await;
        asker.close().await;
        came
    }

    async fn asked(
        &self,
        search: &Search,
        asker: &mut Asker<'_>,
        first: Option<&(String, Vec<BaselineQuery>)>,
    ) -> Result<(Report, Option<Vec<BaselineQuery>>), Failure> {
        let failed = |problems: Vec<String>, catalogue: Catalogue| {
            let report = Report {
                status: Status::Incomplete,
                problems,
                catalogue,
                ..Report::default()
            };
            (self.named(report, search), None)
        };
        let looking = catalogue::looked_at(asker, self.corpus, self.args.wait, self.console).await;
        let mut learned = Learned::default();
        let mut notes = Vec::new();
        let catalogue = match looking {
            Err(why) => {
                let problem = format!("the catalogue of {} is not known: {why}", self.whom(search));
                return Ok(failed(vec![problem], Catalogue::default()));
            }
            Ok(None) => {
                notes.push(
                    "the live catalogue is not known, so that it was not compared with the corpus"
                        .to_owned(),
                );
                Catalogue::default()
            }
            Ok(Some((live, drift))) => {
                learned.live = Some(live.into_iter().map(|it| it.id).collect());
                let catalogue = Catalogue {
                    compared: true,
                    drift,
                };
                if !catalogue.drift.is_none() {
                    let told = catalogue.drift.told();
                    let problem = format!("the live catalogue differs from the corpus: {told}");
                    if !self.args.allow_drift {
                        return Ok(failed(vec![problem], catalogue));
                    }
                    notes.push(problem);
                }
                catalogue
            }
        };
        let mut runs = Vec::new();
        for number in 1..=self.args.runs {
            match self.one_run(number, asker).await {
                Ok(run) => runs.push(run),
                Err(problems) => return Ok(failed(problems, catalogue)),
            }
        }
        let ground = Ground {
            corpus: self.corpus,
            golden: self.golden,
            finds: search.finds,
        };
        if let Some(problem) = ground.refuse_unmapped(&runs) {
            return Ok(failed(vec![problem], catalogue));
        }
        learned.deep = self.asked_deep(ground, &runs, asker).await;
        let mut measured = measure(ground, &runs, &learned);
        measured.report().notes.extend(notes);
        measured.report().catalogue = catalogue;
        if let Some((name, before)) = first {
            measured.compare(name, before);
        }
        if let Some(baseline) = self.baseline {
            measured.judge(baseline, &self.demands);
        }
        let queries = measured.as_baseline();
        Ok((self.named(measured.into_report(), search), Some(queries)))
    }

    /// Asks every query once.
    ///
    /// # Errors
    ///
    /// Which of them have no answer, and why.
    async fn one_run(
        &self,
        number: u16,
        asker: &mut Asker<'_>,
    ) -> Result<Vec<Answer>, Vec<String>> {
        let queries = &self.golden.queries;
        let bar = self.bar(queries.len());
        let mut answers = Vec::with_capacity(queries.len());
        let mut problems = Vec::new();
        let mut in_a_row = 0;
        for (at, query) in queries.iter().enumerate() {
            bar.set_message(format!("run {number}: {}", query.id));
            let came = tokio::select! {
                answer = asker.ask(&query.text, ASKED) => answer,
                () = self.interrupt.cancelled() => Err("interrupted".to_owned()),
            };
            bar.inc(1);
            match came {
                Ok(answer) => {
                    in_a_row = 0;
                    answers.push(answer);
                }
                Err(why) => {
                    in_a_row += 1;
                    problems.push(format!("`{}` has no answer: {why}", query.id));
                }
            }
            let rest = queries.len() - at - 1;
            if (in_a_row == MOST_FAILURES || self.interrupt.is_cancelled()) && rest > 0 {
                problems.push(format!("{rest} more queries were not asked"));
                break;
            }
        }
        bar.finish_and_clear();
        if problems.is_empty() {
            Ok(answers)
        } else {
            Err(problems)
        }
    }

    /// What is answered to queries that missed something when more is asked for. Where that fails, it stays unknown at which rank it is.
    async fn asked_deep(
        &self,
        ground: Ground<'_>,
        runs: &[Vec<Answer>],
        asker: &mut Asker<'_>,
    ) -> HashMap<String, Vec<String>> {
        let mut deep = HashMap::new();
        for query in runs
            .first()
            .map(|it| with_misses(ground, it))
            .unwrap_or_default()
        {
            if self.interrupt.is_cancelled() {
                break;
            }
            if let Ok(answer) = asker.ask(&query.text, ASKED_DEEP).await {
                let ids = answer.found.into_iter().map(|it| it.id);
                deep.insert(query.id.clone(), ids.collect());
            }
        }
        deep
    }

    fn whom(&self, search: &Search) -> String {
        if search.needs_session() {
            format!("`{}`", search.name)
        } else {
            self.place.base_url.clone()
        }
    }

    fn named(&self, report: Report, search: &Search) -> Report {
        let stem = self.args.golden.file_stem().unwrap_or_default();
        Report {
            format_version: FORMAT_VERSION,
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            made_at: Timestamp::now().to_string(),
            search: search.name.clone(),
            corpus_version: self
                .golden
                .corpus_version
                .clone()
                .or_else(|| self.corpus.version.clone()),
            golden_version: stem.to_string_lossy().into_owned(),
            ..report
        }
    }

    fn bar(&self, of: usize) -> ProgressBar {
        if self.console.can_draw() && !self.output.no_progress {
            let target = ProgressDrawTarget::stderr();
            ProgressBar::with_draw_target(u64::try_from(of).ok(), target)
        } else {
            ProgressBar::hidden()
        }
    }
}

/// Writes the reports and says what they come to.
fn finish(
    args: &RetrievalArgs,
    reports: &[Report],
    redactor: &crate::redact::Redactor,
    console: Console,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for (at, report) in reports.iter().enumerate() {
        // The first search is where everybody looks for it; each further one has a folder of its own beneath.
        let folder = if at == 0 {
            args.out_dir.clone()
        } else {
            let letters = report.search.chars();
            let name: String = letters
                .map(|it| if it.is_alphanumeric() { it } else { '-' })
                .collect();
            args.out_dir.join(name)
        };
        let forms = Forms {
            page: html::retrieval(report),
            comment: markdown::retrieval(report),
            tests: junit::document(
                &format!("retrieval {}", report.search),
                &cases(report),
                &report.problems,
            ),
        };
        let document: Value = json!(report);
        let line = measured::write(&folder, &document, &forms, redactor)?;
        let mut told = String::new();
        if reports.len() > 1 {
            told = format!("Search: {}\n", report.search);
        }
        told.push_str(&terminal::retrieval(report));
        told.push_str(&line);
        told.push_str(&terminal::more_of_retrieval(report));
        console.result(&crate::text::block(&told));
        if !report.problems.is_empty() {
            console.failure(&Failure::incomplete(report.problems.join("\n")));
        }
        exit = exit.and(match report.status {
            Status::Passed => Exit::Passed,
            Status::Failed => Exit::Failed,
            Status::Incomplete => Exit::Incomplete,
        });
    }
    Ok(exit)
}

/// The gates of a measurement.
fn cases(report: &Report) -> Vec<junit::Case> {
    let mut cases = Vec::new();
    if let Some(gate) = &report.gate {
        let outcome = if gate.passed {
            Ok(())
        } else {
            Err(format!(
                "{} is {}, below {}",
                gate.metric, gate.value, gate.threshold
            ))
        };
        cases.push((gate.metric.clone(), outcome));
    }
    if let Some(gate) = &report.lost_gate {
        let outcome = if gate.passed {
            Ok(())
        } else {
            Err(format!(
                "lost: {}, and at most {} may be",
                gate.lost.join(", "),
                gate.max_lost
            ))
        };
        cases.push(("lost queries".to_owned(), outcome));
    }
    cases
}
