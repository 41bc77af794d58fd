//! Sentences on what happened at a place of a call, with tool and place.
//!
//! The calls that a cause concerns, in words.

use model::published::result::Cause;
use model::text::few;
use model::unescaped;
use model::{Change, ChangeKind, Edit, What, When};

/// What happened at a place of a call.
#[derive(Debug, Clone)]
pub(super) struct Verb {
    change: Change,
    /// It is said of an expectation, and not of an earlier run.
    expected: bool,
    /// The name that a member of an answer has now.
    renamed: Option<NewName>,
}

/// The name that a member of an answer has now.
#[derive(Debug, Clone)]
struct NewName {
    name: String,
    /// Its value is the same.
    is_equal: bool,
}

impl Verb {
    pub(super) fn new(change: &Change, command: &str) -> Self {
        Self {
            change: change.clone(),
            expected: command == "run",
            renamed: None,
        }
    }

    /// The same of a member that has this name now.
    pub(super) fn renamed(self, name: &str, is_equal: bool) -> Self {
        Self {
            renamed: Some(NewName {
                name: name.to_owned(),
                is_equal,
            }),
            ..self
        }
    }

    /// `` `get_price` returned a different `rows/*/price` ``.
    pub(super) fn said(&self, tools: &str, path: Option<&str>) -> String {
        let place = match path {
            None => "answer".to_owned(),
            Some(path) if is_medium(path) => self.medium().to_owned(),
            Some(path) => place(path),
        };
        let what = &self.change.what;
        let (had, has) = (self.change.was.is_some(), self.change.now.is_some());
        if let Some(NewName { name, is_equal }) = &self.renamed {
            return if *is_equal {
                format!("{tools} returned {place} under a different name")
            } else {
                format!("{tools} returned `{name}` in place of {place}")
            };
        }
        match self.change.kind {
            ChangeKind::Call => self.call(tools),
            ChangeKind::Request => {
                let verb = if self.expected {
                    "is expected to be called with"
                } else {
                    "is asked with"
                };
                match (had, has, self.expected) {
                    (false, true, false) => format!("{tools} is asked with a new {place}"),
                    (true, false, false) => format!("{tools} is asked without {place}"),
                    _ => format!("{tools} {verb} a different {place}"),
                }
            }
            ChangeKind::Effect => match what {
                What::WordedOtherwise => {
                    format!("{tools} is called with {place} reworded")
                }
                What::WrittenOtherwise => {
                    format!("{tools} is called with the same {place}, written differently")
                }
                _ => match (had, has) {
                    (false, true) => format!("{tools} is called with a new {place}"),
                    (true, false) => format!("{tools} is called without {place}"),
                    _ => format!("{tools} is called with a different {place}"),
                },
            },
            ChangeKind::Answer => {
                match what {
                    // Nothing came in its place that counts: what may stand there, or not, is no new name.
                    What::Answer(
                        Edit::Missing(_) | Edit::MissingBesideContent | Edit::Renamed(_),
                    ) if !has => format!("{tools} no longer returns {place}"),
                    What::Answer(Edit::Rest { count, .. }) => {
                        format!("{tools} returned something different in {count} more places")
                    }
                    What::Answer(Edit::Changed) if place == "answer" => {
                        format!("{tools} returned a different answer")
                    }
                    What::Answer(Edit::Changed) => format!("{tools} returned a different {place}"),
                    _ if place == "answer" => {
                        format!("{tools} returned a different answer: it {what}")
                    }
                    _ => format!("{tools} returned something different: {place} {what}"),
                }
            }
            ChangeKind::Addition if *what == What::Answer(Edit::NewSecret) => {
                let all = place == "answer";
                let at = if all {
                    String::new()
                } else {
                    format!(", in {place}")
                };
                format!("{tools} returned {what}{at}")
            }
            ChangeKind::Addition if place == "answer" => format!("{tools} returned more"),
            ChangeKind::Addition => format!("{tools} returned a new {place}"),
            ChangeKind::Error => match what {
                What::Answer(Edit::NoLongerError) => format!("{tools} no longer fails"),
                What::Answer(Edit::OtherMessage) => {
                    format!("{tools} fails with a different message")
                }
                What::Answer(Edit::OtherKindOfError) => format!("{tools} fails in a different way"),
                What::Answer(Edit::BecameError | Edit::ErrorInText) => format!("{tools} fails"),
                _ => format!("{tools} returned something different: {place} {what}"),
            },
            ChangeKind::Slower => format!("{tools} takes much longer"),
            ChangeKind::Upstream => match what {
                What::Heard {
                    when: Some(When::Behind),
                    said,
                } => format!("behind {tools}, {said}"),
                what => what.to_string(),
            },
            ChangeKind::Drift | ChangeKind::Tokens => what.to_string(),
        }
    }

    /// What is at a place whose bytes nobody can read.
    fn medium(&self) -> &'static str {
        let mut values = self.change.was.iter().chain(&self.change.now);
        if values.any(|it| is_image(it)) {
            "image"
        } else {
            "image or sound"
        }
    }

    fn call(&self, tools: &str) -> String {
        match (&self.change.what, self.expected) {
            (What::NotMade, false) => format!("{tools} is not called any more"),
            (What::NotMade, true) => format!("{tools} was expected to be called, and is not"),
            (What::New, false) => format!("{tools} is called, and was not before"),
            (What::New, true) => format!("{tools} is called, and was not expected"),
            (What::Moved, _) => format!("{tools} is called at another point"),
            (what, _) => format!("{tools} {what}"),
        }
    }
}

/// Whether the bytes of an image or a sound are at this place, which nobody can read.
pub fn is_medium(path: &str) -> bool {
    let block = path.strip_prefix("response/content/");
    block.is_some_and(|it| it.split_once('/').is_some_and(|(_, rest)| rest == "data"))
}

/// Whether this begins like an image in base64.
fn is_image(value: &str) -> bool {
    let value = value.trim_start_matches('"');
    let begins = ["iVBORw0KGgo", "/9j/", "R0lGOD"];
    begins.iter().any(|it| value.starts_with(it))
}

/// A place for people: `` `rows/*/price` ``, `text`, `` argument `query` ``. What leads to a JSON document is left out.
pub(super) fn place(path: &str) -> String {
    if let Some(argument) = path.strip_prefix("arguments") {
        return match argument.trim_start_matches('/') {
            "" => "arguments".to_owned(),
            name => format!("`{name}`"),
        };
    }
    let Some(inner) = path.strip_prefix("response") else {
        return format!("`{path}`");
    };
    let inner = inner.trim_start_matches('/');
    let within = match inner.split_once('/') {
        Some(("structuredContent", inner)) => Some(inner),
        Some(("content", rest)) => match rest.split_once('/') {
            Some((_, "json")) => Some(""),
            Some((_, "text")) => return "text".to_owned(),
            Some((_, rest)) => rest.strip_prefix("json/"),
            None => None,
        },
        _ => (inner == "structuredContent").then_some(""),
    };
    match within.unwrap_or(inner) {
        "" => "answer".to_owned(),
        within => format!("`{}`", unescaped(within)),
    }
}

/// The calls by their numbers: `calls 1, 3 and 4 more`; `None` where none is concerned.
pub fn calls(cause: &Cause, command: &str, most: usize) -> Option<String> {
    let calls = cause.places.iter().flat_map(|it| &it.calls);
    let numbers: Vec<String> = calls
        .map(|it| match (it.baseline, it.current) {
            (Some(was), Some(now)) if was != now => format!("{was} → {now}"),
            (Some(was), None) if command != "run" => format!("{was} of the baseline"),
            (Some(number), _) | (None, Some(number)) => number.to_string(),
            (None, None) => String::new(),
        })
        .filter(|it| !it.is_empty())
        .collect();
    let noun = if numbers.len() == 1 { "call" } else { "calls" };
    (!numbers.is_empty()).then(|| format!("{noun} {}", few(&numbers, most)))
}

#[cfg(test)]
mod tests {
    use super::{Verb, place};
    use model::starred;
    use model::{Change, ChangeKind, Edit, Text, What};

    #[test]
    fn a_secret_that_came_is_reported_with_its_place() {
        let verb = Verb {
            change: Change {
                kind: ChangeKind::Addition,
                what: What::Answer(Edit::NewSecret),
                baseline: Some(1),
                current: Some(1),
                tool: None,
                label: None,
                path: None,
                text: Text::default(),
                was: None,
                now: Some(String::new()),
                fails: true,
                follows: None,
            },
            expected: false,
            renamed: None,
        };
        for (path, at) in [("response/content/0", ", in `content/0`"), ("response", "")] {
            assert_eq!(
                verb.said("`a`", Some(path)),
                format!("`a` returned a secret that was not there before{at}")
            );
        }
    }

    #[test]
    fn places_are_named_as_people_see_them() {
        for (path, expected) in [
            ("response/content/0/json/rows/3/price", "`rows/3/price`"),
            ("response/content/0/json", "answer"),
            ("response/content/1/text", "text"),
            ("response/structuredContent/total", "`total`"),
            ("response/structuredContent", "answer"),
            ("response", "answer"),
            ("response/content/2", "`content/2`"),
            ("arguments/query/0", "`query/0`"),
            ("response/structuredContent/a~1b~02", "`a/b~2`"),
            ("description", "`description`"),
        ] {
            assert_eq!(place(path), expected, "{path}");
        }
    }

    #[test]
    fn an_index_is_a_star_and_the_number_of_a_block_is_not() {
        let path = "response/content/0/json/rows/3/price";
        assert_eq!(starred(path), "response/content/0/json/rows/*/price");
        assert_eq!(starred("arguments/ids/12"), "arguments/ids/*");
    }
}
