//! The forms that other programs read: each is read back here, and by somebody else's reader where one is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_eval::model::reason::Why;
use mcp_eval::model::{Status, What};
use mcp_eval::published::result::{ResultDocument, Scenario};
use mcp_eval::report::attention::{self, Attention, attention};
use mcp_eval::report::ctrf::ctrf;
use mcp_eval::report::github::github;
use mcp_eval::report::junit::junit;
use mcp_eval::report::markdown::markdown;
use mcp_eval::report::terminal::terminal;
use mcp_eval::text::line;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use serde_json::Value;

use super::{PLAIN, expect_text, sample};
use crate::common::skipped;

/// Texts that are no names, wherever they get to.
const HOSTILE: [&str; 9] = [
    "`` ` ``` </details></summary><script>alert(1)</script>",
    "| a | b |\n|---|---|",
    "@everyone fixes #12, GH-34, !56, deadbeefcafe and octo/cat#7",
    "[x](javascript:alert(1)) ![x](https://evil.example/x.png) <img src=x>",
    "https://evil.example www.evil.example someone@evil.example",
    "\n\n# Heading\n\n- [ ] item\n/close\n::error file=x::y\r\n%0A::add-mask::a",
    "]]><testcase name=\"x\"/> &amp; \u{1}\u{1b}[31m \u{fffe} ]]>",
    "*a* _b_ ~~c~~ $x$ \\| \\` :smile: <!-- -->",
    "\u{202e}\u{200b}```\n</details>\n```",
];

/// All samples, and one whose every text means harm.
fn documents() -> Vec<ResultDocument> {
    let samples = sample::all();
    let mut documents: Vec<_> = samples.iter().map(sample::document).collect();
    documents.push(hostile());
    documents
}

fn hostile() -> ResultDocument {
    let mut document = sample::document(&sample::compared());
    for (at, scenario) in document.scenarios.iter_mut().enumerate() {
        harm(scenario, at);
    }
    for (at, cause) in document.causes.iter_mut().enumerate() {
        HOSTILE[at % HOSTILE.len()].clone_into(&mut cause.text);
        cause.hint = Some(HOSTILE[(at + 1) % HOSTILE.len()].to_owned());
        cause.follows = HOSTILE.iter().map(|it| (*it).to_owned()).collect();
    }
    document
}

fn harm(scenario: &mut Scenario, at: usize) {
    let text = |more: usize| HOSTILE[(at + more) % HOSTILE.len()].to_owned();
    scenario.name = text(0);
    scenario.path = format!("scenarios/{}.yaml", text(1));
    scenario.tags = vec![text(2)];
    scenario.in_words = Some(text(3));
    if let Some(problem) = &mut scenario.problem {
        problem.message = text(4);
        problem.hint = Some(text(5));
        problem.details = HOSTILE.iter().map(|it| (*it).to_owned()).collect();
    }
    for reason in scenario
        .comparison
        .iter_mut()
        .flat_map(|it| &mut it.reasons)
    {
        reason.why = Why::Described(text(6));
        reason.got = Some(text(7));
    }
    for change in scenario
        .comparison
        .iter_mut()
        .flat_map(|it| &mut it.changes)
    {
        change.what = What::Described(text(8));
        change.now = Some(text(0));
    }
}

#[test]
fn each_form_says_what_it_said() {
    let document = sample::document(&sample::compared());
    expect_text("junit", &junit(&document));
    expect_text("ctrf", &ctrf(&document));
    expect_text("github", &github(&document));
    expect_text("markdown", &markdown(&document));
    expect_text(
        "markdown_repeated",
        &markdown(&sample::document(&sample::repeated())),
    );
    expect_text("markdown_hostile", &markdown(&hostile()));
}

#[test]
fn what_several_runs_come_to_is_said_first_and_once() {
    let document = sample::document(&sample::repeated());
    let scenarios = document.scenarios.iter();
    let reasons: Vec<(&Scenario, &String)> = scenarios
        .filter_map(|it| Some((it, it.repeated.as_ref()?.reason.as_ref()?)))
        .collect();
    assert!(!reasons.is_empty());
    for (scenario, reason) in reasons {
        let remarks = attention::remarks(scenario, &document.command);
        let lines = attention::in_lines(&remarks);
        assert_eq!(&lines[0], reason);
        let said = lines.iter().filter(|it| it.contains(reason.as_str()));
        assert_eq!(said.count(), 1, "{lines:#?}");
    }
}

/// All cases of a report, with the folder that is their suite.
fn cases(report: &Report) -> Vec<(String, &TestCase)> {
    let suites = report.test_suites.iter();
    let cases = suites.flat_map(|suite| {
        let name = suite.name.as_str().to_owned();
        suite.test_cases.iter().map(move |it| (name.clone(), it))
    });
    cases.collect()
}

#[test]
fn junit_tells_failures_from_errors_and_both_from_what_was_left_out() {
    for document in documents() {
        let text = junit(&document);
        let report =
            Report::deserialize_from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}"));
        let cases = cases(&report);
        let omitted = usize::from(attention::command_failure(&document).is_some());
        assert_eq!(cases.len(), document.scenarios.len() + omitted);
        for scenario in &document.scenarios {
            let class = line(&scenario.id).replace('/', ".");
            let is_it = |it: &TestCase| it.classname.as_ref().is_some_and(|it| *it == class);
            let (folder, case) = cases.iter().find(|it| is_it(it.1)).unwrap();
            let above = scenario.id.rsplit_once('/').map_or("scenarios", |it| it.0);
            assert_eq!(folder, &line(above), "{text}");
            let kind = match &case.status {
                TestCaseStatus::Success { .. } => "passed",
                TestCaseStatus::NonSuccess {
                    kind: NonSuccessKind::Failure,
                    ..
                } => "failure",
                TestCaseStatus::NonSuccess {
                    kind: NonSuccessKind::Error,
                    ..
                } => "error",
                TestCaseStatus::Skipped { .. } => "skipped",
            };
            let expected = match scenario.status {
                Status::Passed | Status::Recorded | Status::Inconclusive => "passed",
                Status::Failed => "failure",
                Status::Error | Status::Timeout | Status::Interrupted => "error",
                Status::Skipped => "skipped",
            };
            assert_eq!(kind, expected, "{}", scenario.id);
            if let TestCaseStatus::NonSuccess {
                message,
                description,
                ..
            } = &case.status
            {
                assert!(!message.as_ref().unwrap().is_empty());
                assert!(
                    description
                        .as_ref()
                        .unwrap()
                        .starts_with(&*line(&scenario.path)),
                    "{text}"
                );
            }
            let is_noted = matches!(scenario.status, Status::Recorded | Status::Inconclusive)
                || scenario.is_changed();
            assert_eq!(case.system_out.is_some(), is_noted, "{}", scenario.id);
        }
        assert!(!text.contains('\u{1b}') && !text.contains('\u{1}'));
    }
}

#[test]
fn each_folder_of_scenarios_is_a_suite() {
    let mut document = sample::document(&sample::compared());
    document.gate = None;
    document.scenarios.truncate(4);
    for (scenario, id) in document
        .scenarios
        .iter_mut()
        .zip(["a", "flows/b", "z", "flows/c"])
    {
        id.clone_into(&mut scenario.id);
        scenario.duration_ms = Some(500.0);
    }
    let report = Report::deserialize_from_str(&junit(&document)).unwrap();
    let suites = report.test_suites.iter();
    let counts: Vec<(&str, usize)> = suites.map(|it| (it.name.as_str(), it.tests)).collect();
    assert_eq!(counts, [("scenarios", 2), ("flows", 2)]);
    let times = report
        .test_suites
        .iter()
        .map(|it| it.time.unwrap().as_secs_f64());
    assert!(times.eq([1.0, 1.0]));
    let cases = cases(&report);
    let names = cases.iter().filter_map(|(_, it)| it.classname.as_ref());
    let names: Vec<&str> = names.map(quick_junit::XmlString::as_str).collect();
    assert_eq!(names, ["a", "z", "flows.b", "flows.c"]);
}

#[test]
fn a_suite_of_which_nothing_ran_looks_green_in_no_form() {
    let mut document = sample::document(&sample::compared());
    document.scenarios.retain(|it| it.status == Status::Skipped);
    let gate = document.gate.as_mut().unwrap();
    (gate.exit_code, gate.sentence) = (3, "nothing ran".to_owned());
    let report = Report::deserialize_from_str(&junit(&document)).unwrap();
    assert_eq!((report.errors, report.tests), (1, 2));
    let ctrf: Value = serde_json::from_str(&ctrf(&document)).unwrap();
    assert_eq!(ctrf["results"]["summary"]["failed"], 1);
    assert!(github(&document).starts_with("::error title=mcp-eval compare::exit code 3"));
    assert!(markdown(&document).starts_with("## ✗ mcp-eval compare: nothing ran"));
}

#[test]
fn ctrf_counts_every_scenario_once() {
    for document in documents() {
        let ctrf: Value = serde_json::from_str(&ctrf(&document)).unwrap();
        let tests = ctrf["results"]["tests"].as_array().unwrap();
        let summary = &ctrf["results"]["summary"];
        for status in ["passed", "failed", "skipped", "other"] {
            let counted = tests.iter().filter(|it| it["status"] == status).count();
            assert_eq!(summary[status], counted, "{status}");
        }
        assert_eq!(summary["tests"], tests.len());
        assert!(summary["start"].as_i64() > Some(1_700_000_000_000));
        assert!(summary["stop"].as_i64() >= summary["start"].as_i64());
        for (scenario, test) in document.scenarios.iter().zip(tests) {
            let is_bad = attention(scenario) == Attention::Error;
            assert_eq!(test["status"] == "failed", is_bad, "{}", scenario.id);
            assert!(test["rawStatus"] == scenario.status.name());
        }
    }
}

/// The parts of a workflow command, as the runner of GitHub reads them.
fn command(text: &str) -> (String, Vec<(String, String)>, String) {
    let (head, message) = text.strip_prefix("::").unwrap().split_once("::").unwrap();
    let (kind, properties) = head.split_once(' ').unwrap();
    let unescaped = |it: &str| {
        let it = it.replace("%3A", ":").replace("%2C", ",");
        let it = it.replace("%0A", "\n").replace("%0D", "\r");
        it.replace("%25", "%")
    };
    let properties = properties.split(',').map(|it| {
        let (name, value) = it.split_once('=').unwrap();
        (name.to_owned(), unescaped(value))
    });
    (kind.to_owned(), properties.collect(), unescaped(message))
}

#[test]
fn annotations_are_one_command_each_whatever_stands_in_them() {
    for document in documents() {
        let text = github(&document);
        let omitted = usize::from(attention::command_failure(&document).is_some());
        let lines = text.lines().count() - omitted;
        assert!(
            lines <= 11 && lines >= document.causes.len().min(10),
            "{text}"
        );
        assert!(!text.contains('\r') && !text.contains('\u{1b}'));
        let mut kinds = Vec::new();
        for line in text.lines() {
            let (kind, properties, message) = command(line);
            assert!(!message.is_empty(), "{line}");
            for (name, _) in &properties {
                assert!(
                    ["file", "line", "col", "title"].contains(&name.as_str()),
                    "{line}"
                );
            }
            kinds.push(kind);
        }
        // How many more there are is said last, as what is no error.
        kinds.truncate(omitted + 10);
        let mut sorted = kinds.clone();
        sorted.sort_by_key(|it| {
            ["error", "warning", "notice"]
                .iter()
                .position(|of| of == it)
        });
        assert_eq!(kinds, sorted, "errors come first");
    }
}

/// A suite of many scenarios that all failed, each with everything that can stand in it at its longest.
fn huge(count: usize, text: &str) -> ResultDocument {
    let mut document = hostile();
    let long = text.repeat(5_000);
    let failed = document
        .scenarios
        .iter()
        .find(|it| it.status == Status::Failed);
    let failed = failed.unwrap().clone();
    let cause = document.causes[0].clone();
    document.scenarios.clear();
    document.causes.clear();
    for number in 0..count {
        let mut scenario = failed.clone();
        scenario.id = format!("s{number}");
        scenario.name.clone_from(&long);
        scenario.path = format!("{number}{long}");
        for reason in scenario
            .comparison
            .iter_mut()
            .flat_map(|it| &mut it.reasons)
        {
            reason.why = Why::Described(long.clone());
        }
        document.scenarios.push(scenario);
        let mut cause = cause.clone();
        cause.text.clone_from(&long);
        cause.follows = vec![long.clone(); 5];
        cause.scenarios = (0..50).map(|it| format!("s{it}")).collect();
        document.causes.push(cause);
    }
    document
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn markdown_stays_short_whatever_the_suite() {
    for text in ["|", "`", "工", "<b> ", "a "] {
        for count in [1, 15, 30, 300] {
            let written = markdown(&huge(count, text));
            assert!(
                written.len() < 60_000,
                "{} bytes of {count} × {text:?}",
                written.len()
            );
            assert!(written.lines().count() <= 120, "{count} × {text:?}");
            assert!(written.contains("### What to do"), "{count} × {text:?}");
            assert_folded(&written);
        }
    }
    let many = markdown(&huge(300, "a"));
    let rows = many.lines().filter(|it| it.starts_with("| ✗ |")).count();
    let causes = many.lines().filter(|it| it.starts_with("1. ")).count();
    assert!(
        (1..=10).contains(&rows) && (1..=10).contains(&causes),
        "{many}"
    );
    for left in [
        format!("and {} more scenarios, in the report", 300 - rows),
        format!("and {} more causes, in the report", 300 - causes),
    ] {
        assert!(many.contains(&left), "{many}");
    }
}

#[test]
fn annotations_are_ten_at_most_and_one_for_each_cause() {
    let mut document = huge(30, "a");
    document.gate = None;
    let text = github(&document);
    assert_eq!(text.lines().count(), 11, "{text}");
    assert!(
        text.ends_with("::notice title=mcp-eval compare::and 20 more in the report\n"),
        "{text}"
    );
    document.causes.truncate(1);
    document.causes[0].scenarios = document.scenarios.iter().map(|it| it.id.clone()).collect();
    let text = github(&document);
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn markdown_counts_as_the_terminal_does() {
    for (command, counted, folded) in [
        (
            "compare",
            "(2 failing, 1 with changes)",
            "passed with changes",
        ),
        (
            "run",
            "(2 failing, 1 with deviations)",
            "passed with deviations",
        ),
        (
            "record",
            "(2 failing, 1 with changes)",
            "recorded with changes",
        ),
    ] {
        let mut document = sample::document(&sample::compared());
        command.clone_into(&mut document.command);
        document.summary.recorded_failing = 2;
        document.summary.changed = 1;
        let written = markdown(&document);
        let shown = terminal(&document, PLAIN);
        assert!(shown.contains(counted), "{command}: {shown}");
        assert!(written.contains(counted), "{command}: {written}");
        assert!(written.contains(folded), "{command}: {written}");
    }
}

/// Whether what is folded ends, where a reader of Markdown looks for it: outside of blocks of code.
#[track_caller]
fn assert_folded(markdown: &str) {
    let mut fence: Option<&str> = None;
    let mut open = 0_i32;
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(begun) if line == begun => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(&line[..ticks]),
            None => {
                open += i32::from(line.starts_with("<details>"));
                open -= i32::from(line == "</details>");
            }
        }
        assert!((0..=1).contains(&open), "{line}");
    }
    assert!(fence.is_none() && open == 0, "{markdown}");
}

#[test]
fn markdown_folds_and_ends_whatever_stands_in_it() {
    for document in documents() {
        let text = markdown(&document);
        assert_folded(&text);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}

/// Runs a program of the judges' Python on files with these texts; does nothing, and says so, where it is not installed.
fn judged(what: &str, program: &str, needs: &[&str], texts: &[String]) {
    let python = std::env::var("MCP_EVAL_PYTHON");
    let needed: Vec<_> = needs.iter().map(std::env::var).collect();
    let (Ok(python), true) = (python, needed.iter().all(Result::is_ok)) else {
        let names = [&["MCP_EVAL_PYTHON"], needs].concat().join(" and ");
        skipped(what, &format!("{names} do not name what it takes"));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..texts.len())
        .map(|it| folder.path().join(format!("{it}.txt")))
        .collect();
    for (file, text) in files.iter().zip(texts) {
        fs::write(file, text).unwrap();
    }
    let judge = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/report")
        .join(program);
    let judged = Command::new(python)
        .arg(judge)
        .args(needed.into_iter().flatten())
        .args(&files)
        .output()
        .unwrap();
    let said = [judged.stdout, judged.stderr].concat();
    assert!(
        judged.status.success(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn jenkins_takes_the_junit_xml() {
    let mut texts: Vec<String> = documents().iter().map(junit).collect();
    texts.push(junit(&huge(3, "<")));
    let what = "JUnit XML was not checked with the schema of Jenkins";
    judged(what, "judge_junit.py", &["MCP_EVAL_JUNIT_XSD"], &texts);
}

#[test]
fn the_published_schema_takes_the_ctrf() {
    let Ok(schema) = std::env::var("MCP_EVAL_CTRF_SCHEMA") else {
        let why = "MCP_EVAL_CTRF_SCHEMA names no schema of CTRF";
        skipped("CTRF was not checked with its schema", why);
        return;
    };
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in documents() {
        let mut ctrf: Value = serde_json::from_str(&ctrf(&document)).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&ctrf)
            .map(|it| it.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        ctrf["results"]["tests"][0]["unknown"] = true.into();
        assert!(!validator.is_valid(&ctrf), "the schema lets all pass");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn githubs_own_parser_of_markdown_finds_nothing_that_acts() {
    let mut texts: Vec<String> = documents().iter().map(markdown).collect();
    texts.extend(["|", "`", "<b> ", "@a "].map(|it| markdown(&huge(30, it))));
    let what = "Markdown was not read by the parser of GitHub";
    judged(what, "judge_markdown.py", &[], &texts);
}
