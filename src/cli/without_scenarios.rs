//! Results that hold no scenarios: of a command that was refused, that has only begun, or that had nothing to do.

use std::path::Path;

use jiff::Timestamp;

use crate::cli::exit::{Exit, Failure};
use crate::model::{Problem, SuiteResult};
use crate::published::result::{Gate, ResultDocument};
use crate::report::document;
use crate::{git, redact};

/// The result of a command that has run nothing.
fn nothing(command: &str) -> SuiteResult {
    let git = git::stamp(Path::new("."), &[]);
    SuiteResult::new(command, Timestamp::now(), git)
}

/// The result of a command that has begun: the same document, without scenarios, which the result replaces.
pub(super) fn begun(command: &str) -> ResultDocument {
    let failure =
        Failure::incomplete("this run has begun, and not ended: it is under way, or was killed")
            .hint("run it again");
    refused(command, &failure)
}

/// The result of a command that could not do what it was asked: the same document, without scenarios.
pub(super) fn refused(command: &str, failure: &Failure) -> ResultDocument {
    let suite = redact::environment().suite(nothing(command));
    let mut result = document::of(&suite).with_gate(gate(failure.exit, None));
    let clean = |text: &String| redact::environment().text(text).into_inner();
    result.problem = Some(Problem {
        record: None,
        line: None,
        message: clean(&failure.message),
        hint: failure.hints.first().map(&clean),
        details: failure.hints.iter().skip(1).map(&clean).collect(),
    });
    result
}

/// The result of a command that had nothing to do, because nothing has changed of what it is about.
pub(super) fn unchanged(command: &str, sentence: &str) -> ResultDocument {
    let suite = redact::environment().suite(nothing(command));
    document::of(&suite).with_gate(Gate {
        sentence: redact::environment().text(sentence).into_inner(),
        ..gate(Exit::Unchanged, None)
    })
}

/// How an exit code stands in a result.
pub(super) fn gate(exit: Exit, threshold: Option<f64>) -> Gate {
    Gate {
        threshold,
        exit_code: exit.code(),
        name: exit.name().to_owned(),
        sentence: exit.sentence().to_owned(),
        strict_statistics: false,
        strict: false,
    }
}
