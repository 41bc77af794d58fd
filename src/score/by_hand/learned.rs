//! Checks of what people wrote by hand: the rules of a scenario, and what its baseline says was learned.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::catalogue::likeness::nearest_name;
use crate::response::finding::Tree;
use crate::text::token::{LONG, tokens};
use crate::values::memo::embedded;
use crate::values::path::{Pattern, escape};
use crate::values::same::{DEPTH, same};
use model::Object;
use model::catalogue::{Catalogue, Tool};
use model::learned::{Learned, Variation, Varying, VaryingToken};
use model::rules::{ArgumentMatch, Gate, Preset, Responses, Rules};
use model::trajectory::{Answer, Outcome, Trajectory};

/// The most steps that are named where one leads nowhere.
const NAMED: usize = 8;

/// The example for a take in which a place was missing. Such a place may be missing in the recorded answer, too.
pub(crate) const NOTHING: &str = "nothing";

/// Whether the texts of a trajectory have the tokens that are said to vary in them.
///
/// # Errors
///
/// What is wrong, and which tokens there are.
pub fn check_tokens(trajectory: &Trajectory) -> Result<(), String> {
    for (learned, answer) in of_answers(trajectory) {
        let places = Places::new(learned, answer);
        for it in &learned.varies {
            let Some(texts) = places.texts(it).filter(|_| it.by == Variation::Tokens) else {
                continue;
            };
            check(&it.parts, texts).map_err(|problem| {
                format!("`learned`, call {}, `{}`: {problem}", learned.call, it.path)
            })?;
        }
    }
    Ok(())
}

/// Places that are said to vary and that no recorded answer has, so that nothing can vary there; one sentence each. Places that
/// were missing in some take are left out, because the recorded take may be that one.
pub fn unknown_places(trajectory: &Trajectory) -> Vec<String> {
    let mut unknown = Vec::new();
    for (learned, answer) in of_answers(trajectory) {
        let places = Places::new(learned, answer);
        let comes_and_goes = |it: &Varying| it.heard.iter().any(|it| it == NOTHING);
        let lost = |it: &&Varying| places.texts(it).is_none() && !comes_and_goes(it);
        for it in learned.varies.iter().filter(lost) {
            let path = &it.path;
            unknown.push(format!(
                "`learned`, call {}: the recorded answer has no `{path}`, so nothing varies there; {}",
                learned.call,
                nearest(answer, path)
            ));
        }
    }
    unknown
}

/// What was learned of the calls that have an answer, with the answers.
fn of_answers(trajectory: &Trajectory) -> impl Iterator<Item = (&Learned, &Answer)> {
    let calls: Vec<_> = trajectory.calls().collect();
    let varying = trajectory.learned.iter().filter(|it| !it.varies.is_empty());
    varying.filter_map(move |it| {
        let call = calls.get(it.call.checked_sub(1)?)?;
        match &call.outcome {
            Outcome::Answer(answer) => Some((it, answer)),
            Outcome::Failure(_) => None,
        }
    })
}

/// The texts that an answer has at a place that is said to vary; `None` where it has no such place. In a place that holds something else,
/// there are none.
pub(crate) fn place_texts(of: &Varying, answer: &Answer) -> Option<Vec<String>> {
    let learned = Learned {
        varies: vec![of.clone()],
        ..Learned::default()
    };
    let places = Places::new(&learned, answer);
    let own = &learned.varies[0];
    places.texts(own)?;
    places.said.get(&std::ptr::from_ref(own)).cloned()
}

/// How many tokens each text of a place has. A text that is too long to be cut into tokens passes with any number.
type Texts = Vec<usize>;

/// Whether one of the texts has all these tokens.
fn check(varying: &[VaryingToken], texts: &Texts) -> Result<(), String> {
    let Some(longest) = texts.iter().max() else {
        return Err("there is no text, so none of its tokens can vary".to_owned());
    };
    // If the recorded take had none of the varying tokens, they stand before the named one, or at the end of the text.
    let last = |it: &VaryingToken| it.token.saturating_sub(1).saturating_add(it.tokens);
    let wrong = |it: &&VaryingToken| it.token == 0 || last(it) > *longest;
    varying.iter().find(wrong).map_or(Ok(()), |it| {
        let number = if it.token == 0 { 0 } else { last(it) };
        Err(format!(
            "there is no token {number}: the text has tokens 1 to {longest}"
        ))
    })
}

/// The places of one answer that are said to vary, as far as it has them.
#[derive(Default)]
struct Places {
    seen: HashMap<*const Varying, Texts>,
    /// The same texts.
    said: HashMap<*const Varying, Vec<String>>,
}

impl Places {
    fn new(learned: &Learned, answer: &Answer) -> Self {
        let mut places = Self::default();
        let tree = Tree::new(&learned.varies);
        let root = vec![&tree];
        let content = Tree::under(&root, "content");
        places.note(&content);
        for (index, block) in answer.content.iter().enumerate() {
            places.walk(&Tree::under(&content, &index.to_string()), block, DEPTH);
        }
        if let Some(structured) = &answer.structured_content {
            places.walk(&Tree::under(&root, "structuredContent"), structured, DEPTH);
        }
        if let Some(meta) = answer.other.get("_meta") {
            places.walk(&Tree::under(&root, "_meta"), meta, DEPTH);
        }
        places
    }

    /// The texts of a place; `None` where the answer has no such place.
    fn texts(&self, of: &Varying) -> Option<&Texts> {
        self.seen.get(&std::ptr::from_ref(of))
    }

    fn note(&mut self, at: &[&Tree<'_>]) -> Vec<*const Varying> {
        let here = at.iter().filter_map(|it| Tree::varying(&[*it]));
        let here: Vec<*const Varying> = here.map(std::ptr::from_ref).collect();
        for it in &here {
            self.seen.entry(*it).or_default();
            self.said.entry(*it).or_default();
        }
        here
    }

    fn walk(&mut self, at: &[&Tree<'_>], value: &Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| !at.is_empty()) else {
            return;
        };
        let here = self.note(at);
        if let Some(text) = value.as_str().filter(|_| !here.is_empty()) {
            let count = if text.len() > LONG {
                usize::MAX
            } else {
                tokens(text).iter().map(|it| it.pieces).sum()
            };
            for it in here {
                self.seen.entry(it).or_default().push(count);
                self.said.entry(it).or_default().push(text.to_owned());
            }
        }
        let json = Tree::under(at, JSON);
        if let Some(document) = document(value).filter(|_| !json.is_empty()) {
            self.walk(&json, &document, depth);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.walk(&Tree::under(at, name), member, depth);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(&Tree::under(at, &index.to_string()), item, depth);
                }
            }
            // What varies in the lines of a text that grew is listed by their indexes.
            Value::String(text) => {
                for (index, line) in text.lines().enumerate() {
                    let under = Tree::under(at, &index.to_string());
                    if !under.is_empty() {
                        self.walk(&under, &line.into(), depth);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The step into a text that holds JSON.
const JSON: &str = "json";

/// The JSON that a text, or the text of a block, holds.
fn document(of: &Value) -> Option<Value> {
    let block = of.get("text").filter(|_| of.get(JSON).is_none());
    embedded(block.unwrap_or(of).as_str()?)
}

/// How far a path leads, and where it could go on from there.
fn nearest(answer: &Answer, path: &str) -> String {
    let content = ("content".to_owned(), answer.content.clone().into());
    let structured = answer.structured_content.clone();
    let structured = structured.map(|it| ("structuredContent".to_owned(), it));
    let meta = answer.other.get_key_value("_meta");
    let meta = meta.map(|(key, it)| (key.clone(), it.clone()));
    let all = [content].into_iter().chain(structured).chain(meta);
    let mut value = Value::Object(all.collect());
    let mut there = String::new();
    for step in path.split('/').skip(1) {
        let next = steps(&value).into_iter();
        let Some((name, under)) = next
            .into_iter()
            .find(|(name, _)| step == "*" || name == step)
        else {
            break;
        };
        there = format!("{there}/{name}");
        value = under;
    }
    let on = steps(&value).into_iter().map(|(name, _)| name);
    let slash = if there.is_empty() { "/" } else { "" };
    let mut named: Vec<String> = on.map(|it| format!("`{slash}{it}`")).collect();
    if named.len() > NAMED {
        named.truncate(NAMED);
        named.push("…".to_owned());
    }
    let there = match there.as_str() {
        "" => "it".to_owned(),
        there => format!("`{there}`"),
    };
    match named.as_slice() {
        [] => format!("{there} has nothing beneath it"),
        named => format!("{there} has {}", named.join(", ")),
    }
}

/// What lies one step further on, by the names of the steps.
fn steps(value: &Value) -> Vec<(String, Value)> {
    let json = document(value).map(|it| (JSON.to_owned(), it));
    let under: Vec<(String, Value)> = match value {
        Value::Object(members) => (members.iter())
            .map(|(name, it)| (escape(name).into_owned(), it.clone()))
            .collect(),
        Value::Array(items) => (items.iter().enumerate())
            .map(|(index, it)| (index.to_string(), it.clone()))
            .collect(),
        _ => Vec::new(),
    };
    json.into_iter().chain(under).collect()
}

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
    let tools: Vec<(String, &Tool)> = servers()
        .flat_map(|it| it.tools.iter().map(move |tool| (it, tool)))
        .map(|(it, tool)| (format!("mcp__{}__{}", it.server, tool.name()), tool))
        .collect();
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
    let servers = listed.servers.iter();
    let tools: Vec<(String, &Tool)> = servers
        .flat_map(|it| it.tools.iter().map(move |tool| (it, tool)))
        .map(|(it, tool)| (format!("mcp__{}__{}", it.server, tool.name()), tool))
        .collect();
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
