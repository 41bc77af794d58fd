//! Paths into responses: how reports write them, and the patterns that leave places out of the comparison.
//!
//! A path names a place in an answer, step by step: `/content/0/text`, `/content/0/json/servers/3/id`,
//! `/structuredContent/total`. The step `json` goes into a text that holds JSON. A key is written as in a JSON pointer
//! (`~` as `~0`, `/` as `~1`), and a key that is a single `*` as `~2`.
//!
//! A pattern is either such a path, where `*` stands for any one step, or a JSON path that is looked for in each JSON
//! document of the answer: `$.servers[*].created`, `servers.0.id`, `..updated`, `$['a key']`; `*` or `[*]` stands for
//! any key or index, and `..` for any number of steps. A pattern also covers everything beneath the place it names.

use std::borrow::Cow;

use serde_json::Value;

use model::Object;
use model::json_path::{JsonPath, Part};

/// One step on the way to a place in a response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
    /// Into a text that holds JSON.
    Json,
}

/// A place in a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place<'a> {
    steps: Vec<Step<'a>>,
    /// Where the innermost JSON document that a JSON path can be looked for in begins.
    document: usize,
}

impl<'a> Place<'a> {
    pub(crate) fn enter(&mut self, step: Step<'a>) {
        self.steps.push(step);
    }

    pub(crate) fn leave(&mut self) {
        self.steps.pop();
    }

    /// Makes the current place the root of a JSON document; returns the root to go back to.
    pub(crate) fn begin_document(&mut self) -> usize {
        std::mem::replace(&mut self.document, self.steps.len())
    }

    /// Whether the place is somewhere in a JSON document.
    pub(crate) fn is_in_document(&self) -> bool {
        self.document > 0
    }

    pub(crate) fn end_document(&mut self, outer: usize) {
        self.document = outer;
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            match step {
                Step::Key(key) => {
                    f.write_str("/")?;
                    f.write_str(&escape(key))?;
                }
                Step::Index(index) => write!(f, "/{index}")?,
                Step::Json => f.write_str("/json")?,
            }
        }
        Ok(())
    }
}

/// A key as one step of a path.
pub(crate) fn escape(key: &str) -> Cow<'_, str> {
    match key {
        "*" => "~2".into(),
        _ if key.contains(['~', '/']) => key.replace('~', "~0").replace('/', "~1").into(),
        _ => key.into(),
    }
}

/// A place, or many places, to leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(JsonPath);

impl Pattern {
    /// Reads a pattern; the error says in words what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        JsonPath::parse(text).map(Self)
    }

    /// Whether it leaves nothing of any JSON document.
    pub(crate) fn is_everything(&self) -> bool {
        let names_nothing = |it: &Part| matches!(it, Part::Any | Part::Depth);
        self.0.parts().iter().all(names_nothing)
    }

    /// Whether a place is one of those the pattern names.
    pub(crate) fn matches(&self, place: &Place<'_>) -> bool {
        // A pointer starts at the answer, and anything else at each JSON document in it.
        let from_answer = self.0.is_pointer();
        let start = if from_answer { 0 } else { place.document };
        let inside_document = from_answer || place.is_in_document();
        inside_document && covers(self.0.parts(), &place.steps[start..])
    }
}

/// Whether a path of a volatile place, with `*` for any step, names another path or a place on the way to it.
pub(crate) fn covers_path(pattern: &str, path: &str) -> bool {
    let mut steps = path.split('/');
    pattern.split('/').all(|part| {
        let step = steps.next();
        step.is_some() && (part == "*" || step == Some(part) || step == Some("*"))
    })
}

/// Whether the parts lead along the steps, to their end or to a place on the way. Depth parts are matched as wildcards in file names are: the last
/// one met is stretched until the rest fits, so the cost stays linear for each of them.
fn covers(parts: &[Part], steps: &[Step<'_>]) -> bool {
    let (mut part, mut step) = (0, 0);
    let mut stretch: Option<(usize, usize)> = None;
    while step < steps.len() && part < parts.len() {
        match parts.get(part) {
            Some(Part::Depth) => {
                stretch = Some((part + 1, step));
                part += 1;
            }
            Some(it) if fits(it, steps[step]) => {
                part += 1;
                step += 1;
            }
            _ => match &mut stretch {
                Some((after, from)) => {
                    *from += 1;
                    (part, step) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    part == parts.len()
}

fn fits(part: &Part, step: Step<'_>) -> bool {
    match (part, step) {
        (Part::Any, _) => true,
        (Part::Named(name), Step::Key(key)) => name == key,
        (Part::Named(name), Step::Index(index)) => {
            name.parse() == Ok(index) && !name.starts_with('+')
        }
        (Part::Named(name), Step::Json) => name == "json",
        (Part::Depth, _) => false,
    }
}

/// The patterns of those paths that can be read.
pub(crate) fn patterns(paths: &[String]) -> Vec<Pattern> {
    paths
        .iter()
        .filter_map(|it| Pattern::parse(it).ok())
        .collect()
}

/// The steps of a path, with what is escaped in it read.
pub(crate) fn steps(path: &str) -> Vec<String> {
    let steps = path.split('/').skip(1);
    steps
        .map(|it| it.replace("~2", "*").replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// The argument a JSON pointer names.
pub(crate) fn value_at<'a>(arguments: &'a Object, path: &str) -> Option<&'a Value> {
    let steps = steps(path);
    let (first, rest) = steps.split_first()?;
    rest.iter()
        .try_fold(arguments.get(first)?, |value, step| match value {
            Value::Object(members) => members.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
}

pub(crate) fn value_at_mut<'a>(arguments: &'a mut Object, path: &str) -> Option<&'a mut Value> {
    let steps = steps(path);
    let (first, rest) = steps.split_first()?;
    rest.iter()
        .try_fold(arguments.get_mut(first)?, |value, step| match value {
            Value::Object(members) => members.get_mut(step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        })
}
