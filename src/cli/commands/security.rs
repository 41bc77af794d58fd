//! `mcp-eval security`: do scanners of tool descriptions catch what they should, without crying wolf?

use jiff::Timestamp;

use crate::cli::args::{SecurityArgs, VerdictForm};
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::measured::{self, Forms};
use crate::discovery::report::retrieval::{FORMAT_VERSION, Status};
use crate::discovery::report::security::Report;
use crate::discovery::report::{html, junit, markdown, terminal};
use crate::discovery::security::{Demands, measure, status};
use crate::discovery::truth::Truth;
use crate::discovery::verdicts::{self, Form};
use crate::redact;

pub(in crate::cli) fn run(args: &SecurityArgs, console: Console) -> Result<Exit, Failure> {
    measured::check(&args.out_dir)?;
    let mut runs = Vec::new();
    for path in &args.verdicts {
        let document = data_sets::document(path)?;
        let form = args.format.map(form);
        runs.push(verdicts::read(&document, form).map_err(|it| data_sets::invalid(&it))?);
    }
    let corpus = match &args.corpus {
        None => None,
        Some(path) => {
            let document = data_sets::document(path)?;
            Some(Truth::read(&document).map_err(|it| data_sets::invalid(&it))?)
        }
    };
    let demands = Demands {
        fpr_ceiling: args.fpr_ceiling,
        recall_floor: args.recall_floor,
        allow_errors: args.allow_errors,
        prevalence: args.prevalence,
    };
    let mut report = Report {
        format_version: FORMAT_VERSION,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: Timestamp::now().to_string(),
        ..Report::default()
    };
    let mut files: Vec<(&str, &std::path::Path)> = vec![("verdicts", args.verdicts[0].as_path())];
    files.extend(args.corpus.as_deref().map(|it| ("corpus", it)));
    report.stamps = measured::stamps(&files);
    match measure(&runs, corpus.as_ref(), &demands) {
        Ok(security) => {
            report.status = status(&security);
            report.security = security;
        }
        Err(problems) => {
            report.status = Status::Incomplete;
            report.security.gate.fpr_ceiling = args.fpr_ceiling;
            report.security.gate.recall_floor = args.recall_floor;
            report.problems = problems;
        }
    }
    let redactor = redact::environment();
    let report = measured::clean(&report, redactor)?;
    let forms = Forms {
        page: html::security(&report),
        comment: markdown::security(&report),
        tests: junit::document("security", &cases(&report), &report.problems),
    };
    let line = measured::write(&args.out_dir, &report, &forms, redactor)?;
    let mut told = String::new();
    if report.problems.is_empty() {
        told = terminal::security(&report.security);
    }
    told.push_str(&line);
    told.push_str(&terminal::more_of_security(&report));
    console.result(&crate::text::block(&told));
    if !report.problems.is_empty() {
        console.failure(&Failure::incomplete(report.problems.join("\n")));
    }
    Ok(match report.status {
        Status::Passed => Exit::Passed,
        Status::Failed => Exit::Failed,
        Status::Incomplete => Exit::Incomplete,
    })
}

fn form(form: VerdictForm) -> Form {
    match form {
        VerdictForm::V1 => Form::V1,
        VerdictForm::V2 => Form::V2,
        VerdictForm::Cisco => Form::Cisco,
        VerdictForm::McpScan => Form::McpScan,
        VerdictForm::Sarif => Form::Sarif,
    }
}

/// The gate of each detector.
fn cases(report: &Report) -> Vec<junit::Case> {
    let gate = &report.security.gate;
    let cases = report.security.per_detector.iter().map(|it| {
        let outcome = if it.gate {
            Ok(())
        } else {
            Err(format!(
                "FPR {} (at most {}), recall {} (at least {}), {} scans without a verdict",
                it.fpr,
                gate.fpr_ceiling,
                it.recall,
                gate.recall_floor,
                it.errors.len()
            ))
        };
        (it.detector.clone(), outcome)
    });
    cases.collect()
}
