//! Rules that cannot be read, or can have no effect: for those who check a scenario before it runs.

use std::collections::BTreeSet;

use regex::Regex;

use crate::model::Object;
use crate::model::rules::{ArgumentMatch, Gate, Preset, Responses, Rules};

use super::path::Pattern;

/// Whether a path under `scoring.ignore` can be read; the error says in words why not.
///
/// # Errors
///
/// A fragment that can follow "invalid path: ".
pub fn check_path(path: &str) -> Result<(), String> {
    Pattern::parse(path).map(|_| ())
}

/// Whether a regular expression under `scoring.args` can be read; the error says in words why not.
///
/// # Errors
///
/// The first line of the reason, as the `regex` crate gives it.
pub fn check_regex(pattern: &str) -> Result<(), String> {
    match Regex::new(pattern) {
        Ok(_) => Ok(()),
        Err(regex::Error::Syntax(text)) => {
            let last = text.lines().last().unwrap_or_default();
            Err(last.trim_start_matches("error: ").to_owned())
        }
        Err(other) => Err(other.to_string()),
    }
}

/// A tool and one set of arguments it is called with, as far as that is known before a run.
#[derive(Debug, Clone, Copy)]
pub struct KnownCall<'a> {
    /// The tool's full or bare name.
    pub tool: &'a str,
    pub arguments: &'a Object,
}

/// The rules that can have no effect on a comparison of these calls, one sentence fragment each.
pub fn idle_rules(rules: &Rules, calls: &[KnownCall<'_>]) -> Vec<String> {
    let mut idle = Vec::new();
    for rule in &rules.arguments {
        let name = match &rule.tool {
            Some(tool) => format!("{tool}.{}", rule.argument),
            None => rule.argument.clone(),
        };
        let mut candidates = calls.iter().filter(|it| {
            rule.tool
                .as_deref()
                .is_none_or(|tool| is_tool(it.tool, tool))
        });
        if !candidates.any(|it| it.arguments.contains_key(&rule.argument)) {
            idle.push(format!("scoring.args: no call has an argument `{name}`"));
        } else if let ArgumentMatch::OneOf(values) = &rule.how
            && values.is_empty()
        {
            idle.push(format!("scoring.args: `{name}` can be one of no values"));
        }
    }
    let tools: BTreeSet<&str> = calls.iter().map(|it| it.tool).collect();
    for rule in &rules.reads {
        let mut matching = tools.iter().filter(|it| is_tool(it, &rule.tool));
        if matching.next().is_none() {
            idle.push(format!("scoring.reads: no call is made to `{}`", rule.tool));
        } else if !calls
            .iter()
            .any(|it| is_tool(it.tool, &rule.tool) && has_all(it.arguments, &rule.arguments))
        {
            idle.push(format!(
                "scoring.reads: no call to `{}` has these arguments",
                rule.tool
            ));
        }
    }
    let answers_unused = rules.responses == Responses::Ignore || rules.preset == Preset::Classic;
    if answers_unused && !rules.ignore.is_empty() {
        idle.push("scoring.ignore: answers are not compared at all".to_owned());
    }
    if rules.preset == Preset::Classic && !rules.arguments.is_empty() {
        idle.push("scoring.args: the classic preset compares all arguments alike".to_owned());
    }
    if rules.preset == Preset::Classic {
        let gates = [
            ("strict", rules.strict),
            ("drift", rules.drift == Gate::Fail),
            ("slower", rules.slower.gate == Gate::Fail),
            ("tokens", rules.tokens.gate == Gate::Fail),
        ];
        let set = gates.iter().filter(|(_, is_set)| *is_set);
        idle.extend(set.map(|(name, _)| {
            format!("scoring.{name}: the classic preset gates by its score alone")
        }));
    }
    idle
}

/// Whether a rule's tool name, bare or full, means this tool.
fn is_tool(called: &str, named: &str) -> bool {
    let ends_with = |called: &str| {
        called
            .strip_suffix(named)
            .is_some_and(|it| it.ends_with("__"))
    };
    called == named || (called.starts_with("mcp__") && ends_with(called))
}

fn has_all(arguments: &Object, wanted: &Object) -> bool {
    wanted.iter().all(|(name, value)| {
        arguments
            .get(name)
            .is_some_and(|it| super::same::same(it, value))
    })
}
