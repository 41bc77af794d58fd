//! Rules that cannot be read, or can have no effect: for those who check a scenario before it runs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalogue::likeness::nearest_name;
use crate::values::path::Pattern;
use crate::values::same::same;
use model::rules::{ArgumentMatch, Gate, Preset, Responses, Rules};
use model::{Catalogue, Object, ServerCatalogue, Tool, Trajectory};

/// Whether a path under `scoring.ignore` can be read; the error says in words why not.
///
/// # Errors
///
/// A fragment that can follow "invalid path: ".
pub fn check_path(path: &str) -> Result<(), String> {
    Pattern::parse(path).map(|_| ())
}

/// A tool and one set of arguments it is called with, as far as that is known before a run.
#[derive(Debug, Clone, Copy)]
pub struct KnownCall<'a> {
    /// The tool's full or bare name.
    pub tool: &'a str,
    pub arguments: &'a Object,
}

/// All tools with their full names.
fn by_full_name<'a>(
    servers: impl IntoIterator<Item = &'a ServerCatalogue>,
) -> Vec<(String, &'a Tool)> {
    let servers = servers.into_iter();
    servers
        .flat_map(|it| it.tools.iter().map(move |tool| (it, tool)))
        .map(|(it, tool)| (format!("mcp__{}__{}", it.server, tool.name()), tool))
        .collect()
}

/// Rules that no run can be affected by, because no tool that the servers of these sides list, or those behind them, has what they name; one
/// sentence each.
///
/// A rule for an argument that a tool takes but no call gave is not idle. Rules for tools of a server that lists nothing, or for tools that
/// take any argument, are not reported, because it is unknown whether they have an effect.
pub fn idle_after(rules: &Rules, sides: &[&Trajectory]) -> Vec<String> {
    let lanes = || sides.iter().filter_map(|it| it.upstream.as_deref());
    let servers = || {
        let offered = sides.iter().map(|it| &it.catalogue);
        let behind = lanes().map(|it| &it.catalogue);
        offered.chain(behind).flat_map(|it| &it.servers)
    };
    if servers().all(|it| it.tools.is_empty()) {
        return Vec::new();
    }
    let tools = by_full_name(servers());
    let calls = || {
        let behind = lanes().flat_map(|it| &it.calls).map(|it| &it.call);
        sides.iter().flat_map(|it| it.calls()).chain(behind)
    };
    let mut idle = Vec::new();
    for rule in &rules.arguments {
        let means = |tool: &str| (rule.tool.as_deref()).is_none_or(|named| is_tool(tool, named));
        let concerned: Vec<&Tool> = (tools.iter().filter(|(name, _)| means(name)))
            .map(|(_, tool)| *tool)
            .collect();
        let is_used =
            calls().any(|it| means(&it.full_name()) && it.arguments.contains_key(&rule.argument));
        if is_used || concerned.iter().any(|it| takes(it, &rule.argument)) {
            continue;
        }
        match &rule.tool {
            Some(tool) if concerned.is_empty() => idle.push(no_such_tool("args", tool, &tools)),
            _ => {
                let known = concerned.iter().filter_map(|it| parameters(it)).flatten();
                let near = nearest_name(&rule.argument, known.map(String::as_str));
                let name = match &rule.tool {
                    Some(tool) => format!("`{tool}` has no argument `{}`", rule.argument),
                    None => format!("no tool has an argument `{}`", rule.argument),
                };
                idle.push(format!("scoring.args: {name}{}", did_you_mean(near)));
            }
        }
    }
    for rule in &rules.reads {
        let mut concerned = tools
            .iter()
            .filter(|(name, _)| is_tool(name, &rule.tool))
            .peekable();
        let is_called = calls().any(|it| is_tool(&it.full_name(), &rule.tool));
        if concerned.peek().is_none() && !is_called {
            idle.push(no_such_tool("reads", &rule.tool, &tools));
            continue;
        }
        let concerned: Vec<&Tool> = concerned.map(|(_, tool)| *tool).collect();
        for argument in rule.arguments.keys() {
            let is_used = calls().any(|it| {
                is_tool(&it.full_name(), &rule.tool) && it.arguments.contains_key(argument)
            });
            if !is_used && !concerned.iter().any(|it| takes(it, argument)) {
                let known = concerned.iter().filter_map(|it| parameters(it)).flatten();
                let near = did_you_mean(nearest_name(argument, known.map(String::as_str)));
                let tool = &rule.tool;
                idle.push(format!(
                    "scoring.reads: `{tool}` has no argument `{argument}`{near}"
                ));
            }
        }
    }
    idle.iter()
        .map(|it| format!("a rule can have no effect: {it}"))
        .collect()
}

fn no_such_tool(key: &str, tool: &str, tools: &[(String, &Tool)]) -> String {
    let bare = nearest_name(tool, tools.iter().map(|(_, it)| it.name()));
    let near = did_you_mean(bare);
    format!("scoring.{key}: no server offers a tool `{tool}`{near}")
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// Whether a tool takes an argument, as far as its schema says.
fn takes(tool: &Tool, argument: &str) -> bool {
    parameters(tool).is_none_or(|mut names| names.any(|it| it == argument))
}

/// The names of the arguments that a tool takes; `None` where its schema does not list them all.
fn parameters(tool: &Tool) -> Option<impl Iterator<Item = &String>> {
    /// Keywords by which a schema may name arguments outside of its properties.
    const ELSEWHERE: [&str; 10] = [
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "then",
        "else",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
    ];
    let schema = tool.input_schema()?.as_object()?;
    if ELSEWHERE.iter().any(|it| schema.contains_key(*it)) {
        return None;
    }
    // Without `additionalProperties`, the listed properties are taken to be all.
    let is_open = !matches!(
        schema.get("additionalProperties"),
        None | Some(Value::Bool(false))
    );
    let properties = schema.get("properties").and_then(Value::as_object);
    (!is_open).then(|| properties.into_iter().flat_map(Object::keys))
}

/// The rules that can have no effect on a comparison of these calls, one sentence fragment each. `listed` are the tools that are known
/// before a run: an argument that one of them takes may be given yet.
pub fn idle_rules(rules: &Rules, calls: &[KnownCall<'_>], listed: &Catalogue) -> Vec<String> {
    let mut idle = Vec::new();
    let tools = by_full_name(&listed.servers);
    let is_listed = |tool: Option<&str>, argument: &str| {
        let mut tools = tools
            .iter()
            .filter(|(name, _)| tool.is_none_or(|it| is_tool(name, it)));
        tools.any(|(_, it)| parameters(it).is_some_and(|mut names| names.any(|it| it == argument)))
    };
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
        if !candidates.any(|it| it.arguments.contains_key(&rule.argument))
            && !is_listed(rule.tool.as_deref(), &rule.argument)
        {
            idle.push(format!("scoring.args: no call has an argument `{name}`"));
        } else if let ArgumentMatch::OneOf(values) = &rule.how
            && values.is_empty()
        {
            idle.push(format!("scoring.args: `{name}` can be one of no values"));
        }
    }
    let called: BTreeSet<&str> = calls.iter().map(|it| it.tool).collect();
    for rule in &rules.reads {
        let mut matching = called.iter().filter(|it| is_tool(it, &rule.tool));
        let mut known = tools.iter().filter(|(name, _)| is_tool(name, &rule.tool));
        let is_known = known.next().is_some()
            && (rule.arguments.keys()).all(|it| is_listed(Some(&rule.tool), it));
        if is_known {
            continue;
        }
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
    if rules.strict && rules.responses == Responses::Ignore && rules.preset != Preset::Classic {
        idle.push(
            "scoring.strict: answers are not compared at all (`responses: ignore`), so none that changed fails"
                .to_owned(),
        );
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

/// Rules that leave nothing to compare, one sentence each.
pub fn sweeping_rules(rules: &Rules) -> Vec<String> {
    let is_sweeping = |path: &&String| Pattern::parse(path).is_ok_and(|it| it.is_everything());
    (rules.ignore.iter().filter(is_sweeping))
        .map(|path| {
            format!(
                "scoring.ignore: `{path}` leaves out all of every JSON answer: name what varies"
            )
        })
        .collect()
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
    wanted
        .iter()
        .all(|(name, value)| arguments.get(name).is_some_and(|it| same(it, value)))
}
