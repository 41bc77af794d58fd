//! The output on the terminal, and the explanation of a call.

use mcp_eval::model::{Problem, Status, SuiteResult};
use mcp_eval::report::explain::explain;
use mcp_eval::report::terminal::{Style, Verbosity, failure, terminal};
use mcp_eval::text;
use unicode_width::UnicodeWidthStr;

use super::{PLAIN, expect_text, sample};

#[test]
fn the_terminal_report_tells_every_status() {
    let document = sample::document(&sample::compared());
    expect_text("terminal", &terminal(&document, PLAIN));
    let verbose = Style {
        verbosity: Verbosity::Verbose,
        ..PLAIN
    };
    expect_text("terminal_verbose", &terminal(&document, verbose));
    let repeated = sample::document(&sample::repeated());
    expect_text("terminal_repeated", &terminal(&repeated, verbose));
    let recorded = sample::document(&sample::recorded());
    expect_text("terminal_record", &terminal(&recorded, PLAIN));
}

#[test]
fn a_narrow_terminal_breaks_lines_between_words() {
    let mut suite = sample::compared();
    suite.scenarios.truncate(2);
    suite.selected = 2;
    let document = sample::published(&suite);
    for width in [40, 72] {
        let text = terminal(&document, Style { width, ..PLAIN });
        expect_text(&format!("terminal_{width}_columns"), &text);
    }
}

#[test]
fn what_only_passed_is_a_number_and_asked_for_more_a_line() {
    let mut suite = sample::compared();
    let passed = suite.scenarios[0].clone();
    suite.scenarios = Vec::new();
    for number in 1..=300 {
        let mut scenario = passed.clone();
        scenario.id = format!("tools/search_{number:03}");
        suite.scenarios.push(scenario);
    }
    suite.scenarios.push(sample::changed(1));
    suite.selected = 301;
    let document = sample::published(&suite);
    let text = terminal(&document, PLAIN);
    assert!(
        text.lines().count() < 20 && !text.contains("Search tools"),
        "{text}"
    );
    assert!(
        text.starts_with("~ A price and an order  passed, 4 changes"),
        "{text}"
    );
    assert!(
        text.contains("Suite Results: 301/301 tests passed (1 with changes) · 4.3 s\n"),
        "{text}"
    );
    let verbose = Style {
        verbosity: Verbosity::Verbose,
        ..PLAIN
    };
    let all = terminal(&document, verbose);
    assert_eq!(all.matches("✓ Search tools").count(), 300);
}

#[test]
fn scenarios_left_out_for_one_reason_are_one_line() {
    let mut suite = sample::compared();
    let skipped = suite
        .scenarios
        .iter()
        .find(|it| it.status == Status::Skipped);
    let skipped = skipped.unwrap().clone();
    suite.scenarios.truncate(1);
    for number in 1..=16 {
        let mut scenario = skipped.clone();
        scenario.id = format!("off/{number:02}");
        suite.scenarios.push(scenario);
    }
    let document = sample::published(&suite);
    let text = terminal(&document, PLAIN);
    assert_eq!(
        text.lines().next().unwrap(),
        "- 16 skipped: disabled in the scenario file"
    );
    assert!(!text.contains("Not yet"), "{text}");
    let quiet = Style {
        verbosity: Verbosity::Quiet,
        ..PLAIN
    };
    assert_eq!(terminal(&document, quiet).lines().count(), 1);
}

#[test]
fn a_failure_is_one_line_at_once() {
    let document = sample::document(&sample::compared());
    let mut lines = String::new();
    for id in ["servers/add", "servers/list"] {
        let scenario = document.scenario(id).unwrap();
        lines += &failure(scenario, "compare", PLAIN);
        let narrow = Style { width: 40, ..PLAIN };
        lines += &failure(scenario, "compare", narrow);
    }
    expect_text("terminal_live", &lines);
}

#[test]
fn an_explanation_names_every_number_and_rule() {
    let document = sample::document(&sample::compared());
    let scenario = document.scenario("servers/add").unwrap();
    expect_text("explained", &explain(scenario, None));

    let one = explain(scenario, Some(2));
    assert!(one.contains("call 2: list_servers"), "{one}");
    assert!(!one.contains("add_server"), "{one}");
    let unknown = explain(scenario, Some(9));
    assert!(
        unknown.contains("no call 9: the calls are 1, 2, 3 → none, none → 3"),
        "{unknown}"
    );
    let nothing = explain(document.scenario("servers/list").unwrap(), None);
    assert!(
        nothing.contains("no score: server `proxy` exited"),
        "{nothing}"
    );
}

#[test]
fn upstream_calls_are_shown_and_explained() {
    let document = sample::document(&sample::behind());
    let verbose = Style {
        verbosity: Verbosity::Verbose,
        ..PLAIN
    };
    expect_text("terminal_behind", &terminal(&document, verbose));
    expect_text("explained_behind", &explain(&document.scenarios[0], None));
    let one = explain(&document.scenarios[0], Some(1));
    assert!(
        one.contains("behind it: write of files: is new, and fails"),
        "{one}"
    );
    assert!(!one.contains("list of files"), "{one}");
    let causes: Vec<&str> = document.causes.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        causes,
        [
            "behind `call_tool_write → files:write`, `files` received `write` twice",
            "behind `call_tool_write → notes:add`, `notes` received `add` with a different `text`: buy one lamp → buy two lamps",
            "behind `call_tool_write → notes:add`, `notes` did not receive `search` any more",
            "`x-tenant` is passed on to `files` with a different value: acme → acme-2",
        ]
    );
}

#[test]
fn changes_by_a_proxy_to_answers_are_shown_and_many_lines_are_cut() {
    let mut suite = sample::direct();
    expect_text(
        "terminal_direct",
        &terminal(&sample::document(&suite), PLAIN),
    );
    let direct = suite.scenarios[1].direct.as_mut().unwrap();
    for number in 2..=20 {
        let mut call = direct.calls[0].clone();
        call.call = number;
        call.findings = vec![format!("cut after {number} of 200 characters")];
        direct.calls.push(call);
    }
    let document = sample::document(&suite);
    let text = terminal(&document, PLAIN);
    assert!(text.contains("~ and 13 more; see the page"), "{text}");
    assert!(!text.contains("cut after 8 of"), "{text}");
    let verbose = Style {
        verbosity: Verbosity::Verbose,
        ..PLAIN
    };
    let all = terminal(&document, verbose);
    assert!(all.contains("cut after 20 of") && !all.contains("more; see the page"));
}

#[test]
fn a_formula_is_shown_with_the_numbers_of_the_call() {
    let document = sample::document(&sample::compared());
    let text = explain(document.scenario("tools/search").unwrap(), Some(1));
    assert!(
        text.contains("request counts 0.9 × 1.000 = 0.900"),
        "{text}"
    );
    assert!(
        text.contains("score 0.900 = 0.900 × (1 − 0.533 × (1 − 1.000))"),
        "{text}"
    );
}

#[test]
fn the_summary_counts_what_was_selected_to_run() {
    let last = |suite: &SuiteResult| {
        let text = terminal(&sample::published(suite), PLAIN);
        text.lines()
            .find(|it| it.starts_with("Suite Results: "))
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        last(&sample::compared()),
        "Suite Results: 2/6 tests passed (1 with changes), 2 failed, 1 error, 1 timeout, 1 skipped · 4.3 s"
    );
    assert_eq!(
        last(&sample::recorded()),
        "Suite Results: 1/1 tests recorded · 4.3 s"
    );
    let mut good = sample::compared();
    good.scenarios.truncate(1);
    good.selected = 1;
    assert_eq!(last(&good), "Suite Results: 1/1 tests passed · 4.3 s");
}

#[test]
fn quiet_leaves_out_what_passed() {
    let document = sample::document(&sample::compared());
    let quiet = Style {
        verbosity: Verbosity::Quiet,
        ..PLAIN
    };
    let text = terminal(&document, quiet);
    assert!(!text.contains("Search tools"), "{text}");
    assert!(text.contains("Add a server"), "{text}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let document = sample::document(&sample::compared());
    let colored = Style {
        color: true,
        ..PLAIN
    };
    let text = terminal(&document, colored);
    let mut stripped = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_ne!(stripped, text);
    assert_eq!(stripped, terminal(&document, PLAIN));
}

#[test]
fn terminal_lines_keep_to_the_width() {
    let mut suite = sample::compared();
    suite.scenarios[1].notes.push("x".repeat(500));
    suite.scenarios[1].notes.push("宽".repeat(300));
    suite.scenarios[2].name = "a very long name ".repeat(20);
    let document = sample::document(&suite);
    for width in [0, 20, 33, 40, 71, 72, 80, 120] {
        let text = terminal(&document, Style { width, ..PLAIN });
        // Where there is room, the counts are one line for scripts to find.
        let is_counts = |it: &&str| width >= 72 && it.starts_with("Suite Results");
        for line in text.lines().filter(|it| !is_counts(it)) {
            assert!(line.width() <= width.max(20), "{width}: {line}");
        }
    }
}

#[test]
fn nothing_from_outside_acts_on_a_terminal() {
    let document = sample::document(&sample::compared());
    let verbose = Style {
        verbosity: Verbosity::Verbose,
        ..PLAIN
    };
    let mut texts = vec![terminal(&document, verbose)];
    texts.extend(document.scenarios.iter().map(|it| explain(it, None)));
    for text in &texts {
        let hidden = text.chars().find(|it| text::is_hidden(*it) && *it != '\n');
        assert_eq!(hidden, None, "{text}");
    }
    assert!(texts[0].contains(r"\u{1b}[31mred"), "{}", texts[0]);
    assert!(texts[0].contains(r"user\u{202e}gpj.exe"), "{}", texts[0]);
}

#[test]
fn changes_are_shown_although_the_scenario_passed() {
    let text = |answers: usize, style: Style| {
        let mut suite = sample::compared();
        suite.scenarios = vec![sample::changed(answers)];
        suite.selected = 1;
        terminal(&sample::published(&suite), style)
    };
    let few = text(1, PLAIN);
    assert!(
        few.contains("~ A price and an order  passed, 4 changes"),
        "{few}"
    );
    for words in [
        "~ `get_price` returned a different `rows/1/price`: 1.99 → 1.95\n    the server · scenarios/shop/price.yaml · call 2\n",
        "~ `get_price` takes much longer: 40 ms → 1.1 s\n",
        "~ description of `get_price` changed: Tells what a thing costs. → Tells the price of a thing.\n",
        "Suite Results: 1/1 tests passed (1 with changes) · 4.3 s\nAll passed; review the changes of 1 scenario.\n",
    ] {
        assert!(few.contains(words), "{words}: {few}");
    }
    assert!(!few.contains('✓'), "{few}");

    // Many of one kind are one, and hide nothing else.
    let many = text(21, PLAIN);
    assert!(
        many.contains("different `rows/*/price` in 21 places, such as 1.99 → 1.95"),
        "{many}"
    );
    assert_eq!(
        many.matches("~ ").count(),
        few.matches("~ ").count(),
        "{many}"
    );
    let all = text(
        21,
        Style {
            verbosity: Verbosity::Verbose,
            ..PLAIN
        },
    );
    assert_eq!(all.matches("    ~ ").count(), 24, "{all}");
    let quiet = text(
        21,
        Style {
            verbosity: Verbosity::Quiet,
            ..PLAIN
        },
    );
    assert_eq!(
        quiet,
        "Suite Results: 1/1 tests passed (1 with changes) · 4.3 s\n"
    );
}

#[test]
fn an_explanation_tells_every_change() {
    let document = sample::document(&sample::compared());
    let text = explain(document.scenario("shop/price").unwrap(), None);
    assert_eq!(text.matches("change (").count(), 14, "{text}");
    for words in [
        "change (answer): response/content/0/json/rows/12/price: changed\n    was: 12.99\n    is: 12.95",
        "change (slower): the call: took much longer",
        "get_price of shop: description of `get_price` changed (breaks no recorded call)\n    was: Tells what a thing costs.\n    is: Tells the price of a thing.",
        "15 changes are shown, and no reason to fail",
        "recorded with one answer only",
        "ignored, because it differed each time it was recorded: /content/0/json/took",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_was_kept_although_it_failed_does_not_look_fine() {
    let mut suite = sample::recorded();
    suite.scenarios[0].problem = Some(Problem {
        record: None,
        line: None,
        message: "kept, and failing: call 1 of `get`: no such thing".to_owned(),
        hint: None,
        details: Vec::new(),
    });
    let text = terminal(&sample::published(&suite), PLAIN);
    assert!(text.contains("! Search tools  recorded, failing"), "{text}");
    assert!(text.contains("call 1 of `get`: no such thing"), "{text}");
    assert!(
        text.contains("Suite Results: 1/1 tests recorded (1 failing)"),
        "{text}"
    );
}
