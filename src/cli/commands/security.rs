//! `mcp-eval security`: do scanners of tool descriptions catch what they should, without crying wolf?

use crate::cli::args::{SecurityArgs, VerdictForm};
use crate::cli::measured::{self, Forms};
use crate::cli::{Console, Exit, Failure, data_sets};
use crate::published::measured as documents;
use crate::published::measured::Status;
use crate::published::measured::security::Report;
use crate::report::html::measured as html;
use crate::report::measured::{junit, markdown, terminal};
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::{self as measurement, Demands, Measurement, Security};
use crate::{redact, suite};

pub(in crate::cli) fn run(args: &SecurityArgs, console: Console) -> Result<Exit, Failure> {
    let mut inputs = vec![("`--corpus`", args.corpus.as_deref())];
    inputs.extend(
        args.verdicts
            .iter()
            .map(|it| ("`--verdicts`", Some(it.as_path()))),
    );
    measured::spare(std::slice::from_ref(&args.out_dir), &inputs)?;
    let done = measure(args, console);
    if let Err(failure) = &done {
        // Where that cannot be written either, the failure itself is reported all the same.
        let _ = measured::outdate(
            &args.out_dir,
            &unmeasured(args, failure),
            forms,
            redact::environment(),
        );
    }
    done
}

/// The report of a measurement that could not even begin.
fn unmeasured(args: &SecurityArgs, failure: &Failure) -> Report {
    let mut report = Report {
        format_version: documents::FORMAT_VERSION,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: jiff::Timestamp::now().to_string(),
        status: Status::Incomplete,
        problems: vec![failure.message.clone()],
        ..Report::default()
    };
    report.security.gate.fpr_ceiling = args.fpr_ceiling;
    report.security.gate.recall_floor = args.recall_floor;
    report
}

fn measure(args: &SecurityArgs, console: Console) -> Result<Exit, Failure> {
    measured::check(&args.out_dir)?;
    let scenario = scenario(args)?;
    if let Some(Measurement::Security(task)) = &scenario.measurement
        && let Some(why) = task.demands.idle()
    {
        let hint = "give a lower `--fpr-ceiling`, or a higher `--recall-floor`";
        return Err(Failure::usage(why).hint(hint));
    }
    let findings = suite::check_measurement(&scenario);
    if !findings.is_empty() {
        return Err(data_sets::invalid(&findings));
    }
    let with = measured::With {
        command: "security",
        against: None,
        database: &args.database,
        keep: args.kept.keep.0,
        no_docker: true,
    };
    measured::measure(vec![scenario], &with, console, |measured| {
        match measured.into_iter().next() {
            Some(documents::Measured::Security(report)) => finish(args, &report, console),
            _ => Ok(Exit::Incomplete),
        }
    })
}

/// What is measured, as a scenario.
fn scenario(args: &SecurityArgs) -> Result<Scenario, Failure> {
    let first = &args.verdicts[0];
    let task = Security {
        verdicts: args.verdicts.clone(),
        form: args.format.map(form),
        corpus: args.corpus.clone(),
        demands: Demands {
            fpr_ceiling: args.fpr_ceiling,
            recall_floor: args.recall_floor,
            allow_errors: args.allow_errors,
            prevalence: args.prevalence,
        },
    };
    let of = args.corpus.as_ref().unwrap_or(first);
    let of = of.file_stem().unwrap_or_default().to_string_lossy();
    Ok(measured::measuring(
        &measured::blank(first)?,
        Measurement::Security(Box::new(task)),
        format!("security/{of}"),
        format!("scanners, on {of}"),
    ))
}

/// Writes the report and says what it comes to.
fn finish(args: &SecurityArgs, report: &Report, console: Console) -> Result<Exit, Failure> {
    let redactor = redact::environment();
    let report = measured::clean(report, redactor)?;
    let line = measured::write(&args.out_dir, &report, &forms(&report))?;
    let mut text = String::new();
    if !report.security.per_detector.is_empty() {
        text = terminal::security(&report.security);
    }
    text.push_str(&line);
    let more = || terminal::more_of_security(&report);
    Ok(measured::tell(
        text,
        more,
        report.status,
        &report.problems,
        console,
    ))
}

/// A report in its other forms.
fn forms(report: &Report) -> Forms {
    Forms {
        page: html::security(report),
        comment: markdown::security(report),
        tests: junit::document("security", &cases(report), &report.problems),
    }
}

fn form(form: VerdictForm) -> measurement::VerdictForm {
    use measurement::VerdictForm as Form;
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
    let all = report.security.per_detector.iter();
    // What was not measured is reported as an error, and has not failed.
    let measured = all.filter(|it| !it.is_unknown(gate));
    let cases = measured.map(|it| {
        let outcome = if it.gate {
            Ok(())
        } else {
            let (fpr, ceiling) = (it.fpr, gate.fpr_ceiling);
            let (recall, floor) = (it.recall, gate.recall_floor);
            let rates =
                format!("FPR {fpr} (at most {ceiling}), recall {recall} (at least {floor})");
            let unfinished = Some(it.unfinished()).filter(|it| !it.is_empty());
            let why: Vec<String> = std::iter::once(rates).chain(unfinished).collect();
            Err(why.join(", "))
        };
        (it.detector.clone(), outcome)
    });
    cases.collect()
}
