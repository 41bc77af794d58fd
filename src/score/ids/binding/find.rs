//! Finding the arguments of a recorded trajectory that come from earlier answers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::text::generated::{is_generated, tokens};
use crate::values::exact::exact;
use crate::values::path::{escape, value_at};
use model::{Answer, Binding, Outcome, Source, Step, ToolCall, Trajectory};

use super::extract::{is_id, occurrences, text_of};
use super::fill::{is_filled_with, resolve};
use super::place::{self, read_answer};

/// Longer texts are only looked for as a whole.
const LONG: usize = 4_000;
/// The most texts of several pieces that are found by one run of letters and digits in them.
const COMPOSITES: usize = 64;
/// The most places of one value that are considered.
const PLACES: usize = 8;
/// The shortest value that is bound wherever it is used once it is bound in one place.
const NAME: usize = 6;
/// The most bindings of one trajectory.
const BINDINGS: usize = 50_000;

/// The bindings of a trajectory, in the order of its calls.
///
/// A value counts as the server's if it stood in an answer before it stood in a message of the user, an earlier request, or a tool's
/// description. Of several answers the earliest is the source. Other takes of the same scenario decide where they can: what followed
/// its source in all of them is bound, what did not is not. Where they say nothing, or the value was the same in all, it is bound if
/// it looks generated (see [`is_generated`] and [`is_id`]), there or wherever else it is used.
pub(super) fn find(trajectory: &Trajectory, takes: &[&Trajectory]) -> Vec<Binding> {
    // Only what was answered before a call can be in its arguments; reading answers of megabytes takes ten times their memory.
    if (trajectory.calls().skip(1)).all(|it| it.arguments.is_empty()) {
        return Vec::new();
    }
    let trajectory = &exact(trajectory);
    let takes: Vec<Cow<'_, Trajectory>> = takes.iter().copied().map(exact).collect();
    let mut takes = Takes::new(trajectory, &takes);
    let bindings = find_once(trajectory, &takes);
    let bound = bindings.iter().filter_map(|it| text_of(&it.value));
    takes.made_up = bound.filter(|it| is_a_name(it)).collect();
    if takes.made_up.is_empty() {
        bindings
    } else {
        find_once(trajectory, &takes)
    }
}

/// Whether a text means the same thing wherever it stands, because it is long enough and no number.
fn is_a_name(text: &str) -> bool {
    text.len() >= NAME && text.contains(char::is_alphabetic)
}

fn find_once(trajectory: &Trajectory, takes: &Takes) -> Vec<Binding> {
    let mut said = Said::default();
    said.by_client(&serde_json::to_string(&tools(trajectory)).unwrap_or_default());
    let mut bindings = Vec::new();
    let mut number = 0;
    for step in &trajectory.steps {
        match step {
            Step::User { text } => said.by_client(text),
            // An agent's message is no source, because it repeats what it knows from earlier messages and answers.
            Step::Assistant { .. } => {}
            Step::ToolCall(call) if call.server.is_none() => said.elsewhere(call),
            Step::ToolCall(call) => {
                number += 1;
                of_call(call, number, &said, takes, &mut bindings);
                for (_, value) in arguments(call) {
                    said.by_client(&text_of(value).unwrap_or_default());
                }
                if let Outcome::Answer(answer) = &call.outcome {
                    said.by_server(number, answer);
                }
            }
        }
        if bindings.len() >= BINDINGS {
            bindings.truncate(BINDINGS);
            break;
        }
    }
    bindings
}

fn tools(trajectory: &Trajectory) -> Vec<&model::Object> {
    let servers = trajectory.catalogue.servers.iter();
    servers
        .flat_map(|it| &it.tools)
        .map(|it| &it.served)
        .collect()
}

/// The values said so far, and where each was said first.
#[derive(Default)]
struct Said {
    client: HashSet<String>,
    /// Where whole values of answers, and pieces of their texts, stood first.
    values: HashMap<String, Vec<Source>>,
    pieces: HashMap<String, Vec<Source>>,
    /// Values of several pieces, which may stand within an argument, by that of their runs of letters and digits which the fewest others
    /// are found by: an argument that holds a value has all of its runs.
    composites: HashMap<String, Vec<String>>,
}

impl Said {
    fn by_client(&mut self, text: &str) {
        self.client.insert(text.to_owned());
        let words = text
            .split_whitespace()
            .map(|it| it.trim_matches(['.', ',', ';', '"', '\'', '`']));
        self.client
            .extend(words.chain(tokens(text)).map(str::to_owned));
    }

    /// Notes what a call of a tool that is no MCP tool says. A replay does not call such tools, so its answers cannot be a source.
    fn elsewhere(&mut self, call: &ToolCall) {
        for (_, value) in arguments(call) {
            self.by_client(&text_of(value).unwrap_or_default());
        }
        if let Outcome::Answer(answer) = &call.outcome {
            for leaf in place::leaves(answer) {
                self.by_client(&text_of(&leaf.value).unwrap_or_default());
            }
        }
    }

    fn by_server(&mut self, call: usize, answer: &Answer) {
        for leaf in place::leaves(answer) {
            let source = || Source {
                call,
                path: leaf.path.clone(),
            };
            let Some(text) = text_of(&leaf.value) else {
                continue;
            };
            if text.len() <= LONG {
                let pieces = tokens(&text);
                if pieces.len() > 1
                    && !text.contains(char::is_whitespace)
                    && !self.client.contains(&text)
                    && !self.values.contains_key(&text)
                {
                    let others = |run: &&str| self.composites.get(*run).map_or(0, Vec::len);
                    let rarest = runs(&text).min_by_key(others).unwrap_or_default();
                    let found_by_it = self.composites.entry(rarest.to_owned()).or_default();
                    if found_by_it.len() < COMPOSITES {
                        found_by_it.push(text.clone());
                    }
                }
                for piece in pieces {
                    if piece != text && !self.client.contains(piece) {
                        add(&mut self.pieces, piece, source());
                    }
                }
            }
            if !self.client.contains(&text) && !text.is_empty() {
                add(&mut self.values, &text, source());
            }
        }
    }

    /// Where a text stood, the earliest answer first, and in each answer the places where it is a value of its own.
    fn sources(&self, text: &str) -> Vec<&Source> {
        let found = [self.values.get(text), self.pieces.get(text)];
        let mut sources: Vec<&Source> = found.into_iter().flatten().flatten().collect();
        sources.sort_by_key(|it| it.call);
        sources
    }

    fn is_known(&self, text: &str) -> bool {
        self.values.contains_key(text) || self.pieces.contains_key(text)
    }
}

fn add(places: &mut HashMap<String, Vec<Source>>, text: &str, source: Source) {
    let known = places.entry(text.to_owned()).or_default();
    if known.len() < PLACES {
        known.push(source);
    }
}

/// The texts and numbers of a call's arguments with their JSON pointers.
fn arguments(call: &ToolCall) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut pending: Vec<(String, &Value)> = (call.arguments.iter().rev())
        .map(|(name, value)| (format!("/{}", pointer(name)), value))
        .collect();
    while let Some((path, value)) = pending.pop() {
        match value {
            Value::Object(members) => pending.extend(
                (members.iter().rev()).map(|(key, it)| (format!("{path}/{}", pointer(key)), it)),
            ),
            Value::Array(items) => pending.extend(
                (items.iter().enumerate().rev()).map(|(at, it)| (format!("{path}/{at}"), it)),
            ),
            Value::String(_) | Value::Number(_) => found.push((path, value)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    found
}

fn pointer(key: &str) -> String {
    escape(key).replace("~2", "*")
}

fn of_call(
    call: &ToolCall,
    number: usize,
    said: &Said,
    takes: &Takes,
    bindings: &mut Vec<Binding>,
) {
    for (path, value) in arguments(call) {
        let bind = |text: &str, value: Value| {
            let sources = said.sources(text).into_iter();
            let mut possible = sources.map(|source| Binding {
                call: number,
                path: path.clone(),
                value: value.clone(),
                from: source.clone(),
            });
            possible.find(|it| takes.confirm(it))
        };
        let text = text_of(value).unwrap_or_default();
        if let Some(whole) = bind(&text, place::as_given(value)) {
            bindings.push(whole);
        } else if value.is_string() && text.len() <= LONG {
            let parts = parts(&text, said).into_iter();
            bindings.extend(parts.filter_map(|it| bind(it, it.into())));
        }
    }
}

/// The pieces of an argument that stood in answers, the longest first, none within another.
fn parts<'t>(text: &'t str, said: &'t Said) -> Vec<&'t str> {
    let composites = runs(text).filter_map(|run| said.composites.get(run));
    let mut known: Vec<&str> = composites
        .flatten()
        .map(String::as_str)
        .filter(|it| it.len() < text.len() && occurrences(text, it).next().is_some())
        .collect();
    known.extend(tokens(text).into_iter().filter(|it| said.is_known(it)));
    let mut met = HashSet::new();
    known.retain(|it| met.insert(*it));
    known.sort_by_key(|it| std::cmp::Reverse(it.len()));
    let mut taken: Vec<(usize, usize)> = Vec::new();
    known.retain(|piece| {
        let places: Vec<(usize, usize)> = occurrences(text, piece)
            .map(|at| (at, at + piece.len()))
            .collect();
        let is_free =
            |it: &(usize, usize)| taken.iter().all(|&(from, to)| it.1 <= from || to <= it.0);
        let free = !places.is_empty() && places.iter().all(is_free);
        if free {
            taken.extend(places);
        }
        free
    });
    known
}

/// The runs of letters and digits in a text.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|it: char| !it.is_alphanumeric());
    runs.filter(|it| !it.is_empty())
}

impl Takes {
    /// Whether the other takes bear a binding out, or at least leave it possible.
    fn confirm(&self, binding: &Binding) -> bool {
        let mut followed = false;
        for take in &self.others {
            let Some((recorded, live, call)) = self.sides(take, binding) else {
                continue;
            };
            let Some(now) = resolve(binding, recorded, live) else {
                continue;
            };
            if text_of(&now) == text_of(&binding.value) {
                continue;
            }
            let follows =
                value_at(&call.arguments, &binding.path).is_some_and(|it| is_filled_with(it, &now));
            if !follows {
                return false;
            }
            followed = true;
        }
        followed
            || is_generated(&binding.value)
            || is_id(&binding.value, &binding.path, &binding.from.path)
            || text_of(&binding.value).is_some_and(|it| self.made_up.contains(&it))
    }

    /// The recorded and the take's answer at the source, and the take's call that uses it.
    fn sides<'t>(
        &'t self,
        take: &'t [ToolCall],
        binding: &Binding,
    ) -> Option<(&'t Answer, &'t Answer, &'t ToolCall)> {
        let call = |calls: &'t [ToolCall], number: usize| calls.get(number.checked_sub(1)?);
        let (source, source_now) = (
            call(&self.first, binding.from.call)?,
            call(take, binding.from.call)?,
        );
        let (target, target_now) = (call(&self.first, binding.call)?, call(take, binding.call)?);
        let same_tool = |a: &ToolCall, b: &ToolCall| a.server == b.server && a.tool == b.tool;
        if !same_tool(source, source_now) || !same_tool(target, target_now) {
            return None;
        }
        match (&source.outcome, &source_now.outcome) {
            (Outcome::Answer(recorded), Outcome::Answer(live)) => {
                Some((recorded, live, target_now))
            }
            _ => None,
        }
    }
}

/// The takes of one scenario.
pub(super) struct Takes {
    pub(super) first: Vec<ToolCall>,
    pub(super) others: Vec<Vec<ToolCall>>,
    /// Values that are bound somewhere, and so count as the server's wherever they are used.
    pub(super) made_up: HashSet<String>,
}

impl Takes {
    /// Without other takes, the first is not read, because it is not needed.
    pub(super) fn new(first: &Trajectory, others: &[Cow<'_, Trajectory>]) -> Self {
        let first = (!others.is_empty()).then(|| read_calls(first));
        Self {
            first: first.unwrap_or_default(),
            others: others.iter().map(|it| read_calls(it)).collect(),
            made_up: HashSet::new(),
        }
    }
}

/// The scored calls with the JSON in their answers read.
pub(crate) fn read_calls(trajectory: &Trajectory) -> Vec<ToolCall> {
    let read = |call: &ToolCall| {
        let mut call = call.clone();
        if let Outcome::Answer(answer) = &mut call.outcome {
            *answer = read_answer(answer);
        }
        call
    };
    trajectory.calls().map(read).collect()
}
