//! JUnit XML: what Jenkins, GitLab and others show as the tests of a build.
//!
//! It is valid by the schema that the xUnit plugin of Jenkins checks reports with, which is the strictest of those in use. That one knows no
//! file and line of a test case, so failures begin with them. GitLab looks for the file at the test case alone, so there is a form for it.
//! Each folder of scenarios is a suite.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::attention;
use crate::command::SCENARIOS;
use model::Status;
use model::published::result::{ResultDocument, Scenario};
use model::text::{block, line};

/// Who reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Whoever holds it against a schema.
    Strict,
    /// GitLab, which links each test case to its file.
    Gitlab,
}

/// The whole report, ending with a line break.
pub fn junit(result: &ResultDocument) -> String {
    written(result, Reader::Strict)
}

/// The whole report, with the file of each test case, which Jenkins would refuse.
pub fn junit_for_gitlab(result: &ResultDocument) -> String {
    written(result, Reader::Gitlab)
}

fn written(result: &ResultDocument, reader: Reader) -> String {
    let name = attention::command(result);
    let mut report = Report::new(&name);
    let mut folders: Vec<(&str, Vec<&Scenario>)> = Vec::new();
    for scenario in &result.scenarios {
        let name = folder(scenario);
        match folders.iter_mut().find(|it| it.0 == name) {
            Some(known) => known.1.push(scenario),
            None => folders.push((name, vec![scenario])),
        }
    }
    for (name, scenarios) in folders {
        report.add_test_suite(suite(name, &scenarios, result, reader));
    }
    if let Some(why) = attention::command_failure(result) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(&why).set_type("error");
        let problem = result.problem.iter();
        let texts =
            problem.flat_map(|it| [&it.message].into_iter().chain(&it.hint).chain(&it.details));
        let texts: Vec<_> = texts.map(|it| block(it).into_owned()).collect();
        status.set_description(texts.join("\n"));
        let mut suite = TestSuite::new(&name);
        suite.add_test_case(TestCase::new(&name, status));
        report.add_test_suite(suite);
    }
    if let Some(time) = result.duration_ms.and_then(duration) {
        report.set_time(time);
    }
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    // What is written to a string can always be written.
    let text = report.to_string().unwrap_or_default();
    // The schema knows this number of a suite, and not of the whole. The report's own name is ours and does not hold it.
    let text = text.replacen(&skipped, "", 1);
    // No document of XML may hold these, however they are written, and they mean nothing.
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The folder of a scenario's file, below the one of all scenarios.
fn folder(scenario: &Scenario) -> &str {
    let above = |id: &str| id.rfind('/').unwrap_or(0);
    let id = match (&scenario.row_of, &scenario.cell) {
        (Some(file), _) => file,
        // The cell is the last part of the id.
        (None, Some(_)) => &scenario.id[..above(&scenario.id)],
        (None, None) => &scenario.id,
    };
    match &id[..above(id)] {
        "" => SCENARIOS,
        folder => folder,
    }
}

/// The scenarios of one folder.
fn suite(
    name: &str,
    scenarios: &[&Scenario],
    result: &ResultDocument,
    reader: Reader,
) -> TestSuite {
    let mut suite = TestSuite::new(line(name));
    let started = line(&result.started_at).into_owned();
    suite.extra.insert("timestamp".into(), started.into());
    let total: f64 = scenarios.iter().filter_map(|it| it.duration_ms).sum();
    if let Some(time) = duration(total) {
        suite.set_time(time);
    }
    suite.add_test_cases(scenarios.iter().map(|it| {
        let mut case = case(it, &result.command);
        if reader == Reader::Gitlab {
            case.extra
                .insert("file".into(), line(&it.path).as_ref().into());
        }
        case
    }));
    suite
}

fn case(scenario: &Scenario, command: &str) -> TestCase {
    let remarks = attention::remarks(scenario, command);
    let words = scenario.status_words(command);
    let message = match attention::in_a_line(&remarks) {
        none if none.is_empty() => words.clone(),
        message => message,
    };
    let at = attention::place(scenario, &remarks);
    let details = details(scenario, &words, at, &attention::in_lines(&remarks));
    let status = match scenario.status {
        _ if scenario.is_let_pass() => Some(TestCaseStatus::skipped()),
        Status::Failed => Some(TestCaseStatus::non_success(NonSuccessKind::Failure)),
        Status::Error | Status::Timeout | Status::Interrupted => {
            Some(TestCaseStatus::non_success(NonSuccessKind::Error))
        }
        Status::Inconclusive if scenario.is_undecided() => {
            Some(TestCaseStatus::non_success(NonSuccessKind::Error))
        }
        Status::Skipped => Some(TestCaseStatus::skipped()),
        Status::Passed | Status::Recorded | Status::Inconclusive => None,
    };
    let is_noted = scenario.status != Status::Passed
        || scenario.is_changed()
        || scenario.flaky
        || !scenario.evaluators.is_empty();
    let is_success = status.is_none();
    let mut status = status.unwrap_or_else(TestCaseStatus::success);
    if !is_success {
        status
            .set_message(&message)
            .set_type(scenario.status.name());
        status.set_description(details.as_str());
    }
    let mut case = TestCase::new(line(&scenario.name), status);
    if is_success && is_noted {
        case.set_system_out(details);
    }
    case.set_classname(line(&scenario.id).replace('/', "."));
    if let Some(time) = scenario.duration_ms.and_then(duration) {
        case.set_time(time);
    }
    case
}

/// All there is to say, led by where the scenario is declared.
fn details(
    scenario: &Scenario,
    words: &str,
    at: (Option<usize>, Option<usize>),
    remarks: &[String],
) -> String {
    let mut place = line(&scenario.path).into_owned();
    let (row, column) = at;
    for number in [row, column].into_iter().flatten() {
        place = format!("{place}:{number}");
    }
    let mut lines = vec![format!("{place}: {words}")];
    lines.extend(scenario.repeated.iter().map(|it| it.words()));
    lines.extend_from_slice(remarks);
    // The others are among the remarks.
    let evaluators = scenario
        .evaluators
        .iter()
        .filter(|it| !it.is_worth_a_look());
    lines.extend(evaluators.map(|it| line(&it.to_string()).into_owned()));
    let problem = scenario.problem.iter();
    let more = problem.flat_map(|it| it.hint.iter().chain(&it.details));
    lines.extend(more.map(|it| block(it).into_owned()));
    lines.join("\n")
}

fn duration(milliseconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(milliseconds / 1000.0).ok()
}
