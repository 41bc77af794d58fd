//! Tools that are listed under another name: one by one, or all of a server by one rule.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::text::words;
use crate::values::same::same;
use model::Tool;

use super::likeness::{NEAR_BY_NAME, names, words_of_name};

/// The most tools on either side that are looked through.
pub(super) const CANDIDATES: usize = 500;
/// Descriptions at least this similar are of one tool.
const SAME_DESCRIPTION: f64 = 0.6;

/// Tools that were renamed.
#[derive(Debug, Default)]
pub(super) struct Renamed<'a> {
    /// The rule that several tools followed, where there is one, with the tools it concerns: then and now.
    pub(super) by_rule: Option<(Rule, Vec<(&'a Tool, &'a Tool)>)>,
    pub(super) one_by_one: Vec<(&'a Tool, &'a Tool)>,
}

/// How several names changed in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Prefix {
        was: String,
        now: String,
    },
    Suffix {
        was: String,
        now: String,
    },
    /// The same words, joined otherwise: `getSum` and `get_sum`.
    Notation,
}

impl<'a> Renamed<'a> {
    /// Finds the new names of tools that are gone, among the tools that are new.
    pub(crate) fn of(gone: &[&'a Tool], added: &[&'a Tool]) -> Self {
        let gone = &gone[..gone.len().min(CANDIDATES)];
        let added = &added[..added.len().min(CANDIDATES)];
        let mut found = Self {
            by_rule: by_rule(gone, added),
            one_by_one: Vec::new(),
        };
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for (old, new) in found.by_rule.iter().flat_map(|it| &it.1) {
            known.insert(old.name());
            taken.insert(new.name());
        }
        for old in gone.iter().filter(|it| !known.contains(it.name())) {
            let best = (added.iter())
                .filter(|it| !taken.contains(it.name()))
                .filter_map(|it| Some((same_tool(old, it)?, *it)))
                .max_by(|(a, a_tool), (b, b_tool)| {
                    a.total_cmp(b).then(b_tool.name().cmp(a_tool.name()))
                });
            if let Some((_, new)) = best {
                taken.insert(new.name());
                found.one_by_one.push((old, new));
            }
        }
        found
    }
}

/// How certain it is that two tools are the same under two names; `None` where they are not. They are if they take the same arguments and
/// have a similar name or description, or if they have the same description and share some arguments.
fn same_tool(old: &Tool, new: &Tool) -> Option<f64> {
    fn described(tool: &Tool) -> Option<&str> {
        let description = tool.description().map(str::trim);
        description.filter(|it| !it.is_empty())
    }
    let descriptions = described(old).zip(described(new));
    let has_arguments = old.input_schema().is_some_and(has_properties);
    let takes_the_same = has_arguments
        && (old.input_schema().zip(new.input_schema())).is_some_and(|(b, c)| same(b, c));
    let are_equal = descriptions.as_ref().is_some_and(|(b, c)| b == c);
    // Most pairs of two large catalogues have neither in common, and need no closer look.
    if !takes_the_same && !are_equal {
        return None;
    }
    let alike = match &descriptions {
        Some((b, c)) if !are_equal => words::similarity(b, c),
        _ => f64::from(u8::from(are_equal)),
    };
    let named_alike = names(old.name(), new.name());
    let is_one = if takes_the_same {
        alike >= SAME_DESCRIPTION
            || named_alike >= NEAR_BY_NAME && (descriptions.is_none() || alike > 0.2)
            // Without descriptions, equal arguments and a common word in the names are enough.
            || descriptions.is_none() && has_word_of(old.name(), new.name())
    } else {
        same_parameters(old, new)
    };
    is_one.then_some(alike + named_alike + f64::from(u8::from(takes_the_same)))
}

fn has_word_of(a: &str, b: &str) -> bool {
    !words_of_name(a).is_disjoint(&words_of_name(b))
}

/// Whether a schema has properties. Two schemas without any do not count as equal, because many tools take no arguments.
fn has_properties(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|it| !it.is_empty())
}

/// Half of the parameters or more have kept their names, or neither has any.
fn same_parameters(old: &Tool, new: &Tool) -> bool {
    let names = |it: &Tool| -> BTreeSet<String> {
        let properties = it
            .input_schema()
            .and_then(|it| it.get("properties")?.as_object());
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    let (old, new) = (names(old), names(new));
    2 * old.intersection(&new).count() >= old.union(&new).count()
}

/// The rule that most names follow, where at least two do and most of these tools are recognised as the same.
fn by_rule<'a>(gone: &[&'a Tool], added: &[&'a Tool]) -> Option<(Rule, Vec<(&'a Tool, &'a Tool)>)> {
    if gone.len() < 2 || added.len() < 2 {
        return None;
    }
    let mut followers: BTreeMap<Rule, Vec<(&Tool, &Tool)>> = BTreeMap::new();
    let words = |tools: &[&'a Tool]| -> Vec<(&'a Tool, BTreeSet<String>)> {
        let tools = tools.iter().map(|it| (*it, words_of_name(it.name())));
        tools.collect()
    };
    let added = words(added);
    for (old, old_words) in words(gone) {
        for (new, new_words) in &added {
            for rule in rules(old.name(), new.name(), old_words == *new_words) {
                followers.entry(rule).or_default().push((old, new));
            }
        }
    }
    let is_the_same = |(old, new): &&(&Tool, &Tool)| {
        old.description() == new.description() && same_parameters(old, new)
            || same_tool(old, new).is_some()
            || old.description().is_none() && same_parameters(old, new)
    };
    followers
        .into_iter()
        .filter(|(_, tools)| {
            let same = tools.iter().filter(is_the_same).count();
            tools.len() >= 2 && 2 * tools.len() > gone.len() && 2 * same > tools.len()
        })
        .max_by_key(|(_, tools)| tools.len())
}

/// The rules by which one name, which may be made of the same words, would become the other.
fn rules(old: &str, new: &str, has_same_words: bool) -> Vec<Rule> {
    let ends = common(old.chars().rev(), new.chars().rev());
    let begins = common(old.chars(), new.chars());
    let mut rules = Vec::new();
    if ends > 0 {
        rules.push(Rule::Prefix {
            was: old[..old.len() - ends].to_owned(),
            now: new[..new.len() - ends].to_owned(),
        });
    }
    if begins > 0 {
        rules.push(Rule::Suffix {
            was: old[begins..].to_owned(),
            now: new[begins..].to_owned(),
        });
    }
    if has_same_words {
        rules.push(Rule::Notation);
    }
    rules
}

/// How many bytes two texts have in common from where they begin.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b)
        .take_while(|(a, b)| a == b)
        .map(|(it, _)| it.len_utf8())
        .sum()
}

impl Rule {
    /// The rule in words, as in "the prefix `ev__` of all 13 tools is `everything__` now".
    pub(super) fn describe(&self, tools: &[(&Tool, &Tool)], all: bool) -> (String, String, String) {
        let count = tools.len();
        let which = if all {
            format!("all {count} tools")
        } else {
            format!("{count} tools")
        };
        match self {
            Self::Prefix { was, now } => {
                let stems = tools.iter().map(|(old, _)| &old.name()[was.len()..]);
                let joint = shared_separators(stems);
                let (was, now) = (format!("{was}{joint}"), format!("{now}{joint}"));
                let what = match (was.as_str(), now.as_str()) {
                    ("", now) => format!("{which} gained the prefix `{now}`"),
                    (was, "") => format!("{which} lost the prefix `{was}`"),
                    (was, now) => format!("the prefix `{was}` of {which} became `{now}`"),
                };
                (what, format!("{was}*"), format!("{now}*"))
            }
            Self::Suffix { was, now } => {
                let what = match (was.as_str(), now.as_str()) {
                    ("", now) => format!("{which} gained the suffix `{now}`"),
                    (was, "") => format!("{which} lost the suffix `{was}`"),
                    (was, now) => format!("the suffix `{was}` of {which} became `{now}`"),
                };
                (what, format!("*{was}"), format!("*{now}"))
            }
            Self::Notation => {
                let (old, new) = tools[0];
                let what = format!(
                    "the names of {which} are written otherwise: `{}` is `{}`",
                    old.name(),
                    new.name()
                );
                (what, old.name().to_owned(), new.name().to_owned())
            }
        }
    }
}

/// The separators that all stems begin with, which belong to the prefix.
fn shared_separators<'s>(stems: impl Iterator<Item = &'s str>) -> String {
    let separators = |stem: &str| -> String {
        stem.chars()
            .take_while(|it| !it.is_alphanumeric())
            .collect()
    };
    let mut all = stems.map(separators);
    let first = all.next().unwrap_or_default();
    all.fold(first, |shared, it| {
        let length = common(shared.chars(), it.chars());
        shared[..length].to_owned()
    })
}
