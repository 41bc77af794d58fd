//! A check that the right tools were called, with what, how often, and what they answered.

use std::cell::OnceCell;

use serde_json::Value;

use super::answers;
use super::exact_match::has;
use super::pattern::regex;
use crate::evaluate::finding::Finding;
use crate::evaluate::subject::Subject;
use crate::evaluate::tools::{Offer, call_name, counts, is_named, numbered, unsendable};
use crate::json_schema::JsonSchema;
use crate::model::placeholder;
use crate::model::rules::Rules;
use crate::model::{Catalogue, ToolCall};
use crate::scenario_file::evaluators::{
    AnswerPattern, ArgumentsPattern, CallPattern, ToolCalls, WantedCall,
};
use crate::score::same;
use crate::text::shorten;

/// How much of a text is shown, in characters.
const SHOWN: usize = 200;

/// How many calls are named that should not be.
const NAMED: usize = 10;

/// A call, and its number among those of the servers; `None` for one of a tool of the agent's own.
type Made<'t> = (Option<usize>, &'t ToolCall);

pub(in crate::evaluate) fn look(it: &ToolCalls, subject: Subject<'_>) -> Finding {
    let run = subject.trajectory;
    let named: Vec<&str> = it.tools().collect();
    // Of the agent's own tools, only those are looked at that are named.
    let is_meant =
        |call: &ToolCall| named.iter().any(|it| is_named(call, it)) && counts(call, &run.catalogue);
    let calls = numbered(run).filter(|(number, it)| number.is_some() || is_meant(it));
    let calls: Vec<Made<'_>> = calls.collect();
    if subject.hides_secrets() && asks_of_hidden(it, &calls) {
        return Finding::hidden();
    }
    match problems(it, subject, &calls) {
        Err(why) => Finding::error(why),
        Ok(problems) => {
            let words = match calls.len() {
                1 => "1 call, as expected".to_owned(),
                calls => format!("{calls} calls, as expected"),
            };
            Finding::of(problems, words)
        }
    }
}

/// Whether calls are looked at by what they were given or answered, and secrets were taken out of that which are not the ones asked for.
fn asks_of_hidden(it: &ToolCalls, calls: &[Made<'_>]) -> bool {
    let wanted = it.required.iter().chain(&it.optional).map(|it| &it.call);
    let mut looked_into = wanted
        .chain(&it.prohibited)
        .filter(|it| it.arguments.is_some() || it.answer.is_some());
    looked_into.any(|pattern| {
        let is_asked_for = |key: &String, given: &Value| match &pattern.arguments {
            None => false,
            Some(ArgumentsPattern::Partial(wanted) | ArgumentsPattern::Regex(wanted)) => {
                (wanted.get(key)).is_some_and(|it| !placeholder::holds_any(it))
            }
            Some(ArgumentsPattern::Exact(wanted)) => wanted.get(key) != Some(given),
            Some(ArgumentsPattern::Schema(_)) => true,
        };
        let mut of_tool = calls.iter().filter(|(_, it)| is_named(it, &pattern.tool));
        of_tool.any(|(_, call)| {
            let mut given = call
                .arguments
                .iter()
                .filter(|(_, it)| placeholder::holds_any(it));
            given.any(|(key, it)| is_asked_for(key, it))
                || pattern.answer.is_some() && answers::holds_placeholder(&call.outcome)
        })
    })
}

/// All that speaks against the calls.
fn problems(
    it: &ToolCalls,
    subject: Subject<'_>,
    calls: &[Made<'_>],
) -> Result<Vec<String>, String> {
    let rules = &subject.scenario.scoring;
    let catalogue = &subject.trajectory.catalogue;
    let mut problems = Vec::new();
    for wanted in &it.required {
        required(wanted, subject, calls, &mut problems)?;
    }
    for wanted in &it.optional {
        let found = of_wanted(wanted, calls, (rules, catalogue))?;
        counted(wanted, found.len(), &mut problems);
        placed(wanted, &found, calls, catalogue, &mut problems);
    }
    for pattern in &it.prohibited {
        // To try is enough.
        let found = matching(pattern, calls, rules)?;
        for index in found.into_iter().take(NAMED) {
            problems.push(format!("{} is prohibited", call_name(calls[index])));
        }
    }
    let mut extra = Vec::new();
    for (index, (number, call)) in calls.iter().enumerate() {
        let mut wanted = it.required.iter().chain(&it.optional);
        let is_of_tool = wanted.clone().any(|it| is_named(call, &it.call.tool));
        // What is said of all calls is said of those of servers.
        if number.is_none() {
            continue;
        }
        if let Some(allowed) = &it.allowed
            && !is_of_tool
            && !allowed.iter().any(|it| is_named(call, it))
        {
            problems.push(format!("{} is not allowed", call_name((*number, call))));
        }
        let is_wanted = wanted.try_fold(false, |found, it| -> Result<bool, String> {
            Ok(found || fits_request(&it.call, call, rules)?)
        })?;
        if !is_wanted {
            extra.push(index);
        }
    }
    if let Some(most) = it.max_extra
        && extra.len() > most as usize
    {
        let named = extra.iter().take(NAMED);
        let named: Vec<String> = named.map(|index| call_name(calls[*index])).collect();
        problems.push(format!(
            "{} of at most {most} extra calls: {}",
            extra.len(),
            named.join(", ")
        ));
    }
    Ok(problems)
}

fn required(
    wanted: &WantedCall,
    subject: Subject<'_>,
    calls: &[Made<'_>],
    problems: &mut Vec<String>,
) -> Result<(), String> {
    let rules = &subject.scenario.scoring;
    let catalogue = &subject.trajectory.catalogue;
    let found = of_wanted(wanted, calls, (rules, catalogue))?;
    if found.is_empty() && wanted.min > 0 {
        let tool = &wanted.call.tool;
        let of_tool = calls
            .iter()
            .filter(|(_, it)| is_named(it, tool) && counts(it, catalogue));
        let of_tool: Vec<Made<'_>> = of_tool.copied().collect();
        problems.push(if of_tool.is_empty() {
            let nearest =
                |it: Option<String>| it.map_or_else(String::new, |it| format!("; nearest: `{it}`"));
            let now = &subject.trajectory.catalogue;
            match Offer::of(tool, now, subject.offered_before()) {
                Offer::Never(meant) => {
                    let nearest = nearest(meant);
                    format!("`{tool}` is not called: no server offers it{nearest}")
                }
                Offer::Before(near) => {
                    let nearest = nearest(near);
                    format!("`{tool}` is not called: no server offers it any more{nearest}")
                }
                Offer::Now => match unsendable(subject.trajectory, tool) {
                    Some(why) => format!("`{tool}` is called, and cannot be: {why}"),
                    None => format!("`{tool}` is not called"),
                },
            }
        } else {
            let why = of_tool.iter().map(|it| {
                let why = Compiled::new(&wanted.call, rules)?.misfit(it.1)?;
                Ok(why.map(|why| format!("{}: {why}", call_name(*it))))
            });
            let why = why.collect::<Result<Vec<_>, String>>()?;
            let why: Vec<String> = why.into_iter().flatten().take(NAMED).collect();
            format!("no call of `{tool}` is as required: {}", why.join("; "))
        });
        return Ok(());
    }
    counted(wanted, found.len(), problems);
    placed(wanted, &found, calls, catalogue, problems);
    Ok(())
}

fn counted(wanted: &WantedCall, count: usize, problems: &mut Vec<String>) {
    let tool = &wanted.call.tool;
    let (least, most) = (wanted.min, wanted.max);
    if count < least as usize {
        problems.push(format!(
            "{count} of at least {least} such calls of `{tool}`"
        ));
    }
    if let Some(most) = most.filter(|it| count > *it as usize) {
        problems.push(format!("{count} of at most {most} such calls of `{tool}`"));
    }
}

/// Whether such calls are made where they should be.
fn placed(
    wanted: &WantedCall,
    found: &[usize],
    calls: &[Made<'_>],
    catalogue: &Catalogue,
    problems: &mut Vec<String>,
) {
    let tool = &wanted.call.tool;
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return;
    };
    if wanted.first && *first != 0 {
        let (call, other) = (first + 1, calls[0].1.full_name());
        problems.push(format!(
            "`{tool}` is call {call} and not the first, which is `{other}`"
        ));
    }
    if wanted.last && *last + 1 != calls.len() {
        let (call, all) = (last + 1, calls.len());
        problems.push(format!("`{tool}` is call {call} of {all} and not the last"));
    }
    if let Some(before) = &wanted.before
        && let Some(other) = calls
            .iter()
            .position(|(_, it)| is_named(it, before) && counts(it, catalogue))
        && other <= *first
    {
        let (call, other) = (first + 1, other + 1);
        problems.push(format!(
            "`{tool}` is call {call}, and should come before call {other} of `{before}`"
        ));
    }
}

/// The indexes of the calls that are wanted. Where there is to be none, to try is enough.
fn of_wanted(
    wanted: &WantedCall,
    calls: &[Made<'_>],
    (rules, catalogue): (&Rules, &Catalogue),
) -> Result<Vec<usize>, String> {
    let mut found = matching(&wanted.call, calls, rules)?;
    if wanted.max != Some(0) {
        found.retain(|it| counts(calls[*it].1, catalogue));
    }
    Ok(found)
}

/// The indexes of the calls, made or tried, that are meant.
fn matching(
    pattern: &CallPattern,
    calls: &[Made<'_>],
    rules: &Rules,
) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    let compiled = Compiled::new(pattern, rules)?;
    for (index, (_, call)) in calls.iter().enumerate() {
        if is_named(call, &pattern.tool) && compiled.misfit(call)?.is_none() {
            found.push(index);
        }
    }
    Ok(found)
}

/// Whether a call of the tool was made with what is meant, whatever was answered.
fn fits_request(pattern: &CallPattern, call: &ToolCall, rules: &Rules) -> Result<bool, String> {
    if !is_named(call, &pattern.tool) {
        return Ok(false);
    }
    let compiled = Compiled::new(pattern, rules)?;
    Ok(compiled.arguments(call)?.is_none())
}

/// A pattern whose schema is read once.
struct Compiled<'a> {
    pattern: &'a CallPattern,
    schema: OnceCell<JsonSchema>,
    /// The rules by which an answer is an error.
    rules: &'a Rules,
}

impl<'a> Compiled<'a> {
    fn new(pattern: &'a CallPattern, rules: &'a Rules) -> Result<Self, String> {
        let schema = OnceCell::new();
        if let Some(ArgumentsPattern::Schema(of)) = &pattern.arguments {
            let read =
                JsonSchema::new(of).map_err(|why| format!("the schema of arguments {why}"))?;
            let _ = schema.set(read);
        }
        Ok(Self {
            pattern,
            schema,
            rules,
        })
    }

    /// Why a call of the tool is not the one that is meant.
    fn misfit(&self, call: &ToolCall) -> Result<Option<String>, String> {
        if let Some(why) = self.arguments(call)? {
            return Ok(Some(why));
        }
        match &self.pattern.answer {
            None => Ok(None),
            Some(answer) => answered(answer, call, self.rules),
        }
    }

    fn arguments(&self, call: &ToolCall) -> Result<Option<String>, String> {
        let given = Value::Object(call.arguments.clone());
        let shown = || shorten(&given.to_string(), SHOWN).into_owned();
        let fits = match &self.pattern.arguments {
            None => true,
            Some(ArgumentsPattern::Partial(wanted)) => has(&Value::Object(wanted.clone()), &given),
            Some(ArgumentsPattern::Exact(wanted)) => same(&Value::Object(wanted.clone()), &given),
            Some(ArgumentsPattern::Regex(wanted)) => {
                is_like(&Value::Object(wanted.clone()), &given)?
            }
            Some(ArgumentsPattern::Schema(_)) => {
                let Some(schema) = self.schema.get() else {
                    return Ok(None);
                };
                let first = schema.violations(&given).next();
                return Ok(first.map(|it| format!("its arguments {}: {}", it.path, it.what)));
            }
        };
        Ok((!fits).then(|| format!("its arguments are {}", shown())))
    }
}

/// Whether a value is like another, in which texts are regular expressions.
fn is_like(wanted: &Value, found: &Value) -> Result<bool, String> {
    Ok(match (wanted, found) {
        (Value::String(pattern), Value::String(text)) => regex(pattern, false)?.is_match(text),
        (Value::String(pattern), other @ (Value::Number(_) | Value::Bool(_))) => {
            regex(pattern, false)?.is_match(&other.to_string())
        }
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, wanted) in wanted {
                let is_like_it = match found.get(key) {
                    Some(found) => is_like(wanted, found)?,
                    None => false,
                };
                if !is_like_it {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (wanted, found) in wanted.iter().zip(found) {
                if !is_like(wanted, found)? {
                    return Ok(false);
                }
            }
            true
        }
        (wanted, found) => same(wanted, found),
    })
}

/// Why the answer to a call is not the one that is meant.
fn answered(
    wanted: &AnswerPattern,
    call: &ToolCall,
    rules: &Rules,
) -> Result<Option<String>, String> {
    if let Some(is_meant) = wanted.is_error {
        match (is_meant, answers::error(call, rules)) {
            (true, None) => return Ok(Some("it answers, and an error is expected".to_owned())),
            (false, Some(error)) => return Ok(Some(format!("it {error}"))),
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some(text) = &wanted.contains {
        let readings = answers::readings(&call.outcome);
        if !readings.iter().any(|it| it.contains(text.as_str())) {
            return Ok(Some(format!("its answer does not contain `{text}`")));
        }
    }
    let Some(path) = &wanted.path else {
        return Ok(None);
    };
    let documents = answers::documents(&call.outcome);
    let found: Vec<&Value> = documents.iter().flat_map(|it| path.find(it)).collect();
    let shown = || match found.first() {
        Some(first) => shorten(&first.to_string(), SHOWN).into_owned(),
        None => "missing".to_owned(),
    };
    let wrong = |wanted: &str| {
        Ok(Some(format!(
            "{path} is {}, and {wanted} is expected",
            shown()
        )))
    };
    if let Some(exists) = wanted.exists
        && exists != found.iter().any(|it| !it.is_null())
    {
        return wrong(if exists { "something" } else { "nothing" });
    }
    if let Some(value) = &wanted.equals
        && !found.iter().any(|it| same(value, it))
    {
        return wrong(&shorten(&value.to_string(), SHOWN));
    }
    if let Some(pattern) = &wanted.matches {
        let regex = regex(pattern, false)?;
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        if !found.iter().any(|it| regex.is_match(&text(it))) {
            return wrong(&format!("what matches `{pattern}`"));
        }
    }
    Ok(None)
}
