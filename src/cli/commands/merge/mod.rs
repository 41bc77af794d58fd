//! `mcp-eval merge`: put the results of several machines together into one run, with one report and one exit code.
//!
//! `parts` finds the results, leaves out those that contradict themselves, and says whether they are parts of one and the same plan,
//! `whole` makes one result of them.

mod parts;
mod whole;

use std::path::Path;

use self::parts::{Hole, NAMED};
use self::whole::Whole;
use crate::cli::args::MergeArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::{Console, Exit, Failure};
use crate::published::result::ResultDocument;
use crate::report::command;
use crate::suite::BASELINES;
use crate::text::few;

pub(in crate::cli) fn run(args: &MergeArgs, console: Console) -> Result<Exit, Failure> {
    let reports = Reports::new(&args.reporting, args.no_report, args.output.as_deref())?;
    let parts = parts::find(&args.results, console)?;
    parts::check_agreement(&parts, args.allow_different)?;
    let taken = parts::take(&parts, args.allow_overlap)?;
    let holes = parts::holes(&parts, &taken);
    reports.begin(&Round::default(), "merge")?;
    let mut whole = Whole::new(&parts, &taken, &holes, args.allow_missing, &reports)?;
    for note in whole.notes() {
        console.note(&note);
    }
    for hole in &holes {
        let failure = missing_part(hole, &parts[0].result);
        if args.allow_missing {
            console.note(&format!("note: {}", failure.message));
        } else {
            console.failure(&failure);
        }
    }
    let gate = |of: fn(&parts::Part) -> bool| parts.iter().any(of);
    let strict_statistics = gate(|it| {
        let gate = it.result.gate.as_ref();
        gate.is_some_and(|it| it.strict_statistics)
    });
    let strict = gate(|it| it.result.gate.as_ref().is_some_and(|it| it.strict));
    let exit = whole.exit(strict_statistics, strict);
    let gate = parts[0].result.gate.as_ref();
    let options = ReportOptions {
        threshold: gate.and_then(|it| it.threshold),
        strict_statistics,
        strict,
        ..ReportOptions::of(&reports, args.kept.keep.0, Path::new(BASELINES))
    };
    finish::publish(&mut whole, exit, &options, console)
}

/// What is missing of one part, by name, and how to get it.
fn missing_part(hole: &Hole, of: &ResultDocument) -> Failure {
    let named = few(hole.scenarios.iter().map(|it| &it.id), NAMED);
    let failure = Failure::incomplete(format!("{}: {named}", hole.words()));
    failure
        .hint(format!(
            "run it again: `{}`, with all else as it was",
            command::part(of, &hole.shard)
        ))
        .hint("or judge the rest: `--allow-missing`")
}
