//! Compares the arguments of effects, which must be equal except for the wording of longer texts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::text::clock::Clock;
use crate::text::variation::{self, How, What};
use crate::text::{excerpt, words};
use crate::values::embedded::embedded;
use crate::values::number;
use crate::values::path::{escape, value_at};
use crate::values::same::{self, same};
use model::digits;
use model::{ArgumentDifference, Object, Tool};

use super::arguments::{ArgumentRules, Named, default};

/// A text from this many words on may be worded otherwise.
const WORDS: usize = 3;
/// How alike two wordings of one thing are at least.
const REWORDED: f64 = 0.6;
/// Words that change what a sentence means.
const DECISIVE: [&str; 8] = [
    "no", "not", "never", "without", "all", "none", "true", "false",
];
/// What stands between the words of commands and queries.
const OPERATORS: [&str; 12] = [
    "=", "==", "!=", "<", ">", "<=", ">=", "|", "||", "&&", ">>", ":=",
];
/// What queries begin with, as they are usually written.
const SQL: [&str; 9] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "CREATE", "TRUNCATE", "GRANT",
];
/// Characters that do not occur in prose, but in names, paths, addresses and code.
const SIGNS: [char; 10] = ['_', '/', '@', '=', '<', '>', '\\', '"', '\'', '`'];

/// The arguments of an effect on one side, and the tool as this side lists it.
pub(crate) struct Made<'a> {
    pub(crate) arguments: &'a Object,
    pub(crate) listed: Option<&'a Tool>,
}

/// Where the arguments of two calls of one effect differ, by JSON pointers into them; values are shown as each side said them, the
/// current one as in `said`.
pub(crate) fn differences(
    tool: Named<'_>,
    (b, c): (&Made<'_>, &Made<'_>),
    said: &Object,
    rules: &ArgumentRules<'_>,
    clock: &Clock,
) -> Vec<ArgumentDifference> {
    let mut walk = Walk {
        clock,
        found: Vec::new(),
    };
    let (of_b, of_c) = (b.arguments, c.arguments);
    let names: BTreeSet<&String> = of_b.keys().chain(of_c.keys()).collect();
    for name in names {
        let path = format!("/{}", escape(name));
        let sides = (of_b.get(name), of_c.get(name));
        match rules.graded(tool, name, sides) {
            Some(similarity) if similarity >= REWORDED => {}
            Some(_) => walk.note(&path, sides, false),
            None => walk.member(&path, sides, &[b.listed, c.listed], name),
        }
    }
    for it in &mut walk.found {
        // A value that stands for a recorded one is shown as the run sent it.
        let made = value_at(b.arguments, &it.path);
        match (made, value_at(said, &it.path)) {
            (Some(made), Some(said)) => {
                let (was, now) = excerpt::of_values(made, said);
                (it.was, it.now) = (Some(was), Some(now));
            }
            (None, Some(said)) => it.now = Some(excerpt::of(said)),
            (_, None) => {}
        }
    }
    walk.found
}

struct Walk<'c> {
    clock: &'c Clock,
    found: Vec<ArgumentDifference>,
}

impl Walk<'_> {
    /// An argument, which one of the sides may have left out.
    fn member(
        &mut self,
        path: &str,
        sides: (Option<&Value>, Option<&Value>),
        listed: &[Option<&Tool>],
        name: &str,
    ) {
        match sides {
            (Some(b), Some(c)) => self.values(b, c, path, same::DEPTH),
            (Some(given), None) | (None, Some(given)) => {
                let mut defaults = listed.iter().filter_map(|it| default(*it, name));
                if !given.is_null() && !defaults.any(|it| same(it, given)) {
                    self.note(path, sides, false);
                }
            }
            (None, None) => {}
        }
    }

    fn values(&mut self, b: &Value, c: &Value, path: &str, depth: usize) {
        if same(b, c) {
            return;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return self.note(path, (Some(b), Some(c)), false);
        };
        match (b, c) {
            (Value::Object(b), Value::Object(c)) => self.objects(b, c, path, depth),
            (Value::Array(b), Value::Array(c)) if b.len() == c.len() => {
                for (index, (b, c)) in b.iter().zip(c).enumerate() {
                    self.values(b, c, &format!("{path}/{index}"), depth);
                }
            }
            _ if digits::of(b).or(digits::of(c)).is_some() => {
                let number = |it: &Value| match it {
                    Value::String(text) if digits::of(it).is_none() => number::of_text(text),
                    _ => Some(it.clone()),
                };
                let is_same = number(b).zip(number(c)).is_some_and(|(b, c)| same(&b, &c));
                if !is_same {
                    self.note(path, (Some(b), Some(c)), false);
                }
            }
            (Value::Number(b), Value::Number(c)) if number::close(b, c) => {}
            (Value::Number(number), Value::String(text))
            | (Value::String(text), Value::Number(number))
                if number::parse(text).is_some_and(|it| number::equal(&it, number)) => {}
            (Value::String(of_b), Value::String(of_c)) => match (embedded(of_b), embedded(of_c)) {
                (Some(b), Some(c)) => self.values(&b, &c, path, depth),
                _ => self.texts(of_b, of_c, path),
            },
            _ => self.note(path, (Some(b), Some(c)), false),
        }
    }

    fn objects(
        &mut self,
        b: &Map<String, Value>,
        c: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let names: BTreeSet<&String> = b.keys().chain(c.keys()).collect();
        for name in names {
            let path = format!("{path}/{}", escape(name));
            match (b.get(name), c.get(name)) {
                (Some(b), Some(c)) => self.values(b, c, &path, depth),
                (one, other) if one.or(other).is_some_and(Value::is_null) => {}
                sides => self.note(&path, sides, false),
            }
        }
    }

    fn texts(&mut self, b: &str, c: &str, path: &str) {
        let is_evenly_spaced = b.split_whitespace().eq(c.split_whitespace());
        let found = variation::compare(b, c, &How::plain(self.clock));
        if !is_evenly_spaced && found.iter().all(|it| matches!(it.what, What::Moved(_))) {
            return;
        }
        let (was, now) = excerpt::of_texts(b, c);
        self.found.push(ArgumentDifference {
            path: path.to_owned(),
            was: Some(was),
            now: Some(now),
            worded: is_reworded(b, c),
        });
    }

    fn note(&mut self, path: &str, (b, c): (Option<&Value>, Option<&Value>), worded: bool) {
        self.found.push(ArgumentDifference {
            path: path.to_owned(),
            was: b.map(excerpt::of),
            now: c.map(excerpt::of),
            worded,
        });
    }
}

/// Whether two texts are wordings of one thing: similar prose that differs in no decisive word.
fn is_reworded(b: &str, c: &str) -> bool {
    let words_of = |text: &str| text.split_whitespace().count();
    words_of(b) >= WORDS
        && words_of(c) >= WORDS
        && !is_command(b)
        && !is_command(c)
        && indents(b) == indents(c)
        && words::similarity(b, c) >= REWORDED
        && !only_in(b, c)
            .chain(only_in(c, b))
            .any(|it| is_decisive(&it))
}

/// Whether a text is a command or a query, in which each word matters, rather than prose. It is recognised by options, operators that stand
/// alone, and SQL.
fn is_command(text: &str) -> bool {
    let is_option = |it: &str| {
        let name = it.trim_start_matches('-');
        it.len() > name.len() && name.starts_with(|it: char| it.is_ascii_alphabetic())
    };
    let mut words = text.split_whitespace();
    let begins_sql = words.clone().next().is_some_and(|it| SQL.contains(&it));
    begins_sql || words.any(|it| is_option(it) || OPERATORS.contains(&it))
}

/// The indentation of a text's indented lines, which has a meaning in YAML and in code.
fn indents(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|it| (it, it.trim_start()));
    lines
        .filter(|(line, said)| !said.is_empty() && said.len() < line.len())
        .map(|(line, said)| &line[..line.len() - said.len()])
        .collect()
}

/// The words of a text that another has not, or not as often.
fn only_in(text: &str, other: &str) -> impl Iterator<Item = String> {
    let mut left: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for it in other.split_whitespace() {
        *left.entry(it.to_lowercase()).or_default() += 1;
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words
        .into_iter()
        .filter(move |it| match left.get_mut(it).filter(|it| **it > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        })
}

fn is_decisive(word: &str) -> bool {
    let bare = word.trim_matches(|it: char| ".,;:!?()[]{}".contains(it));
    word.contains(|it: char| it.is_numeric() || SIGNS.contains(&it)) || DECISIVE.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::is_reworded;

    #[test]
    fn prose_may_be_worded_otherwise_and_nothing_else() {
        let cases = [
            (
                "please call the customer back",
                "please call the customer back soon",
                true,
            ),
            ("out of paper again today", "again today out of paper", true),
            (
                "DELETE FROM users WHERE id = 1001",
                "DELETE FROM users WHERE id = 1002",
                false,
            ),
            (
                "do delete the old files",
                "do not delete the old files",
                false,
            ),
            (
                "delete the old files today",
                "delete all the old files today",
                false,
            ),
            (
                "mail it to ann@example.org now please",
                "mail it to bob@example.org now please",
                false,
            ),
            (
                "put it into /tmp/a and go on",
                "put it into /tmp/b and go on",
                false,
            ),
            (
                "say it in two words",
                "say it in three other words altogether",
                false,
            ),
            ("big red", "red big", false),
            (
                "git push origin main --dry-run",
                "git push origin main --force",
                false,
            ),
            (
                "find here -name a -print",
                "find here -name a -delete",
                false,
            ),
            (
                "UPDATE users SET owner = alice WHERE team = red",
                "UPDATE users SET owner = mallory WHERE team = red",
                false,
            ),
            (
                "keep the flag at true for now",
                "keep the flag at false for now",
                false,
            ),
            (
                "write a well-known song - a short one",
                "write a well-known song - a short one please",
                true,
            ),
            ("on:\n  push: main", "on:\npush: main", false),
            ("on:\n  push: main", "on:\n    push: main", false),
            ("one line and\nanother", "one line\nand another", true),
            (
                "note:\n  call the customer",
                "note:\n  call the customer soon",
                true,
            ),
            ("I am sure of it", "I am sure of \"it\"", false),
        ];
        for (was, is, expected) in cases {
            assert_eq!(is_reworded(was, is), expected, "{was} → {is}");
        }
    }
}
