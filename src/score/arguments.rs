//! Similarity of two requests: their arguments, by the scenario's rules and the tool's defaults.

use regex::Regex;
use serde_json::Value;

use crate::model::Object;
use crate::model::catalogue::Tool;
use crate::model::comparison::{ParameterScore, RequestScore};
use crate::model::rules::{ArgumentMatch, ArgumentRule};

use super::number;
use super::same::same;
use super::value;
use super::words;

/// The rules for single arguments, ready to use.
#[derive(Debug, Default)]
pub(super) struct ArgumentRules<'a> {
    rules: Vec<Compiled<'a>>,
}

#[derive(Debug)]
struct Compiled<'a> {
    rule: &'a ArgumentRule,
    /// `None` unless the rule is a regular expression that can be read; one that cannot be read matches nothing.
    regex: Option<Regex>,
}

/// One side of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// The tool's bare name.
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Object,
    /// The tool as listed on this side; its defaults stand for arguments left out.
    pub(super) listed: Option<&'a Tool>,
}

/// How one argument came out.
struct Compared<'a> {
    name: &'a str,
    baseline: Option<&'a Value>,
    current: Option<&'a Value>,
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
    pub(super) fn new(rules: &'a [ArgumentRule]) -> Self {
        let compile = |rule: &'a ArgumentRule| Compiled {
            rule,
            regex: match &rule.how {
                ArgumentMatch::Regex(pattern) => Regex::new(pattern).ok(),
                _ => None,
            },
        };
        Self {
            rules: rules.iter().map(compile).collect(),
        }
    }

    /// Similarity of two requests to the same tool, 0 to 1.
    pub(super) fn similarity(&self, b: Request<'_>, c: Request<'_>) -> f64 {
        if self.rules.is_empty() && is_same(b.arguments, c.arguments) {
            return 1.0;
        }
        total(self.compare(b, c).iter())
    }

    /// The same, with one entry per argument.
    pub(super) fn score(&self, b: Request<'_>, c: Request<'_>) -> RequestScore {
        let compared = self.compare(b, c);
        RequestScore {
            similarity: total(compared.iter()),
            parameters: scores(&compared),
        }
    }

    /// Whether two requests are equal without any grading: each argument equal, or as its rule wants it, and none on
    /// one side only.
    pub(super) fn are_equal(&self, b: Request<'_>, c: Request<'_>) -> bool {
        let names = b.arguments.keys().chain(c.arguments.keys());
        names.into_iter().all(|name| {
            let (ours, theirs) = (b.arguments.get(name), c.arguments.get(name));
            match self.rule(b.tool, name) {
                Some(rule) => match rule.apply(ours, theirs).0 {
                    Outcome::Common(similarity) => similarity >= 1.0,
                    Outcome::LeftOut => true,
                    Outcome::OneSided | Outcome::Forbidden => false,
                },
                None => matches!((ours, theirs), (Some(b), Some(c)) if same(b, c)),
            }
        })
    }

    /// Every argument of either side, sorted by name.
    fn compare<'v>(&self, b: Request<'v>, c: Request<'v>) -> Vec<Compared<'v>> {
        let mut names: Vec<&str> = b.arguments.keys().map(String::as_str).collect();
        names.extend(
            (c.arguments.keys().map(String::as_str)).filter(|it| !b.arguments.contains_key(*it)),
        );
        names.sort_unstable();
        let compare = |name: &'v str| {
            let (baseline, current) = (b.arguments.get(name), c.arguments.get(name));
            let rule = self.rule(b.tool, name);
            let (outcome, method) = match (rule, baseline, current) {
                (None, Some(baseline), Some(current)) => {
                    let (similarity, method) = value::similarity(baseline, current);
                    (Outcome::Common(similarity), method)
                }
                (None, Some(given), None) if is_default(given, c.listed, name) => {
                    (Outcome::Common(1.0), "default")
                }
                (None, None, Some(given)) if is_default(given, b.listed, name) => {
                    (Outcome::Common(1.0), "default")
                }
                (None, Some(_), _) => (Outcome::OneSided, "missing"),
                (None, None, _) => (Outcome::OneSided, "added"),
                (Some(rule), _, _) => rule.apply(
                    baseline.or_else(|| default(b.listed, name)),
                    current.or_else(|| default(c.listed, name)),
                ),
            };
            Compared {
                name,
                baseline,
                current,
                outcome,
                method,
            }
        };
        names.into_iter().map(compare).collect()
    }

    /// The last rule for an argument wins, so that a scenario can refine what it inherited.
    fn rule(&self, tool: &str, argument: &str) -> Option<&Compiled<'a>> {
        self.rules.iter().rev().find(|it| {
            let for_tool = it.rule.tool.as_deref().is_none_or(|name| name == tool);
            for_tool && it.rule.argument == argument
        })
    }
}

impl Compiled<'_> {
    fn apply(&self, b: Option<&Value>, c: Option<&Value>) -> (Outcome, &'static str) {
        let how = &self.rule.how;
        // These look at the current value alone, and only ask that there is one.
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

/// One entry per argument, with its share of the points the request lost.
fn scores(compared: &[Compared<'_>]) -> Vec<ParameterScore> {
    let number_of = |wanted: fn(&Outcome) -> bool| {
        number::count(
            compared
                .iter()
                .filter(|it| wanted(&it.outcome))
                .count()
                .max(1),
        )
    };
    let forbidden = |it: &Outcome| matches!(it, Outcome::Forbidden);
    let is_forbidden = compared.iter().any(|it| forbidden(&it.outcome));
    let common = |it: &Outcome| matches!(it, Outcome::Common(_));
    let has_common = compared.iter().any(|it| common(&it.outcome));
    let all = number_of(|it| !matches!(it, Outcome::LeftOut));
    let score = |it: &Compared<'_>| {
        let (similarity, loss) = match it.outcome {
            Outcome::LeftOut => (None, 0.0),
            Outcome::Forbidden => (Some(0.0), 1.0 / number_of(forbidden)),
            Outcome::Common(similarity) if is_forbidden => (Some(similarity), 0.0),
            Outcome::OneSided if is_forbidden => (Some(0.0), 0.0),
            Outcome::Common(similarity) => (
                Some(similarity),
                0.7 * (1.0 - similarity) / number_of(common),
            ),
            Outcome::OneSided if has_common => (Some(0.0), 0.3 / all),
            Outcome::OneSided => (Some(0.0), 1.0 / all),
        };
        ParameterScore {
            name: it.name.to_owned(),
            baseline: it.baseline.cloned(),
            current: it.current.cloned(),
            similarity,
            method: it.method.to_owned(),
            loss,
        }
    };
    compared.iter().map(score).collect()
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

fn total<'c>(compared: impl Iterator<Item = &'c Compared<'c>>) -> f64 {
    let (mut sum, mut common, mut all) = (0.0, 0, 0);
    for it in compared {
        match it.outcome {
            Outcome::Common(similarity) => {
                sum += similarity;
                common += 1;
                all += 1;
            }
            Outcome::OneSided => all += 1,
            Outcome::LeftOut => {}
            Outcome::Forbidden => return 0.0,
        }
    }
    value::combine(sum, common, all)
}

fn is_same(a: &Object, b: &Object) -> bool {
    a.len() == b.len() && (a.iter()).all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
}

fn is_default(given: &Value, listed: Option<&Tool>, argument: &str) -> bool {
    default(listed, argument).is_some_and(|it| same(it, given))
}

/// The value a tool takes for an argument that is left out.
fn default<'a>(listed: Option<&'a Tool>, argument: &str) -> Option<&'a Value> {
    (listed?.input_schema()?.get("properties")?.get(argument)?).get("default")
}

fn numbers(b: &Value, c: &Value, max_diff: f64) -> f64 {
    let number = |it: &Value| match it {
        Value::Number(it) => Some(it.clone()),
        Value::String(it) => number::parse(it),
        _ => None,
    };
    match (number(b), number(c)) {
        (Some(b), Some(c)) => number::distance(&b, &c, Some(max_diff)),
        _ => 0.0,
    }
}

/// A value as text: a text as it is, anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}
