//! Answers that hold all that they held before, and more that an effect has made.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::text::at_least::is_at_least;
use crate::text::{excerpt, key};
use crate::values::embedded::embedded;
use crate::values::path::escape;
use crate::values::same::{DEPTH, same};
use crate::values::{mask, number};
use model::{Answer, Variation, Varying};

use super::own_values::{Look, within};
use super::wording::{self, Wording};

/// A value, empty where a call was refused, and the place of the effect that it comes from.
pub(super) type Found = (String, usize);

/// Values that effects sent or got, and the first that did.
pub(super) type Made = HashMap<String, usize>;

/// What grew since an earlier take.
pub(super) struct Growth<'m> {
    made: &'m Made,
    pub(super) varies: Vec<Varying>,
    /// What shows that an effect made what is new; `None` where nothing grew.
    pub(super) found: Option<Found>,
}

impl<'m> Growth<'m> {
    /// The growth of an answer, and the later answer without it.
    pub(super) fn of(was: &Answer, is: &Answer, made: &'m Made) -> (Self, Answer) {
        let mut growth = Self {
            made,
            varies: Vec::new(),
            found: None,
        };
        let whole = |it: &Answer| json!({"content": it.content, "structuredContent": it.structured_content});
        let mut undone = growth.undone(&whole(was), &whole(is), "", "", DEPTH);
        let mut answer = is.clone();
        if let Value::Array(content) = undone["content"].take() {
            answer.content = content;
        }
        if let Some(structured) = &mut answer.structured_content {
            *structured = undone["structuredContent"].take();
        }
        (growth, answer)
    }

    /// The later value without what is new in it, and with the earlier number where one grew.
    fn undone(&mut self, was: &Value, is: &Value, path: &str, key: &str, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else {
            return is.clone();
        };
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => {
                let members = is.iter().map(|(name, is)| {
                    let path = format!("{path}/{}", escape(name));
                    let was = was.get(name).unwrap_or(is);
                    (name.clone(), self.undone(was, is, &path, name, depth))
                });
                members.collect()
            }
            (Value::Array(was), Value::Array(is)) => {
                let Some(kept) = self.kept(was, is, path, key, false) else {
                    return is.clone().into();
                };
                let pairs = was.iter().zip(kept).enumerate();
                let elements = pairs.map(|(at, (was, is))| {
                    if path != "/content" && !is_one(was, is) {
                        return is.clone();
                    }
                    self.undone(was, is, &format!("{path}/{at}"), key, depth)
                });
                elements.collect()
            }
            (Value::String(of_was), Value::String(of_is)) if of_was != of_is => {
                match (embedded(of_was), embedded(of_is)) {
                    (Some(was), Some(is)) => {
                        let block = path.strip_suffix("/text").filter(|it| is_block(it));
                        let path = format!("{}/json", block.unwrap_or(path));
                        (self.undone(&was, &is, &path, key, depth).to_string()).into()
                    }
                    (None, None) if self.has_all_lines(of_was, of_is, path) => was.clone(),
                    _ => is.clone(),
                }
            }
            (Value::Number(of_was), Value::Number(of_is))
                if number::float(of_is) > number::float(of_was)
                    && !key::is_moving(key)
                    && !key::is_id(key) =>
            {
                self.note(path, Variation::AtLeast, (was, is));
                was.clone()
            }
            _ => is.clone(),
        }
    }

    /// The elements of a later list that were there before: all of it, or those beside what an effect has made.
    fn kept<'v>(
        &mut self,
        was: &[Value],
        is: &'v [Value],
        path: &str,
        key: &str,
        of_lines: bool,
    ) -> Option<Vec<&'v Value>> {
        if was.len() >= is.len() {
            return (was.len() == is.len()).then(|| is.iter().collect());
        }
        let kept = places(was, is, same)
            .or_else(|| places(was, is, |was, is| outline(was) == outline(is)))?;
        let (old, new): (Vec<_>, Vec<_>) =
            (is.iter().enumerate()).partition(|it| kept.binary_search(&it.0).is_ok());
        let mut found = None;
        for (_, it) in new {
            within(it, key, Look::Held, DEPTH, &mut |value| {
                found = found
                    .take()
                    .or_else(|| Some((value.to_owned(), *self.made.get(value)?)));
            });
        }
        self.found = self.found.take().or(Some(found?));
        let unit = if of_lines { "lines" } else { "elements" };
        self.varies.push(Varying {
            heard: [was, is].map(|it| format!("{} {unit}", it.len())).to_vec(),
            ..Varying::new(path.to_owned(), Variation::Grew)
        });
        Some(old.into_iter().map(|it| it.1).collect())
    }

    /// Whether a text has all its lines and more; notes how those vary that it had.
    fn has_all_lines(&mut self, was: &str, is: &str, path: &str) -> bool {
        let lines = |text: &str| text.lines().map(Value::from).collect::<Vec<_>>();
        let (was, is) = (lines(was), lines(is));
        let kept = (was.len() < is.len()).then(|| self.kept(&was, &is, path, "", true));
        let Some(kept) = kept.flatten() else {
            return false;
        };
        for (at, (was, is)) in was.iter().zip(kept).enumerate() {
            let texts = [was, is].map(|it| it.as_str().unwrap_or_default());
            let grew = is_at_least(texts[0], texts[1]) && !key::is_moving(texts[0]);
            let place = format!("{path}/{at}");
            match wording::learn(&texts, &[]) {
                Some(_) if grew => self.note(&place, Variation::AtLeast, (was, is)),
                Some(Wording { by, parts, pads }) => self.varies.push(Varying {
                    parts,
                    pads,
                    heard: vec![excerpt::of(was), excerpt::of(is)],
                    ..Varying::new(place, by)
                }),
                None => {}
            }
        }
        true
    }

    fn note(&mut self, path: &str, by: Variation, (was, is): (&Value, &Value)) {
        self.varies.push(Varying {
            heard: vec![excerpt::of(was), excerpt::of(is)],
            ..Varying::new(path.to_owned(), by)
        });
    }
}

fn is_block(path: &str) -> bool {
    let index = path.strip_prefix("/content/");
    index.is_some_and(|it| it.parse::<usize>().is_ok())
}

/// Whether two elements at one place of a list are one thing: where a list shows the latest few, it is another one, and nothing grew.
fn is_one(was: &Value, is: &Value) -> bool {
    let (Some(was), Some(is)) = (was.as_object(), is.as_object()) else {
        return true;
    };
    let mut named = was
        .iter()
        .filter(|it| !it.1.is_array() && !it.1.is_object());
    named.all(|(key, was)| is.get(key).is_some_and(|is| outline(was) == outline(is)))
}

/// Where the elements of a list are in a later one, in their order, if all of them are.
fn places(
    was: &[Value],
    is: &[Value],
    fits: impl Fn(&Value, &Value) -> bool,
) -> Option<Vec<usize>> {
    let mut later = is.iter().enumerate();
    let place = |was| later.find(|is| fits(was, is.1)).map(|it| it.0);
    was.iter().map(place).collect()
}

/// What is left of a value without what differs by nature, and without its numbers.
fn outline(of: &Value) -> String {
    mask::text(&of.to_string()).replace(|it: char| it.is_ascii_digit(), "")
}
