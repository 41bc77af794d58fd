//! Annotations of GitHub: what a workflow prints to have something shown at a line of a file.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;

use crate::attention::{self, Attention};
use model::published::result::{Cause, CausePlace, ResultDocument, Scenario};
use model::text::{few, line, shorten};

/// How many places in files that could not be read are named: GitHub shows ten.
const FINDINGS: usize = 9;

/// How many annotations there are, at most.
const ANNOTATIONS: usize = 10;

/// How many of a server's last lines an annotation quotes, and how much of each.
const LOG_LINES: usize = 3;
const LINE_CHARS: usize = 300;

/// How many remarks stand in an annotation, and how many scenarios are named.
const REMARKS: usize = 10;
const NAMES: usize = 5;

/// A workflow command for each cause, and for what needs to be looked at without one, errors first, because GitHub shows the first ten of a
/// kind. Paths are as the document has them: they must be seen from the repository's root.
pub fn github(result: &ResultDocument) -> String {
    let mut text = String::new();
    let title = property(&attention::command(result));
    let wrong = attention::all_placed(result);
    for it in wrong.iter().take(FINDINGS) {
        let (file, what) = (property(&line(it.file)), data(&line(it.what)));
        let (row, column) = (it.row, it.column);
        let _ = writeln!(
            text,
            "::error file={file},line={row},col={column},title={title}::{what}"
        );
    }
    if wrong.len() > FINDINGS {
        let more = wrong.len() - FINDINGS;
        let _ = writeln!(text, "::error title={title}::and {more} more");
    }
    if let Some(why) = attention::command_failure(result).filter(|_| wrong.is_empty()) {
        let _ = writeln!(text, "::error title={title}::{}", data(&why));
    }
    let mut all = of_causes(result);
    all.extend(without_causes(result));
    all.sort_by_key(|it| Reverse(it.attention));
    for it in all.iter().take(ANNOTATIONS) {
        it.write(&mut text);
    }
    let more = all.len().saturating_sub(ANNOTATIONS);
    if more > 0 {
        // As another kind than the last one, it is not the eleventh of that.
        let kind = match all[ANNOTATIONS - 1].attention {
            Attention::Notice => "warning",
            _ => "notice",
        };
        let _ = writeln!(
            text,
            "::{kind} title={title}::and {more} more in the report"
        );
    }
    text
}

/// One workflow command.
struct Annotation<'a> {
    attention: Attention,
    /// The scenarios that it is about, in the order of the document.
    of: Vec<&'a Scenario>,
    /// Row and column in the first one's file.
    place: (Option<usize>, Option<usize>),
    message: String,
}

/// An annotation for each cause.
fn of_causes(result: &ResultDocument) -> Vec<Annotation<'_>> {
    let of_cause = |cause: &Cause| {
        // Elsewhere, the cause may only be a change.
        let places = cause.places.iter().filter(|it| it.fails == cause.fails);
        let of = places.filter_map(|it| result.scenario(&it.scenario));
        let mut of: Vec<&Scenario> = of.collect();
        if of.is_empty() {
            let all = cause.scenarios.iter();
            of = all.filter_map(|it| result.scenario(it)).collect();
        }
        let first = *of.first()?;
        let calls = cause.places.iter().find(|it| it.scenario == first.id);
        let row = calls.and_then(|it| asked_in(first, it)).or(cause.line);
        let remark = attention::of_cause(cause, &result.command);
        let said = result.last_lines(cause, LOG_LINES);
        let said = said
            .into_iter()
            .map(|it| shorten(&line(it), LINE_CHARS).into_owned());
        let message = std::iter::once(remark.text).chain(remark.beneath);
        let message: Vec<String> = message.chain(said).collect();
        Some(Annotation {
            attention: if cause.fails {
                of.iter().map(|it| attention::attention(it)).max()?
            } else {
                Attention::Notice
            },
            place: match row {
                Some(row) => (Some(row), None),
                None => (first.line, first.column),
            },
            message: message.join("\n"),
            of,
        })
    };
    result.causes.iter().filter_map(of_cause).collect()
}

/// The line of a scenario's file that asks for the first of these calls.
fn asked_in(scenario: &Scenario, place: &CausePlace) -> Option<usize> {
    let call = place.calls.first()?;
    let mut reasons = scenario.comparison.iter().flat_map(|it| &it.reasons);
    let of_call = reasons.find(|it| (it.baseline, it.current) == (call.baseline, call.current));
    of_call?.line
}

/// What needs to be looked at without a cause, what is said of several scenarios once: that they were left out, say.
fn without_causes(result: &ResultDocument) -> Vec<Annotation<'_>> {
    let with_cause: HashSet<&str> = (result.causes.iter())
        .flat_map(|it| it.scenarios.iter().map(String::as_str))
        .collect();
    let mut found: Vec<Annotation<'_>> = Vec::new();
    for scenario in result
        .scenarios
        .iter()
        .filter(|it| !with_cause.contains(it.id.as_str()))
    {
        let attention = attention::attention(scenario);
        if attention == Attention::Unneeded {
            continue;
        }
        let remarks = attention::remarks(scenario, &result.command);
        let place = attention::place(scenario, &remarks);
        let left = remarks.len().saturating_sub(REMARKS);
        let shown = remarks.into_iter().take(REMARKS);
        let mut message: Vec<String> = shown.map(|it| it.text).collect();
        if left > 0 {
            message.push(format!("and {left} more"));
        }
        if message.is_empty() {
            message.push(scenario.status_words(&result.command));
        }
        let message = message.join("\n");
        match found
            .iter_mut()
            .find(|it| it.attention == attention && it.message == message)
        {
            Some(known) => known.of.push(scenario),
            None => found.push(Annotation {
                attention,
                of: vec![scenario],
                place,
                message,
            }),
        }
    }
    found
}

impl Annotation<'_> {
    fn write(&self, text: &mut String) {
        let kind = match self.attention {
            Attention::Error => "error",
            Attention::Warning => "warning",
            Attention::Notice | Attention::Unneeded => "notice",
        };
        let first = self.of[0];
        let _ = write!(text, "::{kind} file={}", property(&line(&first.path)));
        for (name, number) in [("line", self.place.0), ("col", self.place.1)] {
            if let Some(number) = number {
                let _ = write!(text, ",{name}={number}");
            }
        }
        let names = few(self.of.iter().map(|it| line(&it.name)), NAMES);
        let message = data(&self.message);
        let _ = writeln!(text, ",title={}::{message}", property(&names));
    }
}

/// A message as a workflow command takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
