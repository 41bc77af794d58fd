//! Gates as the tests of a build.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use model::text;

/// A gate, by name: `Ok` where it passes, else why it does not.
pub type Case = (String, Result<(), String>);

/// The JUnit document of a measurement: a test per gate, and one for each thing that could not be measured.
pub fn document(suite: &str, cases: &[Case], problems: &[String]) -> String {
    let mut report = Report::new("mcp-eval");
    let mut tests = TestSuite::new(text::line(suite).into_owned());
    for (name, outcome) in cases {
        let status = match outcome {
            Ok(()) => TestCaseStatus::success(),
            Err(why) => failed(NonSuccessKind::Failure, why),
        };
        tests.add_test_case(TestCase::new(text::line(name).into_owned(), status));
    }
    for problem in problems {
        let status = failed(NonSuccessKind::Error, problem);
        tests.add_test_case(TestCase::new("measured", status));
    }
    report.add_test_suite(tests);
    report.to_string().unwrap_or_default()
}

fn failed(kind: NonSuccessKind, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(text::line(why).into_owned());
    status
}
