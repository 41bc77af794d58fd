//! Places that several takes show to vary, and how far: what varies may be another thing of its sort again, and everything beside it is held.

use mcp_eval::model::reason::Reason;
use mcp_eval::model::rules::Rules;
use mcp_eval::model::{
    Comparison, Learned, TokenKind, Trajectory, Variation, Varying, VaryingToken,
};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::trajectory;

/// One read that is answered so: a list is the content, a text a block of its own, anything else a block of JSON.
fn read(answer: &Value) -> Trajectory {
    let mut call = json!({"tool": "mcp__p__look", "reads": true});
    match answer {
        Value::String(text) => call["text"] = json!(text),
        Value::Object(members) if members.contains_key("content") => {
            call["content"] = members["content"].clone();
        }
        other => call["json"] = other.clone(),
    }
    trajectory(&[call])
}

fn kept(takes: &[Value]) -> Trajectory {
    let takes: Vec<Trajectory> = takes.iter().map(read).collect();
    let learned = score::learn(&takes, &Rules::default());
    let mut baseline = takes[0].clone();
    baseline.learned = learned.answers;
    baseline.bindings = learned.bindings;
    baseline
}

fn against(takes: &[Value], current: &Value) -> Comparison {
    score::compare(&kept(takes), &read(current), &Rules::default())
}

/// What a comparison says of these answers: `same`, `shown` where it passes with changes, or `fails`.
fn verdict(takes: &[Value], current: &Value) -> &'static str {
    let comparison = against(takes, current);
    match (comparison.verdict.passed, comparison.changes.is_empty()) {
        (true, true) => "same",
        (true, false) => "shown",
        (false, _) => "fails",
    }
}

#[track_caller]
fn judged(takes: &[Value], cases: &[(Value, &str)]) {
    for (current, expected) in cases {
        let found = verdict(takes, current);
        assert_eq!(
            found,
            *expected,
            "{current} after {takes:?}, learned {:#?}",
            kept(takes).learned
        );
    }
}

#[test]
fn a_short_hexadecimal_id_stands_for_any_other_and_for_nothing_else() {
    // Both have the same letters at the same places.
    judged(
        &[
            json!("commit e77b695 fixed it"),
            json!("commit e8b6462 fixed it"),
        ],
        &[
            (json!("commit 3f9a12c fixed it"), "same"),
            (json!("commit 1e23456 fixed it"), "same"),
            (json!("commit 1234567 fixed it"), "same"),
            (json!("commit 82e782ac fixed it"), "same"),
            (json!("commit unknown fixed it"), "fails"),
            (json!("commit 7 fixed it"), "fails"),
            (json!("commit e77b695 broke it"), "fails"),
            (json!("commit fixed it"), "fails"),
        ],
    );
    judged(
        &[
            json!("user 82e782ac logged in"),
            json!("user 4b1d09ef logged in"),
        ],
        &[
            (json!("user 77aa00ff logged in"), "same"),
            (json!("user ERROR logged in"), "fails"),
            (json!("user null logged in"), "fails"),
            (json!("user nobody1 logged in"), "fails"),
        ],
    );
    // One of them came without letters.
    for takes in [["3f9a12c", "1234567"], ["1234567", "3f9a12c"]] {
        judged(
            &takes.map(|it| json!(format!("built {it} in the evening"))),
            &[
                (json!("built 77ab001 in the evening"), "same"),
                (json!("built nothing in the evening"), "fails"),
            ],
        );
        judged(
            &takes.map(|it| json!({"sha": it, "n": 1})),
            &[
                (json!({"sha": "77ab001", "n": 1}), "same"),
                (json!({"sha": "unknown", "n": 1}), "fails"),
            ],
        );
    }
}

#[test]
fn an_id_that_was_the_same_in_all_takes_is_a_value() {
    judged(
        &[
            json!("at 3f9a12c: load 5 of 9"),
            json!("at 3f9a12c: load 6 of 9"),
        ],
        &[
            (json!("at 3f9a12c: load 7 of 9"), "same"),
            (json!("at 3f9a12d: load 5 of 9"), "fails"),
        ],
    );
}

#[test]
fn letters_and_digits_in_one_run_are_one_id_where_all_takes_mix_them() {
    let takes = |a: &str, b: &str| {
        [
            json!(format!("token {a} is")),
            json!(format!("token {b} is")),
        ]
    };
    let now = |it: &str| json!(format!("token {it} is"));
    judged(
        &takes("q7Zk0Pb2xW9a", "Lm3nB8+vC1xT"),
        &[
            (now("aB3dE9fGh2Jk"), "same"),
            (now("4Tz/pQ8+wYx1"), "same"),
            (now("XaBcDeFGhiJK"), "same"),
            (now("revoked"), "fails"),
            (now("unauthorised"), "fails"),
        ],
    );
    judged(
        &takes("a3f9c1", "7b2e09"),
        &[
            (now("0c9d8e"), "same"),
            (now("ERROR"), "fails"),
            (now("null"), "fails"),
        ],
    );
}

#[test]
fn what_was_learned_piece_by_piece_is_compared_piece_by_piece() {
    let with_varying = |learned: Vec<VaryingToken>, text: &str| {
        let mut baseline = read(&json!(text));
        baseline.learned = vec![Learned {
            call: 1,
            takes: 2,
            varies: vec![Varying {
                parts: learned,
                ..Varying::new("/content/0/text".to_owned(), Variation::Tokens)
            }],
            ..Learned::default()
        }];
        baseline
    };
    let number = |token| VaryingToken::one(token, 1, TokenKind::Number);
    let passes = |baseline: &Trajectory, text: &str| {
        score::compare(baseline, &read(&json!(text)), &Rules::default())
            .verdict
            .passed
    };
    let numbers = with_varying(vec![number(3), number(5)], "commit e77b695 ok");
    assert!(passes(&numbers, "commit e8b6462 ok"));
    assert!(!passes(&numbers, "commit e8b6462 bad"));
    let run = VaryingToken {
        may_be: vec![TokenKind::Word, TokenKind::Number, TokenKind::Id],
        run: true,
        joined: true,
        ..VaryingToken::one(2, 4, TokenKind::Id)
    };
    let whole = with_varying(vec![run], "commit e77b695 ok");
    assert!(passes(&whole, "commit 3f9a12c ok"));
    assert!(!passes(&whole, "commit 3f9a12c bad"));
    let after = with_varying(vec![number(6)], "commit e77b695 7");
    assert!(passes(&after, "commit e77b695 8"));
    assert!(!passes(&after, "commit e77b696 7"));
}

/// Rows `{id, n}` with an id of their own in every take.
fn rows(take: usize, names: &str) -> Value {
    let row = |(at, name): (usize, char)| {
        let id = format!("6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b{take:02}{at:02}");
        json!({"id": id, "n": name.to_string()})
    };
    json!(names.chars().enumerate().map(row).collect::<Vec<_>>())
}

#[test]
fn rows_come_in_any_order_while_their_ids_vary() {
    judged(
        &[rows(1, "abcdefgh"), rows(2, "hcabgdfe")],
        &[
            (rows(3, "gfedcbah"), "same"),
            (rows(3, "abcdefgz"), "fails"),
            (rows(3, "abcdefgg"), "fails"),
            (rows(3, "abcdefg"), "fails"),
            (rows(3, "habcdefgi"), "shown"),
            (json!([]), "fails"),
        ],
    );
    let seen = |names: &str, seen: [u32; 4]| {
        let rows = names.chars().zip(seen);
        json!(
            rows.map(|(name, seen)| json!({"n": name.to_string(), "seen": seen}))
                .collect::<Vec<_>>()
        )
    };
    // One row was seen as often in both.
    judged(
        &[seen("abcd", [1, 22, 333, 4]), seen("bdca", [5, 6, 333, 7])],
        &[
            (seen("dcba", [8, 9, 10, 11]), "same"),
            (seen("dcbx", [8, 9, 10, 11]), "fails"),
        ],
    );
    let admins = |take: usize, names: &str, admin: char| {
        let mut rows = rows(take, names);
        for row in rows.as_array_mut().unwrap() {
            row["role"] = json!(if row["n"] == admin.to_string() {
                "admin"
            } else {
                "user"
            });
        }
        rows
    };
    judged(
        &[admins(1, "abcdef", 'a'), admins(2, "cfabde", 'a')],
        &[
            (admins(3, "fedcba", 'a'), "same"),
            (admins(3, "fedcba", 'b'), "fails"),
        ],
    );
}

#[test]
fn rows_in_their_order_are_held_to_it() {
    judged(
        &[rows(1, "abcd"), rows(2, "abcd")],
        &[
            (rows(3, "abcd"), "same"),
            (rows(3, "dcba"), "fails"),
            (rows(3, "abcz"), "fails"),
        ],
    );
}

/// An object with an entry for each of some keys.
fn keyed(keys: &[&str], value: &Value) -> Value {
    Value::Object(
        keys.iter()
            .map(|it| ((*it).to_owned(), value.clone()))
            .collect(),
    )
}

#[test]
fn an_object_whose_keys_are_made_up_anew_is_one_thing() {
    let ids = |take: usize| -> Vec<String> {
        (0..3)
            .map(|at| format!("6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b{take:02}{at:02}"))
            .collect()
    };
    let entries = |take: usize| {
        let ids = ids(take);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        keyed(&ids, &json!({"k": 1}))
    };
    let takes = [entries(1), entries(2)];
    let disagreements = score::learn(&takes.each_ref().map(read), &Rules::default()).disagreements;
    assert_eq!(disagreements, []);
    judged(
        &takes,
        &[
            (entries(3), "same"),
            (json!({}), "fails"),
            (json!([]), "fails"),
        ],
    );
    // Keys that are always there are held.
    let with_total = |take: usize, total: u32| {
        let mut entries = entries(take);
        entries["total"] = json!(total);
        entries
    };
    judged(
        &[with_total(1, 3), with_total(2, 3)],
        &[
            (with_total(3, 3), "same"),
            (with_total(3, 4), "fails"),
            (entries(3), "fails"),
            (keyed(&["total"], &json!(3)), "fails"),
        ],
    );
    // Names of people's choice, in records that are named anew.
    let named = |names: [&str; 3]| keyed(&names, &json!({"up": true}));
    judged(
        &[
            named(["otter", "lion", "cat"]),
            named(["wolf", "dog", "bear"]),
        ],
        &[(named(["fox", "owl", "hen"]), "same"), (json!({}), "fails")],
    );
    // An answer of another form is no answer with other keys.
    let takes = [
        json!({"rows": [1], "page": 1, "next": 2}),
        json!({"error": [1], "code": 5, "hint": 2}),
    ];
    assert!(
        !score::learn(&takes.map(|it| read(&it)), &Rules::default())
            .disagreements
            .is_empty()
    );
}

/// Values under ids that are others in each take.
fn by_id(take: usize, values: &[Value]) -> Value {
    let id = |at: usize| format!("6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b{take:02}{at:02}");
    let values = values.iter().enumerate();
    Value::Object(values.map(|(at, it)| (id(at), it.clone())).collect())
}

#[test]
fn values_are_held_although_their_keys_are_made_up_anew() {
    let order = |total: f64, nonce: usize| json!({"total": total, "nonce": nonce});
    for single in [false, true] {
        let orders = |take: usize, totals: &[f64]| {
            let rows = totals.iter().enumerate();
            let rows: Vec<Value> = rows
                .map(|(at, it)| order(*it, 7919 * (3 * take + at)))
                .take(if single { 1 } else { totals.len() })
                .collect();
            by_id(take, &rows)
        };
        let cases = [
            (orders(3, &[5.5, 7.25]), "same"),
            (orders(3, &[9.9, 7.25]), "fails"),
            (json!({}), "fails"),
        ];
        judged(&[orders(1, &[5.5, 7.25]), orders(2, &[5.5, 7.25])], &cases);
        if !single {
            // Maps are often served in the order of their keys, which is another one each time.
            let cases = [
                (orders(3, &[7.25, 5.5]), "same"),
                (orders(3, &[7.25]), "fails"),
                (orders(3, &[5.5, 7.25, 1.0]), "shown"),
                (orders(3, &[7.25, 9.9]), "fails"),
            ];
            judged(&[orders(1, &[5.5, 7.25]), orders(2, &[7.25, 5.5])], &cases);
        }
    }
    // What is no row is found by its value.
    let numbers = |take, values: [u32; 2]| by_id(take, &values.map(Value::from));
    judged(
        &[numbers(1, [3, 8]), numbers(2, [8, 3])],
        &[(numbers(3, [3, 8]), "same"), (numbers(3, [3, 9]), "fails")],
    );
    // Others each time, of which one column is always the same, say nothing of the next ones but what they are.
    let people = |take: usize, names: [&str; 2]| {
        let row = |name: &str| json!({"name": name, "born": 1900 + take, "currency": "EUR"});
        by_id(take, &names.map(row))
    };
    judged(
        &[people(1, ["kite", "owl"]), people(2, ["heron", "jay"])],
        &[
            (people(3, ["rook", "wren"]), "same"),
            (
                by_id(
                    3,
                    &[json!({"name": "rook", "born": 1903, "currency": "USD"})],
                ),
                "same",
            ),
            (by_id(3, &[json!({"name": 5})]), "fails"),
        ],
    );
    // What varies in each of them in its own way cannot be said of all.
    let notes = |take: usize| {
        let first = json!({"total": 1, "note": format!("after {} tries of 20", 3 + take)});
        by_id(
            take,
            &[
                first,
                json!({"total": 2, "note": format!("20 left, for {} users", 7 * take)}),
            ],
        )
    };
    judged(&[notes(1), notes(2)], &[(notes(3), "same")]);
    // All of them gone is one change.
    let numbers = |take| by_id(take, &[json!(3), json!(8)]);
    for gone in [json!({}), json!({"note": "none today"})] {
        let found = against(&[numbers(1), numbers(2)], &gone);
        assert_eq!(found.changes.len(), 1, "{:#?}", found.changes);
    }
}

#[test]
fn where_takes_had_two_kinds_both_may_stand() {
    let with = json!({"a": 1, "cached": {"at": "x"}});
    let without = json!({"a": 1});
    judged(
        &[with.clone(), without.clone(), with.clone()],
        &[
            (with.clone(), "same"),
            (without, "shown"),
            (json!({"a": 1, "cached": null}), "shown"),
            (json!({"a": 1, "cached": "none"}), "fails"),
            (json!({"a": 1, "cached": {}}), "fails"),
            (json!({"a": 1, "cached": {"at": "y"}}), "fails"),
        ],
    );
    // The same of a list and an empty one, of blocks, and of JSON and prose.
    let list = json!([1, 2]);
    let nothing = json!({"content": []});
    let prose = json!({"content": [{"type": "text", "text": "not yet"}]});
    for odd in [json!([]), nothing, prose] {
        let other = json!([1, 3]);
        let cases = [
            (odd.clone(), "shown"),
            (other, "fails"),
            (json!({"a": 1}), "fails"),
        ];
        judged(&[list.clone(), odd, list.clone()], &cases);
    }
}

#[test]
fn what_is_said_of_an_odd_take_is_true() {
    let said = |takes: &[Value], current: &Value| {
        let comparison = against(takes, current);
        assert!(!comparison.verdict.passed);
        let reasons = comparison.verdict.reasons.iter();
        reasons.map(Reason::sentence).collect::<Vec<_>>().join("; ")
    };
    let with = json!({"a": 1, "cached": true});
    let without = json!({"a": 1});
    let other = said(
        &[with.clone(), without.clone(), with.clone()],
        &json!({"a": 1, "cached": false}),
    );
    assert!(
        other.contains("changed, though stable in 2 of 3 recordings"),
        "{other}"
    );
    // Of every other place all of them agreed.
    let other = said(
        &[with.clone(), without.clone(), with],
        &json!({"a": 2, "cached": true}),
    );
    assert!(
        other.contains("changed, though stable in all 3 recordings"),
        "{other}"
    );
    let rows = said(&[json!([1, 2]), json!([]), json!([1, 2])], &json!([1, 3]));
    assert!(
        rows.contains("changed, though stable in 2 of 3 recordings"),
        "{rows}"
    );
    let number = said(
        &[json!({"a": 5}), json!({"a": null}), json!({"a": 6})],
        &json!({"a": "x"}),
    );
    assert!(
        number.contains("became a string, unlike the 2 of 3 recordings that agreed"),
        "{number}"
    );
    let number = said(&[json!({"a": 5}), json!({"a": 6})], &json!({"a": "x"}));
    assert!(
        number.contains("became a string, unlike both recordings"),
        "{number}"
    );
}

#[test]
fn what_varies_does_not_become_empty() {
    let image =
        |data: &str| json!({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]});
    judged(
        &[image("AAPQ"), image("AAXZ")],
        &[(image("AAKL"), "same"), (image(""), "fails")],
    );
    let text = |it: &str| json!(it);
    judged(
        &[text("quite a day"), text("no one else knows")],
        &[
            (text("that is another thing"), "same"),
            (text(" "), "fails"),
        ],
    );
    judged(
        &[json!({"motto": "quite"}), json!({"motto": "none"})],
        &[
            (json!({"motto": "other"}), "same"),
            (json!({"motto": ""}), "fails"),
        ],
    );
    // Where nothing came in one of two takes, nothing may come again.
    judged(
        &[json!({"motto": "quite"}), json!({"motto": ""})],
        &[
            (json!({"motto": ""}), "same"),
            (json!({"motto": "quite"}), "same"),
        ],
    );
}

#[test]
fn places_that_differ_for_one_reason_are_explained_by_it() {
    let uuid = |n: u32| format!("3f2504e0-4f89-41d3-9a0c-0305e82c{n:04x}");
    let rows = |n: u32| json!({"rows": [[uuid(n), 1], [uuid(n + 1), 2]]});
    let words = json!({"rows": [["none", 1], ["such", 2]]});
    let short = json!({"rows": [[uuid(90)], [uuid(91)]]});
    let columns = |names: &[&str], values: [&[u32]; 3]| json!({"columns": names, "rows": values});
    let full = columns(&["id", "state"], [&[1, 7], &[2, 8], &[3, 9]]);
    let within = |it: &Value| json!({"result": it.to_string()});
    for (takes, current, expected) in [
        (
            [rows(10), rows(20)],
            words.clone(),
            "2 of 4 elements of `rows/*` are not hexadecimal",
        ),
        (
            [within(&rows(10)), within(&rows(20))],
            within(&words),
            "2 of 4 elements of `result/json/rows/*` are not hexadecimal",
        ),
        (
            [rows(10), rows(20)],
            short,
            "every element of `rows` has another length",
        ),
        (
            [full.clone(), full],
            columns(&["id"], [&[1], &[2], &[3]]),
            "3 of 6 elements of `rows/*` are missing",
        ),
    ] {
        let comparison = against(&takes, &current);
        let text = comparison.verdict.reasons[0].sentence();
        assert!(text.ends_with(&format!(": {expected}")), "{text}");
    }
}

#[test]
fn a_list_of_many_rows_of_which_some_vary_is_still_looked_into() {
    // Names and loads come again by chance, so that not every row differs between the takes.
    let rows = |count: usize, take: usize| -> Vec<Value> {
        let row = |row: usize| {
            let at = row * 31 + take * 17;
            json!({"id": at * at % 9973, "name": format!("row {}", at % 5), "load": at % 7, "state": "up"})
        };
        (0..count).map(row).collect()
    };
    for count in [150, 300, 2000] {
        let answer = |rows: &[Value]| json!({"rows": rows, "total": "all"});
        let takes = [0, 1].map(|take| answer(&rows(count, take)));
        let passes = |rows: &[Value]| against(&takes, &answer(rows)).verdict.passed;
        assert!(passes(&rows(count, 2)), "{count}");
        assert!(!passes(&rows(1, 2)), "{count}");
        let edited = |edit: &dyn Fn(&mut Value)| {
            let mut rows = rows(count, 2);
            rows.iter_mut().skip(7).take(3).for_each(edit);
            rows
        };
        let down = edited(&|row| row["state"] = json!("down"));
        let without_load = edited(&|row| row["load"] = json!(null));
        let broken = edited(&|row| *row = json!({"broken": "yes"}));
        for rows in [down, without_load, broken] {
            assert!(!passes(&rows), "{count} {}", rows[7]);
        }
    }
}

#[test]
fn a_list_of_other_elements_each_time_that_is_cut_short_is_shown() {
    let id = |at: usize| {
        let made = at * 12_345_677 % 4_000_000_007;
        format!("{made:08x}-0d35-4b0c-9b33-1f2e3d4c5b6a")
    };
    let list = |from: usize, count: usize| (from..from + count).map(id).collect::<Value>();
    let map = |from: usize, count: usize| {
        let members = (from..from + count).map(|it| (id(it), json!({"n": it})));
        Value::Object(members.collect())
    };
    let both: [&dyn Fn(usize, usize) -> Value; 2] = [&list, &map];
    for of in both {
        let answer = |of: Value| json!({"of": of, "total": "all"});
        let takes = [answer(of(1, 30)), answer(of(100, 30))];
        for (count, is_shown) in [(30, false), (25, false), (2, true)] {
            let compared = against(&takes, &answer(of(300, count)));
            assert!(compared.verdict.passed, "{:?}", compared.verdict);
            let changes = &compared.changes;
            assert_eq!(!changes.is_empty(), is_shown, "{count} {changes:?}");
        }
    }
}
