//! Differences of the agent's own arguments that are passed on: they are not the doing of the server under test.

use serde_json::Value;

use crate::ids::binding::{replaced, text_of};
use crate::pairing::call::Call;
use crate::values::path::value_at;
use crate::values::same::{self, same};
use model::Object;

/// The most values of one call that are looked for in what arrived behind.
const VALUES: usize = 1_000;

/// Where the arguments of the agent's two calls differ.
#[derive(Default)]
pub(crate) struct PassedOn<'a> {
    differing: Vec<Differing<'a>>,
}

struct Differing<'a> {
    was: Option<&'a Value>,
    now: Option<&'a Value>,
    /// Each side's server has given its own value, so that the two are the same.
    is_bound: bool,
}

/// Whose doing a difference behind the server is, where the agent's call explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explained {
    /// It is an id that each side has been given.
    Bound,
    /// The agent asked otherwise.
    Agent,
}

impl<'a> PassedOn<'a> {
    pub(super) fn new(before: &Call<'a>, now: &Call<'a>) -> Self {
        let mut found = Self::default();
        let sides = Sides {
            was: Some(&before.made.arguments),
            said: Some(&now.said.arguments),
            made: Some(&now.made.arguments),
        };
        found.objects(&sides, same::DEPTH);
        found
    }

    /// How the agent's call explains that two calls behind differ at a place of their arguments.
    pub(crate) fn explained(
        &self,
        before: &Call<'_>,
        now: &Call<'_>,
        path: &str,
    ) -> Option<Explained> {
        self.explains(
            value_at(&before.made.arguments, path),
            value_at(&now.said.arguments, path),
        )
    }

    fn explains(&self, was: Option<&Value>, now: Option<&Value>) -> Option<Explained> {
        if was.is_none() && now.is_none() {
            return None;
        }
        let explains = |it: &&Differing<'_>| match (it.was.zip(it.now), was.zip(now)) {
            (Some(agents), Some(received)) => {
                (same(agents.0, received.0) && same(agents.1, received.1))
                    || is_within(agents, received)
            }
            (None, None) => equal(it.was, was) && equal(it.now, now),
            _ => false,
        };
        let found = self.differing.iter().filter(explains);
        let mut explained = found.map(|it| it.is_bound).peekable();
        explained.peek()?;
        Some(if explained.any(|is_bound| is_bound) {
            Explained::Bound
        } else {
            Explained::Agent
        })
    }

    fn objects(&mut self, sides: &Sides<'a, Object>, depth: usize) {
        let names = |it: Option<&'a Object>| it.into_iter().flat_map(Object::keys);
        let is_new = |it: &&String| !sides.was.is_some_and(|was| was.contains_key(*it));
        for name in names(sides.was).chain(names(sides.said).filter(is_new)) {
            let member = |it: Option<&'a Object>| it?.get(name);
            let sides = Sides {
                was: member(sides.was),
                said: member(sides.said),
                made: member(sides.made),
            };
            self.values(&sides, depth);
        }
    }

    fn values(&mut self, sides: &Sides<'a, Value>, depth: usize) {
        if self.differing.len() >= VALUES || equal(sides.was, sides.said) {
            return;
        }
        self.differing.push(Differing {
            was: sides.was,
            now: sides.said,
            is_bound: equal(sides.was, sides.made),
        });
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match (sides.was, sides.said) {
            (Some(Value::Object(was)), Some(Value::Object(said))) => {
                let sides = Sides {
                    was: Some(was),
                    said: Some(said),
                    made: sides.made.and_then(Value::as_object),
                };
                self.objects(&sides, depth);
            }
            (Some(Value::Array(was)), Some(Value::Array(said))) => {
                let made = sides.made.and_then(Value::as_array);
                for at in 0..was.len().max(said.len()) {
                    let sides = Sides {
                        was: was.get(at),
                        said: said.get(at),
                        made: made.and_then(|it| it.get(at)),
                    };
                    self.values(&sides, depth);
                }
            }
            _ => {}
        }
    }
}

/// One place in the arguments of the agent's two calls: what the baseline asked, what the run said, and that in the baseline's terms.
struct Sides<'a, T> {
    was: Option<&'a T>,
    said: Option<&'a T>,
    made: Option<&'a T>,
}

fn equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Whether a text that was received differs by the agent's value within it alone.
fn is_within(agents: (&Value, &Value), received: (&Value, &Value)) -> bool {
    let parts = || {
        let piece = text_of(agents.0)?;
        let whole = replaced(received.0.as_str()?, &piece, &text_of(agents.1)?)?;
        Some(whole == received.1.as_str()?)
    };
    parts() == Some(true)
}
