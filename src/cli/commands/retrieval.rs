//! `mcp-eval retrieval`: does a tool search still find the right tool?

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::args::RetrievalArgs;
use crate::cli::measured::{self, Forms};
use crate::cli::{Console, Exit, Failure, data_sets};
use crate::discovery::baseline::Baseline;
use crate::discovery::gates::Demands;
use crate::discovery::golden::Golden;
use crate::discovery::search::{Search, preset};
use crate::model::Redacted;
use crate::published::measured as documents;
use crate::published::measured::Status;
use crate::published::measured::retrieval::{Allowed, Report};
use crate::redact::Redactor;
use crate::report::html::measured as html;
use crate::report::measured::{junit, markdown, terminal};
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::{AllowedLoss, Measurement, Retrieval, SEARCHES, SearchGates};
use crate::{input, scenario_file, suite};

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(30);

pub(in crate::cli) fn run(args: &RetrievalArgs, console: Console) -> Result<Exit, Failure> {
    let is_held = args.baseline.is_some() || args.against.is_some() || args.searches.len() > 1;
    if args.max_lost.is_some() && !is_held {
        let failure = Failure::usage("`--max-lost` says nothing of a search by itself");
        return Err(failure.hint("add `--baseline FILE`, `--against WHAT` or another `--search`"));
    }
    spare_inputs(args, &[])?;
    let done = measure(args, console);
    if let Err(failure) = &done {
        // Where that cannot be written either, the failure itself is reported all the same.
        let report = unmeasured(failure);
        let redactor = redactor(args, &declared(args));
        let _ = measured::outdate(&args.out_dir, &report, forms, &redactor);
    }
    done.map_err(|it| without_secrets(it, args))
}

/// The report of a measurement that could not even begin.
fn unmeasured(failure: &Failure) -> Report {
    Report {
        format_version: documents::FORMAT_VERSION,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: jiff::Timestamp::now().to_string(),
        status: Status::Incomplete,
        problems: vec![failure.message.clone()],
        ..Report::default()
    }
}

/// The declarations of the searches, as far as they can be read, for what is secret in them.
fn declared(args: &RetrievalArgs) -> Vec<Value> {
    let files = args.searches.iter().filter(|it| preset(it).is_none());
    let read = files.filter_map(|it| scenario_file::plain_file(Path::new(it)).ok());
    read.collect()
}

/// Hides who asks: the key of the proxy, and whatever else the searches send.
fn redactor(args: &RetrievalArgs, declared: &[Value]) -> Redactor {
    data_sets::redactor(data_sets::place(&args.proxy).ok().as_ref(), declared)
}

/// A failure that tells nobody who asks.
fn without_secrets(failure: Failure, args: &RetrievalArgs) -> Failure {
    let redactor = redactor(args, &declared(args));
    failure.reworded(|it| redactor.known(it).into_inner())
}

fn measure(args: &RetrievalArgs, console: Console) -> Result<Exit, Failure> {
    let scenarios = scenarios(args)?;
    spare_inputs(args, &scenarios)?;
    if let Some(Measurement::Retrieval(task)) =
        scenarios.first().and_then(|it| it.measurement.as_ref())
    {
        refuse_idle_gate(args, &task.gates)?;
    }
    let findings: Vec<_> = scenarios
        .iter()
        .take(1)
        .flat_map(suite::check_measurement)
        .collect();
    if !findings.is_empty() {
        return Err(data_sets::invalid(&findings));
    }
    measured::check(&args.out_dir)?;
    let redactor = redactor(args, &declared(args));
    let with = measured::With {
        command: "retrieval",
        against: args.against.as_ref(),
        database: &args.database,
        keep: args.kept.keep.0,
        no_docker: args.no_docker,
    };
    measured::measure(scenarios, &with, console, |measured| {
        let reports = measured.iter().filter_map(|it| match it {
            documents::Measured::Retrieval(report) => Some(measured::clean(&**report, &redactor)),
            documents::Measured::Security(_) => None,
        });
        let clean: Vec<_> = reports.collect::<Result<_, Failure>>()?;
        finish(args, &clean, console)
    })
}

/// The folder of a search's reports: the first search is where everybody looks for it; each further one has a folder of its own beneath.
fn folder(args: &RetrievalArgs, at: usize, search: &str) -> PathBuf {
    if at == 0 {
        args.out_dir.clone()
    } else {
        args.out_dir.join(plain(search))
    }
}

/// Refuses to write over a file that is measured with.
fn spare_inputs(args: &RetrievalArgs, scenarios: &[Scenario]) -> Result<(), Failure> {
    let names = scenarios.iter().map(|it| match &it.measurement {
        Some(Measurement::Retrieval(task)) => task.search_name.as_str(),
        _ => "",
    });
    let folders = names.enumerate().map(|(at, name)| folder(args, at, name));
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.push(args.out_dir.clone());
    let mut inputs = vec![
        ("`--corpus`", Some(args.corpus.as_path())),
        ("`--golden`", Some(args.golden.as_path())),
        ("`--baseline`", args.baseline.as_deref()),
        ("`--allow-lost`", args.allow_lost.as_deref()),
        ("`--scenario`", args.scenario.as_deref()),
    ];
    let searches = args.searches.iter().filter(|it| preset(it).is_none());
    inputs.extend(searches.map(|it| ("`--search`", Some(Path::new(it)))));
    measured::spare(&folders, &inputs)
}

/// Refuses gates so wide that nothing can fail. What is wrong with files is reported by those who measure with them.
fn refuse_idle_gate(args: &RetrievalArgs, gates: &SearchGates) -> Result<(), Failure> {
    let read = |path: &Path| data_sets::document(path).ok();
    let baseline = args.baseline.as_deref().and_then(read);
    let baseline = baseline.and_then(|it| Baseline::read(&it).ok());
    if args.baseline.is_some() && baseline.is_none() || args.against.is_some() {
        return Ok(());
    }
    let golden = read(&args.golden).and_then(|it| Golden::read(&it).ok());
    let Some(golden) = golden else {
        return Ok(());
    };
    let idle = Demands::of(gates).idle(baseline.as_ref(), golden.queries.len());
    idle.map_or(Ok(()), |why| {
        let hint =
            "give a smaller `--tolerance` or `--max-lost`, another baseline, or `--recall-floor`";
        Err(Failure::usage(why).hint(hint))
    })
}

/// Where in the file of a search is what a sentence says of it, by the first name in that: `file:line:column`, else the file alone.
fn placed(path: &str, why: &str) -> String {
    let text = input::read_to_string(Path::new(path)).unwrap_or_default();
    let name = why.split('`').nth(1).unwrap_or_default();
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let mut places = text.match_indices(name).filter(|(at, _)| {
        let ends = [
            text[..*at].chars().next_back(),
            text[at + name.len()..].chars().next(),
        ];
        !name.is_empty() && !ends.into_iter().flatten().any(is_part)
    });
    match places.next().filter(|_| !why.starts_with("missing")) {
        Some((at, _)) => {
            let line = text[..at].matches('\n').count() + 1;
            let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
            let column = text[start..at].chars().count() + 1;
            format!("{path}:{line}:{column}")
        }
        None => path.to_owned(),
    }
}

/// A scenario for each search that is measured.
fn scenarios(args: &RetrievalArgs) -> Result<Vec<Scenario>, Failure> {
    let searches = searches(args)?;
    let allow_lost = allowed(args.allow_lost.as_deref())?;
    let base = match &args.scenario {
        Some(path) => measured::read(path)?,
        None => measured::blank(&args.golden)?,
    };
    let golden = args
        .golden
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (declared, name) in searches {
        let needs_session = Search::read(&declared).is_ok_and(|it| it.needs_session());
        if needs_session && args.scenario.is_none() {
            return Err(Failure::usage(format!(
                "the search `{name}` is a tool, and nothing says of which server"
            ))
            .hint("name a scenario file that has the server with `--scenario FILE`"));
        }
        let literal = |it: &Option<String>| {
            let mut text = it.clone()?;
            scenario_file::literal(&mut text);
            Some(text)
        };
        let task = Retrieval {
            corpus: args.corpus.clone(),
            golden: args.golden.clone(),
            search: declared,
            search_name: name.clone(),
            base_url: literal(&args.proxy.base_url),
            api_key: literal(&args.proxy.api_key),
            runs: args.runs,
            wait: args.wait,
            gates: SearchGates {
                tolerance: args.tolerance,
                recall_floor: args.recall_floor,
                max_lost: args.max_lost,
                allow_lost: allow_lost.clone(),
                allow_drift: args.allow_drift,
            },
            baseline: args.baseline.clone(),
        };
        let mut scenario = measured::measuring(
            &base,
            Measurement::Retrieval(Box::new(task)),
            format!("retrieval/{golden}/{}", plain(&name)),
            format!("{golden}, asked of {name}"),
        );
        if args.scenario.is_none() {
            scenario.timeouts.tool = LIMIT;
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// A name of letters and digits, as part of a path.
fn plain(name: &str) -> String {
    let letters = name.chars();
    letters
        .map(|it| if it.is_alphanumeric() { it } else { '-' })
        .collect()
}

/// How the searches are declared that are measured, each with a name.
fn searches(args: &RetrievalArgs) -> Result<Vec<(Value, String)>, Failure> {
    let usual = SEARCHES[0].to_owned();
    let asked = if args.searches.is_empty() {
        std::slice::from_ref(&usual)
    } else {
        &args.searches
    };
    let mut searches: Vec<(Value, String)> = Vec::new();
    for it in asked {
        let (mut declared, mut name) = if let Some(declared) = preset(it) {
            (declared, it.clone())
        } else {
            let path = Path::new(it);
            if !path.exists() {
                let known = SEARCHES.join(", ");
                let problem = format!("there is no file `{it}`, and no search of that name");
                return Err(Failure::usage(problem).hint(format!("known are {known}")));
            }
            let declared = scenario_file::plain_file(path);
            let declared = declared.map_err(|it| Failure::incomplete(it.to_string()))?;
            let stem = path.file_stem().unwrap_or_default();
            (declared, stem.to_string_lossy().into_owned())
        };
        let search = Search::read(&declared).map_err(|why| {
            let place = placed(it, &why);
            Failure::incomplete(format!("{place}: {why}"))
        })?;
        if declared.get("name").is_some() && !search.name.is_empty() {
            name = search.name;
        }
        if searches.iter().any(|(_, other)| *other == name) {
            name = format!("{name} ({})", searches.len() + 1);
        }
        if let Value::Object(members) = &mut declared {
            members.insert("name".to_owned(), json!(name));
        }
        searches.push((declared, name));
    }
    Ok(searches)
}

/// The queries that may be lost.
fn allowed(path: Option<&Path>) -> Result<Vec<AllowedLoss>, Failure> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let shown = path.display().to_string();
    let value =
        scenario_file::plain_file(path).map_err(|it| Failure::incomplete(it.to_string()))?;
    let all: Vec<Allowed> = serde_json::from_value(value).map_err(|error| {
        let why = error.to_string();
        Failure::incomplete(format!(
            "{}: this is not a list of queries that may be lost, each with `id`, `reason` and `until`: {why}",
            placed(&shown, &why)
        ))
    })?;
    let all = all.into_iter().map(|it| {
        if it.reason.trim().is_empty() {
            let why = format!("`{}` may be lost, and its `reason` is empty", it.id);
            return Err(Failure::incomplete(format!(
                "{}: {why}",
                placed(&shown, &why)
            )));
        }
        let until = it.until.parse().map_err(|_| {
            let why = format!(
                "`{}`, until which `{}` may be lost, is not a date such as 2026-12-31",
                it.until, it.id
            );
            Failure::incomplete(format!("{}: {why}", placed(&shown, &why)))
        })?;
        Ok(AllowedLoss {
            id: it.id,
            reason: it.reason,
            until,
        })
    });
    all.collect()
}

/// Writes the reports and says what they come to.
fn finish(
    args: &RetrievalArgs,
    reports: &[Redacted<Report>],
    console: Console,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for (at, report) in reports.iter().enumerate() {
        let folder = folder(args, at, &report.search);
        let line = measured::write(&folder, report, &forms(report))?;
        let mut text = String::new();
        if reports.len() > 1 {
            text = format!("Search: {}\n", report.search);
        }
        text.push_str(&terminal::retrieval(report));
        text.push_str(&line);
        let more = || terminal::more_of_retrieval(report);
        exit = exit.and(measured::tell(
            text,
            more,
            report.status,
            &report.problems,
            console,
        ));
    }
    Ok(exit)
}

/// A report in its other forms.
fn forms(report: &Report) -> Forms {
    Forms {
        page: html::retrieval(report),
        comment: markdown::retrieval(report),
        tests: junit::document(
            &format!("retrieval {}", report.search),
            &cases(report),
            &report.problems,
        ),
    }
}

/// The gates of a measurement.
fn cases(report: &Report) -> Vec<junit::Case> {
    let outcome = |passed: bool, why: String| passed.then_some(()).ok_or(why);
    let mut cases = Vec::new();
    if let Some(gate) = &report.gate {
        let (metric, value) = (&gate.metric, gate.value);
        let why = format!("{metric} is {value}, below {}", gate.threshold);
        cases.push((metric.clone(), outcome(gate.passed, why)));
    }
    if let Some(floor) = &report.floor {
        let (metric, least) = (&floor.metric, floor.floor);
        let why = format!("{metric} is {}, below {least}", floor.value);
        let name = format!("{metric} at least {least}");
        cases.push((name, outcome(floor.passed, why)));
    }
    if let Some(gate) = report.lost_gate.as_ref().filter(|it| !it.not_measured) {
        let (lost, most) = (gate.lost.join(", "), gate.max_lost);
        let why = format!("lost: {lost}, and at most {most} may be");
        cases.push(("lost queries".to_owned(), outcome(gate.passed, why)));
    }
    cases
}
