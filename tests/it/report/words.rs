//! Durations, times, wrapped lines, and the sentence on whose doing it is.

use std::sync::Arc;

use mcp_eval::model::points;
use mcp_eval::model::{ChangeKind, Ending, Row, Servers};
use mcp_eval::report::description::Description;
use mcp_eval::report::{duration, moment, wrap};
use mcp_eval::text::word_diff::{Piece, around_difference, word_diff};
use unicode_width::UnicodeWidthStr;

use super::sample;

#[test]
fn durations_read_as_people_write_them() {
    for (milliseconds, words) in [
        (0.0, "0 ms"),
        (0.04, "0 ms"),
        (0.4, "0.4 ms"),
        (9.94, "9.9 ms"),
        (9.96, "10 ms"),
        (340.0, "340 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (1234.0, "1.2 s"),
        (59_940.0, "59.9 s"),
        (59_960.0, "1 min"),
        (125_000.0, "2 min 5 s"),
        (3_599_700.0, "1 h"),
        (3_780_000.0, "1 h 3 min"),
        (f64::NAN, "unknown"),
        (f64::INFINITY, "unknown"),
        (-1.0, "unknown"),
    ] {
        assert_eq!(duration::words(milliseconds), words, "{milliseconds}");
    }
}

#[test]
fn moments_are_shown_in_one_time_zone() {
    assert_eq!(
        moment::words("2026-10-31T18:00:00+01:00"),
        "2026-10-31 17:00 UTC"
    );
    assert_eq!(moment::words("yesterday"), "yesterday");
}

#[test]
fn wrapping_loses_nothing() {
    let text = "a  word averyverylongword 宽宽宽 e\u{301}nd";
    for width in 1..20 {
        let lines = wrap::lines(text, width);
        assert!(
            lines.iter().all(|it| it.width() <= width.max(2)),
            "{lines:?}"
        );
        let letters = |text: &str| text.replace(' ', "");
        assert_eq!(letters(&lines.concat()), letters(text));
    }
}

#[test]
fn whose_doing_it_is() {
    // Similarity of the only request, similarity of its answer, whether the answers are the same to the letter, what the sentence says.
    for (request, response, identical, words) in [
        (
            1.0,
            1.0,
            true,
            "Unchanged: The agent asked the same, and the server answered the same.",
        ),
        (
            1.0,
            1.0,
            false,
            "Unchanged: The agent asked the same, and the server answered the same, but for what varies or is not compared.",
        ),
        (
            1.0,
            0.3,
            false,
            "The agent asked the same; the server answered differently.",
        ),
        (
            0.5,
            1.0,
            true,
            "The agent asked differently, and got the same answers.",
        ),
        (
            0.5,
            1.0,
            false,
            "The agent asked differently; the answers differ only in what varies or is not compared.",
        ),
        (0.5, 0.3, false, "The agent asked differently."),
    ] {
        let mut suite = sample::compared();
        suite.scenarios.truncate(1);
        let scenario = &mut suite.scenarios[0];
        let comparison = scenario.comparison.as_mut().unwrap();
        comparison.rows.truncate(1);
        let Some(Row::Pair(pair)) = comparison.rows.first_mut() else {
            panic!("the first row is a pair");
        };
        pair.request.similarity = request;
        pair.response.similarity = response;
        // The two ask with other words; here, only the similarity says what they ask.
        let query = if request < 1.0 {
            "env vars"
        } else {
            "environment variables"
        };
        let id = if identical { "4a1f" } else { "77b0" };
        scenario.current = Some(sample::kept(sample::searching(query, id)));
        let document = sample::published(&suite);
        assert_eq!(document.scenarios[0].in_words.as_deref(), Some(words));
        // Where what was recorded answers, nothing is the server's doing.
        let current = suite.scenarios[0].current.as_mut().unwrap();
        Arc::make_mut(current).refine(|it| it.stamp.servers = Servers::Recorded);
        let document = sample::published(&suite);
        let held = document.scenarios[0].in_words.clone().unwrap();
        let agents = held.contains("the change is the agent's doing");
        assert_eq!(agents, request + response < 2.0, "{held}");
        assert!(!held.contains("the server "), "{held}");
    }
    let document = sample::document(&sample::compared());
    let words = |id: &str| document.scenario(id).unwrap().in_words.clone();
    let failed = words("servers/add").unwrap();
    assert!(
        failed.starts_with(
            "The tool catalogue changed so that one call of the baseline is refused now. "
        ),
        "{failed}"
    );
    assert_eq!(words("servers/list"), None);
    let ran = sample::published(&sample::ran());
    assert_eq!(
        ran.scenarios[0].in_words.as_deref(),
        Some("The agent made other calls than expected.")
    );
}

#[test]
fn a_run_that_ended_early_was_not_asked_otherwise() {
    let mut suite = sample::compared();
    suite.scenarios.truncate(1);
    let scenario = &mut suite.scenarios[0];
    let mut current = sample::searching("environment variables", "4a1f");
    current.steps.truncate(2);
    current.ending = Ending::Blocked {
        message: "call 1 is critical".to_owned(),
    };
    scenario.current = Some(sample::kept(current));
    let comparison = scenario.comparison.as_mut().unwrap();
    let Some(Row::Pair(pair)) = comparison.rows.first_mut() else {
        panic!("the first row is a pair");
    };
    pair.request.similarity = 1.0;
    pair.response.similarity = 0.0;
    comparison.rows[1] = Row::Missing {
        baseline: 2,
        effect: false,
    };
    let document = sample::published(&suite);
    let scenario = &document.scenarios[0];
    assert_eq!(
        scenario.in_words.as_deref(),
        Some(
            "The agent asked the same; the server answered differently. The run ended early with a call that failed."
        )
    );
    let words = Description::new(scenario, "compare").unwrap();
    let rows = &scenario.comparison.as_ref().unwrap().rows;
    assert!(
        words
            .row(&rows[0])
            .ends_with("The run ended here, because the call is critical.")
    );
    assert_eq!(words.row(&rows[1]), "Not made, because the run had ended.");
}

#[test]
fn a_row_is_the_same_only_where_it_is() {
    for (kind, words) in [
        (
            None,
            "Same request; the answers differ only in what varies or is not compared.",
        ),
        (
            Some(ChangeKind::Addition),
            "The agent asked the same; the server answered as before, and more.",
        ),
        (
            Some(ChangeKind::Answer),
            "The agent asked the same; the server answered differently.",
        ),
        (
            Some(ChangeKind::Effect),
            "The agent asked differently; the answers differ only in what varies or is not compared.",
        ),
    ] {
        let mut suite = sample::compared();
        suite.scenarios = vec![sample::changed(0)];
        let comparison = suite.scenarios[0].comparison.as_mut().unwrap();
        comparison.changes.retain(|it| it.current == Some(1));
        comparison.changes.truncate(usize::from(kind.is_some()));
        for change in &mut comparison.changes {
            change.kind = kind.unwrap();
        }
        let document = sample::published(&suite);
        let scenario = &document.scenarios[0];
        let rows = &scenario.comparison.as_ref().unwrap().rows;
        let description = Description::new(scenario, "compare").unwrap();
        assert_eq!(description.row(&rows[0]), words);
        assert_eq!(description.row(&rows[1]), "Same request, same answer.");
    }
}

#[test]
fn the_catalogue_is_said_to_be_used_where_it_is() {
    for (used, refused, words) in [
        (
            false,
            vec![],
            "The tool catalogue changed, but not in what the baseline uses.",
        ),
        (
            true,
            vec![],
            "The tool catalogue changed in what the baseline uses; its calls are still accepted.",
        ),
        (
            true,
            vec![1, 2],
            "The tool catalogue changed so that 2 calls of the baseline are refused now.",
        ),
    ] {
        let mut suite = sample::compared();
        suite.scenarios = vec![sample::changed(0)];
        let comparison = suite.scenarios[0].comparison.as_mut().unwrap();
        comparison.drift[0].used = used;
        comparison.drift[0].refused = refused;
        let document = sample::published(&suite);
        let sentence = document.scenarios[0].in_words.clone().unwrap();
        assert!(sentence.contains(words), "{sentence}");
    }
}

#[test]
fn numbers_are_never_rounded_to_what_they_are_not() {
    for (number, score, points) in [
        (1.0, "1.00", "1.000"),
        (0.9999, "0.9999", "1.000"),
        (0.0, "0.00", "0.000"),
        (-0.0, "0.00", "0.000"),
        (-1e-19, "0.00", "0.000"),
        (0.0001, "0.0001", "less than 0.001"),
        (0.8, "0.80", "0.800"),
    ] {
        assert_eq!(points::score(number), score, "{number}");
        assert_eq!(points::points(number), points, "{number}");
    }
    assert!(!points::costs(-1e-19) && points::costs(0.0001));
}

#[test]
fn two_texts_are_compared_by_their_words() {
    // What is marked of either side stands in brackets.
    for (was, now, marked_was, marked_now) in [
        (
            "costs 19.99 EUR",
            "costs 1999 EUR",
            "costs [19.99] EUR",
            "costs [1999] EUR",
        ),
        (
            r#"{"a":1,"b":"x y"}"#,
            r#"{"a":1,"b":"x z"}"#,
            r#"{"a":1,"b":"x [y]"}"#,
            r#"{"a":1,"b":"x [z]"}"#,
        ),
        (
            "was shipped",
            "was not shipped",
            "was shipped",
            "was [not ]shipped",
        ),
        (
            "one, two and six",
            "three, four and six",
            "[one, two] and six",
            "[three, four] and six",
        ),
        ("", "new", "", "[new]"),
        ("same", "same", "same", "same"),
    ] {
        let [left, right] = word_diff(was, now);
        let shown = |pieces: &[Piece]| -> String {
            let piece = |it: &Piece| {
                if it.marked {
                    format!("[{}]", it.text)
                } else {
                    it.text.clone()
                }
            };
            pieces.iter().map(piece).collect()
        };
        assert_eq!(shown(&left), marked_was);
        assert_eq!(shown(&right), marked_now);
    }
    let long = "word ".repeat(40_000);
    let [left, _] = word_diff(&format!("a {long}"), &format!("b {long} c"));
    assert!(left.iter().any(|it| it.marked));
}

#[test]
fn a_long_value_is_cut_around_what_differs() {
    let was = format!("{}OLD{}", "x".repeat(500), "y".repeat(500));
    let now = was.replace("OLD", "NEW");
    for (text, word) in around_difference(&was, &now, 60).iter().zip(["OLD", "NEW"]) {
        assert!(text.contains(word), "{text}");
        assert!(text.chars().count() <= 62, "{text}");
        assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
    }
    assert_eq!(around_difference("a", "b", 60), ["a", "b"]);
}

#[test]
fn values_are_compared_before_they_are_cut() {
    let words = |count: usize| "one two three four five six seven eight nine ten ".repeat(count);
    let was = format!("{}alpha {}", words(20), words(20));
    let now = format!("{}a beta {}", words(20), words(20));
    let [left, right] = around_difference(&was, &now, 100);
    assert!(
        left.chars().count() <= 102 && right.chars().count() <= 102,
        "{left}\n{right}"
    );
    // Nothing is marked but what differs, and no word is cut.
    let marked = |pieces: &[Piece]| -> Vec<String> {
        let marked = pieces.iter().filter(|it| it.marked);
        marked.map(|it| it.text.trim().to_owned()).collect()
    };
    let [of_left, of_right] = word_diff(&left, &right);
    assert_eq!(
        (marked(&of_left), marked(&of_right)),
        (vec!["alpha".to_owned()], vec!["a beta".to_owned()])
    );
    for side in [&left, &right] {
        for word in side.trim_matches('…').split_whitespace() {
            assert!(
                was.contains(&format!("{word} ")) || now.contains(&format!("{word} ")),
                "{word}"
            );
        }
    }
    // What differs again further on is no reason to mark what stands between.
    let again = |first: &str, last: &str| format!("{first} {}{last} {}", words(3), words(9));
    let [left, right] = around_difference(
        &again("alpha", "x y z"),
        &again("something longer", "q"),
        100,
    );
    let [of_left, of_right] = word_diff(&left, &right);
    assert_eq!(
        (marked(&of_left), marked(&of_right)),
        (
            vec!["alpha".to_owned()],
            vec!["something longer".to_owned()]
        )
    );
}
