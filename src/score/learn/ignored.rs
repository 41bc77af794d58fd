//! A place of an answer that people say varies, although no two takes have shown it.

use serde_json::Value;

use crate::by_hand::learned::{NOTHING, place_texts};
use crate::ids::binding::at;
use crate::values::path::covers_path;
use model::rules::Rules;
use model::{Answer, Change, ChangeKind, Learned, Outcome, Trajectory, Variation, Varying};

use super::known::{add, news};
use super::{PLACES, learn, wording};

/// What an accepted trajectory may be said to let vary, so that a change between it and a run is none any more: the ways to say it, the
/// narrowest first. Which of them does that, and nothing else, shows when the two are compared again.
///
/// - Of a text that is more than one value, the words that differ and are not known to vary; the whole of it where there are no such.
/// - Of everything else, the place: whatever stands there may stand there, also nothing.
/// - Of an element that is new, that there may be one more; where others are new before it, that there may be as many.
/// - Else the list that it stands in, as two takes would show it.
///
/// # Errors
///
/// Why nothing of that can be, and what to do instead.
pub fn ways_to_ignore(
    accepted: &Trajectory,
    current: &Trajectory,
    change: &Change,
    rules: &Rules,
) -> Result<Vec<Vec<Varying>>, String> {
    let path = change
        .path
        .as_deref()
        .and_then(|it| it.strip_prefix("response"));
    let of_call = change.baseline.filter(|it| *it > 0);
    let call = of_call.and_then(|it| accepted.calls().nth(it - 1));
    let (Some(path), Some(number), Some(call)) = (path, of_call, call) else {
        return Err(
            "only a place in an answer can be ignored; `scoring` in the scenario has rules for the rest"
                .to_owned(),
        );
    };
    let Outcome::Answer(answer) = &call.outcome else {
        return Err("the call was not answered, so there is no place in its answer".to_owned());
    };
    let known = accepted.learned.iter().find(|it| it.call == number);
    let learned = learn(&[accepted, current], rules).answers.into_iter();
    let of_call = learned.filter(|it| it.call == number);
    let shown: Vec<Varying> = of_call.flat_map(|it| it.varies).collect();
    let nothing = Learned::default();
    let words = |places: &[Varying]| -> Vec<Varying> {
        let texts = places.iter().filter(|it| keeps_words(it, answer));
        texts
            .filter_map(|it| news(it, known.unwrap_or(&nothing)))
            .collect()
    };
    if !path.starts_with('/') {
        // An error is one text, whatever differs in it.
        if change.kind != ChangeKind::Error || !answer.is_error || shown.is_empty() {
            return Err(
                "the answer as a whole differs, and only a place in it can be ignored".to_owned(),
            );
        }
        let whole = shown.iter().map(|it| anything(&it.path, change)).collect();
        let ways = [words(&shown), whole].into_iter();
        return Ok(ways.filter(|it| !it.is_empty()).collect());
    }
    let mut ways = Vec::new();
    let within = shown.iter().filter(|it| covers_path(path, &it.path));
    let within: Vec<Varying> = within.cloned().collect();
    ways.push(words(&within));
    ways.push(vec![anything(path, change)]);
    if change.was.is_none() {
        let one_more = |place: String| Varying {
            heard: vec![NOTHING.to_owned()],
            ..anything(&place, change)
        };
        let places: Vec<Varying> = more(answer, path, known).map(one_more).collect();
        // Those before it are the ones that come and go, where it is not the first.
        ways.extend((1..=places.len()).map(|count| places[..count].to_vec()));
    }
    let around = shown
        .into_iter()
        .filter(|it| it.path != path && covers_path(&it.path, path));
    ways.extend(around.map(|it| vec![it]));
    ways.retain(|it| !it.is_empty());
    Ok(ways)
}

/// Writes into an accepted trajectory that places of an answer vary.
pub fn let_vary(accepted: &mut Trajectory, call: usize, places: &[Varying]) {
    if !accepted.learned.iter().any(|it| it.call == call) {
        accepted.learned.push(Learned {
            call,
            takes: 1,
            ..Learned::default()
        });
        accepted.learned.sort_by_key(|it| it.call);
    }
    for known in accepted.learned.iter_mut().filter(|it| it.call == call) {
        add(&mut known.varies, places.to_vec());
    }
}

/// Whatever is at a place, with what the two sides of a change have there.
fn anything(path: &str, change: &Change) -> Varying {
    let said = |it: &Option<String>| it.clone().unwrap_or_else(|| NOTHING.to_owned());
    Varying {
        heard: vec![said(&change.was), said(&change.now)],
        ..Varying::new(path.to_owned(), Variation::Anything)
    }
}

/// Whether a text varies in some of its words, and has others that stay.
fn keeps_words(it: &Varying, answer: &Answer) -> bool {
    if it.by != Variation::Tokens {
        return false;
    }
    let texts = place_texts(it, answer).unwrap_or_default();
    let is_all =
        |text: &String| matches!(it.parts.as_slice(), [only] if wording::is_whole(text, only));
    !texts.is_empty() && !texts.iter().any(is_all)
}

/// The most elements that are let go of so that one of them is.
const MORE: usize = 8;

/// The places after the last recorded element of the list that a path leads into, and after those that are known to come and go there.
fn more(answer: &Answer, path: &str, known: Option<&Learned>) -> impl Iterator<Item = String> {
    let list = path
        .rsplit_once('/')
        .filter(|(_, index)| index.parse::<usize>().is_ok());
    let list = list.and_then(|(list, _)| match at(answer, list)? {
        Value::Array(elements) => Some((list, elements.len())),
        _ => None,
    });
    let is_known =
        move |place: &String| known.is_some_and(|it| it.paths().any(|path| path == place));
    let places = list.into_iter().flat_map(|(list, end)| {
        (end..end.saturating_add(PLACES)).map(move |it| format!("{list}/{it}"))
    });
    places.filter(move |it| !is_known(it)).take(MORE)
}
