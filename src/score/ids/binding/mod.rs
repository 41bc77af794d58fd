//! Bound arguments: what later requests take from earlier answers.
//!
//! A server that generates an id gives another one on every run. A replay must then use the new one, and a comparison must treat the two
//! as the same.
//!
//! - `find`: which arguments of a recorded trajectory come from earlier answers. It reads the takes that bear it out, too.
//! - `place`: the same place in another answer.
//! - `fill`: what a live answer has where a recorded one has a bound value, and that value put into an argument.
//! - `extract`: a value within a text, and the same piece of another text.

mod extract;
mod fill;
mod find;
mod place;

use std::collections::HashSet;

use crate::values::path::value_at;
use model::{Binding, BindingRule, Object, Outcome, Source, ToolCall, Trajectory};

pub(crate) use extract::{replaced, stands_alone, text_of};
pub use fill::{fill, resolve};
pub(crate) use find::read_calls;
pub use place::read_answer;
pub(crate) use place::{alike, at, full_paths, full_patterns, leaves};

/// The bindings that can be found in one trajectory alone, with what is known to vary in it.
pub fn find_bindings(trajectory: &Trajectory) -> Vec<Binding> {
    find::find(trajectory, &[])
}

/// The bindings that several takes of one scenario bear out.
pub(crate) fn find_in_takes(first: &Trajectory, others: &[&Trajectory]) -> Vec<Binding> {
    find::find(first, others)
}

/// The trajectory's bindings with what a scenario says of some of them.
///
/// # Errors
///
/// The rules that cannot be followed, each with the reason.
pub fn with_rules(
    trajectory: &Trajectory,
    rules: &[BindingRule],
) -> Result<Vec<Binding>, Vec<(BindingRule, String)>> {
    let overruled: HashSet<(usize, &str)> =
        rules.iter().map(|it| (it.call, it.path.as_str())).collect();
    let mut bindings = trajectory.bindings.clone();
    bindings.retain(|it| !overruled.contains(&(it.call, it.path.as_str())));
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let mut impossible = Vec::new();
    for rule in rules {
        match ruled_binding(rule, &calls) {
            Ok(binding) => bindings.extend(binding),
            Err(why) => impossible.push((rule.clone(), why)),
        }
    }
    if impossible.is_empty() {
        bindings.sort_by_key(|it| it.call);
        Ok(bindings)
    } else {
        Err(impossible)
    }
}

/// Takes out the bindings of arguments that a script writes out: that an answer holds the same is chance.
pub fn leave_out_literals(bindings: &mut Vec<Binding>, script: &[&Object]) {
    bindings.retain(|it| {
        let scripted = it.call.checked_sub(1).and_then(|index| script.get(index));
        let argument = scripted.and_then(|arguments| value_at(arguments, &it.path));
        argument.is_none_or(|argument| {
            let refers = argument
                .as_str()
                .is_some_and(|text| text.contains("{{calls."));
            refers || !fill::is_filled_with(argument, &it.value)
        })
    });
}

fn ruled_binding(rule: &BindingRule, calls: &[&ToolCall]) -> Result<Option<Binding>, String> {
    let call = |number: usize| {
        let call = number.checked_sub(1).and_then(|it| calls.get(it));
        call.ok_or_else(|| match calls.len() {
            1 => format!("there is no call {number}: the baseline has 1"),
            all => format!("there is no call {number}: the baseline has {all}"),
        })
    };
    let target = call(rule.call)?;
    let Some(argument) = value_at(&target.arguments, &rule.path) else {
        return Err(format!("call {} has no argument {}", rule.call, rule.path));
    };
    let Some(Source { call: number, path }) = &rule.from else {
        return Ok(None);
    };
    let Outcome::Answer(answer) = &call(*number)?.outcome else {
        return Err(format!("call {number} got no answer"));
    };
    let found = at(answer, path).filter(|it| text_of(it).is_some());
    let Some(found) = found else {
        return Err(format!(
            "the answer to call {number} has no text or number at {path}"
        ));
    };
    let value = rule.value.clone().unwrap_or(found);
    if !fill::is_filled_with(argument, &value) {
        return Err(format!(
            "argument {} of call {} does not hold the value of call {number} response {path}: name the bound part as `value`",
            rule.path, rule.call
        ));
    }
    Ok(Some(Binding {
        call: rule.call,
        path: rule.path.clone(),
        value,
        from: Source {
            call: *number,
            path: path.clone(),
        },
    }))
}
