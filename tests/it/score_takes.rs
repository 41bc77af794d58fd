//! What several takes of one scenario show besides what varies: where they disagree, and what one left behind for the next.

use mcp_eval::model;
use mcp_eval::model::rules::Rules;
use mcp_eval::model::{
    Change, ChangeKind, Failure, FailureKind, Outcome, Row, Step, Trajectory, Variation,
};
use mcp_eval::score::{self, Learned};
use serde_json::{Value, json};

use crate::score_kit::trajectory;

fn learned(takes: &[Vec<Value>]) -> Learned {
    let takes: Vec<_> = takes.iter().map(|it| trajectory(it)).collect();
    let learned = score::learn(&takes, &Rules::default());
    for it in learned.answers.iter().flat_map(|it| &it.varies) {
        // As a baseline must have it.
        assert_eq!(it.by == Variation::Tokens, !it.parts.is_empty(), "{it:?}");
    }
    learned
}

fn read(args: &Value, text: &str) -> Value {
    json!({"tool": "mcp__p__find", "args": args, "text": text, "reads": true})
}

fn effect(name: &str) -> Value {
    json!({"tool": "mcp__p__add", "args": {"name": name}, "text": "done"})
}

/// What a take answers of these rows, and of this total.
type Answers = fn(&[&str], Value) -> Vec<Value>;

#[test]
fn a_list_and_an_empty_one_disagree() {
    let found =
        |rows: Value| vec![json!({"tool": "mcp__p__list", "json": {"rows": rows}, "reads": true})];
    let takes = [found(json!([])), found(json!([1]))];
    let disagreements = learned(&takes).disagreements;
    let [only] = disagreements.as_slice() else {
        panic!("{disagreements:?}")
    };
    assert_eq!(only.path, "/content/0/json/rows");
    assert_eq!(only.found, ["an empty list", "a list"]);
    // With two takes, it is unknown which is the odd one.
    assert_eq!(only.odd, None);
    let third = learned(&[takes[0].clone(), takes[1].clone(), takes[1].clone()]);
    assert_eq!(third.disagreements[0].odd, Some(1));
    let halves = learned(&[takes.clone(), takes].concat());
    assert_eq!(halves.disagreements[0].odd, None);
}

#[test]
fn words_of_a_line_vary_in_a_text_that_grew() {
    let take = |made: &str, others: &str| {
        vec![
            effect(made),
            read(&json!({}), &format!("listed at {made}\n- tea\n{others}end")),
            effect("mug"),
        ]
    };
    let found = learned(&[take("07:04:05", ""), take("07:04:07", "- mug\n")]);
    let paths: Vec<&str> = (found.answers.iter().flat_map(model::Learned::paths)).collect();
    assert_eq!(paths, ["/content/0/text", "/content/0/text/0"]);
}

#[test]
fn only_an_effect_can_have_been_there_already() {
    let take = |reads: bool, is_error: bool| {
        vec![
            json!({"tool": "mcp__p__add", "text": "there it is", "reads": reads, "is_error": is_error}),
        ]
    };
    for reads in [true, false] {
        let takes = [take(reads, false), take(reads, true), take(reads, true)];
        let learned = learned(&takes);
        assert_eq!(learned.left_behind.is_none(), reads, "{learned:?}");
        assert_eq!(learned.disagreements.len(), usize::from(reads));
    }
    // What is made once is no server that was not ready at first.
    let made = vec![add("Ada", &json!([{"name": "Ada"}]))];
    let nothing = vec![add("Ada", &json!([]))];
    let once = learned(&[made, nothing.clone(), nothing]);
    assert_eq!(once.left_behind.unwrap().call, 1);
    assert_eq!(once.disagreements, []);
}

#[test]
fn what_a_later_take_finds_of_an_earlier_one_was_left_behind() {
    let take = |found: &str| vec![read(&json!({}), found), effect("brave-otter")];
    let learned = learned(&[take("nothing"), take("a brave-otter")]);
    let left = learned.left_behind.unwrap();
    assert_eq!(
        (left.call, left.tool.as_str(), left.effect.as_str()),
        (1, "mcp__p__find", "mcp__p__add")
    );
    assert_eq!(left.value, "\"brave-otter\"");
}

#[test]
fn nothing_was_left_behind_where_a_take_says_itself_what_it_finds() {
    let asked = |found: &str| {
        vec![
            read(&json!({"q": "brave-otter"}), found),
            effect("brave-otter"),
        ]
    };
    assert_eq!(
        learned(&[asked("nothing"), asked("no brave-otter")]).left_behind,
        None
    );
    // Another call at the same place is no answer to the same question.
    let (find, add) = (read(&json!({}), "nothing"), effect("brave-otter"));
    let mut echoed = add.clone();
    echoed["text"] = json!("added brave-otter");
    let learned = learned(&[vec![find.clone(), add], vec![echoed, find]]);
    assert_eq!(learned.left_behind, None);
}

fn add(name: &str, answer: &Value) -> Value {
    json!({"tool": "mcp__p__add", "args": {"name": name}, "json": answer})
}

fn list(answer: &Value) -> Value {
    json!({"tool": "mcp__p__list", "json": answer, "reads": true})
}

fn at(time: &str) -> String {
    format!("2026-10-08T10:41:{time}Z")
}

/// What a case expects: the call that found something, the effect that left it and what that was, and what was learned of each call.
type Shown<'a> = (
    Option<(usize, &'a str, &'a str)>,
    &'a [Option<&'a [&'a str]>],
);

#[test]
fn what_the_signs_of_a_lasting_state_show() {
    const ADD: &str = "mcp__p__add";
    let todo = |id: u64, title: &str, time: &str| json!({"id": id, "title": title, "created_at": at(time)});
    let todos = |items: &[Value]| list(&json!({"items": items, "total": items.len()}));
    let (bank, milk) = (todo(1, "Call the bank", "00"), |id, time| {
        todo(id, "Buy milk", time)
    });
    let lines =
        |said: &str, total: u32| read(&json!({}), &format!("To do:\n{said}\nTotal: {total}"));
    let blocks = |names: &[&str]| {
        let blocks = names.iter().map(|it| json!({"type": "text", "text": it}));
        json!({"tool": "mcp__p__list", "content": blocks.collect::<Vec<_>>(), "reads": true})
    };
    let get = |value: &Value| list(&json!({"value": value}));
    let log = |lines: &[&str], load: u32| list(&json!({"lines": lines, "load": load}));
    let clock = |n: u32, time: &str, took: u32| json!({"tool": "mcp__p__look", "args": {"n": n}, "json": {"at": at(time), "took_ms": took, "bytes": 70_000 + took}});
    let cases: [(&str, [Vec<Value>; 2], Shown<'_>); 11] = [
        (
            "a list that grew, and its count",
            [
                vec![
                    add("Buy milk", &milk(2, "10")),
                    todos(&[bank.clone(), milk(2, "10")]),
                ],
                vec![
                    add("Buy milk", &milk(3, "12")),
                    todos(&[bank.clone(), milk(2, "10"), milk(3, "12")]),
                ],
            ],
            (
                Some((2, ADD, "\"Buy milk\"")),
                &[
                    Some(&[
                        "/content/0/json/created_at: any time for 2026-10-08T10:41:10Z, 2026-10-08T10:41:12Z",
                        "/content/0/json/id: any value of its type (recorded 2, 3)",
                    ]),
                    Some(&[
                        "/content/0/json/items: all that was recorded, and more (recorded 2 elements, 3 elements)",
                        "/content/0/json/total: the recorded number or more (recorded 2, 3)",
                    ]),
                ],
            ),
        ),
        (
            "what varies in the elements of a list that grew",
            [
                vec![
                    add("Buy milk", &json!({"ok": true})),
                    log(&["Buy milk at 10:41:10"], 7),
                ],
                vec![
                    add("Buy milk", &json!({"ok": true})),
                    log(&["Buy milk at 10:41:09", "Buy milk at 10:41:12"], 7),
                ],
            ],
            (
                Some((2, ADD, "\"Buy milk\"")),
                &[
                    Some(&[]),
                    Some(&[
                        "/content/0/json/lines: all that was recorded, and more (recorded 1 elements, 2 elements)",
                        "/content/0/json/lines/0: any time for 10:41:10, 10:41:09",
                    ]),
                ],
            ),
        ),
        (
            "lines that grew",
            [
                vec![effect("Buy milk"), lines("- Call the bank\n- Buy milk", 2)],
                vec![
                    effect("Buy milk"),
                    lines("- Call the bank\n- Buy milk\n- Buy milk", 3),
                ],
            ],
            (
                Some((2, ADD, "\"Buy milk\"")),
                &[
                    Some(&[]),
                    Some(&[
                        "/content/0/text: all that was recorded, and more (recorded 4 lines, 5 lines)",
                        "/content/0/text/3: the recorded number or more (recorded \"Total: 2\", \"Total: 3\")",
                    ]),
                ],
            ),
        ),
        (
            "blocks that grew",
            [
                vec![effect("Buy milk"), blocks(&["Call the bank", "Buy milk"])],
                vec![
                    effect("Buy milk"),
                    blocks(&["Call the bank", "Buy milk", "Buy milk"]),
                ],
            ],
            (
                Some((2, ADD, "\"Buy milk\"")),
                &[
                    Some(&[]),
                    Some(&[
                        "/content: all that was recorded, and more (recorded 2 elements, 3 elements)",
                    ]),
                ],
            ),
        ),
        (
            "a list of the latest, whose elements hold other lists",
            [
                vec![
                    effect("Ada"),
                    list(
                        &json!({"orders": [{"by": "Ada", "lines": ["TEA", "MUG"]}, {"by": "Eve", "lines": ["TEA"]}], "count": 2}),
                    ),
                ],
                vec![
                    effect("Ada"),
                    list(
                        &json!({"orders": [{"by": "Ada", "lines": ["TEA", "MUG"]}, {"by": "Ada", "lines": ["TEA", "Ada"]}], "count": 3}),
                    ),
                ],
            ],
            (None, &[Some(&[])]),
        ),
        (
            "a list that grew by what nobody made",
            [
                vec![effect("Buy milk"), log(&["worker started"], 7)],
                vec![
                    effect("Buy milk"),
                    log(&["worker started", "worker ended"], 7),
                ],
            ],
            (
                None,
                &[
                    Some(&[]),
                    Some(&[
                        "/content/0/json/lines: any elements of their kinds (recorded 1, 2)",
                        "/content/0/json/lines/*: any value of its type (recorded \"worker started\", \"worker ended\")",
                    ]),
                ],
            ),
        ),
        (
            "what the last equal call returned",
            [
                vec![
                    get(&json!("no")),
                    effect("x"),
                    get(&json!("on")),
                    lines("- a", 8),
                ],
                vec![
                    get(&json!("on")),
                    effect("x"),
                    get(&json!("on")),
                    lines("- a", 9),
                ],
            ],
            (
                Some((1, ADD, "{\"value\":\"on\"}")),
                &[
                    None,
                    Some(&[]),
                    Some(&[]),
                    Some(&["/content/0/text: any number for 8, 9"]),
                ],
            ),
        ),
        (
            "an id that a later call got",
            [
                vec![get(&json!({"id": 7})), add("x", &json!({"id": 8}))],
                vec![get(&json!({"id": 8})), add("x", &json!({"id": 9}))],
            ],
            (
                Some((1, ADD, "\"8\"")),
                &[
                    None,
                    Some(&["/content/0/json/id: any value of its type (recorded 8, 9)"]),
                ],
            ),
        ),
        (
            "a value that a request repeats",
            [
                vec![
                    read(&json!({"q": "brave-otter"}), "nothing"),
                    effect("brave-otter"),
                ],
                vec![
                    read(&json!({"q": "brave-otter"}), "no brave-otter"),
                    effect("brave-otter"),
                ],
            ],
            (
                None,
                &[
                    Some(&[
                        "/content/0/text: any value of its type (recorded \"nothing\", \"no brave-otter\")",
                    ]),
                    Some(&[]),
                ],
            ),
        ),
        (
            "what a clock and a counter make",
            [
                vec![clock(0, "10", 121), clock(1, "11", 122)],
                vec![clock(0, "11", 122), clock(1, "12", 123)],
            ],
            (
                None,
                &[
                    Some(&[
                        "/content/0/json/at: any time for 2026-10-08T10:41:10Z, 2026-10-08T10:41:11Z",
                        "/content/0/json/bytes: any value of its type (recorded 70121, 70122)",
                        "/content/0/json/took_ms: any value of its type (recorded 121, 122)",
                    ]),
                    Some(&[
                        "/content/0/json/at: any time for 2026-10-08T10:41:11Z, 2026-10-08T10:41:12Z",
                        "/content/0/json/bytes: any value of its type (recorded 70122, 70123)",
                        "/content/0/json/took_ms: any value of its type (recorded 122, 123)",
                    ]),
                ],
            ),
        ),
        (
            "a call that was refused because of the first",
            [
                vec![add("x", &json!({"id": 8})), log(&["a"], 3)],
                vec![
                    json!({"tool": ADD, "args": {"name": "x"}, "text": "x is there already", "is_error": true}),
                    log(&["a"], 4),
                ],
            ],
            (
                Some((1, ADD, "")),
                &[
                    None,
                    Some(&["/content/0/json/load: any value of its type (recorded 3, 4)"]),
                ],
            ),
        ),
    ];
    for (name, takes, (left, expected)) in cases {
        let learned = learned(&takes);
        let found = learned.left_behind.as_ref();
        let found = found.map(|it| (it.call, it.effect.as_str(), it.value.as_str()));
        assert_eq!(found, left, "{name}");
        for (index, expected) in expected.iter().enumerate() {
            let known = learned.answers.iter().find(|it| it.call == index + 1);
            let varies = known.map(|it| it.varies.iter().map(ToString::to_string));
            let varies: Option<Vec<String>> = varies.map(Iterator::collect);
            let expected = expected.map(|it| it.iter().map(ToString::to_string).collect());
            assert_eq!(varies, expected, "{name}, call {}", index + 1);
        }
        assert!(learned.disagreements.is_empty(), "{name}");
    }
}

#[test]
fn no_answer_is_no_refusal() {
    let takes = [
        FailureKind::Timeout,
        FailureKind::Disconnected,
        FailureKind::Transport,
    ];
    for kind in takes {
        let take = || trajectory(&[effect("x")]);
        let mut later = take();
        let Some(Step::ToolCall(call)) = later.steps.first_mut() else {
            panic!("there is one call");
        };
        call.outcome = Outcome::Failure(Failure {
            kind,
            message: String::new(),
            code: None,
            data: None,
        });
        let learned = score::learn(&[take(), later], &Rules::default());
        assert_eq!(learned.left_behind, None, "{kind:?}");
        assert_eq!(learned.disagreements.len(), 1, "{kind:?}");
    }
}

#[test]
fn of_what_grew_all_that_was_recorded_must_stay() {
    let rows = |names: &[&str], total: Value| {
        let rows: Vec<Value> = names.iter().map(|it| json!({"name": it})).collect();
        vec![effect("milk"), list(&json!({"rows": rows, "total": total}))]
    };
    let lines = |names: &[&str], total: Value| {
        let said = names.join("\n  ");
        vec![
            effect("milk"),
            read(&json!({}), &format!("rows:\n  {said}\ntotal: {total}")),
        ]
    };
    let blocks = |names: &[&str], _: Value| {
        let blocks = names.iter().map(|it| json!({"type": "text", "text": it}));
        let content = blocks.collect::<Vec<_>>();
        vec![
            effect("milk"),
            json!({"tool": "mcp__p__list", "content": content, "reads": true}),
        ]
    };
    let forms: [Answers; 3] = [rows, lines, blocks];
    for (form, answer) in forms.into_iter().enumerate() {
        let takes = [
            answer(&["bank", "rent", "milk"], json!(3)),
            answer(&["bank", "rent", "milk", "milk"], json!(4)),
        ];
        let mut baseline = trajectory(&takes[0]);
        baseline.learned = learned(&takes).answers;
        for (names, total, passes) in [
            (&["bank", "rent", "milk"][..], json!(3), true),
            (
                &["bank", "rent", "milk", "milk", "milk", "milk"],
                json!(6),
                true,
            ),
            (&["new", "bank", "other", "rent", "milk"], json!(5), true),
            (&["bank", "rent"], json!(3), false),
            (&["rent", "bank", "milk", "milk"], json!(4), false),
            (&["bank", "WRONG", "milk", "milk"], json!(4), false),
            (
                &[
                    "WRONG", "WRONG", "WRONG", "WRONG", "WRONG", "WRONG", "WRONG",
                ],
                json!(7),
                false,
            ),
            (&[], json!(3), false),
            (&["bank", "rent", "milk", "milk"], json!(2), form == 2),
            (&["bank", "rent", "milk", "milk"], json!("4"), form == 2),
        ] {
            let current = trajectory(&answer(names, total.clone()));
            let compared = score::compare(&baseline, &current, &Rules::default());
            assert_eq!(compared.verdict.passed, passes, "{form}: {names:?} {total}");
            assert_eq!(
                compared.changes.is_empty(),
                passes,
                "{form}: {:?}",
                compared.changes
            );
        }
    }
}

#[test]
fn what_is_learned_of_an_id_of_many_pieces_may_be_kept() {
    // Base64 is one id, and counts as the words and numbers it is made of.
    let take = |text: &str| vec![read(&json!({}), text)];
    let takes = [
        take("UmVzb3VyY2UgY3JlYXRlZCBhdCAxMDoxMjo1MiBQTSB3aXRoIGlkIDM3OTEyNyBvaw=="),
        take("UmVzb3VyY2UgY3JlYXRlZCBhdCAxMDoxMjo1MiBQTSB3aXRoIGlkIDg2OTIxMSBvaw=="),
    ];
    let mut kept = trajectory(&takes[0]);
    kept.learned = learned(&takes).answers;
    assert!(!kept.learned[0].varies.is_empty(), "{:?}", kept.learned);
    assert_eq!(score::check_tokens(&kept), Ok(()));
}

#[test]
fn the_number_of_a_secret_is_nothing_that_varies() {
    let take = |text: &str| trajectory(&[read(&json!({}), text)]);
    let takes = [
        take("key <secret:token#2>, load 3"),
        take("key <secret:token#3>, load 5"),
    ];
    let known = score::learn(&takes, &Rules::default());
    let mut baseline = takes[0].clone();
    baseline.learned = known.answers;
    let [answer] = baseline.learned.as_slice() else {
        panic!("{:?}", baseline.learned)
    };
    assert_eq!(answer.varies.len(), 1);
    let passes = |text: &str| {
        let compared = score::compare(&baseline, &take(text), &Rules::default());
        compared.verdict.passed
    };
    assert!(passes("key <secret:token>, load 7"));
    assert!(!passes("key <secret:token#2>, load high"));
    assert!(!passes("key 2, load 7"));
}

/// A run against the baseline that two takes made: whether it passes, and what is shown of it.
fn against(takes: [&[Value]; 2], run: &[Value]) -> (bool, Vec<Change>) {
    let takes = takes.map(trajectory);
    let learned = score::learn(&takes, &Rules::default());
    let [mut baseline, _] = takes;
    baseline.learned = learned.answers;
    let comparison = score::compare(&baseline, &trajectory(run), &Rules::default());
    (comparison.verdict.passed, comparison.changes)
}

#[test]
fn a_number_that_names_something_is_repeated() {
    let run = |made: u64, shown: u64| {
        let order = |id: u64| json!({"id": id});
        [
            json!({"tool": "mcp__p__make", "json": order(made)}),
            json!({"tool": "mcp__p__show", "json": order(shown), "reads": true}),
        ]
    };
    let takes = [run(27_760, 27_760), run(31_415, 31_415)];
    let takes = takes.each_ref().map(<[Value; 2]>::as_slice);
    assert!(against(takes, &run(55_001, 55_001)).0);
    assert!(!against(takes, &run(55_001, 99_999)).0);
    // Numbers of few digits are counts as often as ids.
    let small = [run(12, 12), run(31, 31)];
    let small = small.each_ref().map(<[Value; 2]>::as_slice);
    assert!(against(small, &run(55, 56)).0);
}

#[test]
fn a_short_number_that_a_call_asks_for_is_what_it_gets() {
    type Said = fn(u64) -> Value;
    let forms: [Said; 4] = [
        // Beside an id that is not asked for, and a number that is the same each time.
        |id| json!({"text": format!("ticket {id} in 3 lists, trace {:016x}1a", id * 7_919_111_317)}),
        |id| json!({"json": {"id": id, "title": "milk"}}),
        |id| json!({"json": {"ticket_id": id.to_string(), "title": "milk"}}),
        |id| json!({"text": format!("Ticket {id}: milk, 1 litre")}),
    ];
    for said in forms {
        let run = |made: u64, asked: u64, shown: u64| {
            let call = |tool: &str, args: Value, id: u64| {
                let mut call = said(id);
                call["tool"] = json!(format!("mcp__p__{tool}"));
                call["args"] = args;
                call["reads"] = json!(tool == "show");
                call
            };
            [
                call("make", json!({}), made),
                call("show", json!({"id": asked, "limit": 3}), shown),
            ]
        };
        let takes = [run(7, 7, 7), run(8, 8, 8)].map(|it| trajectory(&it));
        let learned = score::learn(&takes, &Rules::default());
        let [mut baseline, _] = takes;
        baseline.learned = learned.answers;
        baseline.bindings = score::find_bindings(&baseline);
        let passes = |run: [Value; 2]| {
            let run = trajectory(&run);
            let compared = score::compare(&baseline, &run, &Rules::default());
            compared.verdict.passed
        };
        assert!(passes(run(9, 9, 9)));
        assert!(!passes(run(9, 9, 8)));
        assert!(!passes(run(105, 105, 104)));
    }
}

#[test]
fn an_id_of_an_earlier_call_is_not_new_any_more() {
    let id = |it: u32| format!("2b1c9b7e-3c1d-4a52-9a54-0d2f6f0b{it:04}");
    let run = |one: u32, two: u32| {
        [one, two].map(|it| json!({"tool": "mcp__p__make", "json": {"id": id(it)}}))
    };
    let takes = [run(1, 2), run(3, 4)];
    let takes = takes.each_ref().map(<[Value; 2]>::as_slice);
    assert_eq!(against(takes, &run(5, 6)), (true, Vec::new()));
    let (passes, changes) = against(takes, &run(7, 7));
    assert!(passes, "{changes:?}");
    // What was there has another value; nothing came to it.
    let [Change { kind, was, now, .. }] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(*kind, ChangeKind::Answer);
    let shown = |it: u32| Some(format!("\"{}\"", id(it)));
    assert_eq!((was, now), (&shown(2), &shown(7)));
}

#[test]
fn what_is_there_for_ever_beside_a_repeated_id_is_no_old_one() {
    let id = |it: u32| format!("{it:04}3c1d4a529a540d2f6f0b7d55aa01b2c3d4e5");
    let run = |made: u32, listed: u32| {
        [
            json!({"tool": "mcp__p__commit", "text": format!("made {}", id(made))}),
            json!({"tool": "mcp__p__log", "text": format!("{}\n{}", id(listed), id(1)), "reads": true}),
        ]
    };
    let takes = [run(2, 2), run(3, 3)];
    let takes = takes.each_ref().map(<[Value; 2]>::as_slice);
    assert_eq!(against(takes, &run(4, 4)), (true, Vec::new()));
    assert!(!against(takes, &run(4, 5)).0);
}

#[test]
fn a_fault_in_an_answer_that_repeats_an_id_is_no_unsteady_server() {
    let id = |it: u32| format!("2b1c9b7e-3c1d-4a52-9a54-0d2f6f0b{it:04}");
    // What is made, at which host, and what is shown when it is asked for.
    let run = |made: u32, host: &str, shown: u32| {
        let url = format!("https://{host}/n/{}", id(made));
        [
            json!({"tool": "mcp__p__make", "json": {"id": id(made), "url": url}}),
            json!({"tool": "mcp__p__show", "args": {"id": id(made)}, "json": {"id": id(shown)}, "reads": true}),
        ]
    };
    let takes = [run(1, "notes.example", 1), run(2, "notes.example", 2)].map(|it| trajectory(&it));
    let learned = score::learn(&takes, &Rules::default());
    let [mut baseline, _] = takes;
    baseline.learned = learned.answers;
    baseline.bindings = score::find_bindings(&baseline);
    assert_eq!(baseline.bindings.len(), 1);
    let good = run(9, "notes.example", 9);
    for [first, second] in [
        [run(3, "localhost", 3), run(4, "localhost", 4)],
        [run(5, "notes.example", 6), run(7, "notes.example", 8)],
    ] {
        assert!(!is_unsteady(&baseline, [&first, &second]));
        assert!(is_unsteady(&baseline, [&first, &good]));
    }
}

/// Whether the first of two runs, which fails, is one of an unsteady system.
fn is_unsteady(baseline: &Trajectory, runs: [&[Value]; 2]) -> bool {
    let runs = runs.map(trajectory);
    let rules = Rules::default();
    let [first, second] = runs
        .each_ref()
        .map(|it| score::compare(baseline, it, &rules));
    assert!(!first.verdict.passed);
    score::unsteady(baseline, runs.each_ref(), (&first, &second), &rules).is_some()
}

#[test]
fn what_is_wrong_in_each_run_alike_is_no_unsteady_server_whatever_varies_beside_it() {
    let run = |text: &str| [read(&json!({}), text)];
    let cases = [
        // What is right in two takes, what is wrong in two runs, and whether that is another thing each time.
        (
            "job 17 up; age 3d3h",
            "job 40 up; age 3d3h",
            "job 51 down; age 3d3h",
            "job 62 down; age 3d4h",
            false,
        ),
        (
            "job 17 done; disk 35%",
            "job 40 done; disk 35%",
            "job 51 done; disk 90%",
            "job 62 done; disk 90%",
            false,
        ),
        (
            "job 17 done; disk 35%",
            "job 40 done; disk 35%",
            "job 51 done; disk 90%",
            "job 62 done; disk 17%",
            true,
        ),
        (
            "#ORD-31245 is open",
            "#ORD-99127 is open",
            "#ORD-55012 is lost",
            "#ORD-70655 is lost",
            false,
        ),
        (
            "web: up\ndb: up\nmq: up",
            "mq: up\nweb: up\ndb: up",
            "db: off\nweb: up\nmq: up",
            "web: up\nmq: up\ndb: off",
            false,
        ),
        (
            "web: up\ndb: up\nmq: up",
            "mq: up\nweb: up\ndb: up",
            "db: up\nweb: up",
            "web: up\ndb: up",
            false,
        ),
    ];
    for (one, two, first, second, expected) in cases {
        let takes = [one, two].map(|it| trajectory(&run(it)));
        let learned = score::learn(&takes, &Rules::default());
        let [mut baseline, _] = takes;
        baseline.learned = learned.answers;
        let found = is_unsteady(&baseline, [&run(first), &run(second)]);
        assert_eq!(found, expected, "{first} / {second}");
    }
}

#[test]
fn what_stands_beside_the_content_is_shown_where_it_did_not_vary() {
    let run = |meta: Value, audience: &str| {
        let mut run = trajectory(&[read(&json!({}), "hello")]);
        for step in &mut run.steps {
            let Step::ToolCall(call) = step else { continue };
            let Outcome::Answer(answer) = &mut call.outcome else {
                continue;
            };
            answer.content[0]["annotations"] = json!({"audience": [audience]});
            answer.other.insert("_meta".to_owned(), meta.clone());
        }
        run
    };
    let meta = |tenant: &str, trace: u32| json!({"tenant": tenant, "trace": {"id": trace}});
    let takes = [run(meta("a", 1), "user"), run(meta("a", 2), "user")];
    let learned = score::learn(&takes, &Rules::default());
    let [mut baseline, _] = takes;
    baseline.learned = learned.answers;
    assert_eq!(
        baseline.learned[0].beside,
        Some(vec!["/_meta/trace/id".to_owned()])
    );
    let shown = |baseline: &Trajectory, meta: Value, audience: &str| {
        let compared = score::compare(baseline, &run(meta, audience), &Rules::default());
        assert!(compared.verdict.passed, "{compared:?}");
        let changes = compared.changes.into_iter();
        changes.filter_map(|it| it.path).collect::<Vec<_>>()
    };
    assert!(shown(&baseline, meta("a", 3), "user").is_empty());
    assert_eq!(
        shown(&baseline, meta("b", 3), "user"),
        ["response/_meta/tenant"]
    );
    assert_eq!(
        shown(&baseline, json!({"trace": {"id": 4}}), "assistant"),
        [
            "response/_meta/tenant",
            "response/content/0/annotations/audience"
        ]
    );
    // An object without members is none.
    let mut bare = run(json!({}), "user");
    bare.learned = score::learn(&[bare.clone(), bare.clone()], &Rules::default()).answers;
    assert_eq!(shown(&bare, json!({"b": 1}), "user"), ["response/_meta/b"]);
    assert_eq!(
        shown(&baseline, json!({}), "user"),
        ["response/_meta/tenant"]
    );
    // The scenario leaves it out, or people let go of it.
    let ignore = Rules {
        ignore: vec!["/_meta/tenant".to_owned()],
        ..Rules::default()
    };
    let other = run(meta("b", 3), "user");
    let compared = score::compare(&baseline, &other, &ignore);
    assert!(compared.changes.is_empty(), "{compared:?}");
    let compared = score::compare(&baseline, &other, &Rules::default());
    let ways =
        score::ways_to_ignore(&baseline, &other, &compared.changes[0], &Rules::default()).unwrap();
    let mut let_go = baseline.clone();
    score::let_vary(&mut let_go, 1, &ways[0]);
    assert!(score::unknown_places(&let_go).is_empty());
    assert!(shown(&let_go, meta("b", 3), "user").is_empty());
    // Of older baselines, nobody knows what varies there.
    baseline.learned[0].beside = None;
    assert!(shown(&baseline, meta("b", 3), "assistant").is_empty());
}

#[test]
fn a_tool_that_was_not_there_yet_is_no_regression_when_it_answers() {
    let run = |lists: bool, fails: bool| {
        let call = json!({"tool": "mcp__p__rate", "text": "5", "is_error": fails, "reads": true});
        let mut run = trajectory(&[call]);
        if !lists {
            run.catalogue.servers[0].tools.clear();
            run.catalogue.servers[0].later = vec!["other".to_owned()];
        }
        run
    };
    let passes = |baseline: &Trajectory, run: &Trajectory| {
        let comparison = score::compare(baseline, run, &Rules::default());
        let answers = comparison.rows.iter().map(|row| match row {
            Row::Pair(pair) => pair.response.similarity,
            Row::Missing { .. } | Row::Extra { .. } => 0.0,
        });
        assert!(answers.sum::<f64>() <= 1.0, "{:?}", comparison.rows);
        (comparison.verdict.passed, !comparison.changes.is_empty())
    };
    assert_eq!(passes(&run(false, true), &run(true, false)), (true, true));
    assert_eq!(passes(&run(true, true), &run(true, false)), (false, true));
    assert_eq!(passes(&run(false, true), &run(false, false)), (false, true));
}

#[test]
fn a_value_of_another_kind_is_the_same_wrong_answer_each_time() {
    let run = |lines: Value| {
        [json!({"tool": "mcp__p__tail", "json": {"lines": lines, "total": 2}, "reads": true})]
    };
    let takes = [
        run(json!(["started", "stopped"])),
        run(json!(["started", "stopped"])),
    ];
    let takes = takes.map(|it| trajectory(&it));
    let learned = score::learn(&takes, &Rules::default());
    let [mut baseline, _] = takes;
    baseline.learned = learned.answers;
    let joined = run(json!("INFO worker handled it WARN disk"));
    let unsteady = |second: Value| is_unsteady(&baseline, [&joined, &run(second)]);
    assert!(!unsteady(json!("ERROR no such file, worker WARN queue")));
    assert!(unsteady(json!(["started", "stopped"])));
    assert!(unsteady(json!(17)));
}

#[test]
fn an_id_within_a_text_is_shown_as_one_where_it_stands_alone() {
    let take = |id: u64| {
        let note = format!("ticket {id} of {id}17");
        trajectory(&[
            json!({"tool": "mcp__p__create", "args": {}, "json": {"id": id}}),
            json!({"tool": "mcp__p__note", "args": {"id": id, "about_id": note}, "json": {"ok": true}}),
        ])
    };
    let mut takes = [take(4711), take(5822)];
    let learned = score::learn(&takes, &Rules::default());
    learned.keep_in(&mut takes[0]);
    let shown = score::by_kind(&takes[0]);
    let arguments = shown
        .calls()
        .nth(1)
        .map(|it| Value::Object(it.arguments.clone()));
    let expected = json!({"id": "<id>", "about_id": "ticket <id> of 471117"});
    assert_eq!(arguments, Some(expected), "{:?}", takes[0].bindings);
}

#[test]
fn a_text_that_repeats_a_wrapped_result_is_shown_as_that_is() {
    let take = |id: &str, took: u64| {
        let list = json!([{"id": id, "state": "open", "took_ms": took}]);
        trajectory(&[json!({
            "tool": "mcp__p__list",
            "args": {},
            "content": [{"type": "text", "text": list.to_string()}],
            "structured": {"result": list},
        })])
    };
    let mut takes = [
        take("f3dcb4d5-bbd3-4b89-ac9a-410c3024b89d", 314),
        take("d7837267-6edc-4b91-98e1-1ce0df8bc2ac", 271),
    ];
    let learned = score::learn(&takes, &Rules::default());
    learned.keep_in(&mut takes[0]);
    let shown = score::by_kind(&takes[0]);
    let Some(Outcome::Answer(answer)) = shown.calls().next().map(|it| &it.outcome) else {
        panic!("{shown:?}");
    };
    let list = json!([{"id": "<id>", "state": "open", "took_ms": "<number>"}]);
    assert_eq!(answer.text(), list.to_string());
    let structured = answer.structured_content.as_ref();
    assert_eq!(structured, Some(&json!({"result": list})));
}
