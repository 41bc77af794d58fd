//! Durations, times, wrapped lines, and the sentence on whose doing it is.

use std::sync::Arc;

use mcp_eval::model::comparison::Row;
use mcp_eval::model::stamp::Servers;
use mcp_eval::report::document::ResultV1;
use mcp_eval::report::{duration, moment, wrap};
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
fn moments_are_told_in_one_time_zone() {
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
    // Similarity of the only request, similarity of its answer, what the sentence says.
    for (request, response, words) in [
        (
            1.0,
            1.0,
            "The agent asked the same, and the server answered the same.",
        ),
        (
            1.0,
            0.3,
            "The agent asked the same; the server answered differently.",
        ),
        (
            0.5,
            1.0,
            "The agent asked differently, and got the same answers.",
        ),
        (0.5, 0.3, "The agent asked differently."),
    ] {
        let mut suite = sample::compared();
        suite.scenarios.truncate(1);
        let comparison = suite.scenarios[0].comparison.as_mut().unwrap();
        comparison.rows.truncate(1);
        let Some(Row::Pair(pair)) = comparison.rows.first_mut() else {
            panic!("the first row is a pair");
        };
        pair.request.similarity = request;
        pair.response.similarity = response;
        let document = ResultV1::from(&suite);
        assert_eq!(document.scenarios[0].in_words.as_deref(), Some(words));
        // Where what was recorded answers, nothing is the server's doing.
        let current = suite.scenarios[0].current.as_mut().unwrap();
        Arc::make_mut(current).stamp.servers = Servers::Recorded;
        let document = ResultV1::from(&suite);
        let held = document.scenarios[0].in_words.clone().unwrap();
        let agents = held.contains("the change is the agent's doing");
        assert_eq!(agents, request + response < 2.0, "{held}");
        assert!(!held.contains("the server "), "{held}");
    }
    let document = sample::document(&sample::compared());
    let words = |id: &str| document.scenario(id).unwrap().in_words.clone();
    let failed = words("servers/add").unwrap();
    assert!(
        failed.starts_with("The tool catalogue changed in a way that breaks"),
        "{failed}"
    );
    assert_eq!(words("servers/list"), None);
    let ran = ResultV1::from(&sample::ran());
    assert_eq!(
        ran.scenarios[0].in_words.as_deref(),
        Some("The agent made other calls than expected.")
    );
}
