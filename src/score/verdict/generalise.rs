//! Many places of one answer that changed in one way, as one change.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::values::memo::embedded;
use model::reason::Answered;
use model::{Answer, Difference, Edit, Outcome, ResponseScore};
use model::{starred, unescaped};

/// What places that differ in nothing but an index have in common.
#[derive(Debug, Default)]
struct Places<'a> {
    then: Vec<&'a str>,
    now: Vec<&'a str>,
    /// Every place has a value on both sides, in this order.
    paired: bool,
}

/// How a value became another.
#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    /// What stands before it now.
    Gained(String),
    Lost(String),
    GainedAfter(String),
    LostAfter(String),
    /// How it began, and begins now.
    Begins(String, String),
    /// What it was, and is now.
    Replaced(String, String),
    /// The same happened to each of them: `renamed to "endpoint"`.
    Same(Edit),
}

/// ``every `tools/*/name` gained `everything:` ``: where two places or more changed in one way, and nothing or little else did. With one of
/// the places.
pub(super) fn generalised<'a>(
    baseline: &Outcome,
    response: &'a ResponseScore,
) -> Option<(&'a Difference, Answered)> {
    let differences = &response.differences;
    let mut groups: BTreeMap<String, Places<'_>> = BTreeMap::new();
    for it in differences {
        let path = starred(&it.path);
        if path == it.path {
            continue;
        }
        let group = groups.entry(path).or_insert_with(|| Places {
            paired: true,
            ..Places::default()
        });
        group.paired &= it.expected.is_some() && it.got.is_some();
        group.then.extend(it.expected.as_deref());
        group.now.extend(it.got.as_deref());
    }
    let (path, places) = groups.into_iter().max_by_key(|(_, it)| it.then.len())?;
    let count = places.then.len();
    let lost = differences
        .iter()
        .filter(|it| it.expected.is_some())
        .count();
    if count < 2 || 2 * count < lost {
        return None;
    }
    let example = differences.iter().find(|it| starred(&it.path) == path)?;
    let same = same(differences, &path);
    // That something changed says less than what all became.
    let how = match &same {
        Some(How::Same(edit)) if *edit != Edit::Changed && example.grade.is_none() => same,
        _ => common(&places).or(same),
    }?;
    let total = match baseline {
        Outcome::Answer(answer) => leaves(answer, &path),
        Outcome::Failure(_) => 0,
    };
    // Of many differences the first are kept one by one, and how many places there are in all is not known.
    let is_all = !(differences.iter()).any(|it| matches!(it.edit, Edit::Rest { .. }));
    let which = match (count >= total, is_all) {
        _ if total == 0 => count.to_string(),
        (true, _) => "every".to_owned(),
        (false, true) => format!("{count} of {total}"),
        (false, false) => format!("at least {count} of {total}"),
    };
    let are_several = total == 0 || count < total;
    let many = Answered::Many {
        places: format!("{which} {}", named(shown(&path), are_several)),
        became: how.describe(are_several),
        has_values: matches!(how, How::Begins(..) | How::Replaced(..)),
    };
    Some((example, many))
}

/// The path within the document, without the part that leads to the document.
fn shown(path: &str) -> &str {
    let steps = path.trim_start_matches('/');
    let inner = match steps.split_once('/') {
        Some(("structuredContent", inner)) => Some(inner),
        Some(("content", rest)) => rest.split_once("/json/").map(|(_, inner)| inner),
        _ => None,
    };
    inner.unwrap_or(steps)
}

/// A place for people; of a list itself, they know the elements: ``element of `rows` ``.
fn named(path: &str, are_several: bool) -> String {
    let element = if are_several {
        "elements of"
    } else {
        "element of"
    };
    match path.strip_suffix('*').map(|it| it.trim_end_matches('/')) {
        Some("") => format!("{element} the `list`"),
        Some(list) => format!("{element} `{list}`"),
        None => format!("`{path}`"),
    }
}

/// What happened to each of them, as a verb of the sentence.
fn said_of(edit: &Edit, are_several: bool) -> String {
    let is = if are_several { "are" } else { "is" };
    let what = match edit {
        Edit::Missing(_) => return format!("{is} missing"),
        Edit::Renamed(_) => return format!("{is} {edit}"),
        _ => edit.to_string(),
    };
    let (verb, rest) = what.split_once(' ').unwrap_or((&what, ""));
    let verb = match verb {
        _ if !are_several => return what,
        "is" => "are",
        "was" => "were",
        "has" => "have",
        "does" => "do",
        "stands" | "lacks" | "holds" | "begins" => verb.trim_end_matches('s'),
        verb => verb,
    };
    format!("{verb} {}", rest.replace(" its ", " their "))
        .trim_end()
        .to_owned()
}

fn common(places: &Places<'_>) -> Option<How> {
    // Equally many removed and added elements are paired in order.
    if places.now.is_empty() || places.then.len() != places.now.len() {
        return None;
    }
    let pairs: Vec<(&str, &str)> = (places.then.iter().zip(&places.now))
        .map(|(then, now)| (unquoted(then), unquoted(now)))
        .collect();
    let (first_then, first_now) = *pairs.first()?;
    if places.paired && pairs.iter().all(|it| *it == (first_then, first_now)) {
        let (was, now) = places.then.first().zip(places.now.first())?;
        return Some(How::Replaced((*was).to_owned(), (*now).to_owned()));
    }
    candidates(first_then, first_now)
        .into_iter()
        .find(|how| pairs.iter().all(|(then, now)| how.fits(then, now)))
}

/// What happened to every one of the places, where that broke them.
fn same(differences: &[Difference], path: &str) -> Option<How> {
    let mut here = differences.iter().filter(|it| starred(&it.path) == path);
    let first = here.next()?;
    let is_same = |it: &Difference| (&it.edit, it.breaks) == (&first.edit, first.breaks);
    (first.breaks.is_some() && here.all(is_same)).then(|| How::Same(first.edit.clone()))
}

fn candidates(then: &str, now: &str) -> Vec<How> {
    let text = |it: &str| (!it.is_empty()).then(|| it.to_owned());
    let pieces = [
        now.strip_suffix(then).and_then(text).map(How::Gained),
        then.strip_suffix(now).and_then(text).map(How::Lost),
        now.strip_prefix(then).and_then(text).map(How::GainedAfter),
        then.strip_prefix(now).and_then(text).map(How::LostAfter),
    ];
    let mut found: Vec<How> = pieces.into_iter().flatten().collect();
    let ends: usize = (then.chars().rev().zip(now.chars().rev()))
        .take_while(|(a, b)| a == b)
        .map(|(it, _)| it.len_utf8())
        .sum();
    let (was, is) = (&then[..then.len() - ends], &now[..now.len() - ends]);
    if ends > 0 && !was.is_empty() && !is.is_empty() {
        found.push(How::Begins(was.to_owned(), is.to_owned()));
    }
    found
}

impl How {
    fn fits(&self, then: &str, now: &str) -> bool {
        match self {
            Self::Gained(before) => now.strip_prefix(before.as_str()) == Some(then),
            Self::Lost(before) => then.strip_prefix(before.as_str()) == Some(now),
            Self::GainedAfter(after) => now.strip_suffix(after.as_str()) == Some(then),
            Self::LostAfter(after) => then.strip_suffix(after.as_str()) == Some(now),
            Self::Begins(was, is) => {
                let rest = then.strip_prefix(was.as_str());
                rest.is_some() && rest == now.strip_prefix(is.as_str())
            }
            Self::Replaced(..) | Self::Same(_) => false,
        }
    }

    /// What became of each of the places: in the plural where not every one of them is meant.
    fn describe(&self, are_several: bool) -> String {
        match self {
            Self::Gained(piece) => format!("gained `{piece}`"),
            Self::Lost(piece) => format!("lost `{piece}`"),
            Self::GainedAfter(after) => format!("gained `{after}` at its end"),
            Self::LostAfter(after) => format!("lost `{after}` at its end"),
            Self::Begins(was, now) => {
                let begin = if are_several { "begin" } else { "begins" };
                format!("{begin} with `{now}` instead of `{was}`")
            }
            Self::Replaced(was, now) => {
                let is = if are_several { "are" } else { "is" };
                format!("{is} {now} instead of {was}")
            }
            Self::Same(edit) => said_of(edit, are_several),
        }
    }
}

/// A text without the quotes that an excerpt shows it in.
fn unquoted(shown: &str) -> &str {
    shown
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'))
        .unwrap_or(shown)
}

/// How many values an answer has at a place with stars.
fn leaves(answer: &Answer, path: &str) -> usize {
    let mut steps = path.split('/').skip(1);
    match steps.next() {
        Some("structuredContent") => {
            let steps: Vec<&str> = steps.collect();
            answer
                .structured_content
                .as_ref()
                .map_or(0, |it| at(it, &steps))
        }
        Some("content") => {
            let index = steps.next().and_then(|it| it.parse::<usize>().ok());
            let block = index.and_then(|it| answer.content.get(it));
            let text = block.and_then(|it| it.get("text")?.as_str());
            let steps: Vec<&str> = steps.skip(1).collect();
            text.and_then(embedded).map_or(0, |it| at(&it, &steps))
        }
        _ => 0,
    }
}

fn at(value: &Value, steps: &[&str]) -> usize {
    let Some((first, rest)) = steps.split_first() else {
        return 1;
    };
    match value {
        Value::Array(items) if *first == "*" => items.iter().map(|it| at(it, rest)).sum(),
        Value::String(text) if *first == "json" => embedded(text).map_or(0, |it| at(&it, rest)),
        Value::Object(members) => {
            let key = unescaped(first);
            members.get(&key).map_or(0, |it| at(it, rest))
        }
        _ => 0,
    }
}
