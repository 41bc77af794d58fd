//! Similarity of two requests: their arguments, by the scenario's rules and the tool's defaults.

use std::cell::OnceCell;
use std::cmp::Ordering;

use regex::Regex;
use serde_json::Value;

use crate::text::words::{self, Words};
use crate::values::embedded::embedded;
use crate::values::number::{self, count};
use crate::values::same::{self, View, hash_of, same};
use crate::work::Work;
use model::digits;
use model::rules::{ArgumentMatch, ArgumentRule};
use model::{Object, ParameterScore, RequestScore, Tool};

use super::value::{self, Purpose};

/// The rules for single arguments, ready to use.
#[derive(Debug)]
pub(crate) struct ArgumentRules<'a> {
    rules: Vec<Compiled<'a>>,
    work: &'a Work<'a>,
}

#[derive(Debug)]
struct Compiled<'a> {
    rule: &'a ArgumentRule,
    /// `None` unless the rule is a regular expression that can be read; one that cannot be read matches nothing.
    regex: Option<Regex>,
}

/// A tool as rules name it: by its bare name, or in full.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'r> {
    /// Empty where it is none of a server.
    pub(crate) server: &'r str,
    /// Its bare name.
    pub(crate) tool: &'r str,
}

impl Named<'_> {
    fn is(self, name: &str) -> bool {
        let in_full = || {
            let bare = name.strip_prefix("mcp__")?.strip_suffix(self.tool)?;
            bare.strip_suffix("__")
        };
        name == self.tool || in_full() == Some(self.server)
    }
}

/// One side of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'r, 'v> {
    pub(crate) tool: Named<'r>,
    /// Sorted by name.
    pub(crate) arguments: &'r [Argument<'v>],
    /// The tool as listed on this side; its defaults stand for arguments left out.
    pub(crate) listed: Option<&'v Tool>,
}

/// One argument of a call.
#[derive(Debug)]
pub(crate) struct Argument<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    /// Equal for equal values.
    hash: u64,
    /// Its words, once they were needed; `None` unless it is a text that holds no JSON.
    words: OnceCell<Option<Box<Words<'a>>>>,
}

impl<'a> Argument<'a> {
    /// The arguments of a call, sorted by name.
    pub(crate) fn all(arguments: &'a Object) -> Vec<Self> {
        let mut all: Vec<Self> = (arguments.iter())
            .map(|(name, value)| Self {
                name,
                value,
                hash: same::hash(value, View::Plain),
                words: OnceCell::new(),
            })
            .collect();
        all.sort_unstable_by_key(|it| it.name);
        all
    }

    /// Equal for sets of equal arguments.
    pub(crate) fn key(all: &[Self]) -> u64 {
        all.iter()
            .map(|it| hash_of((it.name, it.hash)))
            .fold(0, u64::wrapping_add)
    }

    fn similarity(&self, other: &Self, purpose: Purpose, work: &Work<'_>) -> (f64, &'static str) {
        if self.hash == other.hash {
            return (1.0, "equal");
        }
        match (self.words(), other.words()) {
            (Some(a), Some(b)) => {
                work.spend(a.len() + b.len());
                (a.similarity(b), "words")
            }
            _ => value::similarity(self.value, other.value, purpose, work),
        }
    }

    fn words(&self) -> Option<&Words<'a>> {
        let words = self.words.get_or_init(|| match self.value {
            Value::String(text) if digits::of(self.value).is_none() && embedded(text).is_none() => {
                Some(Box::new(Words::new(text)))
            }
            _ => None,
        });
        words.as_deref()
    }
}

/// The result of comparing one argument.
struct Compared<'a> {
    name: &'a str,
    outcome: Outcome,
    method: &'static str,
}

enum Outcome {
    /// Both sides have it.
    Common(f64),
    /// Only one side has it.
    OneSided,
    /// A rule leaves it out.
    LeftOut,
    /// A rule demands that it be equal, and it is not.
    Forbidden,
}

impl<'a> ArgumentRules<'a> {
    pub(crate) fn new(rules: &'a [ArgumentRule], work: &'a Work<'a>) -> Self {
        let compile = |rule: &'a ArgumentRule| Compiled {
            rule,
            regex: match &rule.how {
                ArgumentMatch::Regex(pattern) => Regex::new(pattern).ok(),
                _ => None,
            },
        };
        Self {
            rules: rules.iter().map(compile).collect(),
            work,
        }
    }

    /// Similarity of two requests to the same tool, 0 to 1.
    pub(crate) fn similarity<'v>(&self, b: Request<'_, 'v>, c: Request<'_, 'v>) -> f64 {
        let mut tally = Tally::default();
        self.compare(b, c, Purpose::Pairing, |it| tally.add(&it.outcome));
        tally.similarity()
    }

    /// The same, with one entry per argument.
    pub(crate) fn score<'v>(&self, b: Request<'_, 'v>, c: Request<'_, 'v>) -> RequestScore {
        let mut compared = Vec::with_capacity(b.arguments.len().max(c.arguments.len()));
        let mut tally = Tally::default();
        self.compare(b, c, Purpose::Score, |it| {
            tally.add(&it.outcome);
            compared.push(it);
        });
        RequestScore {
            similarity: tally.similarity(),
            parameters: compared.iter().map(|it| tally.score(it)).collect(),
            differences: Vec::new(),
        }
    }

    /// How alike an argument of two calls is by its rule, 0 to 1; `None` where no rule applies.
    pub(super) fn graded(
        &self,
        tool: Named<'_>,
        argument: &str,
        (b, c): (Option<&Value>, Option<&Value>),
    ) -> Option<f64> {
        let rule = self.rule(tool, argument)?;
        Some(match rule.apply(b, c).0 {
            Outcome::Common(similarity) => similarity,
            Outcome::LeftOut => 1.0,
            Outcome::OneSided | Outcome::Forbidden => 0.0,
        })
    }

    /// Whether there are no rules, so that equal requests are equal in every argument.
    pub(crate) fn are_none(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether two requests are equal without any grading: each argument equal, or as its rule wants it, and none on
    /// one side only. Defaults of left-out arguments do not count.
    pub(crate) fn are_equal<'v>(&self, b: Request<'_, 'v>, c: Request<'_, 'v>) -> bool {
        let mut equal = true;
        each(b.arguments, c.arguments, |name, b_given, c_given| {
            let (ours, theirs) = (b_given.map(|it| it.value), c_given.map(|it| it.value));
            equal &= match self.rule(b.tool, name) {
                Some(rule) => match rule.apply(ours, theirs).0 {
                    Outcome::Common(similarity) => similarity >= 1.0,
                    Outcome::LeftOut => true,
                    Outcome::OneSided | Outcome::Forbidden => false,
                },
                None => matches!((ours, theirs), (Some(b), Some(c)) if same(b, c)),
            };
        });
        equal
    }

    /// Passes every argument of either side to `report`, sorted by name.
    fn compare<'v>(
        &self,
        b: Request<'_, 'v>,
        c: Request<'_, 'v>,
        purpose: Purpose,
        mut report: impl FnMut(Compared<'v>),
    ) {
        each(b.arguments, c.arguments, |name, b_given, c_given| {
            let (baseline, current) = (b_given.map(|it| it.value), c_given.map(|it| it.value));
            let (outcome, method) = match (self.rule(b.tool, name), b_given, c_given) {
                (None, Some(b), Some(c)) => {
                    let (similarity, method) = b.similarity(c, purpose, self.work);
                    (Outcome::Common(similarity), method)
                }
                (None, Some(given), None) if is_default(given.value, c.listed, name) => {
                    (Outcome::Common(1.0), "default")
                }
                (None, None, Some(given)) if is_default(given.value, b.listed, name) => {
                    (Outcome::Common(1.0), "default")
                }
                (None, Some(_), _) => (Outcome::OneSided, "missing"),
                (None, None, _) => (Outcome::OneSided, "added"),
                (Some(rule), _, _) => rule.apply(
                    baseline.or_else(|| default(b.listed, name)),
                    current.or_else(|| default(c.listed, name)),
                ),
            };
            report(Compared {
                name,
                outcome,
                method,
            });
        });
    }

    /// The last rule for an argument wins, so that a scenario can refine what it inherited.
    fn rule(&self, tool: Named<'_>, argument: &str) -> Option<&Compiled<'a>> {
        self.rules.iter().rev().find(|it| {
            let for_tool = it.rule.tool.as_deref().is_none_or(|name| tool.is(name));
            for_tool && it.rule.argument == argument
        })
    }
}

impl Compiled<'_> {
    fn apply(&self, b: Option<&Value>, c: Option<&Value>) -> (Outcome, &'static str) {
        let how = &self.rule.how;
        // These rules check the current value alone, and that there is one.
        let check = |passes: &dyn Fn(&Value) -> bool| match (b, c) {
            (_, Some(c)) => Outcome::Common(if passes(c) { 1.0 } else { 0.0 }),
            (_, None) => Outcome::OneSided,
        };
        let outcome = match (how, b, c) {
            (ArgumentMatch::Ignore, _, _) => Outcome::LeftOut,
            (ArgumentMatch::Any, _, _) => check(&|_| true),
            (ArgumentMatch::OneOf(values), _, _) => check(&|c| values.iter().any(|it| same(it, c))),
            (ArgumentMatch::Regex(_), _, _) => check(&|c| {
                let matches = |it: &Regex| it.is_match(&text(c));
                self.regex.as_ref().is_some_and(matches)
            }),
            (ArgumentMatch::Exact, Some(b), Some(c)) if same(b, c) => Outcome::Common(1.0),
            (ArgumentMatch::Exact, _, _) => Outcome::Forbidden,
            (ArgumentMatch::Words, Some(b), Some(c)) => {
                Outcome::Common(words::similarity(&text(b), &text(c)))
            }
            (ArgumentMatch::Number { max_diff }, Some(b), Some(c)) => {
                Outcome::Common(numbers(b, c, *max_diff))
            }
            (ArgumentMatch::Words | ArgumentMatch::Number { .. }, _, _) => Outcome::OneSided,
        };
        (outcome, method(how))
    }
}

/// Visits the arguments of two sides, both sorted by name.
fn each<'r, 'v>(
    b: &'r [Argument<'v>],
    c: &'r [Argument<'v>],
    mut visit: impl FnMut(&'v str, Option<&'r Argument<'v>>, Option<&'r Argument<'v>>),
) {
    let (mut b, mut c) = (b.iter().peekable(), c.iter().peekable());
    loop {
        let order = match (b.peek(), c.peek()) {
            (Some(b), Some(c)) => b.name.cmp(c.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let b = b.next_if(|_| order != Ordering::Greater);
        let c = c.next_if(|_| order != Ordering::Less);
        if let Some(it) = b.or(c) {
            visit(it.name, b, c);
        }
    }
}

/// What the formula for arguments needs to know of all of them.
#[derive(Debug, Default)]
struct Tally {
    sum: f64,
    /// At least one argument differs, by however little.
    differs: bool,
    common: usize,
    one_sided: usize,
    forbidden: usize,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Common(similarity) => {
                self.sum += similarity;
                self.common += 1;
                self.differs |= *similarity < 1.0;
            }
            Outcome::OneSided => self.one_sided += 1,
            Outcome::LeftOut => {}
            Outcome::Forbidden => self.forbidden += 1,
        }
    }

    fn similarity(&self) -> f64 {
        if self.forbidden > 0 {
            return 0.0;
        }
        let similarity = value::combine(self.sum, self.common, self.common + self.one_sided);
        if self.differs {
            similarity.min(number::ALMOST)
        } else {
            similarity
        }
    }

    /// The entry of one argument, with its share of the points the request lost.
    fn score(&self, compared: &Compared<'_>) -> ParameterScore {
        let all = count(self.common + self.one_sided);
        let (similarity, loss) = match compared.outcome {
            Outcome::LeftOut => (None, 0.0),
            Outcome::Forbidden => (Some(0.0), 1.0 / count(self.forbidden)),
            Outcome::Common(similarity) if self.forbidden > 0 => (Some(similarity), 0.0),
            Outcome::OneSided if self.forbidden > 0 => (Some(0.0), 0.0),
            Outcome::Common(similarity) => (
                Some(similarity),
                0.7 * (1.0 - similarity) / count(self.common),
            ),
            Outcome::OneSided if self.common > 0 => (Some(0.0), 0.3 / all),
            Outcome::OneSided => (Some(0.0), 1.0 / all),
        };
        ParameterScore {
            name: compared.name.to_owned(),
            similarity,
            method: compared.method,
            loss,
        }
    }
}

/// The name of a rule in reports.
fn method(how: &ArgumentMatch) -> &'static str {
    match how {
        ArgumentMatch::Exact => "exact",
        ArgumentMatch::Ignore => "ignore",
        ArgumentMatch::Words => "words",
        ArgumentMatch::Number { .. } => "number",
        ArgumentMatch::OneOf(_) => "one of",
        ArgumentMatch::Regex(_) => "regex",
        ArgumentMatch::Any => "any",
    }
}

fn is_default(given: &Value, listed: Option<&Tool>, argument: &str) -> bool {
    default(listed, argument).is_some_and(|it| same(it, given))
}

/// The value a tool takes for an argument that is left out.
pub(super) fn default<'a>(listed: Option<&'a Tool>, argument: &str) -> Option<&'a Value> {
    (listed?.input_schema()?.get("properties")?.get(argument)?).get("default")
}

fn numbers(b: &Value, c: &Value, max_diff: f64) -> f64 {
    let number = |it: &Value| match it {
        Value::String(text) if !number::is_number(it) => number::of_text(text),
        _ => Some(it.clone()),
    };
    match (number(b), number(c)) {
        (Some(b), Some(c)) => number::distance_of(&b, &c, Some(max_diff)),
        _ => 0.0,
    }
}

/// A value as text: a text as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => digits::of(value).unwrap_or(text).to_owned(),
        _ => digits::unmarked(&value.to_string()).into_owned(),
    }
}
