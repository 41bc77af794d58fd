//! Ids that a server makes up in one answer and repeats in another place: what was equal there in all takes must be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::response::outcome::Broken;
use crate::text::key;
use crate::text::token::{LONG, tokens};
use crate::values::embedded::embedded;
use crate::values::path::{covers_path, escape};
use crate::values::same::DEPTH;
use model::{Answer, Repeat, TokenKind, ToolCall, Trajectory};

/// Ids of so many letters and digits are no chance, and hashes of so many are short for longer ones.
const LONG_ID: usize = 16;
const SHORT_HASH: usize = 6;
/// A number of so many digits is no count; one that a call is made with may be shorter.
const NUMBER: usize = 5;
/// The most that is looked at in one run.
const IDS: usize = 100_000;

/// A place in the answer to a call.
type Place = (usize, String);

/// The ids of a run: where each was first, and where else it is.
#[derive(Debug, Default)]
struct Ids {
    /// The ids that were made up at each place.
    made: BTreeMap<Place, BTreeSet<String>>,
    /// Short hashes, where each was first.
    short: HashMap<Place, BTreeSet<String>>,
    /// Where ids are.
    at: HashMap<Place, HashSet<String>>,
}

/// What later answers repeat of earlier ones in all takes, by the number of the call that repeats it.
pub(crate) fn learn(takes: &[&Trajectory]) -> HashMap<usize, Vec<Repeat>> {
    let mut all: Option<BTreeSet<(Place, Place)>> = None;
    let takes: Vec<Ids> = takes.iter().map(|it| Ids::of(it)).collect();
    for take in &takes {
        // Places in which all that was made up at another is.
        let mut of_take = BTreeSet::new();
        let mut holding: HashMap<&str, Vec<&Place>> = HashMap::new();
        for (place, ids) in &take.at {
            for id in ids {
                holding.entry(id).or_default().push(place);
            }
        }
        for (from, made) in &take.made {
            let has = |take: &Ids, it: &String| take.made[from].contains(it);
            let is_in_all = |it: &&String| {
                (takes.iter()).all(|take| take.made.contains_key(from) && has(take, it))
            };
            // A number that is the same in all takes is none that was made up.
            let (numbers, others): (Vec<&String>, Vec<&String>) =
                made.iter().partition(|it| is_short(it));
            let numbers = numbers.into_iter().filter(|it| !is_in_all(it)).collect();
            for made in [numbers, others] {
                let mut counts: HashMap<&Place, usize> = HashMap::new();
                let places = made.iter().filter_map(|it| holding.get(it.as_str()));
                for place in places.flatten() {
                    *counts.entry(place).or_default() += 1;
                }
                let whole = counts
                    .into_iter()
                    .filter(|(place, count)| *count == made.len() && *place != from);
                of_take.extend(whole.map(|(place, _)| (from.clone(), place.clone())));
            }
        }
        all = Some(match all {
            None => of_take,
            Some(all) => all.intersection(&of_take).cloned().collect(),
        });
    }
    let mut repeats: HashMap<usize, Vec<Repeat>> = HashMap::new();
    for (from, place) in all.unwrap_or_default() {
        let made = |it: &Ids| it.made.get(&from).cloned();
        let first = takes.first().and_then(made);
        // What is the same in all takes is no id that was made up.
        if takes.len() > 1 && takes[1..].iter().all(|it| made(it) != first) {
            repeats.entry(place.0).or_default().push(Repeat {
                path: place.1,
                call: from.0,
                from: from.1,
            });
        }
    }
    repeats
}

/// What should be repeated and is not, by the number of the baseline's call. `partners` leads from the baseline's calls to those of the run.
pub(crate) fn broken(
    baseline: &Trajectory,
    current: &Trajectory,
    partners: &HashMap<usize, usize>,
) -> HashMap<usize, Vec<Broken>> {
    let mut broken: HashMap<usize, Vec<Broken>> = HashMap::new();
    if baseline
        .learned
        .iter()
        .all(|it| it.repeats.is_empty() && it.varies.is_empty())
    {
        return broken;
    }
    let (before, ids) = (Ids::of(baseline), Ids::of(current));
    let made_at: HashMap<&str, &Place> = (ids.made.iter().rev())
        .flat_map(|(place, made)| made.iter().map(move |it| (it.as_str(), place)))
        .collect();
    for learned in &baseline.learned {
        for repeat in &learned.repeats {
            let (Some(made_by), Some(repeated_by)) =
                (partners.get(&repeat.call), partners.get(&learned.call))
            else {
                continue;
            };
            let from = (*made_by, repeat.from.clone());
            let made = ids.made.get(&from).into_iter().chain(ids.short.get(&from));
            let there = ids.at.get(&(*repeated_by, repeat.path.clone()));
            let was = before.at.get(&(repeat.call, repeat.from.clone()));
            let has = |place: Option<&HashSet<String>>, it: &String| {
                place.is_some_and(|ids| ids.contains(it))
            };
            // What was there before, too, is nothing that the server made up; nor are numbers and words.
            let is_id = |it: &&String| {
                it.bytes().any(|it| it.is_ascii_digit())
                    && it.bytes().any(|it| it == b'#' || it.is_ascii_alphabetic())
            };
            // What the recording itself did not repeat there, be it a number or another id, is none of it.
            let repeated = before.at.get(&(learned.call, repeat.path.clone()));
            let recorded = before.made.get(&(repeat.call, repeat.from.clone()));
            let is_repeated = |it: &&String| {
                let mut alike = recorded
                    .into_iter()
                    .flatten()
                    .filter(|of| is_short(of) == is_short(it));
                alike.any(|of| has(repeated, of))
            };
            let made = made.flatten().filter(|it| is_id(it) && !has(was, it));
            let mut made = made.filter(is_repeated);
            if let Some(id) = made.find(|it| !has(there, it)) {
                broken.entry(learned.call).or_default().push(Broken {
                    repeat: repeat.clone(),
                    instead_of: None,
                    id: id.trim_start_matches('#').to_owned(),
                });
            }
        }
        // What was made up in each take, and now was made up by an earlier call.
        let places = before.made.range((learned.call, String::new())..);
        let places = places.take_while(|(place, _)| place.0 == learned.call);
        for ((_, path), recorded) in places {
            let varies = learned.varies.iter().any(|it| covers_path(&it.path, path));
            let Some(now) = partners.get(&learned.call).filter(|_| varies) else {
                continue;
            };
            let Some(there) = ids.at.get(&(*now, path.clone())) else {
                continue;
            };
            // What was made up once and for all is there still; and what the place repeats is no new one.
            let Some(recorded) = recorded.iter().find(|it| !there.contains(*it)) else {
                continue;
            };
            let repeats = |call: usize| {
                let mut here = learned.repeats.iter().filter(|it| it.path == *path);
                here.any(|it| partners.get(&it.call) == Some(&call))
            };
            let old = there
                .iter()
                .filter_map(|it| Some((it, made_at.get(it.as_str())?)));
            let old = old.filter(|(_, from)| from.0 < *now && !repeats(from.0));
            if let Some((id, from)) = old.min() {
                broken.entry(learned.call).or_default().push(Broken {
                    repeat: Repeat {
                        path: path.clone(),
                        call: from.0,
                        from: from.1.clone(),
                    },
                    id: id.clone(),
                    instead_of: Some(recorded.clone()),
                });
            }
        }
    }
    broken
}

impl Ids {
    fn of(run: &Trajectory) -> Self {
        let mut ids = Self::default();
        let mut known: HashSet<String> = HashSet::new();
        // Short hashes by how they begin, to be found in long ones.
        let mut short: HashMap<String, Vec<(Place, String)>> = HashMap::new();
        let asked: Vec<HashSet<String>> = run.calls().map(numbers_of).collect();
        let asked_in_all: HashSet<&str> = asked.iter().flatten().map(String::as_str).collect();
        for (index, call) in run.calls().enumerate() {
            let mut said = Vec::new();
            for it in call.arguments.values() {
                collect(it, "", DEPTH, &mut |_, id| said.push(id.to_owned()));
            }
            known.extend(said.into_iter().chain(asked[index].iter().cloned()));
            let Some(answer) = call.outcome.answer() else {
                continue;
            };
            let mut found: Vec<(String, String)> = Vec::new();
            of_answer(answer, &mut |path, id| {
                // A short number is one that this call asks for, or that the answer is the first to say and a later call asks for.
                let is_meant = || asked_in_all.contains(id) && !known.contains(id);
                if !is_short(id) || asked[index].contains(id) || is_meant() {
                    found.push((path.to_owned(), id.to_owned()));
                }
            });
            if ids.at.len() > IDS {
                break;
            }
            let number = index + 1;
            let mut new = HashSet::new();
            for (path, id) in found {
                let place = (number, path);
                let begins = id.get(..SHORT_HASH).filter(|_| is_hash(&id));
                let alike = begins.and_then(|it| short.get(it)).into_iter().flatten();
                for (from, hash) in
                    alike.filter(|(_, hash)| id.len() > hash.len() && id.starts_with(hash.as_str()))
                {
                    // The long one stands for the short one.
                    ids.at
                        .entry(place.clone())
                        .or_default()
                        .insert(hash.clone());
                    ids.made
                        .entry(from.clone())
                        .or_default()
                        .insert(hash.clone());
                }
                if !known.contains(&id) && (is_made_up(&id) || new.contains(&id)) {
                    if new.insert(id.clone()) {
                        ids.made
                            .entry(place.clone())
                            .or_default()
                            .insert(id.clone());
                    }
                } else if !known.contains(&id) && is_hash(&id) {
                    let alike = short.entry(id[..SHORT_HASH].to_owned()).or_default();
                    if !alike.iter().any(|(_, it)| *it == id) {
                        alike.push((place.clone(), id.clone()));
                        ids.short
                            .entry(place.clone())
                            .or_default()
                            .insert(id.clone());
                    }
                }
                ids.at.entry(place).or_default().insert(id);
            }
            known.extend(new);
        }
        ids
    }
}

fn of_answer(answer: &Answer, note: &mut impl FnMut(&str, &str)) {
    if let Some(structured) = &answer.structured_content {
        collect(structured, "/structuredContent", DEPTH, note);
    }
    for (index, block) in answer.content.iter().enumerate() {
        let Some(text) = block.get("text").and_then(Value::as_str) else {
            continue;
        };
        match embedded(text) {
            Some(json) => collect(&json, &format!("/content/{index}/json"), DEPTH, note),
            None => of_text(text, &format!("/content/{index}/text"), note),
        }
    }
}

fn collect(value: &Value, path: &str, depth: usize, note: &mut impl FnMut(&str, &str)) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::String(text) => of_text(text, path, note),
        Value::Array(items) => {
            let path = format!("{path}/*");
            for it in items {
                collect(it, &path, depth, note);
            }
        }
        Value::Object(members) => {
            for (key, it) in members {
                let path = format!("{path}/{}", escape(key));
                // A number is an id where its key says so, or that is too long for a count.
                if let Value::Number(number) = it
                    && let digits = number.to_string()
                    && digits.bytes().all(|it| it.is_ascii_digit())
                    && (key::is_id(key) || digits.len() >= LONG_ID)
                {
                    note(&path, &format!("#{digits}"));
                }
                collect(it, &path, depth, note);
            }
        }
        _ => {}
    }
}

/// The whole numbers that a call is made with.
fn numbers_of(call: &ToolCall) -> HashSet<String> {
    let mut left: Vec<&Value> = call.arguments.values().collect();
    let mut numbers = HashSet::new();
    while let Some(it) = left.pop() {
        match it {
            Value::Number(it) => numbers.extend(as_id(&it.to_string())),
            Value::String(it) => numbers.extend(as_id(it)),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            Value::Null | Value::Bool(_) => {}
        }
    }
    numbers
}

/// A whole number as an id.
fn as_id(text: &str) -> Option<String> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit());
    (is_number && (1..LONG_ID).contains(&text.len())).then(|| format!("#{text}"))
}

fn of_text(text: &str, path: &str, note: &mut impl FnMut(&str, &str)) {
    if text.len() > LONG {
        return;
    }
    for it in tokens(text) {
        if let Some(number) = as_id(it.text).filter(|it| is_short(it)) {
            note(path, &number);
        }
        // A short hash may happen to have digits alone, or letters.
        if is_hash(it.text) || (it.kind == TokenKind::Id && is_made_up(it.text)) {
            note(path, it.text);
        }
    }
}

/// Whether an id is a number of a few digits.
fn is_short(id: &str) -> bool {
    id.starts_with('#') && id.len() <= NUMBER
}

/// Whether a token is an id that no two servers would make up alike: a UUID, or many letters and digits without a sign.
fn is_made_up(id: &str) -> bool {
    let is_number = id.starts_with('#');
    let is_uuid = id.len() == 36 && id.bytes().filter(|it| *it == b'-').count() == 4;
    let is_plain = id.bytes().all(|it| it.is_ascii_alphanumeric());
    is_number
        || is_uuid
        || (is_plain && id.len() >= LONG_ID && id.bytes().any(|it| it.is_ascii_digit()))
}

/// Whether a token is a hash, short or long.
fn is_hash(id: &str) -> bool {
    let is_hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    id.len() >= SHORT_HASH && id.bytes().all(is_hex)
}
