//! What several takes of one scenario show besides what varies: where they disagree, and what one left behind for the next.

use mcp_eval::model::rules::Rules;
use mcp_eval::score::{self, Learned};
use serde_json::{Value, json};

use crate::score_kit::trajectory;

fn learned(takes: &[Vec<Value>]) -> Learned {
    let takes: Vec<_> = takes.iter().map(|it| trajectory(it)).collect();
    score::learn(&takes, &Rules::default())
}

fn read(args: &Value, text: &str) -> Value {
    json!({"tool": "mcp__p__find", "args": args, "text": text, "reads": true})
}

fn effect(name: &str) -> Value {
    json!({"tool": "mcp__p__add", "args": {"name": name}, "text": "done"})
}

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
