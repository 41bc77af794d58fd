//! The differences between two answers, in lines.

use std::time::Instant;

use mcp_eval::report::diff::{self, Diff, Known, Line, PieceKind, Row};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Which side of a difference is read.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    Was,
    Now,
}

/// The lines of one side, folded ones included.
fn side(diff: &Diff, read: Read) -> Vec<&Line> {
    let mut lines = Vec::new();
    for row in &diff.rows {
        match row {
            Row::Same(line) => lines.push(line),
            Row::Changed { was, now, .. } => lines.extend(match read {
                Read::Was => was,
                Read::Now => now,
            }),
            Row::Replaced { was, now, .. } => lines.extend(match read {
                Read::Was => was,
                Read::Now => now,
            }),
            Row::Fold {
                lines: inside,
                words,
                ..
            } => {
                assert!(!inside.is_empty(), "{words} are not at hand");
                lines.extend(inside);
            }
        }
    }
    lines
}

/// The JSON value that one side says, which leaves commas out.
fn value(diff: &Diff, read: Read) -> Value {
    let lines = side(diff, read);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        assert!(!line.is_cut(), "{line:?}");
        let words = line.text();
        text.push_str(&words);
        if line.goes_on {
            text.push_str("\\n");
            continue;
        }
        let closes = lines
            .get(at + 1)
            .is_none_or(|it| matches!(it.text().as_str(), "}" | "]"));
        let opens = ends_open(&words);
        if !closes && !opens {
            text.push(',');
        }
    }
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether a line opens a list or an object that goes on in the next one.
fn ends_open(line: &str) -> bool {
    let after_key = match line.strip_prefix('"') {
        Some(_) => {
            let mut stream = serde_json::Deserializer::from_str(line).into_iter::<String>();
            let _ = stream.next();
            line[stream.byte_offset()..].trim_start_matches(": ")
        }
        None => line,
    };
    matches!(after_key, "{" | "[")
}

fn json_diff(was: &Value, now: &Value) -> Diff {
    diff::json(was, now, Vec::new(), &Known::default())
}

/// The rows as a reader sees them: marks in brackets, `-` and `+` before changed lines, `~` before those that vary.
fn shown(diff: &Diff) -> Vec<String> {
    let line = |line: &Line| -> String {
        let pieces = line.pieces.iter().map(|it| match it.kind {
            PieceKind::Marked => format!("[{}]", it.text),
            _ => it.text.clone(),
        });
        format!("{}{}", line.lead(), pieces.collect::<String>())
    };
    let mut all = Vec::new();
    for row in &diff.rows {
        match row {
            Row::Same(it) => all.push(format!(" {}", line(it))),
            Row::Changed {
                was,
                now,
                calm,
                note,
            } => {
                let note = note
                    .as_ref()
                    .map_or_else(String::new, |it| format!("  ({it})"));
                let calm = if *calm { "~" } else { "" };
                all.extend(was.iter().map(|it| format!("-{calm}{}{note}", line(it))));
                all.extend(now.iter().map(|it| format!("+{calm}{}{note}", line(it))));
            }
            Row::Replaced { was, now, calm } => {
                let calm = if *calm { "~" } else { "" };
                all.extend(was.iter().map(|it| format!("-{calm}{}", line(it))));
                all.extend(now.iter().map(|it| format!("+{calm}{}", line(it))));
            }
            Row::Fold { words, .. } => all.push(format!(" … {words}")),
        }
    }
    all
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-c ]{0,6}",
        "[a-c]{1,3}\n[a-c]{1,3}(\n[a-c]{0,3}){0,2}",
        "[{}\\[\\],\":]{0,4}",
        Just("word ".repeat(16)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        (-2.0_f64..2.0).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-e]{1,2}", inner, 0..8)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn red_reads_as_the_old_value_and_green_as_the_new(was in any_json(), now in any_json()) {
        let diff = json_diff(&was, &now);
        // A text that holds JSON is looked into, and then reads otherwise.
        prop_assume!(!shown(&diff).iter().any(|it| it.contains("a text that holds JSON")));
        prop_assert_eq!(value(&diff, Read::Was), was.clone());
        prop_assert_eq!(value(&diff, Read::Now), now.clone());
        prop_assert_eq!(diff.changes == 0, was == now);
    }

    #[test]
    fn red_reads_as_the_old_text_and_green_as_the_new(
        was in "([a-c]{0,3}[ \n]){0,12}", now in "([a-c]{0,3}[ \n]){0,12}",
    ) {
        let diff = diff::text(&was, &now, Vec::new(), &Known::default());
        for (read, text) in [(Read::Was, &was), (Read::Now, &now)] {
            let lines: Vec<String> = side(&diff, read).into_iter().map(Line::text).collect();
            prop_assert_eq!(&lines.join("\n"), text);
        }
        prop_assert_eq!(diff.changes == 0, was == now);
    }
}

#[test]
fn an_equal_line_that_begins_only_one_of_two_texts_is_shown_on_both_sides() {
    let (was, now) = (json!(["a\na\nc"]), json!(["c\na"]));
    let diff = json_diff(&was, &now);
    assert_eq!(
        [value(&diff, Read::Was), value(&diff, Read::Now)],
        [was, now]
    );
}

#[test]
fn a_change_deep_in_a_value_stands_among_what_it_belongs_to() {
    let server = |at: usize| {
        json!({
            "id": at, "name": format!("server-{at}"), "one": "1", "two": "2", "three": "3",
            "note": "something longer, so that it does not fit into one line",
            "limits": { "requests": 60, "of": "a text that takes its place, too, in the line" },
        })
    };
    let was = json!({ "servers": (0..9).map(server).collect::<Vec<_>>(), "total": 9 });
    let mut now = was.clone();
    now["servers"][4]["limits"]["requests"] = 600.into();
    assert_eq!(
        shown(&json_diff(&was, &now)),
        [
            " {",
            "   \"servers\": [",
            " … 4 equal items",
            "     {",
            "       \"id\": 4",
            "       \"name\": \"server-4\"",
            "       \"one\": \"1\"",
            "       \"two\": \"2\"",
            "       \"three\": \"3\"",
            "       \"note\": \"something longer, so that it does not fit into one line\"",
            "-      \"limits\": {\"requests\": [60], \"of\": \"a text that takes its place, too, in the line\"}",
            "+      \"limits\": {\"requests\": [600], \"of\": \"a text that takes its place, too, in the line\"}",
            "     }",
            " … 4 equal items",
            "   ]",
            "   \"total\": 9",
            " }",
        ]
    );
}

#[test]
fn elements_are_compared_with_what_they_were_wherever_they_stand() {
    let item = |name: &str, price: f64| json!({ "name": name, "price": price, "stock": 5 });
    let was = [
        ("apple", 1.2),
        ("banana", 0.5),
        ("cherry", 4.0),
        ("date", 9.9),
        ("elder", 3.3),
    ];
    let was: Vec<_> = was.map(|(name, price)| item(name, price)).to_vec();
    let mut now = was.clone();
    now.insert(2, item("blueberry", 3.5));
    now[4]["price"] = 10.9.into();
    let apple = now.remove(0);
    now.push(apple);
    assert_eq!(
        shown(&json_diff(&was.into(), &now.into())),
        [
            " [",
            "-  {\"name\": \"apple\", \"price\": 1.2, \"stock\": 5}  (moved from here)",
            "   {\"name\": \"banana\", \"price\": 0.5, \"stock\": 5}",
            "+  {\"name\": \"blueberry\", \"price\": 3.5, \"stock\": 5}",
            "   {\"name\": \"cherry\", \"price\": 4.0, \"stock\": 5}",
            "-  {\"name\": \"date\", \"price\": [9.9], \"stock\": 5}",
            "+  {\"name\": \"date\", \"price\": [10.9], \"stock\": 5}",
            "   {\"name\": \"elder\", \"price\": 3.3, \"stock\": 5}",
            "+  {\"name\": \"apple\", \"price\": 1.2, \"stock\": 5}  (moved here)",
            " ]",
        ]
    );
}

#[test]
fn a_member_with_another_name_is_one_change() {
    let long = "a value that is long enough not to fit into one line with the others of the object";
    let diff = json_diff(
        &json!({ "title": "one", "text": long, "n": 2 }),
        &json!({ "headline": "one", "text": long, "n": 2 }),
    );
    assert_eq!(diff.changes, 1);
    assert_eq!(
        shown(&diff)[1..3],
        ["-  [\"title\"]: \"one\"", "+  [\"headline\"]: \"one\""]
    );
}

#[test]
fn what_is_known_to_vary_is_no_news() {
    let value = |took: u32, id: &str, total: u32| {
        let hits = vec![json!({ "id": id, "text": "word ".repeat(20) })];
        json!({ "took": took, "hits": hits, "total": total, "text": "word ".repeat(20) })
    };
    let known = Known {
        places: ["/content/0/json/took", "/content/0/json/hits/*/id"]
            .map(Known::steps)
            .to_vec(),
        ..Known::default()
    };
    let place = || Known::steps("/content/0/json");
    let diff = diff::json(&value(3, "a", 1), &value(4, "b", 2), place(), &known);
    assert_eq!((diff.changes, diff.varying), (1, 2));
    let rows = shown(&diff);
    for row in [
        "-~  \"took\": [3]",
        "+~  \"took\": [4]",
        "-  \"total\": [1]",
        "+  \"total\": [2]",
    ] {
        assert!(rows.iter().any(|it| it == row), "{row}: {rows:#?}");
    }
    // Words that are known to vary, and others in the same text.
    let known = Known {
        words: vec!["88.31".to_owned(), "97.02".to_owned()],
        ..Known::default()
    };
    let text = |took: &str, count: &str| format!("took {took} ms\nfound {count} things");
    let diff = diff::text(&text("88.31", "3"), &text("12.70", "4"), Vec::new(), &known);
    assert_eq!((diff.changes, diff.varying), (1, 1));
    // Where nothing of the answer counts, nothing of it is news.
    let known = Known {
        all: true,
        ..Known::default()
    };
    let diff = diff::json(&value(3, "a", 1), &value(4, "b", 2), place(), &known);
    assert_eq!((diff.changes, diff.varying), (0, 4 - 1));
}

#[test]
fn a_text_that_holds_json_is_looked_into() {
    let value = |n: u32| json!({ "result": json!({ "rows": [1, 2, n], "text": "word ".repeat(20) }).to_string() });
    let rows = shown(&json_diff(&value(3), &value(4)));
    assert!(
        rows.iter().any(|it| it.contains("a text that holds JSON")),
        "{rows:#?}"
    );
    assert!(
        rows.iter().any(|it| it.contains("\"rows\": [1, 2, [4]]")),
        "{rows:#?}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_change_in_the_middle_of_megabytes_is_shown_with_what_surrounds_it() {
    let row = |at: usize| json!({ "id": at, "title": format!("Issue {at}"), "body": "words ".repeat(12), "state": "open" });
    let was = Value::Array((0..8_000).map(row).collect());
    let mut now = was.clone();
    now[4_000]["state"] = "merged".into();
    let diff = json_diff(&was, &now);
    let rows = shown(&diff);
    assert!(rows.len() < 30, "{rows:#?}");
    assert!(
        rows.contains(&" … 4,000 equal items".to_owned()),
        "{rows:#?}"
    );
    assert!(
        rows.contains(&"-    \"state\": [\"open\"]".to_owned()),
        "{rows:#?}"
    );
    assert!(diff.is_cut);

    let words: Vec<String> = (0..100_000).map(|it| format!("word{it}")).collect();
    let was = words.join(" ");
    let now = was
        .replace("word50000 ", "CHANGED ")
        .replace("word80000 ", "TOO ");
    let diff = diff::text(&was, &now, Vec::new(), &Known::default());
    let [row] = &shown(&diff)[1..] else {
        panic!("{:#?}", shown(&diff))
    };
    assert!(row.contains("[CHANGED]") && row.contains("[TOO]"), "{row}");
    assert!(row.len() < 1_000, "{} bytes", row.len());
}

#[test]
fn what_ends_where_there_is_no_room_any_more_is_said_to_be_cut() {
    let members = |of: &str, count: usize, value: &str| -> Value {
        let members = (0..count).map(|it| (format!("{of}{it}"), json!(value)));
        Value::Object(members.collect())
    };
    let many = |changed: usize, value: &str| members("k", changed, value);
    let long = json!(vec!["long words"; 20]);
    // A new object, one that became another kind of thing, equal members behind it, and lines that are folded.
    for (changed, last) in [
        (370, [None, Some(members("n", 50, "new value"))]),
        (396, [Some(json!(1)), Some(members("n", 50, "new value"))]),
        (399, [Some(long.clone()), Some(long)]),
    ] {
        let with = |value: &str, last: &Option<Value>| {
            let mut whole = many(changed, value);
            if let Some(last) = last {
                whole["z"] = last.clone();
            }
            whole
        };
        let diff = json_diff(&with("a", &last[0]), &with("b", &last[1]));
        assert_eq!(
            diff.unseen, 0,
            "each place that differs has begun to be shown"
        );
        assert!(diff.rows.len() >= 400, "{}", diff.rows.len());
        assert!(diff.is_cut, "{changed} changed members, and {last:?}");
    }
    // What just fits is whole.
    let diff = json_diff(&many(398, "a"), &many(398, "b"));
    assert_eq!(diff.rows.len(), 400);
    assert!(!diff.is_cut);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn hostile_values_take_neither_time_nor_room() {
    let numbers =
        |from: usize, count: usize| Value::Array((from..from + count).map(Value::from).collect());
    let nested = |depth: usize, leaf: &str| {
        (0..depth).fold(json!(leaf), |it, _| json!([it, "x".repeat(90)]))
    };
    let pairs = [
        // Nothing in common, everything in common in another order, nothing but one thing.
        (numbers(0, 60_000), numbers(100_000, 60_000)),
        (
            numbers(0, 30_000),
            Value::Array((0..30_000).rev().map(Value::from).collect()),
        ),
        (json!(vec![1; 60_000]), json!(vec![1; 50_000])),
        (
            json!(["a", "b"].repeat(20_000)),
            json!(["b", "b", "a"].repeat(20_000)),
        ),
        (nested(120, "a"), nested(120, "b")),
        (json!("x".repeat(1_000_000)), json!("y".repeat(1_000_000))),
        (json!("a b ".repeat(200_000)), json!("b c ".repeat(200_000))),
        (
            json!("a\nb\n".repeat(60_000)),
            json!("b\nc\n".repeat(60_000)),
        ),
    ];
    for (at, (was, now)) in pairs.iter().enumerate() {
        let started = Instant::now();
        let diff = json_diff(was, now);
        let took = started.elapsed();
        assert!(
            diff.changes > 0 && diff.rows.len() <= 700,
            "{at}: {}",
            diff.rows.len()
        );
        let bytes: usize = shown(&diff).iter().map(String::len).sum();
        assert!(bytes < 200_000, "{at}: {bytes} bytes");
        // Far more than it takes, so that a busy machine does not fail it; what grows with the square would take minutes.
        assert!(took.as_secs() < 20, "{at}: {took:?}");
    }
}

#[test]
fn both_sides_of_what_was_rewritten_are_shown() {
    let lines = |of: &str, count: usize| -> String {
        let lines: Vec<String> = (0..count).map(|it| format!("{of} {it} {of}")).collect();
        lines.join("\n")
    };
    let text = diff::text(
        &lines("old", 6_000),
        &lines("new", 5_200),
        Vec::new(),
        &Known::default(),
    );
    let list = |of: &str, count: usize| {
        let rows = (0..count).map(|it| json!({ of: format!("{of} {it}"), "long": of.repeat(40) }));
        Value::Array(rows.collect())
    };
    let value = json_diff(&list("old", 800), &list("new", 900));
    for (name, diff) in [("text", text), ("list", value)] {
        let rows = shown(&diff);
        for side in ["-", "+"] {
            let those = rows.iter().filter(|it| it.starts_with(side)).count();
            assert!(those >= 100, "{name}: {those} lines of {side}");
        }
        assert!(diff.is_cut && diff.unseen > 0, "{name}");
        assert!(rows.len() < 700, "{name}: {}", rows.len());
    }
}

#[test]
fn places_in_one_line_are_counted_one_by_one() {
    let diff = json_diff(
        &json!({"a": 1, "b": 2, "c": 3}),
        &json!({"a": 4, "b": 5, "c": 3}),
    );
    assert_eq!(diff.changes, 2, "{:#?}", shown(&diff));
    assert_eq!(diff.differ(diff.changes), "2 places differ");
    let diff = diff::text("a b c\nx", "q r c\nx", Vec::new(), &Known::default());
    assert_eq!(diff.differ(diff.changes), "1 line differs");
}
